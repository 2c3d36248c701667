//! The geometry of a case: lengths, or longitude and latitude on the earth.

use crate::file::{Case, Condition, Misuse};
use anyhow::Result;
use burntrace_core::{BoundaryCondition, PeriodicAxis};
use burntrace_io::{
    self as io,
    series::{Closure, Geometry},
};

/// Mean radius of the earth in metres.
const EARTH_RADIUS: f64 = 6_371_008.8;

/// A full circle in degrees.
const CIRCLE: f64 = 360.0;

/// The radius of the earth in metres, of a field with positions in degrees; `None` of other fields.
pub fn geometry(case: &Case, series: Option<&io::SeriesInfo>) -> Option<f64> {
    let is_in_degrees = series.is_some_and(|series| series.geometry.is_in_degrees());
    is_in_degrees.then(|| case.field.radius.unwrap_or(EARTH_RADIUS))
}

/// Refuses a radius that is not one, or that the field has no use for.
pub(super) fn check_radius(case: &Case, series: &io::SeriesInfo) -> Result<()> {
    let Some(radius) = case.field.radius else { return Ok(()) };
    if geometry(case, Some(series)).is_none() {
        return Err(Misuse::error(
            "field.radius is the radius of the earth, for files with axes in degrees, and these axes are lengths; \
             omit it",
        ));
    }
    match radius.is_finite() && radius > 0.0 {
        true => Ok(()),
        false => Err(Misuse::error(format!(
            "field.radius is {radius}; give the radius of the earth in metres, such as {EARTH_RADIUS}"
        ))),
    }
}

/// Refuses to trace positions in degrees.
pub(super) fn check_traced(case: &Case, series: Option<&io::SeriesInfo>) -> Result<()> {
    match geometry(case, series) {
        None => Ok(()),
        Some(_) => Err(Misuse::error(
            "field.files: its axes are longitude and latitude: fields on the sphere are read, but cannot be traced \
             yet; project the field onto axes in metres first (`rioxarray`, `cdo remapbil`, `gdalwarp`), and turn the \
             velocity along them",
        )),
    }
}

/// The units of the tracks: those of the case, by default those of files in degrees.
pub fn units(case: &Case, series: Option<&io::SeriesInfo>) -> io::tracks::Units {
    let given = io::tracks::Units::from(&case.units);
    let or = |given: String, unit: &str| if given.is_empty() { unit.into() } else { given };
    let origin = series.and_then(|series| series.time_origin.clone());
    match geometry(case, series) {
        None => io::tracks::Units { origin, ..given },
        Some(_) => io::tracks::Units {
            length: or(given.length, "m"),
            time: or(given.time, "s"),
            origin,
            in_degrees: true,
        },
    }
}

/// The conditions at the faces of the box: by default exits, and periodic where a domain reaches around the earth.
pub(super) fn faces(case: &Case, series: Option<&io::SeriesInfo>) -> [[Condition; 2]; 3] {
    let boundary = &case.boundary;
    let is_around = || series.is_some_and(|series| is_around(case, series));
    let x = boundary.x.unwrap_or_else(|| match is_around() {
        true => [Condition::Of(BoundaryCondition::Periodic); 2],
        false => Default::default(),
    });
    [x, boundary.y, boundary.z]
}

/// Whether the domain is one turn of longitudes.
fn is_around(case: &Case, series: &io::SeriesInfo) -> bool {
    let (Some(_), Some([first, _])) = (series.geometry.global(), series.bounds) else { return false };
    let low = case.domain.low.map_or(first[0], |low| low[0]);
    let high = case.domain.high.map_or(first[0] + CIRCLE, |high| high[0]);
    (high - low - CIRCLE).abs() < 1e-6
}

/// The x axis of longitudes around the earth without a last column that repeats the first one.
pub(super) fn closed_longitudes(geometry: Geometry) -> Option<PeriodicAxis> {
    let closed = PeriodicAxis::Closed { period: Some(CIRCLE) };
    (geometry.global() == Some(Closure::Omitted)).then_some(closed)
}

/// Refuses files of sampled arrays in other coordinates than those of the positions, `traced`.
pub(super) fn check_sampled(
    traced: Option<&io::SeriesInfo>,
    sampled: &io::SeriesInfo,
) -> Result<()> {
    let of_traced = traced.map(|series| series.geometry).unwrap_or_default();
    let fail = |reason: String| {
        let file = sampled.files.first().map(|path| path.display().to_string()).unwrap_or_default();
        Err(Misuse::error(format!("save.fields: {file}: {reason}")))
    };
    if of_traced.is_in_degrees() != sampled.geometry.is_in_degrees() {
        let name = |geometry: Geometry| if geometry.is_in_degrees() { "degrees" } else { "lengths" };
        return fail(format!(
            "its positions are {}, and those of the velocity {}; give files in the same coordinates",
            name(sampled.geometry),
            name(of_traced)
        ));
    }
    let (Some(traced), true) = (traced, of_traced.is_in_degrees()) else { return Ok(()) };
    let ([Some(own), Some(other)], Some(axis)) =
        ([sampled.bounds, traced.bounds].map(longitudes), sampled.axes.first())
    else {
        return Ok(());
    };
    let step = (own[1] - own[0]) / axis.nodes.saturating_sub(1).max(1) as f64;
    let is_shifted = [-CIRCLE, CIRCLE].iter().any(|shift| {
        (own[1] + shift).min(other[1]) - (own[0] + shift).max(other[0]) > step
    });
    match is_shifted {
        false => Ok(()),
        true => fail(format!(
            "its longitudes are from {} to {}, and those of the velocity from {} to {}: the same places have other \
             longitudes; write both in one range (in xarray: `ds.assign_coords(lon=ds.lon % 360).sortby(\"lon\")`)",
            own[0], own[1], other[0], other[1]
        )),
    }
}

fn longitudes(bounds: Option<[[f64; 3]; 2]>) -> Option<[f64; 2]> {
    bounds.map(|corners| corners.map(|corner| corner[0]))
}

//! The geometry of a case: lengths, or longitude and latitude on the earth.

use crate::file::{Case, Condition, Longitude, Misuse};
use anyhow::Result;
use burntrace_core::{
    BoundaryCondition, Domain, EARTH_RADIUS, NotFinite, PeriodicAxis, sphere::CIRCLE,
};
use burntrace_io::{
    self as io,
    series::{Closure, Geometry},
};

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

/// Refuses continuous longitudes of positions that are lengths.
pub(super) fn check_longitude(case: &Case, series: Option<&io::SeriesInfo>) -> Result<()> {
    match case.save.longitude == Longitude::Continuous && geometry(case, series).is_none() {
        false => Ok(()),
        true => Err(Misuse::error(
            "save.longitude = \"continuous\" is for files with axes in degrees, and positions are lengths here; omit it",
        )),
    }
}

/// What velocities that are not finite are: in files in degrees, by default land.
pub(super) fn not_finite(case: &Case, series: Option<&io::SeriesInfo>) -> NotFinite {
    let field = &case.field;
    let is_given = field.land_value.is_some() || field.options.mask.is_some();
    // The mesh of a sea has no land.
    let has_land = !case.is_on_mesh() && (is_given || geometry(case, series).is_some());
    let of_files = if has_land { NotFinite::Land } else { NotFinite::Error };
    field.not_finite.unwrap_or(of_files)
}

/// Refuses what is for land, in a field that has none.
pub(super) fn check_land(case: &Case, series: &io::SeriesInfo) -> Result<()> {
    let field = &case.field;
    if case.is_on_mesh() && field.slip.is_none() {
        return Ok(());
    }
    let given = [
        (field.slip.is_some(), "slip"),
        (field.land_value.is_some(), "land_value"),
        (field.options.mask.is_some(), "mask"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, key)) if not_finite(case, Some(series)) != NotFinite::Land => {
            Err(Misuse::error(format!(
                "field.{key} is for land, which this field has none of; add field.not_finite = \"land\", or omit it"
            )))
        }
        _ => Ok(()),
    }
}

/// The units of the tracks: those of the case, by default those of files that have units, or are in degrees.
pub fn units(case: &Case, series: Option<&io::SeriesInfo>) -> io::tracks::Units {
    let mut units = io::tracks::Units::from(&case.units);
    units.origin = series.and_then(|series| series.time_origin.clone());
    units.radius = geometry(case, series);
    units.continuous = case.save.longitude == Longitude::Continuous;
    let has_units = units.radius.is_some() || series.is_some_and(super::has_units);
    for (unit, default) in [(&mut units.length, "m"), (&mut units.time, "s")] {
        if has_units && unit.is_empty() {
            *unit = default.into();
        }
    }
    units
}

/// The domain of nodes, in a sea up to the surface, and around the earth one turn.
pub(super) fn up_to_surface(mut domain: Domain, series: Option<&io::SeriesInfo>) -> Domain {
    if let Some(io::SeriesInfo { mesh: Some(_), bounds: Some([low, high]), geometry, .. }) = series
        && geometry.global().is_some()
    {
        (domain.low[0], domain.high[0]) = (low[0], high[0]);
    }
    let is_sea = series.is_some_and(|series| series.reaches_surface);
    if is_sea && !domain.is_flat(2) {
        domain.high[2] = domain.high[2].max(0.0);
    }
    domain
}

/// The conditions at the faces of the box: by default exits, but periodic where a domain reaches around the earth, and sliding at
/// the surface of the sea.
pub(super) fn faces(case: &Case, series: Option<&io::SeriesInfo>) -> [[Condition; 2]; 3] {
    let boundary = &case.boundary;
    let is_around = || series.is_some_and(|series| is_around(case, series));
    let x = boundary.x.unwrap_or_else(|| match is_around() {
        true => [Condition::Of(BoundaryCondition::Periodic); 2],
        false => Default::default(),
    });
    let ends_at_surface = case.domain.high.is_none_or(|high| high[2] == 0.0);
    let is_sea = ends_at_surface && series.is_some_and(|series| series.reaches_surface);
    let z = boundary.z.unwrap_or_else(|| match is_sea {
        true => [Condition::default(), Condition::Of(BoundaryCondition::Slide)],
        false => Default::default(),
    });
    [x, boundary.y, z]
}

/// Whether the domain is one turn of longitudes.
fn is_around(case: &Case, series: &io::SeriesInfo) -> bool {
    let (Some(_), Some([first, _])) = (series.geometry.global(), series.bounds) else {
        return false;
    };
    let low = case.domain.low.map_or(first[0], |low| low[0]);
    let high = case.domain.high.map_or(first[0] + CIRCLE, |high| high[0]);
    (high - low - CIRCLE).abs() < 1e-6
}

/// The x axis of longitudes around the earth without a last column that repeats the first one.
pub(super) fn closed_longitudes(geometry: Geometry) -> Option<PeriodicAxis> {
    let closed = PeriodicAxis::Closed { period: Some(CIRCLE) };
    (geometry.global() == Some(Closure::Omitted)).then_some(closed)
}

/// Refuses files of sampled arrays or of further fields in other coordinates than those of the positions, `traced`. `key` leads
/// to the files in the case.
pub(super) fn check_sampled(
    traced: Option<&io::SeriesInfo>,
    (key, sampled): (&str, &io::SeriesInfo),
) -> Result<()> {
    let of_traced = traced.map(|series| series.geometry).unwrap_or_default();
    let fail = |reason: String| {
        let file = sampled.files.first().map(|path| path.display().to_string()).unwrap_or_default();
        Err(Misuse::error(format!("{key}: {file}: {reason}")))
    };
    if of_traced.is_in_degrees() != sampled.geometry.is_in_degrees() {
        let name =
            |geometry: Geometry| if geometry.is_in_degrees() { "degrees" } else { "lengths" };
        return fail(format!(
            "its positions are {}, and those of the velocity {}; give files in the same coordinates",
            name(sampled.geometry),
            name(of_traced)
        ));
    }
    let (Some(own), Some(other)) = (sampled.axes.first(), traced.and_then(|of| of.axes.first()))
    else {
        return Ok(());
    };
    let step = (own.high - own.low) / own.nodes.saturating_sub(1).max(1) as f64;
    let overlap =
        |shift: f64| (own.high + shift).min(other.high) - (own.low + shift).max(other.low);
    match of_traced.is_in_degrees() && overlap(CIRCLE).max(overlap(-CIRCLE)) > step {
        false => Ok(()),
        true => fail(format!(
            "its longitudes are from {} to {}, and those of the velocity from {} to {}: the same places have other \
             longitudes; write both in one range (in xarray: `ds.assign_coords(lon=ds.lon % 360).sortby(\"lon\")`)",
            own.low, own.high, other.low, other.high
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::from_text;

    fn series(geometry: Geometry, longitudes: [f64; 2]) -> io::SeriesInfo {
        let [low, high] = longitudes;
        let axis = io::series::AxisInfo {
            name: 'x',
            nodes: 361,
            low,
            high,
            spacing: None,
            is_uniform: true,
            is_flipped: false,
        };
        let bounds = Some([[low, -80.0, 0.0], [high, 80.0, 0.0]]);
        io::SeriesInfo { geometry, bounds, axes: vec![axis], ..io::SeriesInfo::default() }
    }

    fn case(more: &str) -> Case {
        from_text(&format!("[field]\nfiles = \"a.nc\"\n{more}"), &[]).unwrap()
    }

    fn global(closure: Closure) -> Geometry {
        Geometry::Degrees { global: Some(closure) }
    }

    #[test]
    fn longitudes_around_the_earth_are_periodic_by_default() {
        use BoundaryCondition::{Exit, Periodic, Reflect};
        let x = |case: &Case, geometry, longitudes| {
            let [x, y, _] = faces(case, Some(&series(geometry, longitudes)));
            assert_eq!(y, [Condition::default(); 2]);
            x.map(BoundaryCondition::from)
        };
        let (bare, omitted) = (case(""), global(Closure::Omitted));
        assert_eq!(x(&bare, omitted, [0.0, 359.0]), [Periodic; 2]);
        assert_eq!(x(&bare, global(Closure::Repeated), [-180.0, 180.0]), [Periodic; 2]);
        assert_eq!(x(&bare, Geometry::Degrees { global: None }, [0.0, 20.0]), [Exit; 2]);
        assert_eq!(x(&bare, Geometry::Flat, [0.0, 360.0]), [Exit; 2]);
        let given = case("[boundary]\nx = \"reflect\"\n");
        assert_eq!(x(&given, omitted, [0.0, 359.0]), [Reflect; 2]);
        let domain =
            |low, high| case(&format!("[domain]\nlow = [{low}, -60, 0]\nhigh = [{high}, 60, 0]\n"));
        assert_eq!(x(&domain(0, 360), omitted, [0.0, 359.0]), [Periodic; 2]);
        assert_eq!(x(&domain(0, 180), omitted, [0.0, 359.0]), [Exit; 2]);
        let low = case("[domain]\nlow = [0, -60, 0]\n");
        assert_eq!(x(&low, omitted, [0.0, 359.0]), [Periodic; 2]);
        assert_eq!(closed_longitudes(omitted), Some(PeriodicAxis::Closed { period: Some(360.0) }));
        assert_eq!(closed_longitudes(global(Closure::Repeated)), None);
    }

    #[test]
    fn the_radius_belongs_to_files_in_degrees() {
        let (flat, degrees) =
            (series(Geometry::Flat, [0.0; 2]), series(global(Closure::Omitted), [0.0; 2]));
        assert_eq!(geometry(&case(""), Some(&degrees)), Some(6_371_008.8));
        assert_eq!([geometry(&case(""), Some(&flat)), geometry(&case(""), None)], [None; 2]);
        let mars = case("radius = 3389500.0\n");
        assert_eq!(geometry(&mars, Some(&degrees)), Some(3_389_500.0));
        assert!(check_radius(&mars, &degrees).is_ok() && check_radius(&case(""), &flat).is_ok());
        let message = |case: &Case, series| check_radius(case, series).unwrap_err().to_string();
        assert!(message(&mars, &flat).contains("these axes are lengths; omit it"));
        assert!(message(&case("radius = -1.0\n"), &degrees).contains("field.radius is -1; give"));
        let continuous = case("[save]\nlongitude = \"continuous\"\n");
        assert!(check_longitude(&continuous, Some(&degrees)).is_ok());
        let error = check_longitude(&continuous, Some(&flat)).unwrap_err().to_string();
        assert!(error.contains("positions are lengths here; omit it"));
        assert!(units(&continuous, Some(&degrees)).continuous);
    }

    #[test]
    fn tracks_in_degrees_have_units_by_default() {
        let degrees = series(global(Closure::Omitted), [0.0; 2]);
        let units_of = |more: &str| units(&case(more), Some(&degrees));
        let found = units_of("");
        assert_eq!(
            (found.length.as_str(), found.time.as_str(), found.radius),
            ("m", "s", Some(EARTH_RADIUS))
        );
        assert_eq!(units_of("[units]\ntime = \"seconds\"\n").time, "seconds");
        assert_eq!(units(&case(""), None), io::tracks::Units::default());
    }

    #[test]
    fn arrays_are_sampled_in_the_coordinates_of_the_velocity() {
        let omitted = global(Closure::Omitted);
        let check = |traced: [f64; 2], sampled: [f64; 2]| {
            let [traced, sampled] = [traced, sampled].map(|of| series(omitted, of));
            check_sampled(Some(&traced), ("save.fields", &sampled))
                .map_err(|error| error.to_string())
        };
        for (traced, sampled) in [
            ([0.0, 359.0], [0.5, 359.5]),
            ([0.0, 360.0], [0.0, 360.0]),
            ([10.0, 20.0], [0.0, 359.0]),
            ([-20.0, 20.0], [-180.0, 179.0]),
        ] {
            assert_eq!(check(traced, sampled), Ok(()), "{traced:?} {sampled:?}");
        }
        for (traced, sampled) in [([0.0, 359.0], [-180.0, 179.0]), ([-20.0, 20.0], [0.0, 359.0])] {
            assert!(check(traced, sampled).unwrap_err().contains("write both in one range"));
        }
        let flat = series(Geometry::Flat, [0.0, 359.0]);
        let check = |traced, sampled| check_sampled(traced, ("save.fields", sampled));
        assert!(check(Some(&flat), &flat).is_ok() && check(None, &flat).is_ok());
        let degrees = series(omitted, [0.0, 359.0]);
        for traced in [Some(&flat), None] {
            let message = check(traced, &degrees).unwrap_err().to_string();
            assert!(
                message.contains("its positions are degrees, and those of the velocity lengths")
            );
        }
    }
}

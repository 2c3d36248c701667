//! Axes of longitude and latitude in degrees.

use crate::store::{Store, Variable};
use crate::{Error, Result};

/// A full circle in degrees.
pub(crate) const CIRCLE: f64 = 360.0;

/// Rounding of degrees in single precision.
pub(crate) const ROUNDING: f64 = 1e-4;

/// What the units of an angle tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Angle {
    /// The axis: x of `degrees_east`, y of `degrees_north`.
    Axis(usize),
    /// Degrees in any direction.
    Degrees,
    /// Other angles, such as `radians`.
    Other,
}

impl Angle {
    /// Reads units; `None` if they are not those of an angle.
    pub fn of(units: &str) -> Option<Angle> {
        let units = units.to_ascii_lowercase();
        let Some(rest) = units.strip_prefix("degree") else {
            return match units.as_str() {
                "deg" | "°" => Some(Angle::Degrees),
                "radian" | "radians" | "rad" => Some(Angle::Other),
                _ => None,
            };
        };
        // OSCAR has `degrees-east`.
        let direction = rest.strip_prefix('s').unwrap_or(rest).trim_start_matches(['_', '-', ' ']);
        Some(match direction {
            "" => Angle::Degrees,
            "e" | "east" => Angle::Axis(0),
            "n" | "north" => Angle::Axis(1),
            _ => Angle::Other,
        })
    }
}

/// Longitude, of x, and latitude, of y.
const NAMES: [&str; 2] = ["longitude", "latitude"];
const SHORT_NAMES: [&str; 2] = ["lon", "lat"];
const UNITS: [&str; 2] = ["degrees_east", "degrees_north"];
const AXES: [char; 2] = ['x', 'y'];

/// The axis of a longitude or a latitude in degrees; `None` for a length.
fn axis_of(coordinate: &Variable) -> std::result::Result<Option<usize>, String> {
    let text = |attribute| coordinate.text(attribute).unwrap_or_default();
    let (units, standard, name) = (text("units"), text("standard_name"), &coordinate.name);
    let among = |names: [&str; 2], word: &str| names.iter().position(|known| *known == word);
    let by_standard = among(NAMES, standard);
    let named = name.to_ascii_lowercase();
    let by_name = among(NAMES, &named).or(among(SHORT_NAMES, &named));
    match (Angle::of(units), by_standard) {
        (None, _) if !units.is_empty() => Ok(None),
        (angle, _) if is_rotated(standard, angle) => Err(format!(
            "it is `{standard}` in degrees or radians, of a rotated or projected grid; interpolate the velocity to a \
             grid of longitude and latitude first (`cdo remapbil`, `xesmf`), and turn it to east and north"
        )),
        (Some(Angle::Axis(axis)), None) => Ok(Some(axis)),
        (Some(Angle::Axis(axis)), Some(other)) if axis == other => Ok(Some(axis)),
        (None | Some(Angle::Degrees), Some(axis)) => Ok(Some(axis)),
        (Some(Angle::Degrees), None) if by_name.is_some() => Ok(by_name),
        (None, None) if is_on_the_sphere(coordinate) => Err(format!(
            "it is a longitude or a latitude by its name, without `units`; add `units = \"{}\"`, or `units = \"m\"` \
             if its positions are lengths",
            UNITS[by_name.unwrap_or(0)]
        )),
        (None, None) => Ok(None),
        (Some(_), _) => Err(format!(
            "its units are {units}{}; longitudes must have `units = \"{}\"`, and latitudes `units = \"{}\"`: correct \
             them, and multiply radians by 180/pi first",
            by_standard
                .map_or(String::new(), |_| format!(", and its `standard_name` is {standard}")),
            UNITS[0],
            UNITS[1]
        )),
    }
}

fn is_rotated(standard: &str, angle: Option<Angle>) -> bool {
    let is_projection = standard.starts_with("projection_") && angle.is_some();
    is_projection || ["grid_longitude", "grid_latitude"].contains(&standard)
}

/// Whether a coordinate is a longitude or a latitude by the words of its standard name or its name.
fn is_on_the_sphere(coordinate: &Variable) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.to_ascii_lowercase().split(|c: char| !c.is_alphabetic()).map(str::to_owned).collect()
    };
    let known = ["lon", "lat", "lons", "lats", "longitude", "latitude"];
    let is_known = |text: &str| words(text).iter().any(|word| known.contains(&word.as_str()));
    match coordinate.text("standard_name") {
        Some(standard) if !standard.is_empty() => is_known(standard),
        _ => is_known(&coordinate.name),
    }
}

/// Whether the horizontal axes are longitude and latitude in degrees, and not lengths.
///
/// # Errors
///
/// If one is in degrees and the other is not, or an axis is an angle of another kind.
pub(crate) fn are_axes(store: &dyn Store, axes: [Option<&Variable>; 2]) -> Result<bool> {
    let of = |d: usize| -> Result<Option<&Variable>> {
        let Some(axis) = axes[d] else { return Ok(None) };
        let fail = |reason| Error::variable(store.path(), &axis.name, reason);
        match axis_of(axis).map_err(fail)? {
            Some(other) if other != d => Err(fail(format!(
                "it is a {} by its units or `standard_name`, and the {} axis by its attribute `axis` or its name; \
                 correct one of them",
                NAMES[other], AXES[d]
            ))),
            found => Ok(found.map(|_| axis)),
        }
    };
    let (d, axis) = match [of(0)?, of(1)?] {
        [None, None] => return Ok(false),
        [Some(_), Some(_)] => return Ok(true),
        [Some(axis), None] => (0, axis),
        [None, Some(axis)] => (1, axis),
    };
    let other = axes[1 - d].map_or("missing".into(), |axis| format!("`{}`, a length", axis.name));
    let reason = format!(
        "it is a {} in degrees, and the {} axis is {other}; give longitude and latitude in degrees, of which one may \
         be a scalar coordinate, or both axes as lengths",
        NAMES[d],
        AXES[1 - d]
    );
    Err(Error::variable(store.path(), &axis.name, reason))
}

/// Makes longitudes continuous: after a jump of more than 180 they continue at 360 more, or less if they decrease.
/// Returns the first jump.
pub(crate) fn make_continuous(longitudes: &mut [f64]) -> Option<[f64; 2]> {
    let (mut turn, mut jump, mut before) = (0.0, None, f64::NAN);
    for longitude in longitudes.iter_mut() {
        let step = *longitude - before;
        if step.abs() > 180.0 {
            jump.get_or_insert([before, *longitude]);
            turn -= CIRCLE * step.signum();
        }
        before = *longitude;
        *longitude += turn;
    }
    jump
}

/// Refuses latitudes beyond the poles; those that are only rounded become 90.
pub(crate) fn check_latitudes(latitudes: &mut [f64]) -> std::result::Result<(), String> {
    if let Some(beyond) = latitudes.iter().find(|latitude| latitude.abs() > 90.0 + ROUNDING) {
        return Err(format!(
            "it has the latitude {beyond}, beyond a pole; correct its values, which must be from -90 to 90 degrees"
        ));
    }
    latitudes.iter_mut().for_each(|latitude| *latitude = latitude.clamp(-90.0, 90.0));
    Ok(())
}

/// The degrees from one longitude to another, from -180 to 180.
pub(crate) fn step(start: f64, end: f64) -> f64 {
    (end - start) - CIRCLE * ((end - start) / CIRCLE).round()
}

/// Whether two intervals of longitudes meet in any whole turn.
pub(crate) fn meet([west, east]: [f64; 2], [low, high]: [f64; 2]) -> bool {
    ((low - east) / CIRCLE).ceil() <= ((high - west) / CIRCLE).floor()
}

/// The start of a turn of longitudes that contains all cells, by the interval of each, with the first longitude as it is; or,
/// of cells around the earth, of one that cuts some of them: at `west`, 0 or -180. And whether they are around the earth.
pub(crate) fn turn_start(
    longitudes: &[f64],
    mut cells: impl Iterator<Item = [f64; 2]>,
    west: Option<f64>,
) -> (f64, bool) {
    let gap = widest_gap(longitudes.iter().copied());
    let turns = |x: f64| ((x - gap) / CIRCLE).floor();
    if !cells.any(|[low, high]| turns(low + ROUNDING) != turns(high - ROUNDING)) {
        return (gap + CIRCLE * turns(longitudes.first().copied().unwrap_or(0.0)), false);
    }
    let is_positive = longitudes.iter().all(|x| *x >= -ROUNDING);
    (west.unwrap_or(if is_positive { 0.0 } else { -180.0 }), true)
}

/// The middle of the widest interval around the earth without one of these longitudes.
pub(crate) fn widest_gap(longitudes: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = longitudes.map(|x| x.rem_euclid(CIRCLE)).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.last() else { return 0.0 };
    let before = std::iter::once(last - CIRCLE).chain(sorted.iter().copied());
    let widest = before.zip(&sorted).max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    widest.map_or(0.0, |(low, high)| 0.5 * (low + high))
}

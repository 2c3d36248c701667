//! Map projections: longitude and latitude of positions on a projected or rotated grid.

use crate::choose::choice;
use crate::store::{Store, Variable};
use crate::{Error, Result};
use proj4rs::Proj;
use proj4rs::adaptors::transform_xy;

/// Radians of arc by which positions differ in the derivative of a projection. Truncation and rounding of the
/// angle are both below 1e-9.
const STEP: f64 = 1e-5;

/// The projection of a grid.
#[derive(Clone, Debug)]
pub struct Projection {
    map: Map,
    notes: Vec<String>,
}

#[derive(Clone, Debug)]
enum Map {
    /// A projection, and the longitude and latitude to which it is inverted, without a change of the datum.
    Plane(Box<[Proj; 2]>),
    /// Longitude and latitude of a sphere that is rotated.
    Rotated(RotatedPole),
}

/// `rotated_latitude_longitude` of CF, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RotatedPole {
    /// Longitude and latitude of the grid's north pole.
    pole: [f64; 2],
    /// The longitude of the north pole in the grid.
    north: f64,
}

impl Projection {
    /// The projection that the attribute `grid_mapping` of a variable names: by a text of PROJ (attributes
    /// `proj4`, `proj4_string`, ...), or by the parameters of CF (appendix F of CF 1.11). `None` without the
    /// attribute, or for `latitude_longitude`.
    ///
    /// # Errors
    ///
    /// If the variable that it names is missing, its projection is unknown, or a parameter is missing.
    pub fn of(store: &dyn Store, variable: &Variable) -> Result<Option<Projection>> {
        let Some(name) = variable.text("grid_mapping").and_then(first_name) else {
            return Ok(None);
        };
        let mapping = store.find(name).ok_or_else(|| {
            let of = &variable.name;
            choice(
                store,
                format!(
                    "the attribute `grid_mapping` of `{of}` names `{name}`, which it does not have"
                ),
            )
        })?;
        Projection::read(mapping).map_err(|reason| Error::variable(store.path(), name, reason))
    }

    fn read(mapping: &Variable) -> std::result::Result<Option<Projection>, String> {
        let name = mapping.text("grid_mapping_name").unwrap_or_default();
        let proj = PROJ_ATTRIBUTES.iter().find_map(|attribute| mapping.text(attribute));
        // Rotated grids are not among the projections of the crate.
        let proj = proj.filter(|text| !text.is_empty() && !text.contains("+proj=ob_tran"));
        let is_longitude =
            |text: &str| ["longlat", "latlong"].iter().any(|name| text.contains(name));
        let mut notes = Vec::new();
        let text = match (name, proj) {
            ("latitude_longitude", _) => return Ok(None),
            // Whatever its text of PROJ, which is often that of the longitudes and latitudes beside it.
            ("rotated_latitude_longitude", _) => {
                let map = Map::Rotated(RotatedPole::read(mapping)?);
                return Ok(Some(Projection { map, notes }));
            }
            ("", Some(text)) if is_longitude(text) => return Ok(None),
            (_, Some(text)) if !is_longitude(text) => text.to_owned(),
            (name, _) => proj_of_cf(mapping, name, &mut notes)?,
        };
        let map = Map::Plane(Box::new([parse(&text)?, parse("+proj=longlat +R=1")?]));
        Ok(Some(Projection { map, notes }))
    }

    /// What is assumed.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the axes of the grid are angles in degrees (a rotated grid), and not lengths in metres.
    pub fn is_rotated(&self) -> bool {
        matches!(self.map, Map::Rotated(_))
    }

    /// Longitude, from -180 to 180, and latitude in degrees of a position in metres, or in degrees on a rotated
    /// grid. On an ellipsoid the latitude is geodetic.
    ///
    /// # Errors
    ///
    /// If the position is not on the map.
    pub fn to_degrees(&self, position: [f64; 2]) -> std::result::Result<[f64; 2], String> {
        let degrees = match &self.map {
            Map::Rotated(rotated) => Ok(rotated.to_degrees(position)),
            Map::Plane(map) => {
                let [from, to] = &**map;
                let [x, y] = position.map(|length| length / from.to_meter());
                transform_xy(from, to, x, y).map(|(x, y)| [in_turn(x.to_degrees()), y.to_degrees()])
            }
        };
        let is_on_earth =
            |[longitude, latitude]: &[f64; 2]| longitude.is_finite() && latitude.abs() <= 90.0;
        degrees.ok().filter(is_on_earth).ok_or_else(|| {
            let [x, y] = position;
            format!("the position ({x}, {y}) is not on the map of its projection; check the units of x and y, and the projection")
        })
    }

    /// The longitude and latitude of a position as [`to_degrees`](Projection::to_degrees) gives them, and the angle in
    /// radians from the east to the x axis of the grid there, counter-clockwise: a velocity (u, v) along the axes is
    /// (u cos a - v sin a, u sin a + v cos a) to the east and north. Where the axes are not perpendicular on the
    /// earth, it is that of the rotation nearest to them.
    ///
    /// # Errors
    ///
    /// If the position is not on the map.
    pub fn degrees_and_angle(
        &self,
        position: [f64; 2],
    ) -> std::result::Result<([f64; 2], f64), String> {
        let degrees = self.to_degrees(position)?;
        let [(sin_x, cos_x), (sin_y, cos_y)] = degrees.map(|angle| angle.to_radians().sin_cos());
        let (east, north) = ([-sin_x, cos_x, 0.0], [-sin_y * cos_x, -sin_y * sin_x, cos_y]);
        let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let along = |axis: usize| {
            let [low, high] = [-1.0, 1.0].map(|sign| {
                let mut moved = position;
                moved[axis] += sign * self.step();
                self.in_space(moved)
            });
            let (low, high) = (low?, high?);
            let tangent = [0, 1, 2].map(|d| high[d] - low[d]);
            let length = dot(tangent, tangent).sqrt();
            Ok::<_, String>([dot(tangent, east) / length, dot(tangent, north) / length])
        };
        let ([x_east, x_north], [y_east, y_north]) = (along(0)?, along(1)?);
        Ok((degrees, (x_north - y_east).atan2(x_east + y_north)))
    }

    /// Half the difference of the positions in a derivative.
    fn step(&self) -> f64 {
        match &self.map {
            Map::Rotated(_) => STEP.to_degrees(),
            Map::Plane(map) => STEP * map[0].ellipse_parameters().0,
        }
    }

    /// A position in space, in semi-major axes (Snyder 1987, USGS Professional Paper 1395, chapter 4).
    fn in_space(&self, position: [f64; 2]) -> std::result::Result<[f64; 3], String> {
        let flatness = match &self.map {
            Map::Rotated(_) => 1.0,
            Map::Plane(map) => {
                let (major, minor) = map[0].ellipse_parameters();
                (minor / major).powi(2)
            }
        };
        let [(sin_x, cos_x), (sin_y, cos_y)] =
            self.to_degrees(position)?.map(|angle| angle.to_radians().sin_cos());
        let radius = 1.0 / (1.0 - (1.0 - flatness) * sin_y * sin_y).sqrt();
        Ok([radius * cos_y * cos_x, radius * cos_y * sin_x, radius * flatness * sin_y])
    }
}

impl RotatedPole {
    fn read(mapping: &Variable) -> std::result::Result<RotatedPole, String> {
        let pole = ["grid_north_pole_longitude", "grid_north_pole_latitude"];
        let [longitude, latitude] = pole.map(|name| number(mapping, name));
        let missing = || format!("it has no numbers `{}` and `{}`, which {ADD}", pole[0], pole[1]);
        let meridian = number(mapping, PRIME_MERIDIAN)?.unwrap_or(0.0);
        Ok(RotatedPole {
            pole: [longitude?.ok_or_else(missing)? + meridian, latitude?.ok_or_else(missing)?],
            north: number(mapping, "north_pole_grid_longitude")?.unwrap_or(0.0),
        })
    }

    /// Turns the sphere about the horizontal axis across the meridian of the pole.
    fn to_degrees(self, [longitude, latitude]: [f64; 2]) -> [f64; 2] {
        let (sin_x, cos_x) = (longitude - self.north).to_radians().sin_cos();
        let (sin_y, cos_y) = latitude.to_radians().sin_cos();
        let (sin, cos) = self.pole[1].to_radians().sin_cos();
        let [x, y, z] =
            [cos_y * cos_x * sin - sin_y * cos, cos_y * sin_x, cos_y * cos_x * cos + sin_y * sin];
        let east = y.atan2(x).to_degrees() + self.pole[0] + 180.0;
        [in_turn(east), z.atan2(x.hypot(y)).to_degrees()]
    }
}

/// A longitude from -180 to 180.
fn in_turn(longitude: f64) -> f64 {
    match longitude.abs() > 180.0 {
        true => (longitude + 180.0).rem_euclid(360.0) - 180.0,
        false => longitude,
    }
}

/// Attributes with a text of PROJ.
const PROJ_ATTRIBUTES: [&str; 5] =
    ["proj4", "proj4_string", "proj4text", "proj4_params", "proj_string"];

const ADD: &str = "its projection needs; add them, or a text of PROJ as the attribute `proj4`";

/// A parameter of CF, or several of which the first one counts, and that of PROJ.
type Parameter = (&'static [&'static str], &'static str);

const FROM_MERIDIAN: Parameter = (&["longitude_of_central_meridian"], "lon_0");
const FROM_ORIGIN: Parameter = (&["longitude_of_projection_origin"], "lon_0");
const LATITUDE: Parameter = (&["latitude_of_projection_origin"], "lat_0");
const SCALE: Parameter = (&["scale_factor_at_projection_origin"], "k_0");
const TRUE_AT: Parameter = (&["standard_parallel"], "lat_ts");

/// The projections of CF with their parameters; of `lat_ts` and `k_0` one is enough.
const PROJECTIONS: [(&str, &str, &[Parameter]); 6] = [
    (
        "polar_stereographic",
        "stere",
        &[
            (&["straight_vertical_longitude_from_pole", "longitude_of_projection_origin"], "lon_0"),
            LATITUDE,
            TRUE_AT,
            SCALE,
        ],
    ),
    ("stereographic", "stere", &[FROM_ORIGIN, LATITUDE, SCALE]),
    (
        "lambert_conformal_conic",
        "lcc",
        &[(&["standard_parallel"], "lat_1"), FROM_MERIDIAN, LATITUDE],
    ),
    ("lambert_azimuthal_equal_area", "laea", &[FROM_ORIGIN, LATITUDE]),
    (
        "transverse_mercator",
        "tmerc",
        &[FROM_MERIDIAN, LATITUDE, (&["scale_factor_at_central_meridian"], "k_0")],
    ),
    ("mercator", "merc", &[FROM_ORIGIN, TRUE_AT, SCALE]),
];

const PRIME_MERIDIAN: &str = "longitude_of_prime_meridian";

/// Parameters that any projection may have.
const COMMON: [Parameter; 7] = [
    (&[PRIME_MERIDIAN], "pm"),
    (&["false_easting"], "x_0"),
    (&["false_northing"], "y_0"),
    (&["earth_radius"], "R"),
    (&["semi_major_axis"], "a"),
    (&["semi_minor_axis"], "b"),
    (&["inverse_flattening"], "rf"),
];

/// The text of PROJ of a projection of CF.
fn proj_of_cf(
    mapping: &Variable,
    name: &str,
    notes: &mut Vec<String>,
) -> std::result::Result<String, String> {
    let Some((_, proj, parameters)) = PROJECTIONS.iter().find(|(known, ..)| *known == name) else {
        let known: Vec<&str> = PROJECTIONS.iter().map(|(known, ..)| *known).collect();
        return Err(format!(
            "its attribute `grid_mapping_name` is {name:?}; known are {}, rotated_latitude_longitude and \
             latitude_longitude: add a text of PROJ as the attribute `proj4`, as in `+proj=stere +lat_0=90 +lat_ts=60 \
             +lon_0=58 +R=6371000`",
            known.join(", ")
        ));
    };
    let mut text = format!("+proj={proj}");
    let mut has_scale = parameters.iter().all(|(_, key)| !is_scale(key));
    for (names, key) in *parameters {
        match first_numbers(mapping, names)? {
            None if is_scale(key) => continue,
            None => return Err(format!("it has no number `{}`, which {ADD}", names[0])),
            Some([first, second]) if *key == "lat_1" => {
                text += &format!(" +lat_1={first} +lat_2={second}")
            }
            Some([number, ..]) => text += &format!(" +{key}={number}"),
        }
        has_scale |= is_scale(key);
    }
    if !has_scale {
        let scales = parameters.iter().filter(|(_, key)| is_scale(key)).map(|(names, _)| names[0]);
        let scales: Vec<&str> = scales.collect();
        return Err(format!("it has no number `{}`, which {ADD}", scales.join("` or `")));
    }
    for (names, key) in COMMON {
        match first_numbers(mapping, names)? {
            // A sphere, in CF.
            Some([0.0, _]) if key == "rf" => text += " +f=0",
            Some([number, _]) => text += &format!(" +{key}={number}"),
            None => {}
        }
    }
    if !text.contains(" +R=") && !text.contains(" +a=") {
        notes.push(format!(
            "`{}` has no radius of the earth; the ellipsoid of WGS 84 is taken",
            mapping.name
        ));
    }
    Ok(text)
}

fn is_scale(key: &str) -> bool {
    ["lat_ts", "k_0"].contains(&key)
}

/// The first two numbers, or the only one twice, of the first of these attributes.
fn first_numbers(
    mapping: &Variable,
    names: &[&str],
) -> std::result::Result<Option<[f64; 2]>, String> {
    for name in names {
        if let Some((_, [first, rest @ ..])) = mapping.typed_numbers(name)? {
            return Ok(Some([*first, *rest.first().unwrap_or(first)]));
        }
    }
    Ok(None)
}

fn number(mapping: &Variable, name: &str) -> std::result::Result<Option<f64>, String> {
    Ok(first_numbers(mapping, &[name])?.map(|[number, _]| number))
}

fn parse(text: &str) -> std::result::Result<Proj, String> {
    let proj = Proj::from_proj_string(text).map_err(|error| {
        format!("its projection `{text}` cannot be used ({error}); correct it, or add the parameters of CF")
    })?;
    match proj.has_inverse() && !proj.is_geocent() {
        true => Ok(proj),
        false => Err(format!(
            "its projection `{text}` has no inverse; give longitude and latitude of the points"
        )),
    }
}

/// The name in `grid_mapping`, the first one of `crs: x y other: lat lon`.
fn first_name(text: &str) -> Option<&str> {
    text.split_ascii_whitespace().next().map(|name| name.trim_end_matches(':'))
}

#[cfg(test)]
#[path = "tests/projection.rs"]
mod tests;

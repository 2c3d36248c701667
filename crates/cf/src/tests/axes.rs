//! Axes by their names and attributes, one of which may be missing, and grids without axes.

use super::{Memory, in_memory, variable, whole};
use crate::{CfGrid, Request, Variable};

/// A vertical or a horizontal axis, and what it is by each of its marks.
struct Axis {
    name: &'static str,
    standard: &'static str,
    units: &'static str,
    axis: bool,
    positive: &'static str,
}

impl Axis {
    fn attributes(&self, letter: char) -> String {
        let axis = if self.axis { letter.to_string() } else { String::new() };
        let given = [
            ("standard_name", self.standard),
            ("units", self.units),
            ("axis", axis.as_str()),
            ("positive", self.positive),
        ];
        let given = given.into_iter().filter(|(_, value)| !value.is_empty());
        given.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
    }
}

/// All combinations of these marks.
fn combinations(
    names: &[&'static str],
    standards: &[&'static str],
    units: &[&'static str],
    positives: &[&'static str],
) -> Vec<Axis> {
    let mut all = Vec::new();
    for &name in names {
        for &standard in standards {
            for &units in units {
                for &positive in positives {
                    for axis in [false, true] {
                        all.push(Axis { name, standard, units, axis, positive });
                    }
                }
            }
        }
    }
    all
}

/// The nodes of a vertical axis, or a part of the error.
fn expected_heights(axis: &Axis) -> Result<[f64; 3], &'static str> {
    let Axis { name, standard, units, positive, .. } = axis;
    let is_known_name = ["z", "depth", "height"].contains(name);
    if *units == "hPa" {
        return Err("is a pressure");
    }
    if *standard == "ocean_s_coordinate" {
        return Err("which has no unit of length");
    }
    if !axis.axis && standard.is_empty() && positive.is_empty() && !is_known_name {
        return Err("is neither an axis");
    }
    let is_depth = *standard == "depth" || standard.is_empty() && *name == "depth";
    let sign = match *positive {
        "down" => -1.0,
        "" if is_depth => -1.0,
        _ => 1.0,
    };
    let scale = match *units {
        "cm" => 0.01,
        _ => 1.0,
    };
    Ok([0.0, 1.0, 2.0].map(|z| sign * scale * z))
}

#[test]
fn heights_are_right_or_refused_for_all_combinations_of_marks() {
    let names = ["z", "depth", "height", "levels"];
    let standards = ["", "depth", "height", "altitude", "ocean_s_coordinate"];
    let all = combinations(&names, &standards, &["m", "cm", "", "hPa"], &["", "up", "down"]);
    for axis in all {
        let attributes = axis.attributes('Z');
        let (of_axis, on) = (format!("{} 3", axis.name), format!("{} 3 y 4 x 5", axis.name));
        let fields = [(axis.name, of_axis.as_str(), attributes.as_str())];
        let velocity = ["u", "v"].map(|name| (name, on.as_str(), "units=m s-1"));
        let found = in_memory(&[&fields[..], &velocity].concat());
        let what = format!("{} {attributes}", axis.name);
        match (found, expected_heights(&axis)) {
            (Ok(grid), Ok(heights)) => {
                assert_eq!(grid.axes()[2], heights, "{what}");
                let notes = grid.notes().join("\n");
                let is_turned = heights[2] < 0.0;
                assert_eq!(notes.contains(&format!("z = -{}", axis.name)), is_turned, "{what}");
                assert_eq!(notes.contains("no units"), axis.units.is_empty(), "{what}");
            }
            (Err(error), Err(expected)) => {
                let error = error.to_string();
                assert!(error.contains(expected), "{what}: {error}");
                let (of_axis, of_u) = (format!("`{}`", axis.name), "`u`");
                assert!(error.contains(&of_axis) || error.contains(of_u), "{what}: {error}");
            }
            (found, expected) => panic!("{what}: {found:?}, not {expected:?}"),
        }
    }
}

#[test]
fn horizontal_axes_are_right_or_refused_for_all_combinations_of_marks() {
    let names = ["x", "easting", "lon", "longitude", "columns"];
    let standards = ["", "projection_x_coordinate", "longitude", "grid_longitude"];
    for axis in combinations(&names, &standards, &["m", "km", "", "degrees_east"], &[""]) {
        let attributes = axis.attributes('X');
        let (of_axis, on) = (format!("{} 6", axis.name), format!("y 4 {} 6", axis.name));
        let units = if axis.units.is_empty() { "" } else { "units=m s-1" };
        let all = [
            variable(axis.name, &of_axis, &attributes),
            variable("y", "y 4", "units=m"),
            variable("u", &on, units),
            variable("v", &on, units),
        ];
        let found = CfGrid::of(Box::new(Memory(all.to_vec())), &Request::default());
        let is_known = axis.axis || !axis.standard.is_empty() || axis.name != "columns";
        let is_named = axis.standard.is_empty() && axis.name.starts_with("lon");
        let expected = match (axis.units, axis.standard) {
            ("degrees_east", "projection_x_coordinate" | "grid_longitude") => Err("rotated"),
            ("", "grid_longitude") => Err("rotated"),
            ("degrees_east", _) | ("", "longitude") => Err("and the y axis is `y`, a length"),
            _ if !is_known => Err("is neither an axis"),
            ("", _) if is_named => Err("a longitude or a latitude by its name"),
            ("km", _) => Ok(1000.0),
            _ => Ok(1.0),
        };
        let what = format!("{} {attributes}", axis.name);
        match (found, expected) {
            (Ok(grid), Ok(spacing)) => {
                let nodes: Vec<f64> = (0..6).map(|i| spacing * f64::from(i)).collect();
                assert_eq!(grid.axes()[0], nodes, "{what}");
                assert_eq!(grid.axes()[1].len(), 4, "{what}");
            }
            (Err(error), Err(expected)) => {
                assert!(error.to_string().contains(expected), "{what}: {error}");
            }
            (found, expected) => panic!("{what}: {found:?}, not {expected:?}"),
        }
    }
}

#[test]
fn contradictory_depths_are_refused() {
    let of_depth = |attributes: &str| {
        in_memory(&[
            ("depth", "depth 3", attributes),
            ("u", "depth 3 y 4 x 5", "units=m s-1"),
            ("v", "depth 3 y 4 x 5", "units=m s-1"),
        ])
    };
    let error = of_depth("units=m, positive=sideways").unwrap_err().to_string();
    assert!(error.contains("`depth`") && error.contains("\"sideways\""), "{error}");
    let upward = of_depth("units=m, positive=up").unwrap();
    assert_eq!(
        upward.notes(),
        ["`depth` is a depth, and positive upward by its attribute: z = depth"]
    );
    let packed = Variable {
        attributes: vec![
            ("units".into(), crate::Attribute::Text("m".into())),
            ("scale_factor".into(), crate::Attribute::Numbers(crate::ScalarType::F64, vec![-1.0])),
        ],
        ..variable("depth", "depth 3", "")
    };
    let mut all = upward.store().variables().to_vec();
    all.retain(|variable| variable.name != "depth");
    all.push(packed);
    let negative = CfGrid::of(Box::new(Memory(all)), &Request::default()).unwrap_err().to_string();
    assert!(negative.contains("its values are negative"), "{negative}");
}

/// The names of the velocity, of other variables beside x, y, z and t.
fn velocity_of(variables: &[(&str, &str, &str)]) -> Result<Vec<String>, String> {
    let axes = [("z", "z 3", "units=m"), ("time", "time 2", "units=s")];
    let grid = in_memory(&[&axes, variables].concat()).map_err(|error| error.to_string())?;
    Ok(grid.velocity())
}

#[test]
fn no_component_is_left_out_without_a_word() {
    let on = "z 3 y 4 x 5";
    let [u, v] = [("u", on, "units=m s-1"), ("v", on, "units=m s-1")];
    let east = ("a", on, "units=m s-1, standard_name=eastward_wind");
    let north = ("b", on, "units=m s-1, standard_name=northward_wind");
    let third = |name, on, attributes| velocity_of(&[u, v, (name, on, attributes)]);
    for (name, attributes) in [
        ("w", "units=m s-1"),
        ("W", "units=m s-1"),
        ("wo", "units=m s-1"),
        ("velocity_z", "units=m s-1"),
        ("anything", "units=m s-1, standard_name=upward_sea_water_velocity"),
        ("drift", "units=m s-1, standard_name=downward_sea_water_velocity"),
    ] {
        assert_eq!(third(name, on, attributes).unwrap(), ["u", "v", name]);
        let by_standard = velocity_of(&[east, north, (name, on, attributes)]);
        assert_eq!(by_standard.unwrap(), ["a", "b", name]);
    }
    // On fewer dimensions, it is the same along the others.
    for fewer in ["time 2", "z 3", "y 4 x 5", ""] {
        let at_times = ["u", "v"].map(|name| (name, "time 2 z 3 y 4 x 5", "units=m s-1"));
        let all = [at_times[0], at_times[1], ("w", fewer, "units=m s-1")];
        assert_eq!(velocity_of(&all).unwrap(), ["u", "v", "w"], "{fewer}");
    }
    let error = third("w", on, "units=Pa s-1").unwrap_err();
    assert!(error.contains("variable `w`") && error.contains("Pa s-1"), "{error}");
    let error = third("w", "level 3 y 4 x 5", "units=m s-1").unwrap_err();
    assert!(error.contains("`w`") && error.contains("level 3"), "{error}");
    for (a, b) in [("w", "W"), ("wo", "wvel")] {
        let two = velocity_of(&[u, v, (a, on, "units=m s-1"), (b, on, "units=m s-1")]);
        let error = two.unwrap_err();
        assert!(error.contains(&format!("could be {a} or {b}")), "{error}");
    }
    let temperature = ("temperature", on, "units=K");
    assert_eq!(velocity_of(&[u, v, temperature]).unwrap(), ["u", "v"]);
    // A section along x and z, with a velocity across it.
    let section = ["u", "v"].map(|name| (name, "z 3 x 5", "units=m s-1"));
    let error = velocity_of(&section).unwrap_err();
    assert!(error.contains("variable `v`") && error.contains("x-z plane"), "{error}");
}

/// The direction of a vertical velocity beside a depth, which has its own.
#[test]
fn directions_that_no_attribute_tells_are_said() {
    let notes = |z: &str, w: &str| {
        let on = "lev 3 y 4 x 5";
        let [u, v] = ["u", "v"].map(|name| (name, on, "units=m s-1"));
        let grid = in_memory(&[("lev", "lev 3", z), u, v, ("w", on, w)]).unwrap();
        grid.notes().join("\n")
    };
    assert_eq!(notes("units=m, axis=Z, positive=up", "units=m s-1"), "");
    let upward = notes("units=m, axis=Z", "units=m s-1");
    assert_eq!(
        upward,
        "`lev` has no attribute `positive`, and is taken as positive upward: z = lev"
    );
    let depth = "units=m, axis=Z, long_name=Depth of the cell centre";
    let said = notes(depth, "units=m s-1");
    assert!(
        said.contains("z = -lev") && said.contains("`w` is taken as the velocity upward"),
        "{said}"
    );
    for w in ["standard_name=upward_sea_water_velocity", "positive=up"] {
        assert!(!notes(depth, &format!("units=m s-1, {w}")).contains("taken as the velocity"));
    }
    assert!(notes(depth, "units=m s-1, positive=down").contains("w = -w"));
}

#[test]
fn directions_that_contradict_are_said() {
    let map = |letter| format!("units=m, standard_name=projection_{letter}_coordinate");
    let velocity = |u: &str, v: &str| {
        let all = [
            variable("x", "x 5", &map('x')),
            variable("y", "y 4", &map('y')),
            variable("u", "y 4 x 5", &format!("units=m s-1, standard_name={u}")),
            variable("v", "y 4 x 5", &format!("units=m s-1, standard_name={v}")),
        ];
        let request = Request { velocity: vec!["u".into(), "v".into()], ..Request::default() };
        CfGrid::of(Box::new(Memory(all.to_vec())), &request).unwrap().notes().join("\n")
    };
    assert_eq!(velocity("sea_water_x_velocity", "sea_water_y_velocity"), "");
    let turned = velocity("sea_water_y_velocity", "sea_water_x_velocity");
    assert!(
        turned.contains("`u` is sea_water_y_velocity, and used as the velocity along x"),
        "{turned}"
    );
    let east = velocity("eastward_wind", "northward_wind");
    assert!(east.contains("`u` is eastward_wind, and taken as the velocity along `x`"), "{east}");
    let error = in_memory(&[
        ("a", "a 6", "units=m, axis=Y, standard_name=projection_x_coordinate"),
        ("u", "y 4 a 6", "units=m s-1"),
        ("v", "y 4 a 6", "units=m s-1"),
    ]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("variable `a`") && error.contains("`axis` is \"Y\""), "{error}");
}

#[test]
fn components_on_fewer_dimensions_are_the_same_along_the_others() {
    let grid = in_memory(&[
        ("z", "z 3", "units=m"),
        ("u", "z 3 y 4 x 5", "units=m s-1"),
        ("v", "y 4", "units=m s-1"),
        ("w", "z 3", "units=m s-1"),
    ]);
    let grid = grid.unwrap();
    let notes = grid.notes().join("\n");
    assert!(notes.contains("`v` does not depend on x, z: it is the same along it"), "{notes}");
    let values = grid.read(0, whole(&grid)).unwrap().velocity.into_f64();
    for (node, value) in values.chunks(3).enumerate() {
        let [j, k] = [node / 5 % 4, node / 20].map(|index| index as f64);
        assert_eq!(value, [node as f64, j, k]);
    }
}

#[test]
fn grids_without_axes_are_refused_by_their_kind() {
    let s = "units=m s-1";
    for (kind, variables) in [
        (
            "curvilinear: `nav_lon` (y 4, x 5",
            vec![
                ("nav_lon", "y 4 x 5", "units=degrees_east"),
                ("u", "j 4 i 5", s),
                ("v", "j 4 i 5", s),
            ],
        ),
        (
            "curvilinear: `longitude` (j 4, i 5",
            vec![
                ("longitude", "j 4 i 5", "units=degrees_east"),
                ("u", "j 4 i 5", s),
                ("v", "j 4 i 5", s),
            ],
        ),
        (
            "a NEMO file, with the components of the velocity on a staggered",
            vec![
                ("nav_lon", "j 4 i 5", "units=degrees_east"),
                ("nav_lat", "j 4 i 5", "units=degrees_north"),
                ("vozocrtx", "j 4 i 5", s),
            ],
        ),
        ("a ROMS file", vec![("u", "eta_u 4 xi_u 4", s), ("v", "eta_v 3 xi_v 5", s)]),
        (
            "an MITgcm file",
            vec![
                ("XC", "XC 5", "units=m"),
                ("XG", "XG 5", "units=m, axis=X"),
                ("YC", "YC 4", "units=m, axis=Y"),
                ("YG", "YG 4", "units=m, axis=Y"),
                ("u", "YC 4 XG 5", s),
                ("v", "YG 4 XC 5", s),
            ],
        ),
        (
            "a WRF file",
            vec![
                ("U", "south_north 4 west_east_stag 6", s),
                ("V", "south_north_stag 5 west_east 5", s),
            ],
        ),
        (
            "an FVCOM file",
            vec![
                ("h", "node 9", "units=m"),
                ("u", "siglay 3 nele 7", s),
                ("v", "siglay 3 nele 7", s),
            ],
        ),
        ("a SCHISM file", vec![("SCHISM_hgrid", "one 1", ""), ("hvel", "node 9 two 2", s)]),
        (
            "an ICON file",
            vec![("clon", "ncells 9", "units=radian"), ("u", "ncells 9", s), ("v", "ncells 9", s)],
        ),
        ("an MPAS file", vec![("a", "nEdges 9", ""), ("uZonal", "nCells 7", s)]),
        (
            "a UGRID file",
            vec![
                ("mesh", "", "cf_role=mesh_topology"),
                ("ucx", "faces 7", s),
                ("ucy", "faces 7", s),
            ],
        ),
    ] {
        let error = in_memory(&variables).unwrap_err().to_string();
        assert!(error.contains(kind) && error.contains("interpolat"), "{kind}: {error}");
    }
    // Axes that count the points of a curvilinear grid are no lengths.
    let counted = |units: &str| {
        let all = [
            variable("x", "x 5", units),
            variable("y", "y 4", units),
            variable("lon", "y 4 x 5", "units=degrees_east"),
            variable("u", "y 4 x 5", ""),
            variable("v", "y 4 x 5", ""),
        ];
        CfGrid::of(Box::new(Memory(all.to_vec())), &Request::default())
    };
    let error = counted("").unwrap_err().to_string();
    assert!(error.contains("its grid is curvilinear: `lon`"), "{error}");
    assert!(counted("units=m").is_ok());
}

#[test]
fn empty_dimensions_are_refused() {
    let error = in_memory(&[
        ("time", "time 0", "units=s"),
        ("u", "time 0 y 4 x 5", "units=m s-1"),
        ("v", "time 0 y 4 x 5", "units=m s-1"),
    ]);
    let error = error.unwrap_err().to_string();
    assert!(error.contains("variable `u`") && error.contains("`time` has length 0"), "{error}");
}

//! Axes of longitude and latitude by their names, units and attributes.

use super::{Memory, fixture, variable};
use crate::degrees::{Angle, check_latitudes, make_continuous};
use crate::{CfGrid, Request};

#[test]
fn units_of_degrees_are_known_in_all_spellings() {
    for direction in ["degrees_", "degree_", "degrees", "degree", "degrees-"] {
        for (axis, ends) in [["east", "E"], ["north", "N"]].into_iter().enumerate() {
            for end in ends {
                let units = format!("{direction}{end}");
                assert_eq!(Angle::of(&units), Some(Angle::Axis(axis)), "{units}");
            }
        }
    }
    for units in ["degrees", "degree", "deg", "Degrees"] {
        assert_eq!(Angle::of(units), Some(Angle::Degrees), "{units}");
    }
    for units in ["radians", "rad", "degrees_true", "degrees_west"] {
        assert_eq!(Angle::of(units), Some(Angle::Other), "{units}");
    }
    assert!(["m", "", "d", "km"].iter().all(|units| Angle::of(units).is_none()));
}

/// Opens a field on a horizontal grid with axes of these names and attributes.
fn on_axes(axes: [(&str, &str); 2]) -> Result<CfGrid, String> {
    let [(x, of_x), (y, of_y)] = axes;
    let on = format!("{y} 4 {x} 5");
    let all = [
        variable(x, &format!("{x} 5"), of_x),
        variable(y, &format!("{y} 4"), of_y),
        variable("u", &on, "units=cm s-1, standard_name=eastward_wind"),
        variable("v", &on, "units=cm s-1, standard_name=northward_wind"),
    ];
    let found = CfGrid::of(Box::new(Memory(all.to_vec())), &Request::default());
    found.map_err(|error| error.to_string())
}

#[test]
fn axes_in_degrees_are_known_by_units_standard_names_or_names() {
    for axes in [
        [("lon", "units=degrees_east"), ("lat", "units=degrees_north")],
        [("a", "units=degreeE"), ("b", "units=degree_N")],
        // Against their names.
        [("y", "units=degrees_east"), ("x", "units=degrees_north")],
        [("a", "standard_name=longitude, units=deg"), ("b", "standard_name=latitude")],
        [("Longitude", "units=degrees"), ("LAT", "units=degree")],
    ] {
        let grid = on_axes(axes).unwrap_or_else(|error| panic!("{axes:?}: {error}"));
        assert!(grid.is_in_degrees(), "{axes:?}");
        assert_eq!(grid.axes()[..2], [vec![0.0, 1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0, 2.0, 3.0]]);
        assert_eq!(grid.velocity(), ["u", "v"]);
        let notes = grid.notes().join("\n");
        assert_eq!(notes.contains("`b` has no `units`"), axes[1].1 == "standard_name=latitude");
    }
    let lengths = on_axes([("lon", "units=m"), ("lat", "units=km")]).unwrap();
    assert!(!lengths.is_in_degrees());
    let fixture = CfGrid::open(fixture("degrees.nc"), &Request::default()).unwrap();
    assert!(
        fixture.is_in_degrees() && fixture.axes()[0] == super::X && fixture.axes()[1] == super::Y
    );
}

#[test]
fn other_angles_are_refused_with_a_remedy() {
    let lat = ("lat", "units=degrees_north");
    for (axes, parts) in [
        ([("lon", "units=radians"), ("lat", "units=radians")], ["`lon`", "180/pi"]),
        ([("x", "units=degrees"), lat], ["its units are degrees", "degrees_east"]),
        (
            [("lon", "units=degrees_north, standard_name=longitude"), lat],
            ["its `standard_name` is longitude", "correct"],
        ),
        (
            [("y", "units=m, axis=X"), ("lon", "units=degrees_east, axis=Y")],
            ["`axis`", "the y axis"],
        ),
        (
            [
                ("rlon", "standard_name=grid_longitude, units=degrees"),
                ("rlat", "standard_name=grid_latitude, units=degrees"),
            ],
            ["`grid_longitude`", "rotated"],
        ),
        ([("lon", ""), lat], ["by its name, without `units`", "\"degrees_east\""]),
        ([("x", "units=m"), lat], ["latitude in degrees", "the x axis is `x`, a length"]),
    ] {
        let error = on_axes(axes).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{axes:?}: {error}");
    }
    let velocity = [("u", "units=degrees s-1"), ("v", "units=m s-1")];
    let all = [("lon", "lon 5", "units=degrees_east"), ("lat", "lat 4", "units=degrees_north")];
    let all = all.into_iter().chain(velocity.map(|(name, units)| (name, "lat 4 lon 5", units)));
    let all = all.map(|(name, of, with)| variable(name, of, with)).collect();
    let error = CfGrid::of(Box::new(Memory(all)), &Request::default()).unwrap_err().to_string();
    assert!(error.contains("`degrees s-1` are not those of a velocity"), "{error}");
}

#[test]
fn longitudes_are_continued_across_their_jump() {
    let continued = |values: &[f64]| {
        let mut longitudes = values.to_vec();
        (make_continuous(&mut longitudes), longitudes)
    };
    for (given, expected) in [
        (vec![358.0, 359.0, 0.0, 1.0], vec![358.0, 359.0, 360.0, 361.0]),
        (vec![178.0, 179.5, -179.0], vec![178.0, 179.5, 181.0]),
        (vec![1.0, 0.0, 359.0], vec![1.0, 0.0, -1.0]),
        (vec![-179.0, 179.0, 178.0], vec![-179.0, -181.0, -182.0]),
    ] {
        let (jump, longitudes) = continued(&given);
        assert_eq!(longitudes, expected);
        let at = given.iter().zip(&expected).position(|(a, b)| a != b).unwrap();
        assert_eq!(jump, Some([given[at - 1], given[at]]));
    }
    for steady in [vec![-180.0, 0.0, 180.0], vec![0.0, 120.0, 240.0, 360.0], vec![7.0], vec![]] {
        assert_eq!(continued(&steady), (None, steady));
    }
}

#[test]
fn latitudes_end_at_the_poles() {
    let mut rounded = [90.000_01, 0.0, -90.0];
    check_latitudes(&mut rounded).unwrap();
    assert_eq!(rounded, [90.0, 0.0, -90.0]);
    let error = check_latitudes(&mut [0.0, 91.0]).unwrap_err();
    assert!(error.contains("latitude 91"), "{error}");
}

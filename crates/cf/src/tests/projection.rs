use super::*;
use crate::store::{Attribute, ScalarType};
use crate::tests::{requirements, unstructured::Group};
use crate::{CfMesh, MeshRequest, Span, open};
use serde_json::json;

fn of_text(text: &str) -> Projection {
    Projection::read(&mapping("", &[], text)).unwrap().unwrap()
}

/// A variable with a name of a projection, numbers, and a text of PROJ.
fn mapping(name: &str, numbers: &[(&str, &[f64])], proj: &str) -> Variable {
    let text = |name: &str, text: &str| (name.to_owned(), Attribute::Text(text.into()));
    let numbers = numbers
        .iter()
        .map(|(name, of)| ((*name).to_owned(), Attribute::Numbers(ScalarType::F64, of.to_vec())));
    let named = [text("grid_mapping_name", name), text("proj4", proj)].into_iter();
    let attributes = named.filter(|(_, of)| *of != Attribute::Text(String::new())).chain(numbers);
    Variable {
        name: "crs".into(),
        dimensions: Vec::new(),
        scalar: None,
        attributes: attributes.collect(),
    }
}

fn of_cf(name: &str, numbers: &[(&str, &[f64])]) -> std::result::Result<Projection, String> {
    Projection::read(&mapping(name, numbers, "")).map(Option::unwrap)
}

/// The numerical examples of Snyder (1987), in metres to a decimal place: pages 315, 296, 333, 269 and 267.
#[test]
fn positions_are_those_of_published_examples() {
    let clarke: [(&str, &[f64]); 2] =
        [("semi_major_axis", &[6_378_206.4]), ("semi_minor_axis", &[6_356_583.8])];
    let hayford: [(&str, &[f64]); 2] =
        [("semi_major_axis", &[6_378_388.0]), ("inverse_flattening", &[297.0])];
    let origin = |latitude: &'static [f64]| ("latitude_of_projection_origin", latitude);
    let meridian = |at: &'static [f64]| ("longitude_of_central_meridian", at);
    let center = |at: &'static [f64]| ("longitude_of_projection_origin", at);
    let south: [(&str, &[f64]); 3] = [
        ("straight_vertical_longitude_from_pole", &[-100.0]),
        ("standard_parallel", &[-71.0]),
        origin(&[-90.0]),
    ];
    let conic: [(&str, &[f64]); 3] =
        [("standard_parallel", &[33.0, 45.0]), origin(&[23.0]), meridian(&[-96.0])];
    let transverse: [(&str, &[f64]); 3] =
        [("scale_factor_at_central_meridian", &[0.9996]), origin(&[0.0]), meridian(&[-75.0])];
    let mercator: [(&str, &[f64]); 2] =
        [("scale_factor_at_projection_origin", &[1.0]), center(&[-180.0])];
    for (name, of, earth, [x, y], [longitude, latitude]) in [
        ("polar_stereographic", &south[..], hayford, [-1_540_033.6, -560_526.4], [150.0, -75.0]),
        ("lambert_conformal_conic", &conic[..], clarke, [1_894_410.9, 1_564_649.5], [-75.0, 35.0]),
        (
            "lambert_azimuthal_equal_area",
            &[origin(&[40.0]), center(&[-100.0])][..],
            clarke,
            [-965_932.1, -1_056_814.9],
            [-110.0, 30.0],
        ),
        ("transverse_mercator", &transverse[..], clarke, [127_106.5, 4_484_124.4], [-73.5, 40.5]),
        ("mercator", &mercator[..], clarke, [11_688_673.7, 4_139_145.6], [-75.0, 35.0]),
    ] {
        let projection = of_cf(name, &[of, &earth].concat()).unwrap();
        let found = projection.to_degrees([x, y]).unwrap();
        // A decimal of a metre, of which the example of the Mercator projection has the last one wrong.
        let metres = [
            (found[0] - longitude) * latitude.to_radians().cos() * 111_320.0,
            (found[1] - latitude) * 111_320.0,
        ];
        assert!(metres.iter().all(|off| off.abs() < 0.08), "{name}: {found:?}");
    }
}

fn angle_at(projection: &Projection, position: [f64; 2]) -> f64 {
    projection.degrees_and_angle(position).unwrap().1
}

/// Numbers of PROJ 9.5 (pyproj 3.7): `Proj(text)(x, y, inverse=True)`, and the angle from `Proj.get_factors`.
#[test]
fn positions_and_angles_are_those_of_proj() {
    for (text, position, degrees, angle) in PROJ {
        let projection = of_text(text);
        let found = projection.to_degrees(position).unwrap();
        assert!((0..2).all(|d| (found[d] - degrees[d]).abs() < 1e-9), "{text}: {found:?}");
        let found = angle_at(&projection, position).to_degrees();
        assert!((found - angle).abs() < 1e-6, "{text}: {found} and not {angle}");
    }
}

#[test]
fn a_rotated_grid_has_its_north_pole_where_the_file_says() {
    let pole: [(&str, &[f64]); 2] =
        [("grid_north_pole_longitude", &[-162.0]), ("grid_north_pole_latitude", &[39.25])];
    let projection = of_cf("rotated_latitude_longitude", &pole).unwrap();
    assert!(projection.is_rotated());
    for (position, degrees, angle) in ROTATED {
        let found = projection.to_degrees(position).unwrap();
        assert!((0..2).all(|d| (found[d] - degrees[d]).abs() < 1e-9), "{position:?}: {found:?}");
        let found = angle_at(&projection, position).to_degrees();
        assert!((found - angle).abs() < 1e-6, "{position:?}: {found} and not {angle}");
    }
    let [_, latitude] = projection.to_degrees([57.0, 90.0]).unwrap();
    assert!((latitude - 39.25).abs() < 1e-9);
    // The longitude of the north pole in the grid.
    let turned = of_cf(
        "rotated_latitude_longitude",
        &[&pole[..], &[("north_pole_grid_longitude", &[30.0])]].concat(),
    );
    let [at, moved] = [projection.to_degrees([5.0, 7.0]), turned.unwrap().to_degrees([35.0, 7.0])]
        .map(|at| at.unwrap());
    assert!((0..2).all(|d| (at[d] - moved[d]).abs() < 1e-12));
}

#[test]
fn a_rotated_grid_is_turned_whatever_its_text_of_proj() {
    let pole: [(&str, &[f64]); 2] =
        [("grid_north_pole_longitude", &[-162.0]), ("grid_north_pole_latitude", &[39.25])];
    for text in ["+proj=longlat +ellps=WGS84", "+proj=latlong +R=6371000", "+proj=merc"] {
        let mapping = mapping("rotated_latitude_longitude", &pole, text);
        let read = Projection::read(&mapping).unwrap();
        let found = read.map(|of| of.to_degrees(ROTATED[1].0).unwrap());
        let is_near = |found: [f64; 2]| (0..2).all(|d| (found[d] - ROTATED[1].1[d]).abs() < 1e-9);
        assert!(found.is_some_and(is_near), "{text}: {found:?}");
    }
    let south: (&str, &[f64]) = ("latitude_of_projection_origin", &[63.0]);
    let numbers: [(&str, &[f64]); 3] =
        [("standard_parallel", &[63.0]), south, ("longitude_of_central_meridian", &[15.0])];
    let conic = mapping("lambert_conformal_conic", &numbers, "+proj=longlat +ellps=WGS84");
    let of = Projection::read(&conic).unwrap().map(|of| of.to_degrees([0.0, 0.0]).unwrap());
    assert!(of.is_some_and(|[x, y]| (x - 15.0).abs() < 1e-9 && (y - 63.0).abs() < 1e-9), "{of:?}");
}

#[test]
fn longitudes_are_from_greenwich_whatever_the_prime_meridian() {
    let from_paris: (&str, &[f64]) = ("longitude_of_prime_meridian", &[2.5]);
    let at = |origin: &'static [f64]| -> [(&str, &[f64]); 3] {
        [
            ("latitude_of_projection_origin", &[40.0]),
            ("longitude_of_projection_origin", origin),
            from_paris,
        ]
    };
    let position = |origin| {
        let projection = of_cf("lambert_azimuthal_equal_area", &at(origin)).unwrap();
        projection.to_degrees([0.0, 0.0]).unwrap()
    };
    for (found, longitude) in [(position(&[-100.0]), -97.5), (position(&[179.0]), -178.5)] {
        assert!((found[0] - longitude).abs() < 1e-9 && (found[1] - 40.0).abs() < 1e-9, "{found:?}");
    }
    let pole: [(&str, &[f64]); 2] =
        [("grid_north_pole_longitude", &[-162.0]), ("grid_north_pole_latitude", &[39.25])];
    let of = |numbers: &[(&str, &[f64])]| {
        let projection = of_cf("rotated_latitude_longitude", numbers).unwrap();
        projection.to_degrees([10.0, 5.0]).unwrap()
    };
    let (own, moved) = (of(&pole), of(&[&pole[..], &[from_paris]].concat()));
    assert!((moved[0] - own[0] - 2.5).abs() < 1e-12 && moved[1] == own[1], "{own:?} {moved:?}");
}

#[test]
fn an_inverse_flattening_of_0_is_a_sphere() {
    let polar: [(&str, &[f64]); 4] = [
        ("straight_vertical_longitude_from_pole", &[58.0]),
        ("latitude_of_projection_origin", &[90.0]),
        ("standard_parallel", &[60.0]),
        ("inverse_flattening", &[0.0]),
    ];
    let (text, position, degrees, _) = PROJ[0];
    assert!(text.contains("+a=6371000 +b=6371000"));
    for radius in ["earth_radius", "semi_major_axis"] {
        let numbers = [&polar[..], &[(radius, &[6_371_000.0][..])]].concat();
        let found = of_cf("polar_stereographic", &numbers).unwrap().to_degrees(position).unwrap();
        assert!((0..2).all(|d| (found[d] - degrees[d]).abs() < 1e-9), "{radius}: {found:?}");
    }
}

#[test]
fn axes_turn_with_the_longitude_also_across_the_pole() {
    let projection = of_text("+proj=stere +lat_0=90 +lat_ts=60 +lon_0=58 +R=6371000");
    for position in [[1e6, 2e6], [-3e5, 1e4], [0.0, 2e6], [1.0, -1.0]] {
        let [longitude, _] = projection.to_degrees(position).unwrap();
        let turned = (58.0 - longitude).to_radians();
        let angle = angle_at(&projection, position);
        assert!(
            (angle - turned).sin().abs() < 1e-9 && (angle - turned).cos() > 0.0,
            "{position:?}"
        );
    }
    let conic = of_text("+proj=lcc +lat_1=63 +lat_0=63 +lon_0=15 +R=6371000");
    let [longitude, _] = conic.to_degrees([4e5, -2e5]).unwrap();
    let turned = (15.0 - longitude).to_radians() * 63_f64.to_radians().sin();
    assert!((angle_at(&conic, [4e5, -2e5]) - turned).abs() < 1e-9);
}

/// The largest difference in degrees is that of PROJ 9.5. By PROJ, too, the longitudes and latitudes of the first
/// file are those of points 17 km from its x and y.
#[test]
fn longitudes_and_latitudes_of_real_files_are_met() {
    for (file, axes, velocity, expected) in [
        ("Arctic20_1to5Feb_2016.nc", ["X", "Y"], "u", 0.160_231_443_393_17),
        ("AROME_MetCoOp_00_DEF_20160114_subset.nc", ["x", "y"], "x_wind_10m", 0.0),
    ] {
        let Some(path) = requirements::flow_data(&format!("ocean/{file}")) else { return };
        let store = open(path).unwrap();
        let read = |name: &str| {
            let variable = store.find(name).unwrap();
            let slab: Vec<Span> = variable.shape().into_iter().map(Span::all).collect();
            let factor = if variable.text("units") == Some("km") { 1e3 } else { 1.0 };
            let values = store.read(variable, &slab).unwrap().into_f64();
            values.into_iter().map(|value| factor * value).collect::<Vec<_>>()
        };
        let [x, y] = axes.map(read);
        let [longitude, latitude] = ["longitude", "latitude"].map(read);
        let projection = Projection::of(&*store, store.find(velocity).unwrap()).unwrap().unwrap();
        let mut worst = 0_f64;
        for (node, (longitude, latitude)) in longitude.iter().zip(&latitude).enumerate() {
            let found = projection.to_degrees([x[node % x.len()], y[node / x.len()]]).unwrap();
            worst = worst.max((found[1] - latitude).abs());
            worst = worst.max((found[0] - longitude).abs() * latitude.to_radians().cos());
        }
        assert!((worst - expected).abs() < 1e-11, "{file}: {worst}");
    }
}

#[test]
fn what_is_missing_of_a_projection_is_named() {
    let north: (&str, &[f64]) = ("latitude_of_projection_origin", &[90.0]);
    let east: (&str, &[f64]) = ("longitude_of_projection_origin", &[0.0]);
    let error = |name, of: &[(&str, &[f64])]| of_cf(name, of).unwrap_err();
    assert!(
        error("polar_stereographic", &[north]).contains("`straight_vertical_longitude_from_pole`")
    );
    assert!(
        error("polar_stereographic", &[north, east])
            .contains("`standard_parallel` or `scale_factor")
    );
    assert!(error("vertical_perspective", &[]).contains("known are polar_stereographic"));
    assert!(error("rotated_latitude_longitude", &[]).contains("`grid_north_pole_latitude`"));
    let unknown = Projection::read(&mapping("", &[], "+proj=nowhere")).unwrap_err();
    assert!(unknown.contains("`+proj=nowhere`"), "{unknown}");
    let flat = of_cf("lambert_azimuthal_equal_area", &[north, east]).unwrap();
    assert!(flat.notes()[0].contains("WGS 84") && flat.to_degrees([9e7, 0.0]).is_err());
    let none = |name, text| Projection::read(&mapping(name, &[], text)).unwrap().is_none();
    assert!(none("latitude_longitude", "") && none("", "+proj=longlat +ellps=WGS84"));
}

/// A grid around the north pole, whose velocities are 2 along x and 1 along y.
#[test]
fn velocities_along_x_and_y_are_turned_to_east_and_north() {
    let (x, y) = ([-1500.0, -500.0, 500.0, 1500.0], [-1000.0, -200.0, 1500.0]);
    let proj = "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=58 +R=6371000";
    let crs = json!({ "grid_mapping_name": "polar_stereographic", "proj4_string": proj });
    let of = |standard: &str| json!({ "units": "m/s", "standard_name": standard, "grid_mapping": "crs" });
    let axis = |axis: &str| json!({ "units": "km", "standard_name": format!("projection_{axis}_coordinate") });
    let mesh_of = |names: [&str; 2]| {
        let group = Group::new();
        group
            .add("x", "x 4", &x, axis("x"))
            .add("y", "y 3", &y, axis("y"))
            .add_table("crs", "", &[0.0], crs.clone())
            .add("u", "y 3 x 4", &[2.0; 12], of(names[0]))
            .add("v", "y 3 x 4", &[1.0; 12], of(names[1]));
        let store = group.store();
        let mesh = CfMesh::of_model(&*store, &MeshRequest::default()).unwrap();
        let values = mesh.read(&*store, 0, &[]).unwrap().velocity.into_f64();
        (mesh, values)
    };
    let (mesh, values) = mesh_of(["x_wind", "y_wind"]);
    assert!(mesh.is_in_degrees && mesh.global.is_some());
    let note = "`x` and `y` are converted to longitude and latitude";
    assert!(mesh.notes().iter().any(|of| of.starts_with(note)), "{:?}", mesh.notes());
    let projection = of_text(proj);
    let nodes = (0..12).map(|node| [1e3 * x[node % 4], 1e3 * y[node / 4]]);
    let all: Vec<[f64; 2]> = nodes.map(|node| projection.to_degrees(node).unwrap()).collect();
    for (point, velocity) in mesh.points.iter().zip(values.chunks(3)) {
        let turn = |x: f64| (x - point[0]) - 360.0 * ((x - point[0]) / 360.0).round();
        let is_at = |at: &&[f64; 2]| turn(at[0]).abs() < 1e-9 && (at[1] - point[1]).abs() < 1e-9;
        assert!(all.iter().any(|at| is_at(&at)), "{point:?}");
        let (sin, cos) = (58.0 - point[0]).to_radians().sin_cos();
        let expected = [2.0 * cos - sin, 2.0 * sin + cos, 0.0];
        assert!(
            (0..3).all(|d| (velocity[d] - expected[d]).abs() < 1e-8),
            "{point:?}: {velocity:?}"
        );
    }
    let (_, values) = mesh_of(["eastward_wind", "northward_wind"]);
    assert!(values.chunks(3).all(|velocity| velocity == [2.0, 1.0, 0.0]));
}

/// A text, a position, its longitude and latitude, and the angle of the x axis in degrees.
type Projected = (&'static str, [f64; 2], [f64; 2], f64);

#[rustfmt::skip]
const PROJ: [Projected; 7] = [
    ("+proj=stere +a=6371000 +b=6371000 +lat_0=90 +lat_ts=60 +lon_0=58", [-1234567.0, 2345678.0], [-94.241466445951, 64.861097518061], 152.24146647),
    ("+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +ellps=WGS84", [-1234567.0, -345678.0], [-119.357786249870, 78.205193425603], 74.35778624),
    ("+proj=lcc +lon_0=15 +lat_0=63 +lat_1=63 +lat_2=63 +R=6371000 +units=m +no_defs", [-400000.0, 700000.0], [4.979799859151, 69.002748569750], 8.92806371),
    ("+proj=utm +zone=33 +datum=WGS84 +towgs84=100,200,300", [310000.0, 7010000.0], [11.225517265195, 63.168943093587], 3.36912315),
    ("+proj=merc +lon_0=-20 +lat_ts=30 +ellps=GRS80", [1234567.0, -2345678.0], [-7.204740437867, -23.754273131358], -0.00000000),
    ("+proj=tmerc +lat_0=10 +lon_0=15 +k=0.9996 +x_0=500000 +ellps=bessel", [610000.0, 2010000.0], [16.120535637797, 28.161603983876], -0.52890130),
    ("+proj=stere +lat_0=90 +k_0=0.9330127018922193 +lon_0=10 +x_0=4100000 +y_0=2570000 +units=km +R=6371000", [3100000.0, 2570000.0], [-80.000000000000, 80.383737012365], 90.00000000),
];

/// The same of `+proj=ob_tran +o_proj=longlat +o_lat_p=39.25 +o_lon_p=0 +lon_0=18 +R=1`.
#[rustfmt::skip]
const ROTATED: [([f64; 2], [f64; 2], f64); 3] = [

    ([0.0, 0.0], [18.000000000000, 50.750000000000], 0.00000000),
    ([10.0, 5.0], [35.363765110750, 54.574485426142], -13.41428373),
    ([-20.5, -12.25], [-6.718034068838, 35.070969910946], 19.35130020),
];

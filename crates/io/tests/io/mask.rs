//! Land by a variable, in the files of the velocity and in others.

use crate::support::{folder, image};
use crate::zarr::write_array;
use burntrace_core::{FrameSource, GridSource};
use burntrace_io::series::{Association, LandMask, MaskFile};
use burntrace_io::{Crop, MeshSeries, Series, SeriesOptions};
use serde_json::{Value, json};
use std::path::Path;

const DEPTHS: [f64; 3] = [0.5, 1.5, 3.0];

/// Writes axes in degrees, depths and times.
fn axes(group: &Path, lon: &[f64], lat: &[f64], depth: &[f64]) {
    let axes: [(&str, &[f64], Value); 3] = [
        ("lon", lon, json!({ "units": "degrees_east" })),
        ("lat", lat, json!({ "units": "degrees_north" })),
        ("depth", depth, json!({ "units": "m", "positive": "down" })),
    ];
    for (name, values, attributes) in axes {
        write_array(group, name, &[(name, values.len())], values, attributes);
    }
}

/// Two frames of a sea of 4 x 3 x 3 nodes from 350°E and 40°N, with latitudes from the north, and a mask for all levels that is 0
/// at 351°E, 41°N.
fn sea(group: &Path) {
    axes(group, &[350.0, 351.0, 352.0, 353.0], &[42.0, 41.0, 40.0], &DEPTHS);
    write_array(
        group,
        "time",
        &[("time", 2)],
        &[0.0, 1.0],
        json!({ "units": "days since 2024-01-01" }),
    );
    let sizes = [("time", 2), ("depth", 3), ("lat", 3), ("lon", 4)];
    for (name, standard) in [("uo", "eastward"), ("vo", "northward")] {
        let attributes =
            json!({ "units": "m s-1", "standard_name": format!("{standard}_sea_water_velocity") });
        write_array(group, name, &sizes, &[1.0; 72], attributes);
    }
    let mut mask = [1.0; 12];
    mask[5] = 0.0;
    write_array(group, "mask", &sizes[2..], &mask, json!({}));
    let sometimes = [&mask[..], &[1.0; 12]].concat();
    write_array(group, "wet", &[("time", 2), ("lat", 3), ("lon", 4)], &sometimes, json!({}));
}

/// A mask of other files: the nodes of the sea among others, in another turn and another order, with land at 352°E, 41°N from 1 m
/// downward by the number 0, and at 350°E, 42°N by a missing value.
fn statics(group: &Path) {
    let (lon, lat): (Vec<f64>, Vec<f64>) =
        ((-12..=-2).map(f64::from).collect(), (38..=43).map(|x| f64::from(x) + 1e-6).collect());
    axes(group, &lon, &lat, &[0.5, 1.5, 3.0, 6.0]);
    let mut mask = vec![1.0; 4 * 6 * 11];
    for k in 0..4 {
        mask[(k * 6 + 3) * 11 + 4] = if k > 0 { 0.0 } else { 1.0 };
        mask[(k * 6 + 4) * 11 + 2] = -9.0;
    }
    // Not in the sea.
    mask[0] = 7.0;
    let sizes = [("depth", 4), ("lat", 6), ("lon", 11)];
    write_array(group, "mask", &sizes, &mask, json!({ "missing_value": -9.0 }));
}

fn own(array: &str) -> SeriesOptions {
    SeriesOptions { mask: Some(LandMask::Own(array.into())), ..SeriesOptions::default() }
}

fn other(array: &str, files: &Path) -> SeriesOptions {
    let mask = MaskFile { array: array.into(), files: files.into() };
    SeriesOptions { mask: Some(LandMask::Other(mask)), ..SeriesOptions::default() }
}

/// The positions of the hidden nodes of a frame, whose velocities are NaN.
fn hidden(series: &mut Series, frame: usize) -> Vec<[f64; 3]> {
    let data = series.read(frame).unwrap();
    let [x, y, z] = series.axes();
    let position = |i: usize| [x[i % x.len()], y[i / x.len() % y.len()], z[i / x.len() / y.len()]];
    let all = data.hidden().unwrap().iter().enumerate();
    let hidden: Vec<usize> = all.filter_map(|(i, is_hidden)| is_hidden.then_some(i)).collect();
    for i in 0..x.len() * y.len() * z.len() {
        assert_eq!(data.velocity.vector(i)[0].is_nan(), hidden.contains(&i), "{i}");
    }
    hidden.into_iter().map(position).collect()
}

#[test]
fn a_mask_of_one_level_is_land_at_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sea.zarr");
    sea(&path);
    let mut series = Series::open(path.as_path(), &own("mask")).unwrap();
    let expected = [-3.0, -1.5, -0.5].map(|z| [351.0, 41.0, z]);
    assert_eq!([hidden(&mut series, 0), hidden(&mut series, 1)], [expected; 2]);
    assert!(!series.info().notes.iter().any(|note| note.contains("first time")));
    let sometimes = Series::open(path.as_path(), &own("wet")).unwrap();
    assert!(sometimes.info().notes.contains(&"the mask `wet` is read at its first time".into()));
}

#[test]
fn a_mask_of_another_file_belongs_to_nodes_by_their_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let [path, files] = ["sea.zarr", "static.zarr"].map(|name| folder.path().join(name));
    sea(&path);
    statics(&files);
    let options = other("mask", &files);
    let mut series = Series::open(path.as_path(), &options).unwrap();
    let land = [
        [352.0, 41.0, -3.0],
        [350.0, 42.0, -3.0],
        [352.0, 41.0, -1.5],
        [350.0, 42.0, -1.5],
        [350.0, 42.0, -0.5],
    ];
    assert_eq!(hidden(&mut series, 1), land);
    let crop = Some(Crop { low: Some([351.5, 40.0, -2.0]), high: None });
    let mut part = Series::open(path.as_path(), &SeriesOptions { crop, ..options }).unwrap();
    assert_eq!(part.axes().each_ref().map(Vec::len), [3, 3, 3]);
    assert_eq!(hidden(&mut part, 0), [land[0], land[2]]);
}

#[test]
fn masks_of_images_are_at_the_points_or_in_the_cells() {
    let velocity = |on, count: usize| (on, "Float32", "U", 3, vec![1.0; 3 * count]);
    let mask =
        |on, count| (on, "UInt8", "mask", 1, (0..count).map(|i| f64::from(i != 1)).collect());
    let file =
        |velocity, masks: &[_]| image([3, 3, 1], [1.0; 3], None, &[&[velocity], masks].concat());
    let folder = folder(&[
        ("points.vti", file(velocity("point", 9), &[mask("point", 9), mask("cell", 4)])),
        ("cells.vti", file(velocity("cell", 4), &[mask("point", 9), mask("cell", 4)])),
        ("other.vti", file(velocity("cell", 4), &[mask("point", 9)])),
    ]);
    let path = |name: &str| folder.path().join(name);
    let mut points = Series::open(path("points.vti"), &own("mask")).unwrap();
    assert_eq!(hidden(&mut points, 0), [[1.0, 0.0, 0.0]]);
    for options in [own("mask"), other("mask", &path("points.vti"))] {
        let cells = Series::open(path("cells.vti"), &options).unwrap();
        assert_eq!(cells.velocity().association, Association::Cell);
        let frame = cells.read_frame(0).unwrap();
        assert_eq!(frame.hidden(), Some(&[false, true, false, false][..]));
    }
    let message = Series::open(path("other.vti"), &own("mask")).unwrap_err().to_string();
    assert!(message.contains("`mask` is a point array of 1 components; give a cell"), "{message}");
    let message = Series::open(path("points.vti"), &own("U")).unwrap_err().to_string();
    assert!(message.contains("`U` is a point array of 3 components"), "{message}");
    let message = MeshSeries::open(path("points.vti"), &own("mask")).unwrap_err().to_string();
    assert!(message.contains("`mask`") && message.contains("\"grid\""), "{message}");
}

#[test]
fn a_mask_that_does_not_fit_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [path, files] = ["sea.zarr", "static.zarr"].map(|name| folder.path().join(name));
    sea(&path);
    statics(&files);
    let message = |options| Series::open(path.as_path(), &options).unwrap_err().to_string();
    let unknown = message(other("land", &files));
    assert!(unknown.contains("static.zarr") && unknown.contains("`land`"), "{unknown}");
    assert!(unknown.contains("`mask`"), "the variables of the file are listed: {unknown}");
    let missing = message(other("mask", &folder.path().join("none.nc")));
    assert!(missing.contains("none.nc"), "{missing}");
    let mut mask = [1.0; 12];
    mask[7] = 2.0;
    let sizes = [("lat", 3), ("lon", 4)];
    write_array(&path, "mask", &sizes, &mask, json!({}));
    let value = message(own("mask"));
    assert!(value.contains("`mask` is 2 at (353, 41, -3); 0 is land, and 1 is water"), "{value}");
    axes(&files, &(-12..=-2).map(|x| f64::from(x) + 0.01).collect::<Vec<_>>(), &[40.0], &DEPTHS);
    write_array(&files, "mask", &[("lat", 1), ("lon", 11)], &[1.0; 11], json!({}));
    let shifted = message(other("mask", &files));
    assert!(
        shifted.contains("no value at x = 350") && shifted.contains("from -11.99 to -1.99 in 11"),
        "{shifted}"
    );
}

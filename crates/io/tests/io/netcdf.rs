//! Series of NetCDF files and Zarr groups, beside the same field in VTK files.

use crate::support::{data, folder};
use burntrace_core::{Floats, FrameSource, GridSource, MeshSource, Placement};
use burntrace_io::series::{Association, Kind, Staggering, contents};
use burntrace_io::{
    CaseTimes, Crop, Files, Frames, MeshSeries, NamedArray, PointSeries, Series, SeriesOptions,
    TimesFrom, VelocityName, inspect,
};
use std::fmt::Write;

const X: [f64; 5] = [0.0, 0.5, 1.0, 1.5, 2.0];
const Y: [f64; 4] = [-1.0, 0.0, 0.25, 2.0];
const Z: [f64; 3] = [0.0, 0.125, 1.0];

/// The formula of `tests/peers/cf.py`.
fn component(c: usize, [i, j, k]: [usize; 3], t: usize) -> f64 {
    ((7 * i + 11 * j + 13 * k + 17 * t + 5 * c) % 64) as f64 / 8.0 - 4.0
}

/// A frame as a rectilinear grid of VTK.
fn rectilinear(t: usize) -> String {
    let mut values = String::new();
    for node in 0..60 {
        let at = [node % 5, node / 5 % 4, node / 20];
        (0..3).for_each(|c| write!(values, "{} ", component(c, at, t)).unwrap());
    }
    let axis = |nodes: &[f64]| {
        let words: Vec<String> = nodes.iter().map(f64::to_string).collect();
        format!("<DataArray type=\"Float64\" format=\"ascii\">{}</DataArray>", words.join(" "))
    };
    format!(
        "<VTKFile type=\"RectilinearGrid\" version=\"0.1\" byte_order=\"LittleEndian\"><RectilinearGrid \
         WholeExtent=\"0 4 0 3 0 2\"><Piece Extent=\"0 4 0 3 0 2\"><PointData><DataArray type=\"Float32\" \
         Name=\"U\" NumberOfComponents=\"3\" format=\"ascii\">{values}</DataArray></PointData><Coordinates>\
         {}{}{}</Coordinates></Piece></RectilinearGrid></VTKFile>",
        axis(&X),
        axis(&Y),
        axis(&Z)
    )
}

fn cf(name: &str) -> std::path::PathBuf {
    data("cf").join(name)
}

fn options() -> SeriesOptions {
    SeriesOptions::default()
}

#[test]
fn the_same_field_has_the_same_bits_in_vtk_netcdf_and_zarr() {
    let frames = [0, 1, 2].map(|t| (format!("u_{t}.vtr"), rectilinear(t)));
    let folder = folder(&frames.each_ref().map(|(name, text)| (name.as_str(), text.clone())));
    let of_vtk = SeriesOptions { file_dt: Some(0.5), ..Default::default() };
    let mut vtk = Series::open(folder.path().join("u_*.vtr"), &of_vtk).unwrap();
    for name in
        ["classic.nc", "nc4_deflate.nc", "xarray.nc", "v2_blosc_lz4_shuffle.zarr", "v3_zstd.zarr"]
    {
        let mut series = Series::open(cf(name), &options()).unwrap();
        assert_eq!(series.axes(), vtk.axes(), "{name}");
        assert_eq!(series.times(), vtk.times(), "{name}");
        assert_eq!(series.placement(), Placement::Nodes);
        assert_eq!(series.times_from(), TimesFrom::Coordinate);
        for (found, expected) in
            series.read_many(&[2, 0, 1]).into_iter().zip(vtk.read_many(&[2, 0, 1]))
        {
            assert_eq!(found.unwrap().velocity, expected.unwrap().velocity, "{name}");
        }
        assert!(series.read(3).unwrap_err().to_string().contains("no frame 3"));
    }
}

#[test]
fn decreasing_axes_are_reversed_and_missing_values_hidden() {
    let mut series = Series::open(cf("packed.nc"), &options()).unwrap();
    assert_eq!(series.axes(), &[X.to_vec(), Y.to_vec(), Z.to_vec()]);
    assert_eq!(series.times(), [0.0, 0.5, 1.0]);
    let frame = series.read(0).unwrap();
    let hidden = frame.hidden().unwrap();
    for (node, is_hidden) in hidden.iter().enumerate() {
        let at = [node % 5, node / 5 % 4, node / 20];
        assert_eq!(*is_hidden, at == [0, 3, 2]);
        for c in (0..3).filter(|_| !is_hidden) {
            assert_eq!(frame.velocity.get(3 * node + c), component(c, at, 0), "{at:?}");
        }
    }
    let shown = SeriesOptions { ignore_hidden: true, ..options() };
    let frame = Series::open(cf("packed.nc"), &shown).unwrap().read(0).unwrap();
    assert!(frame.hidden().is_none());
    assert_eq!((0..180).filter(|i| frame.velocity.get(*i).is_nan()).count(), 1);
}

#[test]
fn two_components_are_along_the_plane() {
    let mut series = Series::open(cf("vector.nc"), &options()).unwrap();
    assert_eq!(series.info().velocity_axes, ['x', 'y']);
    assert_eq!(series.axes()[2], [0.0]);
    let frame = series.read(1).unwrap();
    assert_eq!(
        frame.velocity.vector(7),
        [component(0, [2, 1, 0], 1), component(1, [2, 1, 0], 1), 0.0]
    );
}

#[test]
fn frames_of_several_files_are_selected_by_time() {
    let folder = tempfile::tempdir().unwrap();
    // The same times in two files.
    for name in ["a.nc", "b.nc"] {
        std::fs::copy(cf("nc4.nc"), folder.path().join(name)).unwrap();
    }
    let both = Files::from(folder.path().join("*.nc"));
    let message = Series::open(both.clone(), &options()).unwrap_err().to_string();
    assert!(
        message.contains("a.nc` is at 0 and the next file") && message.contains("b.nc"),
        "{message}"
    );
    let times = CaseTimes::Steps { start: 0.0, step: 0.25 };
    let frames = Frames { every: 2, ..Default::default() };
    let options =
        SeriesOptions { times: Some(times), ignore_file_times: true, frames, ..options() };
    let mut series = Series::open(both, &options).unwrap();
    assert_eq!(series.times(), [0.0, 0.5, 1.0]);
    let velocity = series.read(2).unwrap().velocity;
    assert_eq!(
        velocity.get(0),
        component(0, [0; 3], 1),
        "frame 4 is the second of the second file"
    );
    let names: Vec<_> = series.paths().iter().map(|path| path.file_name().unwrap()).collect();
    assert_eq!(names, ["a.nc", "a.nc", "b.nc"]);
}

#[test]
fn variables_are_sampled_beside_the_velocity() {
    let velocity = VelocityName::Components(["u", "v", "w"].map(String::from));
    let with_velocity = SeriesOptions { velocity, ..options() };
    let arrays = [NamedArray { array: "w".into(), name: "vertical".into() }];
    let series = Series::open(cf("v3_gzip.zarr"), &with_velocity).unwrap();
    let mut series = series.with_arrays(&arrays).unwrap();
    let frame = series.read(2).unwrap();
    let Floats::F32(w) = &frame.arrays[0] else { panic!("single precision is kept") };
    assert_eq!(f64::from(w[23]), component(2, [3, 0, 1], 2));
    let alone =
        SeriesOptions { velocity: VelocityName::None, arrays: arrays.to_vec(), ..options() };
    let mut series = Series::open(cf("v3_gzip.zarr"), &alone).unwrap();
    assert!(!series.has_velocity());
    assert_eq!(series.read(2).unwrap().arrays, frame.arrays);
    let contents = contents(&cf("v3_gzip.zarr").into()).unwrap();
    assert_eq!(contents.kind, Kind::RectilinearGrid);
    let w = contents.arrays.iter().find(|array| array.name == "w").unwrap();
    assert_eq!((w.association.as_str(), w.components, w.tuples), ("point", 1, 60));
}

#[test]
fn a_series_is_described_with_dimensions_units_and_origin() {
    let info = inspect(cf("packed.nc"), &options()).unwrap();
    assert_eq!(info.problems, [] as [String; 0]);
    assert_eq!((info.files_found, info.hidden, info.not_finite), (3, Some(1), Some(0)));
    assert_eq!(
        info.time_origin.unwrap().to_string(),
        "seconds since 2000-01-01T00:00:00 (calendar 360_day)"
    );
    let u = info.arrays.iter().find(|array| array.name == "u").unwrap();
    assert_eq!(u.units.as_deref(), Some("cm s-1"));
    assert_eq!(u.dimensions.as_ref().unwrap()[1], ("time".into(), 3));
    assert!(info.notes.iter().any(|note| note == "`easting` is converted from km to m"));
    let sphere = inspect(cf("degrees.nc"), &options()).unwrap();
    assert_eq!((sphere.interpolations, sphere.problems.len()), (vec!["grid"], 0));
    assert_eq!(sphere.arrays.len(), 4);
    let json = serde_json::to_value(sphere.geometry).unwrap();
    assert_eq!(json, serde_json::json!({ "degrees": { "global": null } }));
}

#[test]
fn what_needs_points_or_cells_names_the_interpolation() {
    let points = PointSeries::open(cf("v3_zstd.zarr"), &options()).unwrap_err().to_string();
    assert!(points.contains("interpolation = \"grid\""), "{points}");
    let cells = SeriesOptions { prefer: Some(Association::Cell), ..options() };
    let message = Series::open(cf("nc4.nc"), &cells).unwrap_err().to_string();
    assert!(message.contains("`prefer`"), "{message}");
}

/// Each cell between nodes is a hexahedron.
#[test]
fn a_grid_with_axes_is_a_mesh_too() {
    let series = MeshSeries::open(cf("nc4.nc"), &options()).unwrap();
    assert_eq!((series.points().len(), series.cells().len()), (60, 4 * 3 * 2));
    let axes = Series::open(cf("nc4.nc"), &options()).unwrap().axes().clone();
    let index = |d: usize, x: f64| axes[d].iter().position(|node| *node == x).unwrap();
    for t in 0..3 {
        let frame = series.read_frame(t).unwrap();
        for (i, point) in series.points().iter().enumerate() {
            let at = [0, 1, 2].map(|d| index(d, point[d]));
            let expected = [0, 1, 2].map(|c| component(c, at, t));
            assert_eq!(frame.velocity.vector(i), expected);
        }
    }
    let times = Some(CaseTimes::Steps { start: 0.0, step: 1.0 });
    let several = SeriesOptions { ignore_file_times: true, times, ..options() };
    let files =
        |names: &[&str]| names.iter().map(|name| cf(name)).collect::<Vec<std::path::PathBuf>>();
    let both = MeshSeries::open(files(&["nc4.nc", "classic.nc"]), &several).unwrap();
    assert_eq!(both.times(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(both.read_frame(4).unwrap(), series.read_frame(1).unwrap());
    let flat = SeriesOptions { velocity: VelocityName::Plane(["u".into(), "v".into()]), ..several };
    let error = MeshSeries::open(files(&["nc4.nc", "packed.nc"]), &flat).unwrap_err().to_string();
    assert!(error.contains("packed.nc"), "{error}");
    let model = SeriesOptions { staggering: Some(Staggering::A), ..options() };
    let message = Series::open(cf("nc4.nc"), &model).unwrap_err().to_string();
    assert!(
        message.contains("`staggering`, `convention`, `corners` and `follow_levels` are for"),
        "{message}"
    );
}

/// Image data of the same formula at 5 x 4 x 3 nodes.
fn image(t: usize) -> String {
    let values: Vec<f64> = (0..60)
        .flat_map(|node| (0..3).map(move |c| component(c, [node % 5, node / 5 % 4, node / 20], t)))
        .collect();
    let array = ("point", "Float32", "U", 3, values);
    crate::support::image([5, 4, 3], [0.5, 0.5, 0.25], Some(t as f64 / 2.0), &[array])
        .replace("Origin=\"0 0 0\"", "Origin=\"0 -1 0\"")
}

#[test]
fn the_same_image_has_the_same_bits_in_xml_and_vtkhdf() {
    let frames = [0, 1, 2].map(|t| (format!("u_{t}.vti"), image(t)));
    let folder = folder(&frames.each_ref().map(|(name, text)| (name.as_str(), text.clone())));
    let mut xml = Series::open(folder.path().join("u_*.vti"), &options()).unwrap();
    let mut hdf = Series::open(data("vtkhdf/image.vtkhdf"), &options()).unwrap();
    assert_eq!((hdf.axes(), hdf.times()), (xml.axes(), xml.times()));
    assert_eq!(hdf.times_from(), TimesFrom::Steps);
    for (found, expected) in hdf.read_many(&[2, 0, 1]).into_iter().zip(xml.read_many(&[2, 0, 1])) {
        assert_eq!(found.unwrap(), expected.unwrap());
    }
}

#[test]
fn time_steps_of_a_mesh_are_frames() {
    let mut series = MeshSeries::open(data("vtkhdf/steps.vtkhdf"), &options()).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[0.0, 0.5, 1.0][..], TimesFrom::Steps));
    let first = series.read(0).unwrap().velocity;
    let last = series.read(2).unwrap().velocity;
    assert!((0..54).all(|i| last.get(i) == first.get(i) + 1.0));
    let frames = Frames { start: Some(burntrace_io::At::Index(1)), ..Default::default() };
    let later = SeriesOptions { frames, ..options() };
    let mut points = PointSeries::open(data("vtkhdf/steps.vtkhdf"), &later).unwrap();
    assert_eq!(points.times(), [0.5, 1.0]);
    assert_eq!(points.read(1).unwrap().velocity, last);
    let info = inspect(data("vtkhdf/steps.vtkhdf"), &options()).unwrap();
    assert_eq!((info.problems.len(), info.files_found, info.files.len()), (0, 3, 3));
    let given = SeriesOptions {
        times: Some(CaseTimes::List(vec![1.0, 2.0, 4.0])),
        ignore_file_times: true,
        ..options()
    };
    let series = MeshSeries::open(data("vtkhdf/steps.vtkhdf"), &given).unwrap();
    assert_eq!(series.times(), [1.0, 2.0, 4.0]);
}

#[test]
fn a_mesh_that_moves_in_its_time_steps_is_refused() {
    let mut series = MeshSeries::open(data("vtkhdf/moves.vtkhdf"), &options()).unwrap();
    series.read(0).unwrap();
    let message = series.read(2).unwrap_err().to_string();
    assert!(message.contains("frame 2") && message.contains("is not on the mesh"), "{message}");
}

#[test]
fn files_with_and_without_time_steps_are_no_series() {
    let files = ["vtkhdf/steps.vtkhdf", "vtkhdf/one.vtkhdf"].map(data).to_vec();
    let message = MeshSeries::open(files, &options()).unwrap_err().to_string();
    assert!(message.contains("one.vtkhdf` has no `TimeValue`"), "{message}");
}

#[test]
fn a_part_of_a_grid_has_the_same_values_in_all_formats() {
    let frames = [0, 1, 2].map(|t| (format!("u_{t}.vtr"), rectilinear(t)));
    let folder = folder(&frames.each_ref().map(|(name, text)| (name.as_str(), text.clone())));
    let crop = Crop { low: Some([0.6, -0.5, 0.0]), high: Some([2.0, 0.2, 0.5]) };
    let (crop, every) = (Some(crop), Some([2, 1, 1]));
    let part = SeriesOptions { crop, every, ..options() };
    let of_vtk = SeriesOptions { file_dt: Some(0.5), ..part.clone() };
    let vtk = Series::open(folder.path().join("u_*.vtr"), &of_vtk).unwrap();
    let cf = ["classic.nc", "v3_gzip.zarr", "packed.nc"]
        .map(|name| Series::open(cf(name), &part).unwrap());
    for mut series in cf.into_iter().chain([vtk]) {
        assert_eq!(series.axes(), &[vec![0.5, 1.5], Y[..3].to_vec(), Z.to_vec()]);
        let notes = series.info().notes.join("\n");
        assert!(notes.contains("x = 1.5"), "{notes}");
        let velocity = series.read(1).unwrap().velocity;
        assert_eq!(velocity.len(), 3 * 18);
        for i in 0..54 {
            let node = i / 3;
            let at = [1 + 2 * (node % 2), node / 2 % 3, node / 6];
            assert_eq!(velocity.get(i), component(i % 3, at, 1), "{at:?}");
        }
    }
    let outside = Crop { low: Some([3.0, 0.0, 0.0]), high: None };
    let outside = SeriesOptions { crop: Some(outside), ..options() };
    let message = Series::open(cf_file(), &outside).unwrap_err().to_string();
    assert!(message.contains("nc4.nc") && message.contains("from 0 to 2; give"), "{message}");
    let message = MeshSeries::open(data("vtkhdf/one.vtkhdf"), &part).unwrap_err().to_string();
    assert!(message.contains("`crop`"), "{message}");
}

fn cf_file() -> std::path::PathBuf {
    cf("nc4.nc")
}

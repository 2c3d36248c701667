use crate::requirements::flow_data;
use crate::support::{ArrayText, data, folder, frame, image};
use burntrace_core::{Floats, FrameData, FrameSource, GridSource, Placement};
use burntrace_io::series::Association;
use burntrace_io::{
    At, CaseTimes, Files, Frames, Series, SeriesOptions, TimesFrom, VelocityName, inspect,
};
use std::path::{Path, PathBuf};

fn with_velocity(name: &str) -> SeriesOptions {
    SeriesOptions { velocity: VelocityName::Array(name.into()), ..Default::default() }
}

fn file_dt(dt: f64) -> SeriesOptions {
    SeriesOptions { file_dt: Some(dt), ..Default::default() }
}

fn error(files: impl Into<Files>, options: &SeriesOptions) -> String {
    Series::open(files, options).unwrap_err().to_string()
}

fn single(frame: FrameData) -> Vec<f32> {
    match frame.velocity {
        Floats::F32(values) => values,
        Floats::F64(_) => panic!("expected single precision"),
    }
}

fn double(frame: FrameData) -> Vec<f64> {
    match frame.velocity {
        Floats::F32(_) => panic!("expected double precision"),
        Floats::F64(values) => values,
    }
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
}

/// A file with arrays on 3 x 2 x 1 nodes, i.e. 2 x 1 x 1 cells.
fn one(arrays: &[crate::support::ArrayText<'_>]) -> (tempfile::TempDir, PathBuf) {
    let folder = folder(&[("one.vti", image([3, 2, 1], [1.0; 3], None, arrays))]);
    let path = folder.path().join("one.vti");
    (folder, path)
}

#[test]
fn a_series_written_by_vtk_is_read() {
    let mut series = Series::open(data("series/u_*.vti"), &with_velocity("velocity")).unwrap();
    assert_eq!(names(series.paths()), ["u_2.vti", "u_9.vti", "u_10.vti"]);
    assert_eq!(series.times(), [0.2, 0.9, 1.0]);
    assert_eq!(series.times_from(), TimesFrom::TimeValue);
    assert_eq!(series.times_from().to_string(), "TimeValue in the files");
    assert_eq!(series.placement(), Placement::Nodes);
    assert_eq!(series.axes()[0], [0.5, 1.0, 1.5, 2.0]);
    assert_eq!(series.axes()[2], [2.0, 4.0]);
    let values = single(series.read(1).unwrap());
    assert_eq!(values.len(), 24 * 3);
    // Node (1, 2, 0).
    assert_eq!(values[27..30], [9.0, 1.0, -0.5]);
    assert!(series.read(3).unwrap_err().to_string().contains("no frame 3"));
    let info = series.info();
    assert_eq!((info.device_bytes_f32, info.device_bytes_f64), (3 * 24 * 16, 3 * 24 * 32));
    assert_eq!((info.points, info.cells, info.dims), (24, 6, Some([4, 3, 2])));
    assert_eq!(info.axes[1].spacing, Some(0.25));
    let json = serde_json::to_value(info).unwrap();
    assert_eq!(json["times_from"], "TimeValue in the files");
    assert_eq!(json["velocity"]["association"], "point");
}

#[test]
fn cell_data_is_read() {
    let series = Series::open(data("series/u_2.vti"), &with_velocity("slow")).unwrap();
    assert_eq!(series.placement(), Placement::Cells);
    let values = double(series.read_frame(0).unwrap());
    assert_eq!(values.len(), 6 * 3);
    assert_eq!(values[15..], [2.0, 0.0, 5.0]);
}

#[test]
fn a_pvd_has_files_and_times() {
    let entry = |time: f64, file: &str| format!("<DataSet timestep=\"{time}\" file=\"{file}\"/>");
    let pvd = format!(
        "<VTKFile><Collection>{}{}</Collection></VTKFile>",
        entry(7.5, "a.vti"),
        entry(2.5, "b.vti")
    );
    let folder =
        folder(&[("run.pvd", pvd), ("a.vti", frame(1.0, Some(0.0))), ("b.vti", frame(2.0, None))]);
    let path = folder.path().join("run.pvd");
    let series = Series::open(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[2.5, 7.5][..], TimesFrom::Pvd));
    assert_eq!(single(series.read_frame(0).unwrap())[0], 2.0);
    let case = SeriesOptions {
        times: Some(CaseTimes::List(vec![1.0, 2.0])),
        ignore_file_times: true,
        ..Default::default()
    };
    let series = Series::open(path.as_path(), &case).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[1.0, 2.0][..], TimesFrom::Case));
    let several: Files = vec![path.clone(), folder.path().join("a.vti")].into();
    assert!(
        error(several, &SeriesOptions::default()).contains("is a collection among other files")
    );
}

#[test]
fn times_are_taken_from_the_first_available_source() {
    let folder = folder(&[
        ("t_1.vti", frame(1.0, Some(0.5))),
        ("t_2.vti", frame(2.0, Some(0.75))),
        ("n_10.vti", frame(10.0, None)),
        ("n_2.vti", frame(2.0, None)),
    ]);
    let open = |pattern: &str, options: SeriesOptions| {
        Series::open(folder.path().join(pattern), &options).unwrap()
    };
    let all_sources = SeriesOptions {
        times: Some(CaseTimes::Steps { start: 5.0, step: 1.0 }),
        file_dt: Some(0.1),
        ..Default::default()
    };
    assert_eq!(open("t_*.vti", all_sources.clone()).times_from(), TimesFrom::TimeValue);
    let ignoring = SeriesOptions { ignore_file_times: true, ..all_sources.clone() };
    let series = open("t_*.vti", ignoring);
    assert_eq!(series.times_from().to_string(), "file numbers x 0.1");
    assert_eq!(series.times(), [0.1, 0.2]);
    let series = open("n_*.vti", SeriesOptions { file_dt: None, ..all_sources });
    assert_eq!(
        (series.times(), series.times_from().to_string()),
        (&[5.0, 6.0][..], "the case file".into())
    );
    assert_eq!(names(series.paths()), ["n_2.vti", "n_10.vti"]);
    let series = open("n_2.vti", SeriesOptions::default());
    assert_eq!(
        (series.times(), series.times_from().to_string()),
        (&[0.0][..], "a single frame".into())
    );
    let message = error(folder.path().join("n_*.vti"), &SeriesOptions::default());
    assert!(message.starts_with("there are 2 files") && message.contains("file_dt"), "{message}");
    let message = error(folder.path().join("*_*.vti"), &SeriesOptions::default());
    assert!(
        message.contains("n_2.vti` has no `TimeValue`") && message.contains("t_1.vti` has"),
        "{message}"
    );
}

#[test]
fn equal_times_are_refused() {
    let folder = folder(&[("a.vti", frame(1.0, Some(0.5))), ("b.vti", frame(2.0, Some(0.5)))]);
    let message = error(folder.path().join("*.vti"), &SeriesOptions::default());
    assert!(message.contains("same_times"), "{message}");
}

#[test]
fn frames_are_selected() {
    let files: Vec<(String, String)> =
        (0..6).map(|i| (format!("u_{i}.vti"), frame(f64::from(i), None))).collect();
    let files: Vec<(&str, String)> = files.iter().map(|(n, t)| (n.as_str(), t.clone())).collect();
    let folder = folder(&files);
    let mut options = file_dt(0.1);
    options.frames =
        Frames { start: Some(At::Time(0.1)), stop: Some(At::Index(-2)), every: 2, max: None };
    let series = Series::open(folder.path().join("u_*.vti"), &options).unwrap();
    assert_eq!(names(series.paths()), ["u_1.vti", "u_3.vti"]);
    assert_eq!((series.info().files_found, series.info().files.len()), (6, 2));
    options.frames = Frames { start: Some(At::Time(3.0)), ..Default::default() };
    let message = error(folder.path().join("u_*.vti"), &options);
    assert!(
        message.contains("`start = 3.0` matches no frame") && message.contains("6 frames"),
        "{message}"
    );
}

#[test]
fn the_only_vector_is_the_velocity() {
    let scalar = ("point", "Float32", "p", 1, vec![0.0; 6]);
    let colour = ("point", "UInt8", "colour", 3, vec![7.0; 18]);
    let flat = ("point", "Float64", "flat", 2, [1.5, 2.5].repeat(6));
    let full = ("cell", "Float64", "U", 3, vec![1.0; 6]);
    let open = |arrays: &[_]| {
        let (_folder, path) = one(arrays);
        let series = Series::open(path, &SeriesOptions::default()).unwrap();
        (series.velocity().to_string(), series.read_frame(0).unwrap())
    };
    let (name, values) = open(&[scalar.clone(), colour.clone(), flat.clone()]);
    assert_eq!(name, "flat (point)");
    assert_eq!(double(values)[..6], [1.5, 2.5, 0.0, 1.5, 2.5, 0.0]);
    let (name, values) = open(&[scalar.clone(), colour.clone(), flat.clone(), full.clone()]);
    assert_eq!((name.as_str(), double(values).len()), ("U (cell)", 6));
    let (name, values) = open(&[scalar.clone(), colour]);
    assert_eq!((name.as_str(), single(values)[0]), ("colour (point)", 7.0));
    let (_folder, path) = one(&[scalar]);
    let message = error(path, &SeriesOptions::default());
    assert!(
        message.contains("no vector") && message.contains("`p` (point, 1 x Float32)"),
        "{message}"
    );
}

#[test]
fn an_ambiguous_velocity_is_refused() {
    let arrays = [
        ("point", "Float32", "U", 3, vec![1.0; 18]),
        ("cell", "Float64", "U", 3, vec![2.0; 6]),
        ("point", "Int32", "T", 1, vec![2.0; 6]),
    ];
    let (_folder, path) = one(&arrays);
    let options = |velocity, prefer| SeriesOptions { velocity, prefer, ..Default::default() };
    for velocity in [VelocityName::Auto, VelocityName::Array("U".into())] {
        let message = error(path.as_path(), &options(velocity.clone(), None));
        assert!(message.contains("is both a point and a cell array"), "{message}");
        for prefer in [Association::Point, Association::Cell] {
            let series =
                Series::open(path.as_path(), &options(velocity.clone(), Some(prefer))).unwrap();
            assert_eq!(series.velocity().association, prefer);
        }
    }
    let message = error(path.as_path(), &with_velocity("V"));
    let list =
        "its arrays: `U` (point, 3 x Float32), `T` (point, 1 x Int32), `U` (cell, 3 x Float64)";
    assert!(message.contains("no array `V`") && message.ends_with(list), "{message}");
    let message = error(path.as_path(), &with_velocity("T"));
    assert!(message.contains("`T` has 1 component, a velocity has 3, or 2"), "{message}");
    let message = error(data("series/u_2.vti"), &SeriesOptions::default());
    assert!(message.contains("several vectors, velocity (point), slow (cell)"), "{message}");
}

#[test]
fn two_arrays_of_the_same_name_are_refused() {
    let array = |value: f64| ("point", "Float32", "U", 3, vec![value; 18]);
    let (_folder, path) = one(&[array(1.0), array(2.0)]);
    for velocity in [VelocityName::Auto, VelocityName::Array("U".into())] {
        let options = SeriesOptions { velocity, ..Default::default() };
        let message = error(path.as_path(), &options);
        assert!(message.contains("it has two point arrays `U`; rename one of them"), "{message}");
    }
}

#[test]
fn a_velocity_is_read_from_three_scalars() {
    let scalar = |on, kind, name, value: f64, n| (on, kind, name, 1, vec![value; n]);
    let (_folder, path) = one(&[
        scalar("point", "Float32", "u", 1.0, 6),
        scalar("point", "Int16", "v", 2.0, 6),
        scalar("point", "Float64", "w", 3.0, 6),
        scalar("cell", "Float32", "c", 3.0, 2),
    ]);
    let options = |names: [&str; 3]| SeriesOptions {
        velocity: VelocityName::Components(names.map(String::from)),
        ..Default::default()
    };
    let series = Series::open(path.as_path(), &options(["u", "v", "w"])).unwrap();
    assert_eq!(double(series.read_frame(0).unwrap())[..4], [1.0, 2.0, 3.0, 1.0]);
    let series = Series::open(path.as_path(), &options(["u", "v", "v"])).unwrap();
    assert_eq!(single(series.read_frame(0).unwrap())[..4], [1.0, 2.0, 2.0, 1.0]);
    assert_eq!(series.info().velocity.as_ref().unwrap().arrays, ["u", "v", "v"]);
    let message = error(path.as_path(), &options(["u", "v", "c"]));
    assert!(message.contains("no arrays `u`, `v`, `c` that are all at the points"), "{message}");
}

#[test]
fn two_scalars_are_along_the_axes_of_the_plane() {
    let scalar = |name, value: f64| ("point", "Float32", name, 1, vec![value; 6]);
    for (dims, expected, axes) in [
        ([3, 2, 1], [1.0, 2.0, 0.0], ['x', 'y']),
        ([3, 1, 2], [1.0, 0.0, 2.0], ['x', 'z']),
        ([1, 3, 2], [0.0, 1.0, 2.0], ['y', 'z']),
    ] {
        let arrays = [scalar("u", 1.0), scalar("v", 2.0)];
        let folder = folder(&[("a.vti", image(dims, [1.0; 3], None, &arrays))]);
        let names = ["u", "v"].map(String::from);
        let options = SeriesOptions { velocity: VelocityName::Plane(names), ..Default::default() };
        let path = folder.path().join("a.vti");
        let series = Series::open(path.as_path(), &options).unwrap();
        assert_eq!(single(series.read_frame(0).unwrap())[..3], expected);
        assert_eq!(series.info().velocity_axes, axes);
        let names = ["u", "missing"].map(String::from);
        let options = SeriesOptions { velocity: VelocityName::Plane(names), ..Default::default() };
        let message = error(path.as_path(), &options);
        assert!(
            message.contains("no arrays `u`, `missing` that are all at the points"),
            "{message}"
        );
    }
}

#[test]
fn decreasing_axes_are_reversed_with_their_data() {
    let values: Vec<f64> = (0..6).flat_map(|i| [f64::from(i), 0.0, 0.0]).collect();
    let text = image([3, 2, 1], [-0.5, 1.0, 1.0], None, &[("point", "Float32", "U", 3, values)]);
    let folder = folder(&[("a.vti", text)]);
    let series = Series::open(folder.path().join("a.vti"), &SeriesOptions::default()).unwrap();
    assert_eq!(series.axes()[0], [-1.0, -0.5, 0.0]);
    let u: Vec<f32> = single(series.read_frame(0).unwrap()).chunks(3).map(|v| v[0]).collect();
    assert_eq!(u, [2.0, 1.0, 0.0, 5.0, 4.0, 3.0]);
    assert!(series.info().axes[0].is_flipped);
}

#[test]
fn frames_on_another_grid_are_refused() {
    let other = |spacing: [f64; 3], name| {
        image([2, 2, 1], spacing, None, &[("point", "Float32", name, 3, vec![0.0; 12])])
    };
    let folder = folder(&[
        ("u_1.vti", frame(1.0, None)),
        ("u_2.vti", frame(1.0, None)),
        ("u_3.vti", other([1.0, 1.5, 1.0], "U")),
        ("v_1.vti", frame(1.0, None)),
        ("v_2.vti", other([1.0; 3], "V")),
    ]);
    let message = error(folder.path().join("u_*.vti"), &file_dt(1.0));
    assert!(
        message.contains("frame 2 (`") && message.contains("u_3.vti`) is not on the grid"),
        "{message}"
    );
    assert!(message.contains("node 1 of its y axis is at 1.5, not at 1"), "{message}");
    let message = error(folder.path().join("v_*.vti"), &file_dt(1.0));
    assert!(message.contains("v_2.vti`: it has no point array `U`"), "{message}");
}

#[test]
fn grids_with_axes_are_read_and_others_refused() {
    let options = with_velocity("velocity");
    for name in ["raw.vti", "ascii.vtr", "image-binary-42.vtk", "rectilinear-ascii-51.vtk"] {
        let series = Series::open(data("vtk").join(name), &options).unwrap();
        let axes: Vec<usize> = series.axes().iter().map(Vec::len).collect();
        assert_eq!(axes, [4, 3, 2], "{name}");
        let values = single(series.read_frame(0).unwrap());
        let [x, y, z] = [series.axes()[0][3], series.axes()[1][1], series.axes()[2][1]];
        let u = 1.0 + 2.0 * x + 3.0 * y + 4.0 * z;
        assert!((f64::from(values[3 * (12 + 4 + 3)]) - u).abs() < 1e-5, "{name}");
        assert_eq!(
            (series.times(), series.times_from()),
            (&[0.75][..], TimesFrom::TimeValue),
            "{name}"
        );
    }
    for (name, kind) in [
        ("ascii.vts", "structured grid: node "),
        ("ascii.vtu", "unstructured grid"),
        ("ascii.vtp", "poly data"),
    ] {
        let message = error(data("vtk").join(name), &options);
        assert!(message.contains(&format!("is not a grid with axes ({kind}")), "{message}");
        assert!(message.contains("`field.interpolation = \"nearest\"`"), "{message}");
    }
    let message = error(data("composite/tilted.vti"), &with_velocity("velocity"));
    assert!(
        message.contains("unstructured grid: the axes of the image are not along"),
        "{message}"
    );
}

#[test]
fn inspection_lists_problems() {
    let info = inspect(data("vtk/ascii.vtu"), &with_velocity("nothing")).unwrap();
    assert_eq!((info.kind.as_str(), info.dims, info.axes.len()), ("unstructured grid", None, 0));
    assert_eq!((info.problems.len(), info.velocity), (1, None));
    assert!(info.problems[0].contains("no array `nothing`"));
    let info = inspect(
        data("series/u_*.vti"),
        &SeriesOptions { ignore_file_times: true, ..with_velocity("slow") },
    );
    let info = info.unwrap();
    assert!(info.problems[0].contains("without known times"), "{:?}", info.problems);
    assert_eq!((info.problems.len(), info.files_found, info.times_from), (1, 3, None));
    let association: Vec<&str> = info.arrays.iter().map(|a| a.association.as_str()).collect();
    assert_eq!(association, ["field", "point", "cell"]);
    assert!(inspect(Path::new("no/such.vti"), &SeriesOptions::default()).is_err());
}

#[test]
fn options_are_read_as_in_a_case_file() {
    let options: SeriesOptions = serde_json::from_str(
        r#"{"times": {"start": 0.0, "step": 0.1}, "velocity": ["u", "v", "w"],
            "frames": {"start": 1, "stop": 0.5}, "prefer": "cell"}"#,
    )
    .unwrap();
    assert_eq!(options.times, Some(CaseTimes::Steps { start: 0.0, step: 0.1 }));
    assert_eq!(options.frames.stop, Some(At::Time(0.5)));
    assert_eq!(options.prefer, Some(Association::Cell));
    let list: Files = serde_json::from_str(r#"["a.vti", "b.vti"]"#).unwrap();
    assert_eq!(list, Files::List(vec!["a.vti".into(), "b.vti".into()]));
    assert_eq!(serde_json::from_str::<SeriesOptions>("{}").unwrap(), SeriesOptions::default());
}

#[test]
fn a_kitchen_on_a_curvilinear_grid_has_axes() {
    let Some(path) = flow_data("kitchen.vtk") else { return };
    let series = Series::open(path, &SeriesOptions::default()).unwrap();
    assert_eq!(series.info().kind, "structured grid");
    assert_eq!(series.info().dims, Some([28, 24, 17]));
    assert!(!series.info().axes[0].is_uniform);
    assert_eq!(series.read_frame(0).unwrap().velocity.len(), 3 * 28 * 24 * 17);
}

#[test]
fn a_carotid_artery_is_read() {
    let Some(path) = flow_data("carotid.vtk") else { return };
    let series = Series::open(path, &SeriesOptions::default()).unwrap();
    assert_eq!(series.info().axes[0].low, 100.0);
    let values = single(series.read_frame(0).unwrap());
    assert_eq!(values.len(), 3 * 76 * 49 * 45);
    assert!(values.iter().any(|v| *v != 0.0));
}

#[test]
fn read_many_returns_the_same_frames_as_read() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["u_2.vti", "u_9.vti", "u_10.vti"];
    for name in names {
        std::fs::copy(data("series").join(name), folder.path().join(name)).unwrap();
    }
    let pattern = folder.path().join("u_*.vti");
    let mut series = Series::open(pattern, &with_velocity("velocity")).unwrap();
    let one_by_one = [2, 0, 1].map(|frame| series.read(frame).unwrap());
    let at_once = series.read_many(&[2, 0, 1]).into_iter().map(|frame| frame.unwrap());
    assert_eq!(at_once.collect::<Vec<_>>(), one_by_one);
    std::fs::remove_file(folder.path().join("u_9.vti")).unwrap();
    let found = series.read_many(&[0, 1, 2]);
    assert_eq!(found.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    assert!(found[1].as_ref().unwrap_err().to_string().contains("u_9.vti"));
    assert!(series.read_many(&[]).is_empty());
}

/// Two components point along the axes of the grid's plane.
#[test]
fn plane_velocities_are_along_the_axes_of_their_plane() {
    for (extent, axes, expected) in [
        ("0 1 0 1 0 0", ['x', 'y'], [1.0, 2.0, 0.0]),
        ("0 1 0 0 0 1", ['x', 'z'], [1.0, 0.0, 2.0]),
        ("0 0 0 1 0 1", ['y', 'z'], [0.0, 1.0, 2.0]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.vti");
        let text = format!(
            "<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\"><ImageData \
             WholeExtent=\"{extent}\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"{extent}\"><PointData>\
             <DataArray type=\"Float64\" Name=\"U\" NumberOfComponents=\"2\" format=\"ascii\">\
             1 2 1 2 1 2 1 2</DataArray></PointData></Piece></ImageData></VTKFile>"
        );
        std::fs::write(&path, text).unwrap();
        let mut series = Series::open(path.as_path(), &SeriesOptions::default()).unwrap();
        assert_eq!(series.info().velocity_axes, axes);
        assert_eq!(double(series.read(0).unwrap()), expected.repeat(4));
    }
}

/// Point 4 is hidden in the second file; the first one has no flags. Refined cells (8) are not hidden.
#[test]
fn hidden_values_are_known_in_all_frames_of_a_series() {
    let velocity = ("point", "Float32", "U", 3, vec![1.0; 18]);
    let with = |flags: &[f64], cells: f64| {
        let points = ("point", "UInt8", "vtkGhostType", 1, flags.to_vec());
        let cells = ("cell", "UInt8", "vtkGhostType", 1, vec![cells; 2]);
        image([3, 2, 1], [1.0; 3], None, &[velocity.clone(), points, cells])
    };
    let plain = image([3, 2, 1], [1.0; 3], None, std::slice::from_ref(&velocity));
    let folder =
        folder(&[("u_0.vti", plain), ("u_1.vti", with(&[0.0, 1.0, 0.0, 0.0, 2.0, 0.0], 8.0))]);
    let files = folder.path().join("u_*.vti").display().to_string();
    let series = Series::open(files.as_str(), &file_dt(1.0)).unwrap();
    let [first, second] = [0, 1].map(|frame| series.read_frame(frame).unwrap());
    assert_eq!(first.hidden(), Some(&[false; 6][..]));
    assert_eq!(second.hidden(), Some(&[false, false, false, false, true, false][..]));
    let values = single(second);
    assert!(values[12..15].iter().all(|x| x.is_nan()) && values[..12] == [1.0; 12], "{values:?}");
    let options = SeriesOptions { ignore_hidden: true, ..file_dt(1.0) };
    let ignored = Series::open(files.as_str(), &options).unwrap().read_frame(1).unwrap();
    assert_eq!(ignored.hidden(), None);
    assert_eq!(single(ignored), vec![1.0; 18]);
    let points = burntrace_io::PointSeries::open(files.as_str(), &file_dt(1.0)).unwrap();
    let frame = points.read_frame(1).unwrap();
    assert_eq!(frame.hidden().unwrap().iter().position(|h| *h), Some(4));
    let info = inspect(folder.path().join("u_1.vti").display().to_string().as_str(), &file_dt(1.0));
    let info = info.unwrap();
    assert_eq!((info.hidden, info.not_finite), (Some(1), Some(0)));
}

#[test]
fn hidden_points_and_cells_of_a_grid_are_holes() {
    let read = |spacing: f64, arrays: &[ArrayText<'static>]| {
        let text = image([5, 2, 1], [spacing, 1.0, 1.0], None, arrays);
        let folder = folder(&[("u.vti", text)]);
        Series::open(folder.path().join("u.vti"), &SeriesOptions::default())?.read_frame(0)
    };
    let flags = |on, flags: &[f64]| (on, "UInt8", "vtkGhostType", 1, flags.to_vec());
    // Point 4 is a corner of the last cell, and a duplicate hides nothing.
    let points = flags("point", &[0.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let cells = flags("cell", &[0.0, 32.0, 1.0, 0.0]);
    let in_cells = ("cell", "Float32", "U", 3, vec![1.0; 12]);
    let frame = read(1.0, &[in_cells.clone(), points.clone(), cells.clone()]).unwrap();
    assert_eq!(frame.hidden(), Some(&[false, true, false, true][..]));
    let frame = read(-1.0, &[in_cells, points.clone()]).unwrap();
    assert_eq!(frame.hidden(), Some(&[true, false, false, false][..]));
    let at_points = ("point", "Float32", "U", 3, vec![1.0; 30]);
    let frame = read(1.0, &[at_points.clone(), points]).unwrap();
    let expected: Vec<bool> = (0..10).map(|point| point == 4).collect();
    assert_eq!(frame.hidden(), Some(&expected[..]));
    let message = read(1.0, &[at_points, cells]).unwrap_err().to_string();
    assert!(message.contains("its cell 1 is hidden by `vtkGhostType`"), "{message}");
}

use crate::requirements::flow_data;
use crate::support::{data, folder};
use burntrace_core::{Floats, FrameData, FrameSource, PointSource};
use burntrace_io::series::Association;
use burntrace_io::{
    Files, Frames, PointSeries, Series, SeriesOptions, TimesFrom, VelocityName, inspect,
};

fn with_velocity(name: &str) -> SeriesOptions {
    SeriesOptions { velocity: VelocityName::Array(name.into()), ..Default::default() }
}

fn error(files: impl Into<Files>, options: &SeriesOptions) -> String {
    PointSeries::open(files, options).unwrap_err().to_string()
}

fn numbers(frame: FrameData) -> Vec<f64> {
    match frame.velocity {
        Floats::F32(values) => values.into_iter().map(f64::from).collect(),
        Floats::F64(values) => values,
    }
}

/// The velocity of the files that VTK wrote (`crates/vtk/tests/make_fixtures.py`).
fn formula([x, y, z]: [f64; 3]) -> [f64; 3] {
    [1.0 + 2.0 * x + 3.0 * y + 4.0 * z, -2.0 + x - y + 0.5 * z, 0.25 + 0.25 * x + 2.0 * y - z]
}

/// Legacy poly data: points with the velocity `U` = (value, point index, 0).
fn cloud(points: &[[f64; 3]], value: f64) -> String {
    let n = points.len();
    let coordinates: String = points.iter().map(|[x, y, z]| format!("{x} {y} {z}\n")).collect();
    let velocities: String = (0..n).map(|point| format!("{value} {point} 0\n")).collect();
    format!(
        "# vtk DataFile Version 3.0\ncloud\nASCII\nDATASET POLYDATA\nPOINTS {n} double\n{coordinates}\
         POINT_DATA {n}\nVECTORS U float\n{velocities}"
    )
}

const CORNERS: [[f64; 3]; 3] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.5]];

#[test]
fn points_of_every_kind_of_data_set_are_read() {
    let suffixes = ["vti", "vtr", "vts", "vtu", "vtp"];
    let encodings = ["ascii", "base64-zlib", "raw", "appended64", "raw-u32-big"];
    let xml = suffixes.iter().flat_map(|s| encodings.map(|name| format!("{name}.{s}")));
    let kinds = ["image", "rectilinear", "structured", "unstructured", "poly"];
    let formats = ["ascii-42", "binary-42", "ascii-51", "binary-51"];
    let legacy = kinds.iter().flat_map(|kind| formats.map(|format| format!("{kind}-{format}.vtk")));
    for name in xml.chain(legacy) {
        let path = data("vtk").join(&name);
        let mut series = PointSeries::open(path, &with_velocity("velocity")).unwrap();
        let nodes = if name.contains("vtp") || name.contains("poly") { 12 } else { 24 };
        assert_eq!(series.positions().len(), nodes, "{name}");
        let expected: Vec<f64> = series.positions().iter().copied().flat_map(formula).collect();
        assert_eq!(numbers(series.read(0).unwrap()), expected, "{name}");
        assert_eq!(series.times(), [0.75], "{name}");
        assert_eq!(series.times_from(), TimesFrom::TimeValue, "{name}");
    }
}

#[test]
fn points_on_the_seam_of_two_pieces_are_merged() {
    for name in ["parallel/mesh.pvtu", "vtk/two-pieces.vtu"] {
        let series = PointSeries::open(data(name), &with_velocity("velocity")).unwrap();
        let info = series.info();
        assert_eq!((info.points, info.distinct_points), (32, Some(24)), "{name}");
        assert_eq!(series.positions().len(), 24, "{name}");
        let expected: Vec<f64> = series.positions().iter().copied().flat_map(formula).collect();
        assert_eq!(numbers(series.read_frame(0).unwrap()), expected, "{name}");
    }
}

#[test]
fn coincident_points_have_the_velocity_of_the_first() {
    let [a, b, c] = CORNERS;
    let folder = folder(&[("u.vtk", cloud(&[a, b, a, c, b], 7.0))]);
    let series = PointSeries::open(folder.path().join("u.vtk"), &SeriesOptions::default()).unwrap();
    assert_eq!(series.positions(), CORNERS);
    assert_eq!(numbers(series.read_frame(0).unwrap()), [7., 0., 0., 7., 1., 0., 7., 3., 0.]);
    assert!(series.read_frame(1).unwrap_err().to_string().contains("no frame 1"));
}

#[test]
fn order_times_and_selection_are_as_for_grids() {
    let frame = |value| cloud(&CORNERS, value);
    let entry = |time: f64, file: &str| format!("<DataSet timestep=\"{time}\" file=\"{file}\"/>");
    let pvd = format!(
        "<VTKFile><Collection>{}{}</Collection></VTKFile>",
        entry(7.5, "u_2.vtk"),
        entry(2.5, "u_10.vtk")
    );
    let folder = folder(&[
        ("u_2.vtk", frame(2.0)),
        ("u_9.vtk", frame(9.0)),
        ("u_10.vtk", frame(10.0)),
        ("run.pvd", pvd),
    ]);
    let options = SeriesOptions {
        file_dt: Some(0.5),
        frames: Frames { max: Some(2), ..Default::default() },
        ..Default::default()
    };
    let series = PointSeries::open(folder.path().join("u_*.vtk"), &options).unwrap();
    assert_eq!((series.times(), series.paths().len()), (&[1.0, 4.5][..], 2));
    assert_eq!(numbers(series.read_frame(1).unwrap())[0], 9.0);
    assert_eq!(series.info().files_found, 3);
    let series =
        PointSeries::open(folder.path().join("run.pvd"), &SeriesOptions::default()).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[2.5, 7.5][..], TimesFrom::Pvd));
    assert_eq!(numbers(series.read_frame(0).unwrap())[0], 10.0);
    let message = error(folder.path().join("u_*.vtk"), &SeriesOptions::default());
    assert!(message.contains("without known times"), "{message}");
}

#[test]
fn frames_with_other_points_are_refused() {
    let [a, b, c] = CORNERS;
    let folder = folder(&[
        ("u_0.vtk", cloud(&CORNERS, 0.0)),
        ("u_1.vtk", cloud(&CORNERS, 1.0)),
        ("u_2.vtk", cloud(&[a, b, [0.0, 1.0, 0.75]], 2.0)),
        ("v_0.vtk", cloud(&CORNERS, 0.0)),
        ("v_1.vtk", cloud(&[a, b, c, c], 1.0)),
        ("w_0.vtk", cloud(&CORNERS, 0.0)),
        ("w_1.vtk", cloud(&CORNERS, 1.0).replace("VECTORS U", "VECTORS V")),
        ("x_0.vtk", cloud(&[a, [f64::NAN, 0.0, 0.0]], 0.0)),
        ("y_0.vtk", cloud(&[], 0.0)),
    ]);
    let options = SeriesOptions { file_dt: Some(1.0), ..Default::default() };
    let error = |pattern: &str| error(folder.path().join(pattern), &options);
    let moved = error("u_*.vtk");
    assert!(moved.contains("frame 2 (`") && moved.contains("u_2.vtk`) is not on the"), "{moved}");
    assert!(moved.contains("its point 2 is at (0, 1, 0.75), not at (0, 1, 0.5)"), "{moved}");
    assert!(moved.ends_with("a series needs the same points for all frames"), "{moved}");
    assert!(error("v_*.vtk").contains("it has 4 points, not 3"));
    assert!(error("w_*.vtk").contains("w_1.vtk`: it has no point array `U`"));
    assert!(error("x_*.vtk").contains("point 1: a coordinate is not a finite number"));
    assert!(error("y_*.vtk").contains("its points: there are none"));
    let info = inspect(folder.path().join("u_*.vtk"), &options).unwrap();
    assert_eq!((info.problems.len(), info.interpolations.len()), (1, 2));
    assert!(info.problems[0].contains("its point 2 is at"), "{:?}", info.problems);
}

#[test]
fn the_velocity_is_a_point_array() {
    // The vectors `velocity` at the points and `slow` in the cells are ambiguous for a grid.
    let file = data("series/u_2.vti");
    assert!(Series::open(file.as_path(), &SeriesOptions::default()).is_err());
    let series = PointSeries::open(file.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!(series.velocity().to_string(), "velocity (point)");
    let message = error(file.as_path(), &with_velocity("slow"));
    assert!(message.contains("its velocity `slow` is in the cells"), "{message}");
    assert!(message.contains("Cell Data to Point Data"), "{message}");
    let message = error(file.as_path(), &with_velocity("none"));
    assert!(message.contains("it has no array `none`"), "{message}");
    let cell = SeriesOptions { prefer: Some(Association::Cell), ..Default::default() };
    assert!(error(file.as_path(), &cell).contains("several vectors"));
}

/// Point 1 is hidden, point 2 is a duplicate, and no velocity is finite.
#[test]
fn hidden_points_of_a_cloud_are_counted() {
    let flags = "SCALARS vtkGhostType unsigned_char 1\nLOOKUP_TABLE default\n0\n2\n1\n";
    let folder = folder(&[("u.vtk", cloud(&CORNERS, f64::NAN) + flags)]);
    let path = folder.path().join("u.vtk");
    let info = inspect(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!((info.hidden, info.not_finite), (Some(1), Some(2)), "{:?}", info.problems);
    let series = PointSeries::open(path, &SeriesOptions::default()).unwrap();
    assert_eq!(series.read_frame(0).unwrap().hidden(), Some(&[false, true, false][..]));
}

#[test]
fn inspection_lists_suitable_interpolations() {
    let info = inspect(data("vtk/raw.vtu"), &SeriesOptions::default()).unwrap();
    assert_eq!(info.interpolations, ["mesh", "nearest", "inverse-distance"]);
    assert_eq!(info.bounds, Some([[-0.5, -1.0, 3.0], [5.0, 2.0, 3.5]]));
    assert_eq!((info.distinct_points, info.problems.len()), (Some(24), 0));
    assert_eq!(info.device_bytes_f32, (24 * 4 + 6 * (16 + 18)) * 4);
    let mesh = info.mesh.unwrap();
    assert_eq!(
        mesh.kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>(),
        ["6 x hexahedron"]
    );
    let counts = mesh.counts.unwrap();
    assert_eq!((counts.dimension, counts.open_faces, counts.merged_points), (3, 22, 0));
    let info = inspect(data("cells/raw.vtu"), &SeriesOptions::default()).unwrap();
    let mesh = info.mesh.unwrap();
    assert_eq!((mesh.kinds.len(), mesh.counts), (8, None));
    let problem = mesh.problem.unwrap();
    assert!(problem.contains("besides 4 cells in 3 dimensions"), "{problem}");
    assert!(problem.contains("triangle (5)"), "{problem}");
    let info = inspect(data("vtk/raw.vti"), &SeriesOptions::default()).unwrap();
    assert_eq!(info.mesh, None);
    assert_eq!(info.interpolations, ["grid", "nearest", "inverse-distance"]);
    assert_eq!(info.bounds, Some([[0.5, -1.0, 2.0], [2.0, -0.5, 4.0]]));
    let info = inspect(data("series/u_2.vti"), &with_velocity("slow")).unwrap();
    assert_eq!(info.interpolations, ["grid"]);
}

#[test]
fn a_can_has_several_vectors() {
    let Some(path) = flow_data("can.vtu") else { return };
    let message = error(path.as_path(), &SeriesOptions::default());
    assert!(message.contains("several vectors"), "{message}");
    for name in ["DISPL", "VEL", "ACCL"] {
        assert!(message.contains(&format!("{name} (point)")), "{message}");
    }
    let series = PointSeries::open(path.as_path(), &with_velocity("VEL")).unwrap();
    let nodes = series.positions().len();
    assert!(nodes > 6000 && nodes <= 6724, "{nodes}");
    assert_eq!(series.read_frame(0).unwrap().velocity.len(), 3 * nodes);
}

#[test]
fn blood_vessels_have_their_velocity_in_the_cells() {
    let Some(path) = flow_data("blood_vessels/T0000000500.pvtu") else { return };
    let message = error(path.as_path(), &SeriesOptions::default());
    assert!(message.contains("its velocity `velocity` is in the cells"), "{message}");
    let info = inspect(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!((info.points, info.interpolations), (48_823, vec!["mesh"]));
    assert!(info.distinct_points.unwrap() < 48_823, "pieces share points");
    let counts = info.mesh.unwrap().counts.unwrap();
    assert_eq!(counts.merged_points, 48_823 - info.distinct_points.unwrap());
    assert_eq!((counts.degenerate, counts.folded, counts.crowded_faces), (0, 0, 0));
    assert_eq!(info.problems, [""; 0]);
}

#[test]
fn a_kitchen_has_points() {
    let Some(path) = flow_data("kitchen.vtk") else { return };
    let series = PointSeries::open(path, &SeriesOptions::default()).unwrap();
    assert_eq!(series.positions().len(), 28 * 24 * 17);
    let [x, yz] = ["0.05", "0.0099999988"].map(|text| f64::from(text.parse::<f32>().unwrap()));
    assert_eq!(series.positions()[1], [x, yz, yz]);
}

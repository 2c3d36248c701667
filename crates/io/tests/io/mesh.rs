use crate::requirements::flow_data;
use crate::support::{ArrayText, CellText, data, folder, frame, unstructured};
use burntrace_core::mesh::Mesh;
use burntrace_core::{CellKind, Floats, FrameData, FrameSource, MeshSource, Placement};
use burntrace_io::series::Association;
use burntrace_io::{
    Error, Files, Frames, MeshSeries, OtherCells, SeriesOptions, TimesFrom, VelocityName, inspect,
};
use std::path::Path;

/// The corners of a unit cube, in the order of a hexahedron.
const CUBE: [[f64; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
];

const TRIANGLE: u8 = 5;
const TETRA: u8 = 10;

/// The cube in five tetrahedra, the last one in the middle.
fn tetrahedra() -> Vec<CellText> {
    let corners = [[0, 1, 2, 5], [0, 2, 3, 7], [0, 5, 7, 4], [2, 7, 5, 6], [0, 2, 7, 5]];
    corners.iter().map(|points| (TETRA, points.to_vec())).collect()
}

/// The velocity `U` = (value, index, 0) of `count` points or cells.
fn velocity(on: &'static str, count: usize, value: f64) -> ArrayText<'static> {
    (on, "Float32", "U", 3, (0..count).flat_map(|i| [value, i as f64, 0.0]).collect())
}

/// Ghost flags of points or cells.
fn ghosts(on: &'static str, flags: &[u8]) -> ArrayText<'static> {
    (on, "UInt8", "vtkGhostType", 1, flags.iter().copied().map(f64::from).collect())
}

/// The cube with the velocity in its cells, and further arrays.
fn cube(value: f64, more: &[ArrayText<'static>]) -> String {
    let arrays: Vec<_> = [velocity("cell", 5, value)].iter().chain(more).cloned().collect();
    unstructured(&CUBE, &tetrahedra(), &arrays)
}

fn one(text: String, options: &SeriesOptions) -> burntrace_io::Result<MeshSeries> {
    let folder = folder(&[("one.vtu", text)]);
    let mut series = MeshSeries::open(folder.path().join("one.vtu"), options)?;
    // Before the folder is removed.
    series.read(0).unwrap();
    Ok(series)
}

fn error(text: String) -> String {
    one(text, &SeriesOptions::default()).unwrap_err().to_string()
}

fn skip() -> SeriesOptions {
    SeriesOptions { other_cells: OtherCells::Skip, ..Default::default() }
}

fn file_dt(dt: f64) -> SeriesOptions {
    SeriesOptions { file_dt: Some(dt), ..Default::default() }
}

fn single(frame: FrameData) -> Vec<f32> {
    match frame.velocity {
        Floats::F32(values) => values,
        Floats::F64(_) => panic!("expected single precision"),
    }
}

/// The second component of each velocity: indices of points or cells in the file.
fn numbers(frame: FrameData) -> Vec<f32> {
    single(frame).chunks(3).map(|v| v[1]).collect()
}

/// The mesh of a series.
fn made(series: &MeshSeries) -> Mesh {
    Mesh::new(series.points(), series.cells().clone()).unwrap()
}

#[test]
fn the_velocity_is_at_the_points_or_in_the_cells() {
    let text = cube(7.0, &[velocity("point", 8, 3.0)]);
    let folder = folder(&[("u.vtu", text)]);
    let open = |prefer| {
        let options = SeriesOptions { prefer, ..Default::default() };
        MeshSeries::open(folder.path().join("u.vtu"), &options)
    };
    let message = open(None).unwrap_err().to_string();
    assert!(message.contains("is both a point and a cell array"), "{message}");
    for (prefer, placement, count, value) in [
        (Association::Point, Placement::Nodes, 8, 3.0),
        (Association::Cell, Placement::Cells, 5, 7.0),
    ] {
        let series = open(Some(prefer)).unwrap();
        assert_eq!((series.placement(), series.velocity().association), (placement, prefer));
        let values = single(series.read_frame(0).unwrap());
        assert_eq!((values.len(), &values[..6]), (3 * count, &[value, 0., 0., value, 1., 0.][..]));
        assert_eq!((series.points(), series.cells().len()), (&CUBE[..], 5));
        assert_eq!(series.cells().kinds, [CellKind::Tetra; 5]);
        assert_eq!(series.cells().nodes(1), [0, 2, 3, 7]);
        assert_eq!(made(&series).counts().open_faces, 12);
        let numbers = 4 * count as u64 + 5 * 16;
        let bytes = (series.info().device_bytes_f32, series.info().device_bytes_f64);
        assert_eq!(bytes, (4 * (numbers + 5 * 18), 8 * numbers + 4 * 5 * 18));
        assert!(series.read_frame(1).unwrap_err().to_string().contains("no frame 1"));
    }
}

#[test]
fn ghost_cells_of_pieces_are_omitted() {
    // Both pieces have all five cells; two belong to the first piece, three to the second.
    for array in ["vtkGhostType", "vtkGhostLevels"] {
        let piece = |flags: [f64; 5], value| {
            let cells = ("cell", "UInt8", array, 1, flags.to_vec());
            let points = ("point", "UInt8", array, 1, vec![1.0; 8]);
            cube(value, &[cells, points])
        };
        let index = "<VTKFile type=\"PUnstructuredGrid\" version=\"0.1\"><PUnstructuredGrid \
                     GhostLevel=\"1\"><Piece Source=\"a.vtu\"/><Piece Source=\"b.vtu\"/>\
                     </PUnstructuredGrid></VTKFile>";
        let folder = folder(&[
            ("u.pvtu", index.to_owned()),
            ("a.vtu", piece([0.0, 0.0, 1.0, 1.0, 1.0], 1.0)),
            ("b.vtu", piece([1.0, 1.0, 0.0, 0.0, 0.0], 2.0)),
        ]);
        let path = folder.path().join("u.pvtu");
        let series = MeshSeries::open(path.as_path(), &SeriesOptions::default()).unwrap();
        assert_eq!((series.points().len(), series.cells().len()), (16, 5));
        assert_eq!(series.cells().nodes(2), [8, 13, 15, 12]);
        assert_eq!(series.cells().offsets, [0, 4, 8, 12, 16, 20]);
        let values = single(series.read_frame(0).unwrap());
        assert_eq!(values, [1., 0., 0., 1., 1., 0., 2., 2., 0., 2., 3., 0., 2., 4., 0.]);
        let mesh = series.info().mesh.as_ref().unwrap();
        assert_eq!((mesh.hidden, mesh.skipped, mesh.kinds[0].cells), (5, 0, 10));
        let counts = made(&series).counts();
        assert_eq!((counts.merged, counts.open_faces, counts.crowded_faces), (8, 12, 0));
        let info = inspect(path, &SeriesOptions::default()).unwrap();
        assert_eq!((info.interpolations, info.problems.len()), (vec!["mesh"], 0));
        assert_eq!(info.device_bytes_f32, series.info().device_bytes_f32);
    }
}

#[test]
fn cells_of_every_ghost_level_are_omitted() {
    let levels = ("cell", "UInt8", "vtkGhostLevels", 1, vec![0.0, 1.0, 2.0, 4.0, 0.0]);
    let series = one(cube(1.0, &[levels]), &SeriesOptions::default()).unwrap();
    assert_eq!(series.cells().offsets, [0, 4, 8]);
    assert_eq!([series.cells().nodes(0), series.cells().nodes(1)], [[0, 1, 2, 5], [0, 2, 7, 5]]);
}

#[test]
fn hidden_cells_and_cells_of_hidden_points_are_omitted() {
    let options = SeriesOptions::default();
    let cells_of = |more: &[ArrayText<'static>]| {
        let folder = folder(&[("u.vtu", cube(1.0, more))]);
        let series = MeshSeries::open(folder.path().join("u.vtu"), &options).unwrap();
        numbers(series.read_frame(0).unwrap())
    };
    // Point 1 belongs to the first cell only. Point 3 is a duplicate, which hides no cell.
    assert_eq!(cells_of(&[ghosts("point", &[0, 2, 0, 1, 0, 0, 0, 0])]), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(cells_of(&[ghosts("point", &[0, 0, 0, 3, 2, 0, 0, 0])]), [0.0, 3.0, 4.0]);
    // Refined and hidden cells; the other flags are ignored.
    assert_eq!(cells_of(&[ghosts("cell", &[8, 32, 2, 4, 16])]), [2.0, 3.0, 4.0]);
    let both = [ghosts("cell", &[33, 0, 0, 0, 0]), ghosts("point", &[0, 0, 0, 0, 0, 0, 2, 0])];
    assert_eq!(cells_of(&both), [1.0, 2.0, 4.0]);
    let corners = ghosts("point", &[2, 0, 0, 0, 0, 0, 0, 2]);
    for all in [corners, ghosts("cell", &[1, 1, 8, 32, 1])] {
        let message = error(cube(1.0, &[all]));
        assert!(message.contains("all of its 5 cells are ghosts or hidden"), "{message}");
    }
    let pairs = ("cell", "UInt8", "vtkGhostType", 2, vec![0.0; 10]);
    let message = error(cube(1.0, &[pairs]));
    assert!(message.contains("cell array `vtkGhostType` has 10 numbers for 5 cells"), "{message}");
}

#[test]
fn unsupported_cells_are_an_error_or_skipped() {
    let line = (3, vec![0, 1]);
    let other = (4, vec![0, 1, 2, 3, 7]);
    let triangle = (TRIANGLE, vec![0, 1, 2]);
    let mut cells = vec![line.clone(), triangle.clone()];
    cells.extend(tetrahedra());
    cells.extend([other.clone(), triangle, line]);
    let text = |cells: &[CellText], more: &[ArrayText<'static>]| {
        let mut arrays = vec![velocity("cell", cells.len(), 0.0)];
        arrays.extend_from_slice(more);
        unstructured(&CUBE, cells, &arrays)
    };
    let message = error(text(&cells, &[]));
    let counts = "2 x line (type 3), 1 x poly line (type 4), 2 x triangle";
    for part in ["besides 5 cells in 3 dimensions", counts, "`other_cells = \"skip\"`"] {
        assert!(message.contains(part), "{message}");
    }
    let folder = folder(&[("u.vtu", text(&cells, &[]))]);
    let series = MeshSeries::open(folder.path().join("u.vtu"), &skip()).unwrap();
    assert_eq!(numbers(series.read_frame(0).unwrap()), [2.0, 3.0, 4.0, 5.0, 6.0]);
    let mesh = series.info().mesh.as_ref().unwrap();
    assert_eq!((mesh.hidden, mesh.skipped, mesh.kinds.len()), (0, 5, 4));
    assert_eq!(made(&series).dimension(), 3);
    // If the tetrahedra are ghosts, the triangles form the mesh.
    let flags: Vec<u8> = (0..10).map(|cell| u8::from((2..7).contains(&cell))).collect();
    let flat = one(text(&cells, &[ghosts("cell", &flags)]), &skip()).unwrap();
    assert_eq!(flat.cells().kinds, [CellKind::Triangle; 2]);
    let mesh = flat.info().mesh.as_ref().unwrap();
    assert_eq!((mesh.hidden, mesh.skipped), (5, 3));
    for options in [SeriesOptions::default(), skip()] {
        let none = one(text(std::slice::from_ref(&other), &[]), &options);
        let message = none.unwrap_err().to_string();
        assert!(message.contains("none of its cells can be part of a mesh: 1 x poly line"));
        assert!(message.contains("triangle (5), pixel (8)"), "{message}");
    }
    assert!(error(text(&[], &[])).contains("it has no cells"));
}

/// Opens two files as a series, and reads the second frame.
fn second(first: String, second: String) -> burntrace_io::Result<FrameData> {
    let folder = folder(&[("u_1.vtu", first), ("u_2.vtu", second)]);
    let series = MeshSeries::open(folder.path().join("u_*.vtu"), &file_dt(1.0))?;
    assert_eq!(single(series.read_frame(0).unwrap())[0], 1.0);
    series.read_frame(1)
}

#[test]
fn a_mesh_that_changes_between_frames_is_refused() {
    let difference = |text: String| match second(cube(1.0, &[]), text).unwrap_err() {
        Error::FrameDiffers { frame: 1, path, first, on: "mesh", difference } => {
            assert!(path.ends_with("u_2.vtu") && first.ends_with("u_1.vtu"));
            difference
        }
        other => panic!("{other}"),
    };
    assert_eq!(numbers(second(cube(1.0, &[]), cube(2.0, &[])).unwrap()), [0., 1., 2., 3., 4.]);
    let with = |points: &[[f64; 3]], cells: &[CellText]| {
        unstructured(points, cells, &[velocity("cell", cells.len(), 2.0)])
    };
    let (mut points, mut cells) = (CUBE, tetrahedra());
    points[6][2] = 1.25;
    let moved = "its point 6 is at (1, 1, 1.25), not at (1, 1, 1)";
    assert_eq!(difference(with(&points, &cells)), moved);
    cells[3].1.swap(0, 1);
    assert_eq!(difference(with(&CUBE, &cells)), "its cell 3 has other points");
    cells[2].0 = 9;
    assert_eq!(difference(with(&CUBE, &cells[..4])), "it has 4 cells, not 5");
    assert_eq!(difference(with(&points[..7], &[])), "it has 7 points, not 8");
    let flat = difference(with(&CUBE, &cells));
    assert!(flat.starts_with("its cell 2 is not a tetra of the mesh"), "{flat}");
    cells[2] = (12, (0..8).collect());
    assert_eq!(difference(with(&CUBE, &cells)), "its cell 2 is a hexahedron, not a tetra");
    let hidden = difference(cube(2.0, &[ghosts("cell", &[0, 1, 0, 0, 0])]));
    assert!(hidden.starts_with("its cell 1 is not a tetra of the mesh, but a ghost"), "{hidden}");
    // The same cells may be hidden by different flags.
    let first = || cube(1.0, &[ghosts("cell", &[32, 0, 0, 0, 0])]);
    let by_point = cube(2.0, &[ghosts("point", &[0, 2, 0, 0, 0, 0, 0, 0])]);
    assert_eq!(numbers(second(first(), by_point).unwrap()), [1.0, 2.0, 3.0, 4.0]);
    let message = second(first(), cube(2.0, &[])).unwrap_err().to_string();
    assert!(message.contains("its cell 0 is a tetra, and is not part of the mesh"), "{message}");
    assert!(message.ends_with("a series needs the same mesh for all frames"), "{message}");
    let message = second(cube(1.0, &[]), cube(2.0, &[]).replace("\"U\"", "\"V\""));
    let message = message.unwrap_err().to_string();
    assert!(message.contains("u_2.vtu`: it has no cell array `U`"), "{message}");
}

#[test]
fn inspection_reports_a_mesh_that_changes() {
    let mut cells = tetrahedra();
    cells[3].1.swap(0, 1);
    let other = unstructured(&CUBE, &cells, &[velocity("cell", 5, 2.0)]);
    let folder = folder(&[("u_1.vtu", cube(1.0, &[])), ("u_2.vtu", other)]);
    let info = inspect(folder.path().join("u_*.vtu"), &file_dt(1.0)).unwrap();
    assert_eq!(info.interpolations, ["mesh"]);
    assert_eq!(info.velocity.unwrap().to_string(), "U (cell)");
    assert_eq!((info.problems.len(), info.distinct_points), (1, Some(8)));
    assert!(info.problems[0].contains("frame 1 (`"), "{:?}", info.problems);
    assert!(info.problems[0].contains("its cell 3 has other points"), "{:?}", info.problems);
}

#[test]
fn inspection_reports_cells_that_cannot_form_a_mesh() {
    let mut cells = tetrahedra();
    cells.push((TRIANGLE, vec![0, 1, 2]));
    let arrays = [velocity("cell", 6, 2.0), velocity("point", 8, 1.0)];
    let folder = folder(&[
        ("both.vtu", unstructured(&CUBE, &cells, &arrays)),
        ("cell.vtu", unstructured(&CUBE, &cells, &arrays[..1])),
    ]);
    let info = |name: &str, options| inspect(folder.path().join(name), &options).unwrap();
    let both = info("both.vtu", SeriesOptions::default());
    assert_eq!(both.interpolations, ["nearest", "inverse-distance"]);
    assert!(both.mesh.unwrap().problem.unwrap().contains("1 x triangle"));
    let both = info("both.vtu", skip());
    assert_eq!(both.mesh.unwrap().skipped, 1);
    // The velocity is ambiguous on the mesh, but not at the points.
    assert_eq!(both.interpolations, ["nearest", "inverse-distance"]);
    assert!(both.problems[0].contains("set `prefer"), "{:?}", both.problems);
    let cell = info("cell.vtu", SeriesOptions::default());
    assert!(cell.interpolations.is_empty() && cell.problems.len() == 1);
    assert!(cell.problems[0].contains("set `field.interpolation = \"mesh\"`"));
    assert_eq!(info("cell.vtu", skip()).interpolations, ["mesh"]);
}

#[test]
fn order_times_and_selection_are_as_for_grids() {
    let entry = |time: f64, file: &str| format!("<DataSet timestep=\"{time}\" file=\"{file}\"/>");
    let pvd = format!(
        "<VTKFile><Collection>{}{}{}</Collection></VTKFile>",
        entry(7.5, "u_2.vtu"),
        entry(2.5, "u_10.vtu"),
        entry(9.0, "u_10.vtu")
    );
    let folder = folder(&[
        ("u_2.vtu", cube(2.0, &[])),
        ("u_9.vtu", cube(9.0, &[])),
        ("u_10.vtu", cube(10.0, &[])),
        ("run.pvd", pvd),
    ]);
    let options =
        SeriesOptions { frames: Frames { max: Some(2), ..Default::default() }, ..file_dt(0.5) };
    let mut series = MeshSeries::open(folder.path().join("u_*.vtu"), &options).unwrap();
    assert_eq!((series.times(), series.paths().len()), (&[1.0, 4.5][..], 2));
    assert_eq!(single(series.read(1).unwrap())[0], 9.0);
    assert_eq!(series.info().files_found, 3);
    let pvd = folder.path().join("run.pvd");
    let series = MeshSeries::open(pvd, &SeriesOptions::default()).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[2.5, 7.5, 9.0][..], TimesFrom::Pvd));
    let values = [0, 1, 2].map(|frame| single(series.read_frame(frame).unwrap())[0]);
    assert_eq!(values, [10.0, 2.0, 10.0]);
}

#[test]
fn meshes_of_all_formats_are_read() {
    let options =
        SeriesOptions { velocity: VelocityName::Array("velocity".into()), ..Default::default() };
    let names = ["ascii.vts", "raw-u32-big.vts", "structured-binary-42.vtk", "ascii.vtu"];
    for name in names.into_iter().chain(["unstructured-ascii-51.vtk", "unstructured-ascii-42.vtk"])
    {
        let series = MeshSeries::open(data("vtk").join(name), &options).unwrap();
        assert_eq!((series.points().len(), series.cells().len()), (24, 6), "{name}");
        assert_eq!(series.cells().kinds, [CellKind::Hexahedron; 6], "{name}");
        assert_eq!(made(&series).counts().open_faces, 22, "{name}");
        assert_eq!(series.placement(), Placement::Nodes, "{name}");
        let expected = series.points().iter().map(|[x, y, z]| 1.0 + 2.0 * x + 3.0 * y + 4.0 * z);
        let read = single(series.read_frame(0).unwrap());
        let u: Vec<f64> = read.chunks(3).map(|v| f64::from(v[0])).collect();
        assert_eq!(u, expected.collect::<Vec<_>>(), "{name}");
    }
    let info = inspect(data("vtk/ascii.vts"), &options).unwrap();
    assert_eq!(info.interpolations, ["mesh", "nearest", "inverse-distance"]);
}

#[test]
fn data_sets_without_cells_of_a_mesh_are_refused() {
    let folder = folder(&[("u.vti", frame(1.0, None))]);
    let open = |path: &Path| MeshSeries::open(path, &SeriesOptions::default()).unwrap_err();
    let image = open(&folder.path().join("u.vti")).to_string();
    assert!(image.contains("holds image data") && image.contains("\"grid\""), "{image}");
    let poly = open(&data("vtk/ascii.vtp")).to_string();
    assert!(poly.contains("(poly data) has no single list of cells: it has vertices or lines"));
    assert!(poly.contains("convert it to an unstructured grid"), "{poly}");
}

#[test]
fn other_cells_is_read_as_in_a_case_file() {
    let read = serde_json::from_str::<OtherCells>;
    assert_eq!(read(r#""skip""#).unwrap(), OtherCells::Skip);
    assert!(read(r#""all""#).is_err());
}

#[test]
fn blood_vessels_are_a_mesh_in_pieces() {
    let Some(path) = flow_data("blood_vessels/T0000000500.pvtu") else { return };
    let series = MeshSeries::open(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!((series.placement(), series.points().len()), (Placement::Cells, 48_823));
    assert_eq!(series.cells().len(), series.info().cells);
    assert!(series.cells().kinds.iter().all(|kind| *kind == CellKind::Voxel));
    assert_eq!(series.read_frame(0).unwrap().velocity.len(), 3 * series.cells().len());
    let counts = made(&series).counts();
    assert!(counts.merged > 0 && counts.crowded_faces == 0, "{counts:?}");
}

#[test]
fn can_and_kitchen_are_meshes() {
    let Some(path) = flow_data("can.vtu") else { return };
    let options =
        SeriesOptions { velocity: VelocityName::Array("VEL".into()), ..Default::default() };
    let can = MeshSeries::open(path.as_path(), &options).unwrap();
    assert_eq!((can.placement(), can.cells().len()), (Placement::Nodes, can.info().cells));
    assert_eq!(can.read_frame(0).unwrap().velocity.len(), 3 * can.points().len());
    assert_eq!(made(&can).dimension(), 3);
    let info = inspect(path.as_path(), &options).unwrap();
    assert_eq!(info.interpolations, ["mesh", "nearest", "inverse-distance"]);
    let Some(path) = flow_data("kitchen.vtk") else { return };
    let kitchen = MeshSeries::open(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!(kitchen.cells().kinds.len(), 27 * 23 * 16);
    assert_eq!(kitchen.read_frame(0).unwrap().velocity.len(), 3 * 28 * 24 * 17);
    assert_eq!(made(&kitchen).counts().open_faces, 2 * (27 * 23 + 23 * 16 + 27 * 16));
    let info = inspect(Files::from(path.as_path()), &SeriesOptions::default()).unwrap();
    assert_eq!(info.interpolations, ["grid", "nearest", "inverse-distance"]);
}

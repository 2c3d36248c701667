//! Series of data sets in several files and blocks, and of cells that are divided.

use crate::support::{data, folder, image, unstructured};
use burntrace_core::mesh::Mesh;
use burntrace_core::{CellKind, FrameSource, GridSource, MeshSource, PointSource};
use burntrace_io::{
    MeshSeries, NamedFaces, PointSeries, Series, SeriesOptions, TimesFrom, VelocityName, inspect,
};
use std::path::Path;

fn with_velocity(name: &str) -> SeriesOptions {
    SeriesOptions { velocity: VelocityName::Array(name.into()), ..Default::default() }
}

/// The velocity of the files of `tests/data/composite`.
fn linear([x, y, z]: [f64; 3]) -> [f64; 3] {
    [1.0 + 2.0 * x + 3.0 * y + 4.0 * z, -2.0 + x - y + 0.5 * z, 0.25 + 0.25 * x + 2.0 * y - z]
}

/// Asserts that the velocities of a frame are linear, at these positions.
fn check(series: &mut dyn FrameSource, frame: usize, positions: impl Iterator<Item = [f64; 3]>) {
    let frame = series.read(frame).unwrap();
    let mut count = 0;
    for (i, position) in positions.enumerate() {
        let (found, expected) = (frame.velocity.vector(i), linear(position));
        let is_close = (0..3).all(|d| (found[d] - expected[d]).abs() < 1e-5);
        assert!(is_close, "{position:?}: {found:?}, not {expected:?}");
        count += 1;
    }
    assert_eq!(frame.velocity.len(), 3 * count);
}

/// The nodes of a grid, x varying fastest.
fn nodes([x, y, z]: &[Vec<f64>; 3]) -> Vec<[f64; 3]> {
    let layer = |&z: &f64| y.iter().flat_map(move |&y| x.iter().map(move |&x| [x, y, z]));
    z.iter().flat_map(layer).collect()
}

#[test]
fn pieces_blocks_and_permuted_axes_are_grids() {
    for name in [
        "plain_vti.pvti",
        "ghosts_vti.pvti",
        "plain_vtr.pvtr",
        "ghosts_vtr.pvtr",
        "images.vtm",
        "cyclic.vti",
        "reversed.vti",
        "lzma-raw.vti",
    ] {
        let path = data("composite").join(name);
        let mut series = Series::open(path.as_path(), &with_velocity("velocity")).unwrap();
        let nodes = nodes(series.axes());
        check(&mut series, 0, nodes.into_iter());
        assert!(series.info().notes.is_empty(), "{name}");
    }
}

#[test]
fn blocks_are_a_mesh_or_points() {
    for (name, cells) in [
        ("plain_vts.pvts", 30),
        ("ghosts_vts.pvts", 30),
        ("structured.vtm", 30),
        ("mixed.vtm", 30),
        // 4 hexahedra, 5 pyramids and 12 tetrahedra.
        ("foam.vtm", 21),
        ("quadratic.vtu", 8),
    ] {
        let path = data("composite").join(name);
        let mut series = MeshSeries::open(path.as_path(), &with_velocity("velocity")).unwrap();
        assert_eq!(series.cells().len(), cells, "{name}");
        let points = series.points().to_vec();
        check(&mut series, 0, points.iter().copied());
        let mesh = Mesh::new(&points, series.cells().clone()).unwrap();
        assert_eq!((mesh.counts().degenerate, mesh.counts().folded), (0, 0), "{name}");
        let mut series = PointSeries::open(path.as_path(), &with_velocity("velocity")).unwrap();
        let points = series.positions().to_vec();
        check(&mut series, 0, points.into_iter());
    }
    let error = Series::open(data("composite/structured.vtm"), &with_velocity("velocity"));
    let message = error.unwrap_err().to_string();
    assert!(message.contains("is not a grid with axes (unstructured grid"), "{message}");
}

#[test]
fn skipped_blocks_are_noted() {
    let info = inspect(data("composite/foam.vtm"), &with_velocity("velocity")).unwrap();
    assert!(info.problems.is_empty(), "{:?}", info.problems);
    assert_eq!(info.interpolations, ["mesh", "nearest", "inverse-distance"]);
    assert!(info.notes[0].contains("the block `boundary/walls` (poly data) is not used"));
    let mesh = info.mesh.unwrap();
    assert_eq!((mesh.parts, mesh.skipped), (17, 0));
    let kinds: Vec<String> = mesh.kinds.iter().map(ToString::to_string).collect();
    assert_eq!(kinds, ["4 x hexahedron", "1 x polyhedron (type 42)"]);
    assert_eq!((info.points, info.cells, info.times), (22, 5, vec![0.75]));
}

#[test]
fn parts_of_a_pvd_form_frames() {
    let folder = tempfile::tempdir().unwrap();
    let parts = |time: f64| {
        let part = |n: usize| {
            let file = data(&format!("composite/images/images_{n}.vti"));
            let file = file.canonicalize().unwrap().display().to_string();
            format!("<DataSet timestep=\"{time}\" part=\"{n}\" file=\"{file}\"/>")
        };
        part(0) + &part(1)
    };
    let path = folder.path().join("run.pvd");
    let write = |parts: String| {
        let text = format!("<VTKFile><Collection>{parts}</Collection></VTKFile>");
        std::fs::write(&path, text).unwrap();
    };
    write(parts(0.5) + &parts(1.5));
    let mut series = Series::open(path.as_path(), &with_velocity("velocity")).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[0.5, 1.5][..], TimesFrom::Pvd));
    assert_eq!((series.paths().len(), series.info().parts.len()), (2, 2));
    assert_eq!(series.axes()[0].len(), 6);
    let nodes = nodes(series.axes());
    check(&mut series, 1, nodes.into_iter());
    // A frame with one part only is on another grid.
    let one = parts(1.5).split_inclusive("/>").next().unwrap().to_owned();
    write(parts(0.5) + &one);
    let error = Series::open(path.as_path(), &with_velocity("velocity")).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("it has 4 x 4 x 3 nodes, not 6 x 4 x 3"), "{message}");
}

#[test]
fn files_of_a_series_have_its_times() {
    let frame = |value: f64| {
        image(
            [2, 2, 1],
            [1.0; 3],
            None,
            &[("point", "Float32", "U", 3, [value, 0.0, 0.0].repeat(4))],
        )
    };
    let text = r#"{ "file-series-version": "1.0", "files": [
        { "name": "b.vti", "time": 2.5 }, { "name": "a.vti", "time": 1.0 }] }"#;
    let files = [("a.vti", frame(1.0)), ("b.vti", frame(2.0)), ("u.vti.series", text.to_owned())];
    let folder = folder(&files);
    let path = folder.path().join("u.vti.series");
    let series = Series::open(path.as_path(), &SeriesOptions::default()).unwrap();
    assert_eq!((series.times(), series.times_from()), (&[1.0, 2.5][..], TimesFrom::Series));
    assert_eq!(series.times_from().to_string(), "the .series file");
    assert_eq!(series.read_frame(1).unwrap().velocity.vector(0)[0], 2.0);
}

#[test]
fn polyhedra_reproduce_linear_fields_and_lose_no_position() {
    let path = data("composite/polyhedra.vtu");
    let series = MeshSeries::open(path.as_path(), &with_velocity("rotation")).unwrap();
    let velocity = series.read_frame(0).unwrap().velocity;
    let mesh = Mesh::new(series.points(), series.cells().clone()).unwrap();
    assert!(mesh.cells().kinds.iter().all(|kind| *kind == CellKind::Tetra));
    assert_eq!((mesh.counts().degenerate, mesh.counts().crowded_faces), (0, 0));
    let mut state = 1_u64;
    let mut random = || {
        // A linear congruential generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..1_000_000 {
        let position = [random(), random(), random()];
        let location = mesh.locate(position).unwrap_or_else(|| panic!("{position:?} is lost"));
        let nodes = mesh.cells().nodes(location.cell);
        let mut found = [0.0; 3];
        for (node, weight) in nodes.iter().zip(&location.weights) {
            let value = velocity.vector(mesh.first()[*node as usize] as usize);
            found = [0, 1, 2].map(|d| found[d] + weight * value[d]);
        }
        let [x, y, z] = position.map(|x| x - 0.5);
        let expected = [-y + 0.3 * z, x - 0.2 * z, -0.3 * x + 0.2 * y];
        let error = (0..3).fold(0.0, |max: f64, d| max.max((found[d] - expected[d]).abs()));
        assert!(error < 1e-13, "{position:?}: {found:?}, not {expected:?}");
    }
}

/// Two squares as polygons with five corners, in the plane z = 0, with velocities in the cells.
fn squares(velocities: [f64; 2], points: &[[f64; 3]], ghosts: [u8; 2]) -> String {
    let cells = [(7, vec![0, 1, 6, 4, 3]), (7, vec![1, 2, 5, 4, 6])];
    let values = velocities.iter().flat_map(|u| [*u, 0.0, 0.0]).collect();
    let flags = ghosts.map(f64::from).to_vec();
    let arrays = [("cell", "Float32", "U", 3, values), ("cell", "UInt8", "vtkGhostType", 1, flags)];
    unstructured(points, &cells, &arrays)
}

const SQUARES: [[f64; 3]; 7] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [2.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [2.0, 1.0, 0.0],
    [1.1, 0.5, 0.0],
];

#[test]
fn parts_have_the_velocity_of_their_cell() {
    let open = |ghosts| {
        let folder = folder(&[("u.vtu", squares([1.0, 2.0], &SQUARES, ghosts))]);
        let series =
            MeshSeries::open(folder.path().join("u.vtu"), &SeriesOptions::default()).unwrap();
        let frame = series.read_frame(0).unwrap();
        let u: Vec<f64> = (0..series.cells().len()).map(|i| frame.velocity.vector(i)[0]).collect();
        (u, series.info().mesh.as_ref().unwrap().hidden)
    };
    assert_eq!(open([0, 0]), (vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0], 0));
    assert_eq!(open([1, 0]), (vec![2.0; 3], 1));
}

#[test]
fn divided_cells_that_change_between_frames_are_refused() {
    let error = |second: String| {
        let first = squares([1.0, 2.0], &SQUARES, [0, 0]);
        let folder = folder(&[("u_1.vtu", first), ("u_2.vtu", second)]);
        let options = SeriesOptions { file_dt: Some(1.0), ..Default::default() };
        let series = MeshSeries::open(folder.path().join("u_*.vtu"), &options).unwrap();
        assert_eq!(series.read_frame(0).unwrap().velocity.len(), 18);
        series.read_frame(1).err().map(|error| error.to_string())
    };
    assert_eq!(error(squares([3.0, 4.0], &SQUARES, [0, 0])), None);
    let mut moved = SQUARES;
    moved[6][0] = 0.9;
    let message = error(squares([3.0, 4.0], &moved, [0, 0])).unwrap();
    assert!(message.contains("its point 6 is at (0.9, 0.5, 0)"), "{message}");
    let message = error(squares([3.0, 4.0], &SQUARES, [0, 1])).unwrap();
    assert!(message.contains("its cell 1 is not a triangle of the mesh, but a ghost"), "{message}");
    let other = squares([3.0, 4.0], &SQUARES, [0, 0]).replace("0 1 6 4 3", "3 0 1 6 4");
    assert_eq!(error(other), None, "the same polygon from another corner");
    let other = squares([3.0, 4.0], &SQUARES, [0, 0]).replace("0 1 6 4 3", "0 1 4 6 3");
    assert!(error(other).unwrap().contains("its cell 0 has other points"));
}

#[test]
fn plane_polygons_of_poly_data_are_a_mesh() {
    let path: &Path = &data("composite/polygons.vtp");
    let mut series = MeshSeries::open(path, &with_velocity("velocity")).unwrap();
    let points = series.points().to_vec();
    check(&mut series, 0, points.into_iter());
    assert_eq!(series.cells().len(), 12);
    let info = inspect(path, &with_velocity("velocity")).unwrap();
    assert_eq!(info.interpolations, ["mesh", "nearest", "inverse-distance"]);
    assert_eq!(info.mesh.unwrap().parts, 12);
}

fn block(name: &str) -> NamedFaces {
    NamedFaces::Block { block: name.into() }
}

fn marked(array: &str, value: i64) -> NamedFaces {
    NamedFaces::Array { array: array.into(), value }
}

fn with_faces(faces: &[NamedFaces]) -> SeriesOptions {
    SeriesOptions { faces: faces.to_vec(), ..with_velocity("velocity") }
}

/// Number of faces and area of each group of the mesh of a series.
fn groups(name: &str, options: &SeriesOptions) -> Vec<(String, usize, f64, usize)> {
    let series = MeshSeries::open(data("composite").join(name), options).unwrap();
    let mesh = Mesh::new(series.points(), series.cells().clone()).unwrap();
    let mesh = mesh.with_boundary(series.boundary().unwrap()).unwrap();
    let group = |of: &burntrace_core::mesh::FaceGroup| {
        (of.name.clone(), of.faces, (of.area * 1e9).round() / 1e9, of.unmatched)
    };
    mesh.face_groups().iter().map(group).collect()
}

/// The box of 3 x 2 x 2 of a polyhedron and hexahedra, whose boundary has quads and pentagons. The latter are
/// divided into triangles.
#[test]
fn blocks_and_arrays_name_faces() {
    let faces = ["inlet", "boundary/outlet", "walls"].map(block);
    let found = groups("patches.vtm", &with_faces(&faces));
    let (inlet, outlet) = (("inlet", 1, 4.0, 0), ("boundary/outlet", 4, 4.0, 0));
    let expected = [inlet, outlet, ("walls", 8 + 4 * 3, 24.0, 0)];
    assert_eq!(found, expected.map(|(name, faces, area, n)| (name.into(), faces, area, n)));
    let faces = [7, 1, 2].map(|value| marked("BoundaryID", value));
    let found = groups("marked.vtu", &with_faces(&faces));
    let areas: Vec<f64> = found.iter().map(|(_, _, area, _)| *area).collect();
    assert_eq!(areas, [24.0, 4.0, 4.0], "{found:?}");
    assert_eq!(found[1].0, "BoundaryID = 1");
    // Overlapping blocks: both have the whole boundary.
    let found = groups("foam.vtm", &with_faces(&["walls", "outlet"].map(block)));
    assert!(found.iter().all(|(_, _, area, n)| (*area, *n) == (32.0, 0)), "{found:?}");
    // The blocks have arrays of the cells, too.
    let found =
        groups("patches.vtm", &with_faces(&[marked("density", 100), marked("density", 103)]));
    let areas: Vec<f64> = found.iter().map(|(_, _, area, _)| *area).collect();
    assert_eq!((areas[0] > 5.0, areas[1] > 1.0), (true, true), "{found:?}");
}

#[test]
fn blocks_that_name_faces_are_not_noted() {
    let open = |faces: &[NamedFaces]| {
        let series = MeshSeries::open(data("composite/patches.vtm"), &with_faces(faces)).unwrap();
        let noted = |name: &str| series.info().notes.iter().any(|note| note.contains(name));
        ["inlet", "outlet", "walls"].map(noted)
    };
    assert_eq!(open(&[]), [true; 3]);
    assert_eq!(open(&[block("outlet")]), [true, false, true]);
    assert_eq!(open(&[marked("density", 100)]), [false; 3]);
    // Only the walls have that many cells.
    assert_eq!(open(&[marked("density", 110)]), [true, true, false]);
}

#[test]
fn inspection_lists_named_faces() {
    let list = |name: &str| {
        let info = inspect(data("composite").join(name), &with_velocity("velocity")).unwrap();
        let mesh = info.mesh.unwrap();
        let boundary = mesh.boundary.iter();
        let found = boundary.map(|of| (of.faces.to_string(), of.count, of.area, of.unmatched));
        (found.collect::<Vec<_>>(), mesh.problem)
    };
    let entry = |name: &str, faces, area| (String::from(name), faces, area, 0);
    let (found, problem) = list("patches.vtm");
    let blocks = [("inlet", 1, 4.0), ("outlet", 4, 4.0), ("walls", 20, 24.0)];
    assert_eq!(found, blocks.map(|(name, n, area)| entry(&format!("boundary/{name}"), n, area)));
    assert_eq!(problem, None);
    let (found, problem) = list("marked.vtu");
    assert_eq!(found[0], entry("BoundaryID = 1", 1, 4.0));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(problem.unwrap().contains("let a `[[patch]]` select"));
}

#[test]
fn wrong_names_of_faces_list_those_of_the_file() {
    let refused = |name: &str, faces: NamedFaces, parts: &[&str]| {
        let path = data("composite").join(name);
        let error = MeshSeries::open(path, &with_faces(&[faces])).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
        parts.iter().for_each(|part| assert!(error.contains(part), "{error}"));
    };
    let all = "`boundary/inlet`, `boundary/outlet`, `boundary/walls`";
    refused("patches.vtm", block("outflow"), &["no block `outflow`", all]);
    refused("patches.vtm", block("internalMesh"), &["no part of the boundary", "dimension 3", all]);
    refused("marked.vtu", block("outlet"), &["`outlet`", "no blocks of boundary faces"]);
    refused("marked.vtu", marked("BoundaryID", 3), &["value 3", "`BoundaryID`", "1, 2, 7"]);
    refused("marked.vtu", marked("patch", 3), &["no cell array `patch`", "`BoundaryID`"]);
    refused("octree.vtu", marked("patch", 3), &["no cells on the boundary"]);
}

#[test]
fn two_components_are_along_the_plane_of_a_mesh() {
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    for (axes, flat) in [([0, 1], 2), ([0, 2], 1), ([1, 2], 0)] {
        let points = square.map(|p| {
            let mut point = [2.0; 3];
            (point[axes[0]], point[axes[1]]) = (p[0], p[1]);
            point
        });
        let (u, v) = (
            ("point", "Float64", "u", 1, vec![1.0; 4]),
            ("point", "Float64", "v", 1, vec![3.0; 4]),
        );
        let text = unstructured(&points, &[(9, vec![0, 1, 2, 3])], &[u, v]);
        let folder = folder(&[("plane.vtu", text)]);
        let velocity = VelocityName::Plane(["u".into(), "v".into()]);
        let options = SeriesOptions { velocity, ..Default::default() };
        let path = folder.path().join("plane.vtu");
        let mut series = MeshSeries::open(path.as_path(), &options).unwrap();
        let mut expected = [0.0; 3];
        (expected[axes[0]], expected[axes[1]]) = (1.0, 3.0);
        assert_eq!(series.read(0).unwrap().velocity.vector(2), expected);
        let names = axes.map(|d| ['x', 'y', 'z'][d]);
        assert_eq!(series.info().velocity_axes, names);
        assert_eq!(inspect(path.as_path(), &options).unwrap().velocity_axes, names);
        let mesh = Mesh::new(series.points(), series.cells().clone()).unwrap();
        assert_eq!(mesh.flat_axis(), Some(flat));
    }
}

#[test]
fn counts_of_cells_are_kept_where_they_form_no_mesh() {
    // Quads in no plane, beside a line.
    let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 0.0]];
    let cells = [(9, vec![0, 1, 2, 3]), (3, vec![0, 1])];
    let array = ("point", "Float64", "U", 3, vec![0.0; 12]);
    let folder = folder(&[("bent.vtu", unstructured(&points, &cells, &[array]))]);
    let info = inspect(folder.path().join("bent.vtu"), &with_velocity("U")).unwrap();
    let mesh = info.mesh.unwrap();
    assert_eq!((mesh.kinds.len(), mesh.skipped, mesh.counts), (2, 1, None));
    assert!(mesh.problem.unwrap().contains("give cells in one plane"));
}

#[test]
fn blocks_of_a_vtkhdf_file_name_faces() {
    for name in ["blocks.vtkhdf", "collection.vtkhdf"] {
        let faces = ["inlet", "walls"].map(block);
        let options = SeriesOptions { faces: faces.to_vec(), ..with_velocity("U") };
        let mut series = MeshSeries::open(data("vtkhdf").join(name), &options).unwrap();
        assert_eq!(series.times(), [0.0, 0.5, 1.0]);
        assert!(series.info().notes.is_empty(), "{:?}", series.info().notes);
        let points = series.points().to_vec();
        let frame = series.read(1).unwrap();
        for (i, p) in points.iter().enumerate() {
            assert_eq!(frame.velocity.vector(i), [0, 1, 2].map(|d| (d + 1) as f64 * p[d] + 0.5));
        }
        let mesh = Mesh::new(series.points(), series.cells().clone()).unwrap();
        let mesh = mesh.with_boundary(series.boundary().unwrap()).unwrap();
        let found = mesh.face_groups().iter().map(|of| (of.faces, of.area, of.unmatched));
        // The box of 1 x 1 x 0.5.
        assert_eq!(found.collect::<Vec<_>>(), [(4, 0.5, 0), (28, 3.5, 0)], "{name}");
    }
}

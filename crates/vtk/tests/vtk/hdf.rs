//! VTKHDF files written by VTK and h5py (`tests/peers/vtkhdf.py`).

use burntrace_vtk::{Association, BlockInfo, Geometry, Kind, VtkFile, open, open_block, open_step};
use std::path::{Path, PathBuf};

const FIXTURES: [&str; 10] = [
    "one.vtkhdf",
    "steps.vtkhdf",
    "moves.vtkhdf",
    "pieces.vtkhdf",
    "image.vtkhdf",
    "flat.vtkhdf",
    "polydata.vtkhdf",
    "polydata_pieces.vtkhdf",
    "blocks.vtkhdf",
    "collection.vtkhdf",
];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/vtkhdf").join(name)
}

fn values(file: &VtkFile, name: &str) -> Vec<f64> {
    let array = file.arrays().iter().find(|array| array.name == name).unwrap();
    file.read(array).unwrap().values.into_f64()
}

#[test]
fn unstructured_grids_are_read_at_each_time_step() {
    for (name, times, cells) in [
        ("one.vtkhdf", &[][..], 20),
        ("steps.vtkhdf", &[0.0, 0.5, 1.0], 20),
        ("moves.vtkhdf", &[0.0, 0.5, 1.0], 20),
        ("pieces.vtkhdf", &[], 40),
    ] {
        for step in 0..times.len().max(1) {
            let file = open_step(fixture(name), step).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(file.steps(), times, "{name}");
            let time = file.time_value().unwrap();
            assert_eq!(time, times.get(step).copied());
            assert_eq!(*file.geometry(), Geometry::Unstructured { points: 9 * cells / 10, cells });
            let points = file.points().unwrap().values.into_f64();
            let velocity = values(&file, "U");
            let t = time.unwrap_or(0.0);
            for (i, (x, u)) in points.iter().zip(&velocity).enumerate() {
                assert_eq!(*u, (i % 3 + 1) as f64 * x + t, "{name}, step {step}");
            }
            let ids: Vec<f64> = (0..cells).map(|cell| (cell % 20) as f64).collect();
            assert_eq!(values(&file, "id"), ids);
            let mesh = file.cells().unwrap();
            assert_eq!(mesh.len(), cells);
            assert_eq!(volume(&points, mesh.connectivity()), 0.5 * cells as f64 / 20.0, "{name}");
        }
        let error = open_step(fixture(name), times.len().max(1)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("time steps"), "{error}");
    }
}

/// The volume of tetrahedra.
fn volume(points: &[f64], connectivity: &[u32]) -> f64 {
    let point = |index: u32| std::array::from_fn(|d| points[3 * index as usize + d]);
    let of = |corners: &[u32]| {
        let [a, b, c, d]: [[f64; 3]; 4] = std::array::from_fn(|i| point(corners[i]));
        let [u, v, w] = [b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
        let cross =
            [v[1] * w[2] - v[2] * w[1], v[2] * w[0] - v[0] * w[2], v[0] * w[1] - v[1] * w[0]];
        (u[0] * cross[0] + u[1] * cross[1] + u[2] * cross[2]).abs() / 6.0
    };
    let sum: f64 = connectivity.chunks(4).map(of).sum();
    (sum * 1e9).round() / 1e9
}

#[test]
fn images_are_read_at_each_time_step() {
    for (name, nz) in [("image.vtkhdf", 3), ("flat.vtkhdf", 1)] {
        for step in 0..3 {
            let file = open_step(fixture(name), step).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((file.kind(), file.geometry().dims()), (Kind::ImageData, Some([5, 4, nz])));
            assert_eq!(file.time_value().unwrap(), Some(step as f64 / 2.0));
            let [x, y, z] = file.coordinates().unwrap();
            assert_eq!((x[4], y[0], y[3], z.len()), (2.0, -1.0, 0.5, nz));
            let array = &file.arrays()[0];
            assert_eq!((array.association, array.components), (Association::Point, 3));
            for (i, u) in values(&file, "U").into_iter().enumerate() {
                let (node, c) = (i / 3, i % 3);
                let [i, j, k] = [node % 5, node / 5 % 4, node / 20];
                let number = (7 * i + 11 * j + 13 * k + 17 * step + 5 * c) % 64;
                assert_eq!(u, number as f64 / 8.0 - 4.0, "{name}, step {step}, node {node}");
            }
        }
    }
}

/// Asserts that the velocities are those of the formula at a time.
fn check_velocity(file: &VtkFile, time: f64) {
    let points = file.points().unwrap().values.into_f64();
    let velocity = values(file, "U");
    assert_eq!(velocity.len(), points.len());
    for (i, (x, u)) in points.iter().zip(&velocity).enumerate() {
        assert_eq!(*u, (i % 3 + 1) as f64 * x + time, "{}", file.path().display());
    }
}

#[test]
fn poly_data_are_read_at_each_time_step() {
    for (step, time) in [0.0, 0.5, 1.0].into_iter().enumerate() {
        let file = open_step(fixture("polydata.vtkhdf"), step).unwrap();
        let expected = Geometry::PolyData { points: 18, verts: 0, lines: 0, strips: 0, polys: 28 };
        assert_eq!(*file.geometry(), expected);
        assert_eq!(file.time_value().unwrap(), Some(time));
        check_velocity(&file, time);
        assert_eq!(values(&file, "id").len(), 28);
        let faces = file.faces().unwrap();
        assert!(faces.iter().all(|(kind, corners)| kind == 7 && corners.len() == 3));
        // The same triangles at all steps.
        let first = open(fixture("polydata.vtkhdf")).unwrap().faces().unwrap();
        assert_eq!(faces, first);
    }
}

#[test]
fn pieces_of_poly_data_are_joined() {
    let file = open(fixture("polydata_pieces.vtkhdf")).unwrap();
    let expected = Geometry::PolyData { points: 10, verts: 0, lines: 2, strips: 0, polys: 4 };
    assert_eq!(*file.geometry(), expected);
    check_velocity(&file, 0.0);
    // Joining changes the order of lines and polygons.
    assert!(file.arrays().iter().all(|array| array.association == Association::Point));
    let corners: Vec<Vec<u32>> =
        file.faces().unwrap().iter().map(|(_, corners)| corners.to_vec()).collect();
    assert_eq!(corners, [vec![0, 1, 2, 3], vec![1, 4, 2], vec![5, 6, 7, 8], vec![6, 9, 7]]);
    let (lines, _) = file.boundary_cells(1).unwrap();
    assert_eq!(lines.connectivity(), [0, 1, 5, 6]);
}

#[test]
fn blocks_of_a_file_are_those_of_one_data_set() {
    for (name, names) in [
        ("blocks.vtkhdf", ["volume", "boundary/inlet", "boundary/walls"]),
        ("collection.vtkhdf", ["volume", "inlet", "walls"]),
    ] {
        for (step, time) in [0.0, 0.5, 1.0].into_iter().enumerate() {
            let file = open_step(fixture(name), step).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!((file.steps().len(), file.time_value().unwrap()), (3, Some(time)));
            assert_eq!(*file.geometry(), Geometry::Unstructured { points: 18, cells: 20 });
            check_velocity(&file, time);
            assert_eq!(values(&file, "id"), (0..20).map(f64::from).collect::<Vec<_>>());
            let describe = |block: &BlockInfo| {
                (block.name.clone(), block.is_used, block.dimension, block.cells)
            };
            let found: Vec<_> = file.blocks().iter().map(describe).collect();
            let [volume, inlet, walls] = names;
            let expected = [(volume, true, 3, 20), (inlet, false, 2, 4), (walls, false, 2, 28)];
            assert_eq!(
                found,
                expected.map(|(name, used, of, cells)| (String::from(name), used, of, cells))
            );
            assert!(file.notes()[0].contains("patches can name its faces"), "{:?}", file.notes());
            let block = open_block(&file.blocks()[1]).unwrap();
            assert_eq!((block.faces().unwrap().len(), block.kind()), (4, Kind::PolyData));
            check_velocity(&block, time);
        }
        let error = open_step(fixture(name), 3).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("time steps"), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(fixture("blocks.vtkhdf"), folder.path().join("blocks.vtkhdf")).unwrap();
    let index = folder.path().join("index.vtm");
    let text = "<VTKFile type=\"vtkMultiBlockDataSet\"><vtkMultiBlockDataSet>\
                <DataSet name=\"a\" file=\"blocks.vtkhdf\"/></vtkMultiBlockDataSet></VTKFile>";
    std::fs::write(&index, text).unwrap();
    let nested = open(&index).unwrap_err().to_string();
    assert!(nested.contains("a multi-block file inside another one"), "{nested}");
}

/// Without the offsets of its steps, an array has to have the rows of the points or cells.
#[test]
fn rows_that_steps_do_not_use_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    // A copy of a file in which the group or dataset is called by another name.
    let without = |name: &str, offsets: &str| {
        let mut bytes = std::fs::read(fixture(name)).unwrap();
        let old = offsets.as_bytes();
        let starts: Vec<usize> =
            (0..bytes.len() - old.len()).filter(|i| bytes[*i..].starts_with(old)).collect();
        assert!(!starts.is_empty(), "{name}: {offsets}");
        starts.iter().for_each(|start| bytes[start + old.len() - 1] = b'z');
        std::fs::write(folder.path().join(name), bytes).unwrap();
        folder.path().join(name)
    };
    for (name, offsets, dataset) in [
        ("steps.vtkhdf", "PointDataOffsets", "U"),
        ("steps.vtkhdf", "CellDataOffsets", "id"),
        ("moves.vtkhdf", "PointOffsets", "Points"),
        ("moves.vtkhdf", "CellOffsets", "Types"),
        ("moves.vtkhdf", "ConnectivityIdOffsets", "Connectivity"),
    ] {
        let error = open(without(name, offsets)).unwrap_err().to_string();
        for part in [name, &format!("dataset `{dataset}`"), &format!("`Steps/{offsets}")] {
            assert!(error.contains(part), "{offsets}: {error}");
        }
    }
    // Those of the points serve as well, as do the steps of an image.
    for name in ["moves.vtkhdf", "image.vtkhdf"] {
        for step in 0..3 {
            let path = without(name, "PointDataOffsets");
            let [found, expected] =
                [path, fixture(name)].map(|path| values(&open_step(path, step).unwrap(), "U"));
            assert_eq!(found, expected, "{name}, step {step}");
        }
    }
}

#[test]
fn other_hdf5_files_are_refused() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/cf/nc4.nc");
    let error = open(data).unwrap_err().to_string();
    assert!(error.contains("nc4.nc") && error.contains("no group `VTKHDF`"), "{error}");
}

fn read_everything(path: &Path) -> bool {
    let Ok(file) = open_step(path, 0) else { return false };
    let arrays = file.arrays().iter().chain(file.topology());
    let read = arrays.filter(|array| file.read(array).is_err()).count() == 0;
    let geometry = match file.kind() {
        Kind::ImageData => file.coordinates().is_ok(),
        Kind::PolyData => file.points().is_ok() && file.faces().is_ok(),
        _ => file.points().is_ok() && file.cells().is_ok(),
    };
    let blocks = file.blocks().iter().filter(|block| open_block(block).is_err()).count() == 0;
    read && geometry && blocks
}

/// A file of which a byte or the end is damaged gives an error or other numbers, never a panic.
#[test]
fn damaged_hdf5_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.vtkhdf");
    for name in FIXTURES {
        let bytes = std::fs::read(fixture(name)).unwrap();
        assert!(read_everything(&fixture(name)), "{name}");
        let mut refused = 0;
        for at in (0..bytes.len()).step_by((bytes.len() / 150).max(1)) {
            std::fs::write(&path, &bytes[..at]).unwrap();
            refused += usize::from(!read_everything(&path));
            for flip in [0x01, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                std::fs::write(&path, &damaged).unwrap();
                refused += usize::from(!read_everything(&path));
            }
        }
        assert!(refused > 100, "{name}: {refused} were refused");
    }
}

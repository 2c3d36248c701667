//! Data sets in several files and blocks, and images with permuted axes.

use std::path::Path;

use super::common::{array, check_values, composite, copy_folder, points, values};
use burntrace_vtk::{Geometry, Kind, VtkFile, open, open_blocks};

/// Copies the files of a data set to a folder, with replacements in its index.
fn changed(name: &str, replacements: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(&composite(""), folder.path());
    let path = folder.path().join(name);
    let mut text = std::fs::read_to_string(&path).unwrap();
    for (from, to) in replacements {
        assert!(text.contains(from), "{from} in {text}");
        text = text.replace(from, to);
    }
    std::fs::write(path, text).unwrap();
    folder
}

/// The first error of opening a changed data set and reading its coordinates and arrays.
fn error_of(name: &str, replacements: &[(&str, &str)]) -> String {
    let folder = changed(name, replacements);
    let read = || -> Result<(), burntrace_vtk::Error> {
        let file = open(folder.path().join(name))?;
        if file.kind() != Kind::StructuredGrid {
            file.coordinates()?;
        }
        file.arrays().iter().try_for_each(|array| file.read(array).map(drop))
    };
    read().unwrap_err().to_string()
}

#[test]
fn pieces_of_grids_are_put_together() {
    for ghosts in ["plain", "ghosts"] {
        for suffix in ["vti", "vtr", "vts"] {
            let file = open(composite(&format!("{ghosts}_{suffix}.p{suffix}"))).unwrap();
            assert_eq!(file.geometry().dims(), Some([6, 4, 3]));
            check_values(&file);
            if ghosts == "ghosts" {
                let on_points = values(&file, "vtkGhostType");
                assert!(on_points.iter().all(|flags| *flags == 0.0), "all have an owner");
            }
        }
    }
    let [x, y, z] = open(composite("plain_vti.pvti")).unwrap().coordinates().unwrap();
    assert_eq!(x, [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    assert_eq!((y, z), (vec![-1.0, -0.75, -0.5, -0.25], vec![2.0, 4.0, 6.0]));
    let [x, ..] = open(composite("ghosts_vtr.pvtr")).unwrap().coordinates().unwrap();
    assert_eq!(x, [0.0, 0.5, 1.5, 4.0, 4.5, 6.0]);
}

#[test]
fn indices_that_contradict_their_pieces_are_refused() {
    let gap = [("<Piece Extent=\"3 5 2 3 0 2\" Source=\"plain_vti/plain_vti_2.vti\"/>\n", "")];
    let error = error_of("plain_vti.pvti", &gap);
    assert!(
        error.contains("found no piece with tuple `22`, expected pieces that cover"),
        "{error}"
    );
    let error = error_of("plain_vti.pvti", &[("0 5 0 3 0 2", "0 6 0 3 0 2")]);
    let expected = "found pieces that cover the extent `0 5 0 3 0 2`, expected `0 6 0 3 0 2`, its";
    assert!(error.contains(expected), "{error}");
    let error = error_of("plain_vti.pvti", &[("3 5 2 3 0 2", "2 4 2 3 0 2")]);
    assert!(error.contains("plain_vti_2.vti"), "{error}");
    let expected = "found a piece with the extent `3 5 2 3 0 2`, expected `2 4 2 3 0 2`";
    assert!(error.contains(expected), "{error}");
    let error = error_of("plain_vti.pvti", &[("Spacing=\"0.5", "Spacing=\"0.75")]);
    assert!(error.contains("a piece with Spacing `0.5 0.25 2`, expected `0.75 0.25 2`"), "{error}");
    let error = error_of("plain_vti.pvti", &[("plain_vti_2.vti", "missing.vti")]);
    assert!(error.contains("cannot open") && error.contains("missing.vti"), "{error}");
}

/// Writes an index of two images that share the nodes i = 1, with one value at each node.
fn two_images(folder: &Path, shared: [f64; 2], ghost: bool) -> VtkFile {
    let image = |extent: &str, values: [f64; 2], ghosts: [u8; 2]| {
        let ghosts = match ghost {
            true => format!(
                "<DataArray type=\"UInt8\" Name=\"vtkGhostType\" format=\"ascii\">{} {}</DataArray>",
                ghosts[0], ghosts[1]
            ),
            false => String::new(),
        };
        format!(
            "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 2 0 0 0 0\"><Piece \
             Extent=\"{extent}\"><PointData><DataArray type=\"Float64\" Name=\"p\" \
             format=\"ascii\">{} {}</DataArray>{ghosts}</PointData></Piece></ImageData></VTKFile>",
            values[0], values[1]
        )
    };
    let [left, right] = shared;
    std::fs::write(folder.join("a.vti"), image("0 1 0 0 0 0", [1.0, left], [0, 1])).unwrap();
    std::fs::write(folder.join("b.vti"), image("1 2 0 0 0 0", [right, 3.0], [0, 0])).unwrap();
    let index = "<VTKFile type=\"PImageData\"><PImageData WholeExtent=\"0 2 0 0 0 0\"><Piece \
                 Source=\"a.vti\"/><Piece Source=\"b.vti\"/></PImageData></VTKFile>";
    std::fs::write(folder.join("both.pvti"), index).unwrap();
    open(folder.join("both.pvti")).unwrap()
}

#[test]
fn overlapping_pieces_must_agree_unless_they_are_duplicates() {
    let folder = tempfile::tempdir().unwrap();
    let file = two_images(folder.path(), [2.0, 2.0], false);
    assert_eq!(values(&file, "p"), [1.0, 2.0, 3.0]);
    // Rounding is no contradiction.
    let file = two_images(folder.path(), [2.0, 2.000_001], false);
    assert_eq!(values(&file, "p"), [1.0, 2.0, 3.0]);
    let file = two_images(folder.path(), [f64::NAN, f64::NAN], false);
    assert!(values(&file, "p")[1].is_nan());
    for other in [2.1, f64::NAN, f64::INFINITY] {
        let file = two_images(folder.path(), [2.0, other], false);
        let error = file.read(array(&file, "p")).unwrap_err().to_string();
        assert!(error.contains("b.vti`") && error.contains("array `p`"), "{error}");
        assert!(error.contains("for tuple `1` of the whole, which is `2` in another"), "{error}");
        // The first piece marks its value as a duplicate.
        let file = two_images(folder.path(), [-1.0, 2.0], true);
        assert_eq!(values(&file, "p"), [1.0, 2.0, 3.0]);
        assert_eq!(values(&file, "vtkGhostType"), [0.0, 0.0, 0.0]);
    }
}

#[test]
fn blocks_of_one_dimension_are_used() {
    let file = open(composite("foam.vtm")).unwrap();
    assert_eq!(file.kind(), Kind::UnstructuredGrid);
    assert_eq!(file.time_value().unwrap(), Some(0.75));
    check_values(&file);
    let blocks: Vec<_> =
        file.blocks().iter().map(|b| (b.name.as_str(), b.dimension, b.is_used)).collect();
    let expected =
        [("internal", 3, true), ("boundary/walls", 2, false), ("boundary/outlet", 2, false)];
    assert_eq!(blocks, expected);
    assert_eq!(file.notes().len(), 2);
    let expected = "the block `boundary/walls` (poly data) is not used: its cells have dimension 2, \
                    those of other blocks 3; patches can name its faces";
    assert_eq!(file.notes()[0], expected);
}

#[test]
fn structured_blocks_become_one_mesh() {
    for (name, kinds) in [
        ("structured.vtm", [Kind::StructuredGrid; 2]),
        ("mixed.vtm", [Kind::ImageData, Kind::RectilinearGrid]),
    ] {
        let file = open(composite(name)).unwrap();
        assert_eq!(*file.geometry(), Geometry::Unstructured { points: 84, cells: 30 }, "{name}");
        assert_eq!(file.blocks().iter().map(|block| block.kind).collect::<Vec<_>>(), kinds);
        check_values(&file);
        let cells = file.cells().unwrap();
        assert!(cells.types().iter().all(|kind| *kind == 12));
        let points = points(&file);
        let (at, corners) = (|i: u32| points[i as usize], cells.iter().nth(18).unwrap().1);
        // The first cell of the second block.
        assert_eq!(at(corners[0]), points[48]);
        let edge = at(corners[1])[0] - at(corners[0])[0];
        assert_eq!(edge, 0.5, "{name}");
        assert_eq!(file.read(array(&file, "p")).unwrap().values.len(), 84);
    }
    let note = &open(composite("structured.vtm")).unwrap().notes()[0].clone();
    assert!(note.contains("do not form one grid (they overlap in the extent"), "{note}");
}

#[test]
fn images_with_origins_of_their_own_form_a_grid() {
    let file = open(composite("images.vtm")).unwrap();
    assert_eq!((file.kind(), file.geometry().dims()), (Kind::ImageData, Some([6, 4, 3])));
    check_values(&file);
    assert!(file.notes().is_empty());
    // The parts of a time in a `.pvd` are opened alike.
    let part = |n: usize| (format!("part {n}"), composite(&format!("images/images_{n}.vti")));
    let file = open_blocks(&[part(0), part(1)]).unwrap();
    check_values(&file);
    let one = open_blocks(&[part(1)]).unwrap();
    assert_eq!((one.geometry().dims(), one.blocks().len()), (Some([3, 4, 3]), 0));
    assert!(open_blocks(&[]).is_err());
}

#[test]
fn arrays_that_a_block_lacks_are_left_out() {
    let folder = changed(
        "foam.vtm",
        &[
            ("<Block name='boundary'>", "<Block name='zones'>"),
            (
                "<DataSet name='walls' file='foam/boundary/walls.vtp' />",
                "<DataSet name='second' file='quadratic.vtu' /><DataSet name='third' file='mixed-ghosts.vtu' />",
            ),
        ],
    );
    // A block without `p`, with ghosts.
    let mixed = super::common::folder().join("../cells/ascii.vtu");
    std::fs::copy(mixed, folder.path().join("mixed-ghosts.vtu")).unwrap();
    let file = open(folder.path().join("foam.vtm")).unwrap();
    let names: Vec<&str> = file.arrays().iter().map(|array| array.name.as_str()).collect();
    assert_eq!(names, ["TimeValue", "vtkGhostType", "vtkGhostType"]);
    let notes = file.notes().join("\n");
    let expected =
        "the array `velocity` is not used: the block `zones/third` has none of 3 x Float32";
    assert!(notes.contains(expected), "{notes}");
    // Blocks without ghosts have none.
    let ghosts = file.arrays().iter().find(|array| array.tuples == file.geometry().num_cells());
    let flags = file.read(ghosts.unwrap()).unwrap().values.into_f64();
    let (own, third) = flags.split_at(flags.len() - 8);
    assert!(own.iter().all(|flags| *flags == 0.0));
    assert_eq!(third, [0.0, 0.0, 1.0, 0.0, 32.0, 0.0, 0.0, 1.0]);
}

#[test]
fn broken_multi_block_files_are_refused() {
    let error = error_of("images.vtm", &[("images/images_1.vti", "images.vtm")]);
    assert!(error.contains("a multi-block file inside another one cannot be read"), "{error}");
    let error = error_of("images.vtm", &[("file=\"images/", "path=\"images/")]);
    assert!(error.contains("found no element `DataSet` with a `file`"), "{error}");
    let error = error_of("images.vtm", &[("images_1.vti", "images_7.vti")]);
    assert!(error.contains("cannot open") && error.contains("images_7.vti"), "{error}");
}

#[test]
fn axes_of_images_are_sorted() {
    for (name, dims) in [("cyclic.vti", [2, 4, 3]), ("reversed.vti", [3, 4, 2])] {
        let file = open(composite(name)).unwrap();
        assert_eq!(file.geometry().dims(), Some(dims), "{name}");
        let found = values(&file, "velocity");
        let expected: Vec<f64> =
            points(&file).into_iter().flat_map(super::common::velocity).collect();
        assert_eq!(found, expected, "{name}");
        let mut cells = values(&file, "density");
        let first = cells[..2].to_vec();
        cells.sort_by(f64::total_cmp);
        assert_eq!(cells, [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]);
        // The cells that are neighbours along x are so along another axis of the file.
        let step = if name == "cyclic.vti" { 1.0 } else { 3.0 };
        assert_eq!(first[1] - first[0], step, "{name}");
    }
}

#[test]
fn images_with_tilted_axes_are_unstructured_grids() {
    // `Direction="0.8 -0.6 0 0.6 0.8 0 0 0 1"`
    let tilted = open(composite("tilted.vti")).unwrap();
    assert_eq!(tilted.kind(), Kind::UnstructuredGrid);
    assert!(tilted.notes()[0].contains("`Direction`"), "{:?}", tilted.notes());
    check_values(&tilted);
    let (cells, points) = (tilted.cells().unwrap(), points(&tilted));
    assert!(cells.types().iter().all(|kind| *kind == 12));
    let [first, second, .., fourth] = cells.connectivity()[..4] else { panic!() };
    let along = |a: u32, b: u32| [0, 1, 2].map(|d| points[b as usize][d] - points[a as usize][d]);
    let ([x, y, _], [u, v, _]) = (along(first, second), along(first, fourth));
    assert!((y / x - 0.75).abs() < 1e-12 && (u / v + 0.75).abs() < 1e-12, "{x} {y} {u} {v}");
}

#[test]
fn files_and_blocks_that_are_listed_twice_are_refused() {
    let second = ("images_1.vti", "images_0.vti");
    let error = error_of("images.vtm", &[second]);
    assert!(error.contains("element `DataSet`: found the file `"), "{error}");
    assert!(error.contains("images_0.vti` for a second time, expected each file once"), "{error}");
    let error = error_of("images.vtm", &[("index=\"1\"", "index=\"0\"")]);
    assert!(error.contains("found a second block with the index of `right`"), "{error}");
    let error = error_of("plain_vti.pvti", &[("plain_vti_1.vti", "plain_vti_0.vti")]);
    assert!(error.contains("plain_vti_0.vti` for a second time"), "{error}");
}

#[test]
fn lzma_is_decompressed() {
    for name in ["lzma-raw.vti", "lzma-base64.vti"] {
        let file = open(composite(name)).unwrap();
        assert!(file.encoding().contains("LZMA"), "{}", file.encoding());
        check_values(&file);
    }
}

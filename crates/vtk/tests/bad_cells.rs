//! Cells that are damaged or do not fit: what is wrong is said.
#![allow(clippy::unwrap_used)]

mod common;

use burntrace_vtk::{Error, open};
use common::folder;
use common::mesh::{COMMON, TWO_CELLS, Written, legacy, listed, piece, structured, vtu};

fn ends(message: &str, end: &str) {
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn arrays_of_xml_files_that_do_not_fit() {
    let written = Written::new();
    let error = |arrays| written.error(vtu(&piece(5, arrays, COMMON)));
    assert_eq!(
        error(["5 9", "3 7", "0 1 2 1 2 3 5"]),
        "`FILE`, line 1 (byte 285), array `connectivity`: found `5` (after `6` numbers), \
         expected a point from `0` to `4`"
    );
    let corners = "0 1 2 1 2 3 4";
    for (types, offsets, corners, end) in [
        (
            "5 9",
            "3 7",
            "0 1 2 1 2 3 -1",
            "`-1` (after `6` numbers), expected a point from `0` to `4`",
        ),
        ("5 9", "3 6", corners, "last cell at `6`, expected `7`, the end of the points"),
        ("5 9", "3 8", corners, "last cell at `8`, expected `7`, the end of the points"),
        ("5 9", "3 7", "0 1 2 1 2 3", "last cell at `7`, expected `6`, the end of the points"),
        ("5 9", "8 7", corners, "an end of cell `1` at `7`, expected `8` or more, its start"),
        ("5 9", "-3 7", corners, "`-3` (after `0` numbers), expected the end of a cell"),
        ("5 9", "4 7", corners, "type `5` with `4` points, expected `3`, as its type has"),
        ("5 9", "007", corners, "array `offsets`: found `1` numbers, expected `2`"),
        ("5 9", "0 3 7", corners, "`7` after `2` numbers, expected the end of the array"),
    ] {
        ends(&error([types, offsets, corners]), end);
    }
    let no_points = written.error(vtu(&piece(0, ["1", "1", "0"], COMMON)));
    ends(&no_points, "expected no point, as there are none");
}

#[test]
fn arrays_of_xml_files_that_are_missing_or_of_another_kind() {
    let written = Written::new();
    let two = vtu(&piece(5, TWO_CELLS, COMMON));
    for (name, scalar) in [("types", "UInt8"), ("offsets", "Int64"), ("connectivity", "Int64")] {
        let message = written.error(two.replace(&format!("\"{name}\""), "\"other\""));
        ends(&message, &format!("found `2` cells without the array `{name}`, expected one"));
        let [whole, real] = [scalar, "Float32"].map(|kind| format!("{kind}\" Name=\"{name}"));
        let end = "found tuples of `1` numbers of type Float32, expected single whole numbers";
        let message = written.error(two.replace(&whole, &real));
        ends(&message, &format!("array `{name}`: {end}"));
    }
    let pairs = two.replace("\"offsets\"", "\"offsets\" NumberOfComponents=\"2\"");
    let end = "found tuples of `2` numbers of type Int64, expected single whole numbers";
    ends(&written.error(pairs), end);
    let found = [("5 256", "`256` (after `1` numbers)"), ("-1 9", "`-1` (after `0` numbers)")];
    for (types, number) in found {
        let message = written.error(vtu(&piece(5, [types, "3 7", TWO_CELLS[2]], ["Int64"; 3])));
        ends(&message, &format!("array `types`: found {number}, expected a type of cells"));
    }
    ends(
        &written.error(two.replace("\"+5\"", "\"4294967296\"")),
        "a mesh of `4294967296` points cannot be read; cut it into smaller ones",
    );
}

#[test]
fn a_piece_does_not_reach_into_another() {
    let written = Written::new();
    let good = piece(5, TWO_CELLS, COMMON);
    std::fs::write(written.path("good.vtu"), vtu(&good)).unwrap();
    for (cells, end) in [
        (["1", "1", "5"], "`5` (after `0` numbers), expected a point from `0` to `4`"),
        (["1", "1", "-1"], "`-1` (after `0` numbers), expected a point from `0` to `4`"),
        (["1 1", "1 3", "0 0"], "last cell at `3`, expected `2`, the end of the points"),
        (["1 5", "1 3", "0 0 0"], "type `5` with `2` points, expected `3`, as its type has"),
    ] {
        let bad = piece(5, cells, COMMON);
        ends(&written.error(vtu(&[&*good, &*bad, &*good].concat())), end);
        // In a file of its own, which is named.
        std::fs::write(written.path("bad.vtu"), vtu(&bad)).unwrap();
        let message = written.error(index(&["good.vtu", "bad.vtu", "good.vtu"]));
        assert!(message.contains("bad.vtu`, "), "{message}");
        ends(&message, end);
    }
    let cells = written.cells(index(&["good.vtu", "good.vtu"])).unwrap();
    assert_eq!(listed(&cells)[2..], [(5, vec![5, 6, 7]), (9, vec![6, 7, 8, 9])]);
}

/// An index of the files.
fn index(files: &[&str]) -> String {
    let pieces: String = files.iter().map(|file| format!("<Piece Source=\"{file}\"/>")).collect();
    vtu(&pieces).replace("UnstructuredGrid", "PUnstructuredGrid")
}

#[test]
fn cells_of_old_legacy_files_that_do_not_fit() {
    let written = Written::new();
    let file = |cells, types| legacy("3.0", &format!("CELLS {cells}\nCELL_TYPES {types}\n"));
    let read = written.cells(file("2 6\n+3 0 1 2 1 3", "2\n5 1")).unwrap();
    assert_eq!(listed(&read), [(5, vec![0, 1, 2]), (1, vec![3])]);
    assert_eq!(
        written.error(file("2 6\n3 0 1 4 1 3", "2\n5 1")),
        "`FILE`, line 7 (byte 109), array `cells`: found point `4` in cell `0`, \
         expected a point from `0` to `3`"
    );
    let sizes = "expected the number of its points, then the points";
    let count = "expected `2`, as the number of cells asks for";
    for (cells, types, end) in [
        ("2 6\n3 0 1 -2 1 3", "2\n5 1", "`-2` (after `3` numbers), expected a size or an index"),
        ("2 6\n3 0 1 2 2 3", "2\n5 1", &format!("`2` numbers from cell `1` on, {sizes}")),
        ("2 6\n5 0 1 2 1 3", "2\n7 1", &format!("`0` numbers from cell `1` on, {sizes}")),
        ("2 7\n3 0 1 2 1 3 0", "2\n5 1", "`1` numbers after the last cell, expected none"),
        ("2 6\n3 0 1 2 1 3", "2\n3 1", "type `3` with `3` points, expected `2`, as its type has"),
        ("2 6\n3 0 1 2 1 3", "1\n5", &format!("array `types`: found `1` numbers, {count}")),
        ("2 6\n3 0 1 2 1 3", "2\n5 300", "`300` (after `1` numbers), expected a type of cells"),
        ("0 0", "2\n5 1", "found `2` numbers, expected `0`, as the number of cells asks for"),
        ("2 6\n3 0 1 2 1 3", "2\n5 42", POLYHEDRON),
    ] {
        ends(&written.error(file(cells, types)), end);
    }
    let types = written.error(legacy("3.0", "CELLS 1 2\n1 0\n"));
    ends(&types, "found `1` cells without the array `types`, expected one");
}

const POLYHEDRON: &str =
    "cell `1`, a polyhedron in a legacy file, cannot be read; write the data set as .vtu";

#[test]
fn cells_of_new_legacy_files_that_do_not_fit() {
    let written = Written::new();
    let file = |offsets: &str, corners: &str, types: &str| {
        let offsets = format!("CELLS 3 4\nOFFSETS int\n{offsets}\n");
        let corners = format!("CONNECTIVITY vtktypeint64\n{corners}\n");
        legacy("5.1", &format!("{offsets}{corners}CELL_TYPES 2\n{types}\n"))
    };
    let read = written.cells(file("0 3 4", "0 1 2 3", "5 1")).unwrap();
    assert_eq!(listed(&read), [(5, vec![0, 1, 2]), (1, vec![3])]);
    for (offsets, corners, types, end) in [
        ("1 3 4", "0 1 2 3", "5 1", "found a first cell that starts at `1`, expected `0`"),
        ("0 3 5", "0 1 2 3", "5 1", "last cell at `5`, expected `4`, the end of the points"),
        ("0 5 4", "0 1 2 3", "5 1", "an end of cell `1` at `4`, expected `5` or more, its start"),
        ("0 3 4", "0 1 2 4", "5 1", "`4` (after `3` numbers), expected a point from `0` to `3`"),
        ("0 3 4", "0 1 2 3", "5 42", POLYHEDRON),
    ] {
        ends(&written.error(file(offsets, corners, types)), end);
    }
}

#[test]
fn structured_grids_without_quads_or_hexahedra() {
    let written = Written::new();
    assert_eq!(
        written.error(structured([1, 5, 1])),
        "`FILE` holds structured grid without cells but lines, as only one of its axes has more \
         than one node; two of its axes at least need more"
    );
    let vertex = written.error(structured([1, 1, 1]));
    assert!(
        vertex.contains("without cells but a vertex, as its axes have one node each"),
        "{vertex}"
    );
    let fewer = std::fs::read_to_string(folder().join("ascii.vts")).unwrap();
    let fewer = written.error(fewer.replace("0 3 0 2 0 1", "0 3000 0 2000 0 1"));
    assert!(fewer.ends_with("array `Points`: found `72` numbers, expected `36030006`"), "{fewer}");
}

#[test]
fn other_data_sets_have_no_list_of_cells() {
    for (name, what) in [
        ("raw.vti", "image data without a list of its cells; they lie between the nodes"),
        ("raw.vtr", "rectilinear grid without a list of its cells; they lie between the nodes"),
        ("raw.vtp", "poly data without cells of one list; convert it to an unstructured grid"),
    ] {
        let error = open(folder().join(name)).unwrap().cells().unwrap_err();
        assert!(matches!(error, Error::Absent { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn more_corners_than_indices_count_are_refused() {
    let written = Written::new();
    let two = vtu(&piece(5, TWO_CELLS, COMMON));
    let many = two.replace("\"connectivity\"", "\"connectivity\" NumberOfTuples=\"4294967296\"");
    let end = "a mesh of `4294967296` corners of cells cannot be read; cut it into smaller ones";
    ends(&written.error(many), end);
    let text = std::fs::read_to_string(folder().join("ascii.vts")).unwrap();
    let text = text.replace("0 3 0 2 0 1", "0 1000 0 1000 0 1000");
    ends(
        &written.error(text),
        "`8000000000` corners of cells cannot be read; cut it into smaller ones",
    );
}

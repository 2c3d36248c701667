use super::common::folder;
use super::common::mesh::{
    TWO_CELLS, TempMesh, VTK_SCALARS, legacy, listed, piece, structured, vtu,
};
use burntrace_vtk::{Error, open};

fn assert_ends_with(message: &str, end: &str) {
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn invalid_arrays_of_xml_files_are_refused() {
    let temp = TempMesh::new();
    let error = |arrays| temp.error(vtu(&piece(5, arrays, VTK_SCALARS)));
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
        ("5 9", "3 6", corners, "last cell at `6`, expected `7`, the length of the connectivity"),
        ("5 9", "3 8", corners, "last cell at `8`, expected `7`, the length of the connectivity"),
        (
            "5 9",
            "3 7",
            "0 1 2 1 2 3",
            "last cell at `7`, expected `6`, the length of the connectivity",
        ),
        ("5 9", "8 7", corners, "an end of cell `1` at `7`, expected `8` or more, its start"),
        ("5 9", "-3 7", corners, "`-3` (after `0` numbers), expected the end of a cell"),
        ("5 9", "4 7", corners, "type `5` with `4` points, expected `3` for this type"),
        ("5 9", "007", corners, "array `offsets`: found `1` numbers, expected `2`"),
        ("5 9", "0 3 7", corners, "`7` after `2` numbers, expected the end of the array"),
    ] {
        assert_ends_with(&error([types, offsets, corners]), end);
    }
    let no_points = temp.error(vtu(&piece(0, ["1", "1", "0"], VTK_SCALARS)));
    assert_ends_with(&no_points, "expected no index, as there are no points");
}

#[test]
fn missing_and_mistyped_arrays_of_xml_files_are_refused() {
    let temp = TempMesh::new();
    let two = vtu(&piece(5, TWO_CELLS, VTK_SCALARS));
    for (name, scalar) in [("types", "UInt8"), ("offsets", "Int64"), ("connectivity", "Int64")] {
        let message = temp.error(two.replace(&format!("\"{name}\""), "\"other\""));
        assert_ends_with(
            &message,
            &format!("found `2` cells without the array `{name}`, expected one"),
        );
        let [integer, float] = [scalar, "Float32"].map(|kind| format!("{kind}\" Name=\"{name}"));
        let end = "found tuples of `1` numbers of type Float32, expected single integers";
        let message = temp.error(two.replace(&integer, &float));
        assert_ends_with(&message, &format!("array `{name}`: {end}"));
    }
    let pairs = two.replace("\"offsets\"", "\"offsets\" NumberOfComponents=\"2\"");
    let end = "found tuples of `2` numbers of type Int64, expected single integers";
    assert_ends_with(&temp.error(pairs), end);
    let found = [("5 256", "`256` (after `1` numbers)"), ("-1 9", "`-1` (after `0` numbers)")];
    for (types, number) in found {
        let message = temp.error(vtu(&piece(5, [types, "3 7", TWO_CELLS[2]], ["Int64"; 3])));
        assert_ends_with(&message, &format!("array `types`: found {number}, expected a cell type"));
    }
    assert_ends_with(
        &temp.error(two.replace("\"+5\"", "\"4294967296\"")),
        "a mesh of `4294967296` points cannot be read; split it into smaller meshes",
    );
}

#[test]
fn indices_beyond_a_piece_are_refused() {
    let temp = TempMesh::new();
    let good = piece(5, TWO_CELLS, VTK_SCALARS);
    for name in ["good.vtu", "last.vtu"] {
        std::fs::write(temp.path(name), vtu(&good)).unwrap();
    }
    for (cells, end) in [
        (["1", "1", "5"], "`5` (after `0` numbers), expected a point from `0` to `4`"),
        (["1", "1", "-1"], "`-1` (after `0` numbers), expected a point from `0` to `4`"),
        (["1 1", "1 3", "0 0"], "last cell at `3`, expected `2`, the length of the connectivity"),
        (["1 5", "1 3", "0 0 0"], "type `5` with `2` points, expected `3` for this type"),
    ] {
        let bad = piece(5, cells, VTK_SCALARS);
        assert_ends_with(&temp.error(vtu(&[&*good, &*bad, &*good].concat())), end);
        // As a separate file, which the message names.
        std::fs::write(temp.path("bad.vtu"), vtu(&bad)).unwrap();
        let message = temp.error(index(&["good.vtu", "bad.vtu", "last.vtu"]));
        assert!(message.contains("bad.vtu`, "), "{message}");
        assert_ends_with(&message, end);
    }
    let cells = temp.cells(index(&["good.vtu", "last.vtu"])).unwrap();
    assert_eq!(listed(&cells)[2..], [(5, vec![5, 6, 7]), (9, vec![6, 7, 8, 9])]);
}

/// An index of these files.
fn index(files: &[&str]) -> String {
    let pieces: String = files.iter().map(|file| format!("<Piece Source=\"{file}\"/>")).collect();
    vtu(&pieces).replace("UnstructuredGrid", "PUnstructuredGrid")
}

#[test]
fn invalid_cells_of_old_legacy_files_are_refused() {
    let temp = TempMesh::new();
    let file = |cells, types| legacy("3.0", &format!("CELLS {cells}\nCELL_TYPES {types}\n"));
    let read = temp.cells(file("2 6\n+3 0 1 2 1 3", "2\n5 1")).unwrap();
    assert_eq!(listed(&read), [(5, vec![0, 1, 2]), (1, vec![3])]);
    assert_eq!(
        temp.error(file("2 6\n3 0 1 4 1 3", "2\n5 1")),
        "`FILE`, line 7 (byte 109), array `cells`: found point `4` in cell `0`, \
         expected a point from `0` to `3`"
    );
    let sizes = "expected the number of its points, then the points";
    let count = "expected `2` for the number of cells";
    for (cells, types, end) in [
        ("2 6\n3 0 1 -2 1 3", "2\n5 1", "`-2` (after `3` numbers), expected a size or an index"),
        ("2 6\n3 0 1 2 2 3", "2\n5 1", &format!("`2` numbers from cell `1` on, {sizes}")),
        ("2 6\n5 0 1 2 1 3", "2\n7 1", &format!("`0` numbers from cell `1` on, {sizes}")),
        ("2 7\n3 0 1 2 1 3 0", "2\n5 1", "`1` numbers after the last cell, expected none"),
        ("2 6\n3 0 1 2 1 3", "2\n3 1", "type `3` with `3` points, expected `2` for this type"),
        ("2 6\n3 0 1 2 1 3", "1\n5", &format!("array `types`: found `1` numbers, {count}")),
        ("2 6\n3 0 1 2 1 3", "2\n5 300", "`300` (after `1` numbers), expected a cell type"),
        ("0 0", "2\n5 1", "found `2` numbers, expected `0` for the number of cells"),
        ("2 6\n3 0 1 2 1 3", "2\n5 42", POLYHEDRON),
    ] {
        assert_ends_with(&temp.error(file(cells, types)), end);
    }
    let types = temp.error(legacy("3.0", "CELLS 1 2\n1 0\n"));
    assert_ends_with(&types, "found `1` cells without the array `types`, expected one");
}

const POLYHEDRON: &str = "found faces of the polyhedron `1` that cannot be read, expected four faces or \
     more of three points or more, below `4`, and each face in at most two polyhedra";

#[test]
fn invalid_cells_of_new_legacy_files_are_refused() {
    let temp = TempMesh::new();
    let file = |offsets: &str, corners: &str, types: &str| {
        let offsets = format!("CELLS 3 4\nOFFSETS int\n{offsets}\n");
        let corners = format!("CONNECTIVITY vtktypeint64\n{corners}\n");
        legacy("5.1", &format!("{offsets}{corners}CELL_TYPES 2\n{types}\n"))
    };
    let read = temp.cells(file("0 3 4", "0 1 2 3", "5 1")).unwrap();
    assert_eq!(listed(&read), [(5, vec![0, 1, 2]), (1, vec![3])]);
    for (offsets, corners, types, end) in [
        ("1 3 4", "0 1 2 3", "5 1", "found a first cell that starts at `1`, expected `0`"),
        (
            "0 3 5",
            "0 1 2 3",
            "5 1",
            "last cell at `5`, expected `4`, the length of the connectivity",
        ),
        ("0 5 4", "0 1 2 3", "5 1", "an end of cell `1` at `4`, expected `5` or more, its start"),
        ("0 3 4", "0 1 2 4", "5 1", "`4` (after `3` numbers), expected a point from `0` to `3`"),
        ("0 3 4", "0 1 2 3", "5 42", POLYHEDRON),
    ] {
        assert_ends_with(&temp.error(file(offsets, corners, types)), end);
    }
}

#[test]
fn structured_grids_with_a_single_axis_are_refused() {
    let temp = TempMesh::new();
    assert_eq!(
        temp.error(structured([1, 5, 1])),
        "`FILE` (structured grid) has no 2-D or 3-D cells: only one axis has more than one node; \
         use a grid with more nodes along at least two axes"
    );
    let vertex = temp.error(structured([1, 1, 1]));
    assert!(vertex.contains("has no 2-D or 3-D cells: each axis has a single node"), "{vertex}");
    let fewer = std::fs::read_to_string(folder().join("ascii.vts")).unwrap();
    let fewer = temp.error(fewer.replace("0 3 0 2 0 1", "0 3000 0 2000 0 1"));
    assert!(fewer.ends_with("array `Points`: found `72` numbers, expected `36030006`"), "{fewer}");
}

#[test]
fn other_data_sets_have_no_explicit_cells() {
    for (name, what) in [
        ("raw.vti", "(image data) has no explicit cells; its cells are implied by the nodes"),
        ("raw.vtr", "(rectilinear grid) has no explicit cells; its cells are implied by the nodes"),
        ("raw.vtp", "(poly data) has no single list of cells; convert it to an unstructured grid"),
    ] {
        let error = open(folder().join(name)).unwrap().cells().unwrap_err();
        assert!(matches!(error, Error::Absent { .. }), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[test]
fn connectivity_beyond_32_bits_is_refused() {
    let temp = TempMesh::new();
    let two = vtu(&piece(5, TWO_CELLS, VTK_SCALARS));
    let many = two.replace("\"connectivity\"", "\"connectivity\" NumberOfTuples=\"4294967296\"");
    let end =
        "a mesh of `4294967296` corners of cells cannot be read; split it into smaller meshes";
    assert_ends_with(&temp.error(many), end);
    let text = std::fs::read_to_string(folder().join("ascii.vts")).unwrap();
    let text = text.replace("0 3 0 2 0 1", "0 1000 0 1000 0 1000");
    assert_ends_with(
        &temp.error(text),
        "`8000000000` corners of cells cannot be read; split it into smaller meshes",
    );
}

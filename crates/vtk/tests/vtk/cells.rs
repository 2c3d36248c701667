use std::path::Path;

use super::common::mesh::{
    TWO_CELLS, TempMesh, VTK_SCALARS, legacy, listed, piece, structured, vtu, words,
};
use super::common::{fixtures, folder, mixed};
use super::requirements::flow_data;
use burntrace_vtk::{Association, CellArray, Kind, VtkFile, open};
use proptest::prelude::*;

const VOXEL: u8 = 11;
const HEXAHEDRON: u8 = 12;

fn fixture(name: &str) -> VtkFile {
    open(folder().join(name)).unwrap()
}

/// The six hexahedra of the grid of 4 x 3 x 2 nodes.
fn hexahedra() -> Vec<(u8, Vec<u32>)> {
    let corners = |a: u32| vec![a, a + 1, a + 5, a + 4, a + 12, a + 13, a + 17, a + 16];
    [0, 1, 2, 4, 5, 6].map(|first| (HEXAHEDRON, corners(first))).to_vec()
}

/// The cells of the mesh with many types in `make_fixtures.py`.
fn mixed_cells() -> Vec<(u8, Vec<u32>)> {
    vec![
        (12, vec![0, 1, 5, 4, 12, 13, 17, 16]),
        (13, vec![1, 2, 5, 13, 14, 17]),
        (14, vec![4, 5, 9, 8, 16]),
        (10, vec![2, 3, 6, 15]),
        (4, vec![20, 21, 22]),
        (5, vec![9, 10, 6]),
        (24, vec![2, 3, 6, 15, 7, 10, 11, 19, 22, 23]),
        (1, vec![23]),
    ]
}

#[test]
fn grids_of_all_encodings_have_the_same_hexahedra() {
    let mut read = 0;
    for path in fixtures() {
        let file = open(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let has_cells = matches!(file.kind(), Kind::UnstructuredGrid | Kind::StructuredGrid);
        if !has_cells || name.starts_with("hand-") || name == "two-pieces.vtu" {
            continue;
        }
        let cells = file.cells().unwrap();
        assert_eq!(listed(&cells), hexahedra(), "{name}");
        assert_eq!(cells.offsets(), [0, 8, 16, 24, 32, 40, 48], "{name}");
        assert_eq!((cells.len(), cells.is_empty()), (6, false), "{name}");
        let (types, offsets, connectivity) = cells.clone().into_parts();
        let parts = (cells.types(), cells.offsets(), cells.connectivity());
        assert_eq!((&types[..], &offsets[..], &connectivity[..]), parts, "{name}");
        read += 1;
    }
    assert_eq!(read, 2 * (11 + 4) + 1, "two-pieces.vts is the last");
}

#[test]
fn cells_of_many_types_are_the_same_in_all_encodings() {
    for path in mixed() {
        let file = open(&path).unwrap();
        let name = path.display();
        assert_eq!(listed(&file.cells().unwrap()), mixed_cells(), "{name}");
        let ghosts = |association| {
            let mut arrays = file.arrays().iter();
            let found = arrays.find(|a| a.name == "vtkGhostType" && a.association == association);
            file.read(found.unwrap()).unwrap().values.into_f64()
        };
        assert_eq!(ghosts(Association::Cell), [0.0, 0.0, 1.0, 0.0, 32.0, 0.0, 0.0, 1.0], "{name}");
        assert_eq!(ghosts(Association::Point)[..6], [1.0, 0.0, 0.0, 0.0, 0.0, 1.0], "{name}");
    }
}

#[test]
fn cells_of_pieces_refer_to_the_points_of_their_piece() {
    let whole = super::common::points(&fixture("raw.vtu"));
    let positions: Vec<_> = hexahedra()
        .into_iter()
        .map(|(_, points)| points.into_iter().map(|p| whole[p as usize]).collect::<Vec<_>>())
        .collect();
    for name in ["two-pieces.vtu", "../parallel/mesh.pvtu"] {
        let file = fixture(name);
        let (cells, points) = (file.cells().unwrap(), super::common::points(&file));
        assert_eq!(cells.types(), [HEXAHEDRON; 6], "{name}");
        let found: Vec<_> = cells
            .iter()
            .map(|(_, corners)| corners.iter().map(|p| points[*p as usize]).collect::<Vec<_>>())
            .collect();
        assert_eq!(found, positions, "{name}");
    }
    assert_eq!(listed(&fixture("hand-quotes.vtu").cells().unwrap()), [(5, vec![0, 1, 2])]);
}

#[test]
fn cells_of_any_integer_type_are_read() {
    let temp = TempMesh::new();
    let expected = [(5, vec![0, 1, 2]), (9, vec![1, 2, 3, 4])];
    for scalar in ["Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64"] {
        for scalars in
            [[scalar, "Int32", "Int64"], ["Int8", scalar, "UInt8"], ["Int64", "Int64", scalar]]
        {
            let cells = temp.cells(vtu(&piece(5, TWO_CELLS, scalars))).unwrap();
            assert_eq!(listed(&cells), expected, "{scalars:?}");
        }
    }
    let signs = ["+5 +9", "+3 +7", "+0 +1 +2 +1 +2 +3 +4"];
    assert_eq!(listed(&temp.cells(vtu(&piece(5, signs, VTK_SCALARS))).unwrap()), expected);
}

#[test]
fn joined_indices_may_exceed_the_stored_type() {
    // The points of the third piece start at 200, which does not fit into Int8.
    let temp = TempMesh::new();
    let many = ["1", "1", "99"];
    let scalars = ["UInt8", "Int8", "Int8"];
    let three =
        [piece(100, many, scalars), piece(100, many, scalars), piece(5, TWO_CELLS, scalars)];
    let cells = temp.cells(vtu(&three.concat())).unwrap();
    let expected =
        [(1, vec![99]), (1, vec![199]), (5, vec![200, 201, 202]), (9, vec![201, 202, 203, 204])];
    assert_eq!(listed(&cells), expected);
    assert_eq!(cells.offsets(), [0, 1, 2, 5, 9]);
}

#[test]
fn points_of_pieces_without_cells_are_counted() {
    let none = piece(3, ["", "", ""], VTK_SCALARS);
    let two = piece(5, TWO_CELLS, VTK_SCALARS);
    let cells = TempMesh::new().cells(vtu(&[&*none, &*two, &*none, &*two].concat())).unwrap();
    let expected = [
        (5, vec![3, 4, 5]),
        (9, vec![4, 5, 6, 7]),
        (5, vec![11, 12, 13]),
        (9, vec![12, 13, 14, 15]),
    ];
    assert_eq!(listed(&cells), expected);
}

#[test]
fn polyhedra_have_their_points() {
    let array = "<DataArray type=\"Int64\" Name=\"face_offsets\" format=\"ascii\">3 6</DataArray>";
    let text = vtu(&piece(5, ["42 5", "5 8", "0 1 2 3 4 0 1 2"], VTK_SCALARS));
    let text = text.replace("</Cells>", &format!("{array}</Cells>"));
    let expected = [(42, vec![0, 1, 2, 3, 4]), (5, vec![0, 1, 2])];
    assert_eq!(listed(&TempMesh::new().cells(text).unwrap()), expected);
}

#[test]
fn empty_meshes_have_no_cells() {
    let temp = TempMesh::new();
    assert!(fixture("hand-empty.vtu").cells().unwrap().is_empty());
    assert!(temp.cells(legacy("3.0", "")).unwrap().is_empty());
    assert!(temp.cells(legacy("5.1", "CELLS 0 0\nCELL_TYPES 0\n")).unwrap().is_empty());
    assert!(temp.cells(structured([2, 0, 2])).unwrap().is_empty());
}

#[test]
fn cells_of_structured_grids_are_computed() {
    let temp = TempMesh::new();
    let quads = [vec![0, 1, 4, 3], vec![1, 2, 5, 4], vec![3, 4, 7, 6], vec![4, 5, 8, 7]];
    for dims in [[3, 3, 1], [3, 1, 3], [1, 3, 3]] {
        let cells = temp.cells(structured(dims)).unwrap();
        assert_eq!(listed(&cells), quads.clone().map(|points| (9, points)), "{dims:?}");
    }
    let cells = temp.cells(structured([3, 3, 3])).unwrap();
    assert_eq!(cells.len(), 8);
    assert_eq!(listed(&cells)[5], (12, vec![10, 11, 14, 13, 19, 20, 23, 22]));
}

/// Up to twenty cells with arbitrary points.
fn any_cells(points: u32) -> impl Strategy<Value = Vec<(u8, Vec<u32>)>> {
    let kinds = vec![(1, 1), (3, 2), (5, 3), (9, 4), (10, 4), (12, 8), (13, 6), (14, 5), (7, 5)];
    let cell = proptest::sample::select(kinds).prop_flat_map(move |(kind, count)| {
        (Just(kind), proptest::collection::vec(0..points, count))
    });
    proptest::collection::vec(cell, 1..20)
}

/// The connectivity of all cells, and the end of each cell in it.
fn flat(cells: &[(u8, Vec<u32>)]) -> (Vec<u32>, Vec<u32>) {
    let connectivity: Vec<u32> = cells.iter().flat_map(|(_, points)| points.clone()).collect();
    let mut end = 0;
    let ends = cells.iter().map(|(_, points)| {
        end += points.len() as u32;
        end
    });
    let ends = ends.collect();
    (connectivity, ends)
}

/// Appends a line of text and binary numbers.
fn put(file: &mut Vec<u8>, line: &str, scalar: &str, numbers: &[u32]) {
    file.extend(format!("\n{line}\n").bytes());
    for number in numbers {
        match scalar {
            "vtktypeint64" => file.extend(u64::from(*number).to_be_bytes()),
            _ => file.extend(number.to_be_bytes()),
        }
    }
}

/// A binary legacy file; in the old layout if no scalar type is given.
fn binary(cells: &[(u8, Vec<u32>)], scalar: Option<&str>) -> Vec<u8> {
    let version = if scalar.is_some() { "5.1" } else { "4.2" };
    let mut file = format!("# vtk DataFile Version {version}\nt\nBINARY\n").into_bytes();
    put(&mut file, "DATASET UNSTRUCTURED_GRID\nPOINTS 30 float", "float", &[0; 90]);
    let (connectivity, ends) = flat(cells);
    let count = cells.len();
    if let Some(scalar) = scalar {
        let line = format!("CELLS {} {}\nOFFSETS {scalar}", count + 1, connectivity.len());
        put(&mut file, &line, scalar, &[&[0], &*ends].concat());
        put(&mut file, &format!("CONNECTIVITY {scalar}"), scalar, &connectivity);
    } else {
        let counted = |(_, points): &(u8, Vec<u32>)| [&[points.len() as u32], &**points].concat();
        let numbers: Vec<u32> = cells.iter().flat_map(counted).collect();
        put(&mut file, &format!("CELLS {count} {}", numbers.len()), "int", &numbers);
    }
    let types: Vec<u32> = cells.iter().map(|(kind, _)| u32::from(*kind)).collect();
    put(&mut file, &format!("CELL_TYPES {count}"), "int", &types);
    file
}

proptest! {
    #[test]
    fn arbitrary_cells_are_read_from_all_layouts(cells in any_cells(30)) {
        let temp = TempMesh::new();
        let types: Vec<u8> = cells.iter().map(|(kind, _)| *kind).collect();
        let (connectivity, ends) = flat(&cells);
        let xml = piece(30, [&words(&types), &words(&ends), &words(&connectivity)], VTK_SCALARS);
        prop_assert_eq!(&listed(&temp.cells(vtu(&xml)).unwrap()), &cells);
        for scalar in [None, Some("int"), Some("vtktypeint64")] {
            let found = temp.cells(binary(&cells, scalar)).unwrap();
            prop_assert_eq!(&listed(&found), &cells, "{:?}", scalar);
        }
    }
}

/// The cells of a large file outside the repository, if it exists.
fn shared_cells(name: &str) -> Option<(VtkFile, CellArray)> {
    let file = open(flow_data(name)?).unwrap();
    let cells = file.cells().unwrap();
    assert_eq!(cells.len(), file.geometry().num_cells(), "{name}");
    Some((file, cells))
}

/// The sums are computed with VTK: every index times its position, counted from 1.
#[test]
fn cells_of_real_files_match_vtk() {
    for (name, kind, count, sum) in [
        ("can.vtu", HEXAHEDRON, 4_800, 3_026_661_129_680),
        ("kitchen.vtk", HEXAHEDRON, 9_936, 23_704_198_756_704),
        ("blood_vessels/T0000000500.pvtu", VOXEL, 39_353, 1_605_193_236_996_057),
        ("blood_vessels/T0000000500/000.vtu", VOXEL, 8_892, 18_425_722_419_106),
        ("blood_vessels/T0000000500/001.vtu", VOXEL, 11_579, 40_736_785_832_404),
        ("blood_vessels/T0000000500/002.vtu", VOXEL, 11_757, 41_848_640_446_999),
        ("blood_vessels/T0000000500/003.vtu", VOXEL, 7_125, 9_800_581_697_932),
    ] {
        let Some((_, cells)) = shared_cells(name) else {
            continue;
        };
        assert!(cells.types() == vec![kind; count], "{name}");
        assert_eq!(cells.offsets().last(), Some(&(8 * count as u32)), "{name}");
        let indexed = cells.connectivity().iter().zip(1_u64..);
        let found: u64 = indexed.map(|(point, position)| position * u64::from(*point)).sum();
        assert_eq!(found, sum, "{name}");
    }
}

#[test]
fn cells_of_blood_vessels_are_those_of_the_pieces() {
    let Some((_, whole)) = shared_cells("blood_vessels/T0000000500.pvtu") else {
        return;
    };
    let (mut cells, mut points) = (Vec::new(), 0);
    for number in 0..4 {
        let name = Path::new("blood_vessels/T0000000500").join(format!("00{number}.vtu"));
        let (file, own) = shared_cells(name.to_str().unwrap()).unwrap();
        cells.extend(own.iter().map(|(kind, corners)| {
            (kind, corners.iter().map(|point| point + points).collect::<Vec<_>>())
        }));
        points += file.geometry().num_points() as u32;
    }
    assert!(listed(&whole) == cells);
}

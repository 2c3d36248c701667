//! Comparison with the crate `vtkio`: it reads the same values from the fixtures that it supports, and
use std::collections::BTreeMap;
use std::path::Path;

use super::common::{fixtures, folder};
use burntrace_vtk::{Association, open};
use vtkio::model::{Attribute, Attributes, DataSet, Piece, Vtk};

/// The fixtures that `vtkio` 0.7.0-rc2 does not support, by prefix and suffix of their names, with
/// the reason.
const NOT_READ: [(&str, &str, &str); 8] = [
    ("raw", "", "of appended data it supports only base64"),
    ("base64-zlib", "", "it loses the last block of an array of full blocks, or panics"),
    ("base64-lz4", "", "as for zlib"),
    ("appended64-zlib", "", "as for zlib"),
    ("", ".vtk", "it does not support FIELD in a data set, where VTK writes the time"),
    ("two-pieces", "", "it does not join pieces"),
    ("hand-", ".vtu", "it does not support signed sizes and empty arrays"),
    ("hand-part", ".vti", "it does not list the cell array"),
];

/// The arrays of points and cells by name.
type Arrays = BTreeMap<String, Vec<f64>>;

fn collect(attributes: &Attributes) -> Arrays {
    let mut arrays = Arrays::new();
    for attribute in attributes.point.iter().chain(&attributes.cell) {
        match attribute {
            Attribute::DataArray(array) => {
                arrays.insert(array.name.clone(), array.data.cast_into().unwrap());
            }
            Attribute::Field { data_array, .. } => {
                let fields = data_array.iter();
                arrays.extend(
                    fields.map(|array| (array.name.clone(), array.data.cast_into().unwrap())),
                );
            }
        }
    }
    arrays
}

macro_rules! only_piece {
    ($pieces:expr) => {
        match $pieces.as_slice() {
            [Piece::Inline(piece)] => collect(&piece.data),
            _ => panic!("several pieces"),
        }
    };
}

fn other_arrays(vtk: &Vtk) -> Arrays {
    match &vtk.data {
        DataSet::ImageData { pieces, .. } => only_piece!(pieces),
        DataSet::RectilinearGrid { pieces, .. } => only_piece!(pieces),
        DataSet::StructuredGrid { pieces, .. } => only_piece!(pieces),
        DataSet::UnstructuredGrid { pieces, .. } => only_piece!(pieces),
        DataSet::PolyData { pieces, .. } => only_piece!(pieces),
        DataSet::Field { .. } => panic!("a field only"),
    }
}

/// Removes the cell arrays: `vtkio` writes `CELL_DATA 0` before them in legacy files of grids.
fn without_cell_arrays(mut vtk: Vtk) -> Vtk {
    macro_rules! clear {
        ($pieces:expr) => {
            for piece in $pieces {
                if let Piece::Inline(piece) = piece {
                    piece.data.cell.clear();
                }
            }
        };
    }
    match &mut vtk.data {
        DataSet::ImageData { pieces, .. } => clear!(pieces),
        DataSet::RectilinearGrid { pieces, .. } => clear!(pieces),
        DataSet::StructuredGrid { pieces, .. } => clear!(pieces),
        _ => {}
    }
    vtk
}

fn own_arrays(path: &Path) -> Arrays {
    let file = open(path).unwrap();
    let arrays = file.arrays().iter().filter(|array| array.association != Association::Field);
    arrays.map(|array| (array.name.clone(), file.read(array).unwrap().values.into_f64())).collect()
}

#[test]
fn values_match_those_of_vtkio() {
    let mut compared = 0;
    for path in fixtures() {
        let name = path.file_name().unwrap().to_str().unwrap();
        if NOT_READ.iter().any(|(start, end, _)| name.starts_with(start) && name.ends_with(end)) {
            continue;
        }
        assert_eq!(other_arrays(&Vtk::import(&path).unwrap()), own_arrays(&path), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 4 * 5 + 1);
}

#[test]
fn files_written_by_vtkio_are_read() {
    let temporary = tempfile::tempdir().unwrap();
    for suffix in ["vti", "vtr", "vts", "vtu", "vtp"] {
        let vtk = Vtk::import(folder().join(format!("base64.{suffix}"))).unwrap();
        let path = |name: &str| temporary.path().join(name);
        let xml = path(&format!("xml.{suffix}"));
        vtk.clone().export(&xml).unwrap();
        assert_eq!(own_arrays(&xml), other_arrays(&vtk), "{suffix}, XML");
        let vtk = without_cell_arrays(vtk);
        let expected = other_arrays(&vtk);
        vtk.clone().export_ascii(path("ascii.vtk")).unwrap();
        vtk.export_be(path("binary.vtk")).unwrap();
        assert_eq!(own_arrays(&path("ascii.vtk")), expected, "{suffix}, legacy ASCII");
        assert_eq!(own_arrays(&path("binary.vtk")), expected, "{suffix}, legacy binary");
    }
}

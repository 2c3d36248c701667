//! Small meshes as text, for tests of cells.

use std::path::PathBuf;

use burntrace_vtk::{CellArray, Error, open};

/// The type and the points of each cell.
pub fn listed(cells: &CellArray) -> Vec<(u8, Vec<u32>)> {
    cells.iter().map(|(kind, points)| (kind, points.to_vec())).collect()
}

/// A temporary folder for mesh files.
pub struct TempMesh {
    folder: tempfile::TempDir,
}

impl TempMesh {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file with these bytes and reads its cells.
    pub fn cells(&self, bytes: impl AsRef<[u8]>) -> Result<CellArray, Error> {
        std::fs::write(self.path("mesh"), bytes).unwrap();
        open(self.path("mesh"))?.cells()
    }

    /// The error message of reading the cells, without the file name.
    pub fn error(&self, bytes: impl AsRef<[u8]>) -> String {
        let message = self.cells(bytes).unwrap_err().to_string();
        message.replace(self.path("mesh").to_str().unwrap(), "FILE")
    }
}

/// Numbers separated by spaces.
pub fn words<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// The scalar types of `types`, `offsets` and `connectivity` in XML files.
pub type Scalars = [&'static str; 3];

/// The scalar types written by VTK.
pub const VTK_SCALARS: Scalars = ["UInt8", "Int64", "Int64"];

/// A triangle and a quad on five points: types, offsets and connectivity.
pub const TWO_CELLS: [&str; 3] = ["5 9", "3 7", "0 1 2 1 2 3 4"];

/// A piece of an XML file with points along a line, and the types, offsets and connectivity of its
/// cells.
pub fn piece(points: usize, [types, offsets, connectivity]: [&str; 3], scalars: Scalars) -> String {
    let array = |name: &str, scalar: &str, numbers: &str| {
        format!(
            "<DataArray type=\"{scalar}\" Name=\"{name}\" format=\"ascii\">{numbers}</DataArray>"
        )
    };
    let positions = words(&(0..points).flat_map(|x| [x, 0, 0]).collect::<Vec<_>>());
    format!(
        "<Piece NumberOfPoints=\"+{points}\" NumberOfCells=\"+{}\"><Points><DataArray \
         type=\"Float32\" NumberOfComponents=\"3\" format=\"ascii\">{positions}</DataArray></Points>\
         <Cells>{}{}{}</Cells></Piece>",
        types.split_whitespace().count(),
        array("connectivity", scalars[2], connectivity),
        array("offsets", scalars[1], offsets),
        array("types", scalars[0], types),
    )
}

/// An XML file with these pieces.
pub fn vtu(pieces: &str) -> String {
    format!(
        "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid>{pieces}</UnstructuredGrid></VTKFile>"
    )
}

/// A legacy file with four points, followed by `cells`.
pub fn legacy(version: &str, cells: &str) -> String {
    format!(
        "# vtk DataFile Version {version}\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n\
         POINTS 4 float\n0 0 0 1 0 0 2 0 0 3 0 0\n{cells}"
    )
}

/// A structured grid as text.
pub fn structured(dims: [usize; 3]) -> String {
    let count = dims.iter().product::<usize>();
    format!(
        "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\nDIMENSIONS {}\n\
         POINTS {count} float\n{}\n",
        words(&dims),
        words(&(0..3 * count).collect::<Vec<_>>())
    )
}

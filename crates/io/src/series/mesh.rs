//! What lies between the points of a data set.

use crate::{Error, Result};
use burntrace_core::{
    CellKind,
    mesh::{Cells, Mesh},
};
use burntrace_vtk::{Kind, VtkFile};
use serde::Serialize;

/// The cells of an unstructured or structured grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeshInfo {
    /// How many there are of each kind.
    pub kinds: Vec<CellCount>,
    /// What else the mesh that they make consists of; `None` where they make none.
    pub counts: Option<MeshCounts>,
    /// Why they make none.
    pub problem: Option<String>,
}

/// Cells of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellCount {
    /// The kind, by VTK's name, as `quadratic tetra`; `type 7` where a mesh has no such cells.
    pub kind: String,
    /// How many there are.
    pub cells: usize,
}

/// What a mesh consists of, beside sound cells: the numbers of
/// [`MeshCounts`](burntrace_core::mesh::MeshCounts).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeshCounts {
    /// 2 or 3.
    pub dimension: usize,
    /// Points that became one with an earlier point.
    pub merged_points: usize,
    /// Cells without area or volume.
    pub degenerate: usize,
    /// Cells turned the other way than most of their kind.
    pub inverted: usize,
    /// Cells turned one way in one part and the other way in another.
    pub folded: usize,
    /// Faces with a cell on one side only.
    pub open_faces: usize,
    /// Faces at which more than two cells meet.
    pub crowded_faces: usize,
}

impl MeshInfo {
    /// The cells of a file between its points, where its kind has cells that do not follow from
    /// axes.
    pub(super) fn of(file: &VtkFile, positions: &[[f64; 3]]) -> Option<Self> {
        if !matches!(file.kind(), Kind::UnstructuredGrid | Kind::StructuredGrid) {
            return None;
        }
        Some(match file.cells() {
            Err(error) => {
                MeshInfo { kinds: Vec::new(), counts: None, problem: Some(error.to_string()) }
            }
            Ok(cells) => {
                let kinds = count(cells.types());
                let (counts, problem) = match mesh(file, positions, cells) {
                    Ok(mesh) => (Some(MeshCounts::of(&mesh)), None),
                    Err(problem) => (None, Some(problem.to_string())),
                };
                MeshInfo { kinds, counts, problem }
            }
        })
    }
}

impl MeshCounts {
    fn of(mesh: &Mesh) -> Self {
        let counts = mesh.counts();
        MeshCounts {
            dimension: mesh.dimension(),
            merged_points: counts.merged,
            degenerate: counts.degenerate,
            inverted: counts.inverted,
            folded: counts.folded,
            open_faces: counts.open_faces,
            crowded_faces: counts.crowded_faces,
        }
    }
}

/// The mesh that the cells of a file make.
fn mesh(file: &VtkFile, positions: &[[f64; 3]], cells: burntrace_vtk::Cells) -> Result<Mesh> {
    let refused = |reason| Error::Mesh { path: file.path().to_owned(), reason };
    let (types, offsets, connectivity) = cells.into_parts();
    let kinds: Option<Vec<_>> = types.iter().map(|code| CellKind::from_vtk(*code)).collect();
    let kinds = kinds.ok_or_else(|| refused(no_mesh(&types)))?;
    let cells = Cells { kinds, offsets, connectivity };
    Mesh::new(positions, cells).map_err(|error| refused(error.to_string()))
}

/// Why cells of some kinds make no mesh.
fn no_mesh(types: &[u8]) -> String {
    let others: Vec<u8> =
        types.iter().copied().filter(|code| CellKind::from_vtk(*code).is_none()).collect();
    let others: Vec<_> = count(&others).iter().map(CellCount::to_string).collect();
    let name = |kind: &CellKind| format!("{} ({})", kind.table().name, kind.table().vtk);
    let known: Vec<_> = CellKind::ALL.iter().map(name).collect();
    format!(
        "it has cells of which no mesh can be made ({}); those of a mesh are {}",
        others.join(", "),
        known.join(", ")
    )
}

/// How many cells there are of each kind, in the order of VTK's codes.
fn count(types: &[u8]) -> Vec<CellCount> {
    let mut cells = [0; 256];
    for code in types {
        cells[usize::from(*code)] += 1;
    }
    let name = |code: u8| match CellKind::from_vtk(code) {
        Some(kind) => kind.table().name.to_owned(),
        None => format!("type {code}"),
    };
    let counts = (0..=u8::MAX).zip(cells).filter(|(_, cells)| *cells > 0);
    counts.map(|(code, cells)| CellCount { kind: name(code), cells }).collect()
}

/// As `1200 x tetra`.
impl std::fmt::Display for CellCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.cells, self.kind)
    }
}

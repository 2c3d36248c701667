//! Description of the cells of a file.

use super::cells::{FileCells, MeshCells, OtherCells};
use super::counts::CellCount;
use super::refused;
use crate::Result;
use burntrace_core::mesh::Mesh;
use burntrace_vtk::{Geometry, VtkFile};
use serde::Serialize;

/// The cells of an unstructured or structured grid, or of poly data.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MeshInfo {
    /// Number of cells of each kind, ghost and skipped cells included.
    pub kinds: Vec<CellCount>,
    /// Number of cells omitted as ghosts, because they are hidden, or because one of their points is.
    pub hidden: usize,
    /// Number of other skipped cells.
    pub skipped: usize,
    /// Number of cells of the mesh that are parts of divided cells.
    #[serde(skip_serializing_if = "is_zero")]
    pub parts: usize,
    /// Number of polyhedra that are not star-shaped around the mean of their points, whose parts overlap.
    #[serde(skip_serializing_if = "is_zero")]
    pub overlapping: usize,
    /// Further counts of the mesh; `None` if the cells cannot form a mesh, and in a
    /// [`MeshSeries`](super::MeshSeries), where the field builds the mesh.
    pub counts: Option<MeshCounts>,
    /// Why the cells cannot form a mesh.
    pub problem: Option<String>,
}

/// Counts of a mesh, from [`MeshCounts`](burntrace_core::mesh::MeshCounts).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MeshCounts {
    /// Dimension of the cells, 2 or 3.
    pub dimension: usize,
    /// Points merged with an earlier point.
    pub merged_points: usize,
    /// Cells without area or volume.
    pub degenerate: usize,
    /// Cells with the opposite orientation to most of their kind.
    pub inverted: usize,
    /// Cells whose orientation changes within the cell.
    pub folded: usize,
    /// Faces of one cell only: the boundary of the mesh.
    pub open_faces: usize,
    /// Faces shared by more than two cells.
    pub crowded_faces: usize,
}

/// Whether a number is left out of JSON.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde needs")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl MeshInfo {
    /// The description of the cells of a mesh, of which a file has these kinds.
    pub(super) fn new(kinds: Vec<CellCount>, mesh: &MeshCells) -> Self {
        let MeshCells { hidden, skipped, parts, overlapping, .. } = *mesh;
        MeshInfo { kinds, hidden, skipped, parts, overlapping, ..MeshInfo::default() }
    }

    /// Describes the cells of a file, if it has a list of them or is a structured grid. Also returns
    /// the cells of the mesh, if they can form one.
    pub(in crate::series) fn of(
        file: &VtkFile,
        points: &[[f64; 3]],
        other_cells: OtherCells,
    ) -> Option<(MeshInfo, Option<MeshCells>)> {
        let has_cells = match file.geometry() {
            Geometry::Unstructured { .. } | Geometry::Structured { .. } => true,
            Geometry::PolyData { verts, lines, polys, strips, .. } => {
                verts + lines == 0 && polys + strips > 0
            }
            _ => false,
        };
        if !has_cells {
            return None;
        }
        let mut info = MeshInfo::default();
        let mesh = info.mesh(file, points, other_cells);
        let mesh = mesh.map_err(|problem| info.problem = Some(problem.to_string())).ok();
        Some((info, mesh))
    }

    /// Builds the mesh of a file, and sets the counts.
    fn mesh(
        &mut self,
        file: &VtkFile,
        points: &[[f64; 3]],
        other_cells: OtherCells,
    ) -> Result<MeshCells> {
        let cells = FileCells::read(file, points)?;
        self.kinds = cells.count();
        let selection = cells.select(file, other_cells)?;
        *self = MeshInfo::new(std::mem::take(&mut self.kinds), &selection);
        let points = selection.with_added_points(points.to_vec());
        let mesh = Mesh::new(&points, selection.cells.clone());
        let mesh = mesh.map_err(|error| refused(file, error.to_string()))?;
        self.counts = Some(MeshCounts::of(&mesh));
        Ok(selection)
    }
}

impl MeshCounts {
    /// The counts of a mesh.
    pub fn of(mesh: &Mesh) -> Self {
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

//! Description of the cells of a file.

use super::boundary::{FileBoundary, Needed};
use super::cells::{FileCells, MeshCells};
use super::counts::CellCount;
use crate::series::options::{NamedFaces, OtherCells};
use crate::{Error, Result};
use burntrace_core::mesh::{Cells, FaceGroup, Mesh};
use burntrace_vtk::{Geometry, VtkFile, fits_memory};
use serde::Serialize;

/// Bytes that a cell of a mesh takes at least, with its record and its neighbours.
const BYTES_PER_CELL: u64 = 160;

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
    /// Number of cells of the mesh with two nodes at the same position, such as a hexahedron that is a wedge; only from
    /// [`inspect`](crate::series::inspect()).
    #[serde(skip_serializing_if = "is_zero")]
    pub collapsed: usize,
    /// Further counts of the mesh; `None` if the cells cannot form a mesh, and in a
    /// [`MeshSeries`](super::MeshSeries), where the field builds the mesh.
    pub counts: Option<MeshCounts>,
    /// The faces of the boundary that the file names, by blocks and by arrays; only from
    /// [`inspect`](crate::series::inspect()).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub boundary: Vec<BoundaryInfo>,
    /// Why the faces of the boundary that the file names cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary_problem: Option<String>,
    /// Why the cells cannot form a mesh.
    pub problem: Option<String>,
}

/// Faces of the boundary that a file names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BoundaryInfo {
    /// The keys of a `[[patch]]` that select them: `block`, or `array` and `value`.
    #[serde(flatten)]
    pub faces: NamedFaces,
    /// Number of boundary faces of the mesh.
    pub count: usize,
    /// Sum of their areas, each between its corners (in two dimensions, of their lengths), in the data's
    /// unit of length.
    pub area: f64,
    /// Number of their cells in the file that are on no boundary face. Of a cell that is divided on
    /// reading (a polygon, a strip, a line of several segments), each part counts.
    pub unmatched: usize,
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
        let boundary = FileBoundary::read(file, &cells, points, Needed::Integers);
        let (selection, problem) = cells.select_skipping(file, false)?;
        let kinds = std::mem::take(&mut self.kinds);
        *self = MeshInfo::new(kinds, &selection);
        // The boundary is described even if other cells are a problem.
        let points = selection.with_added_points(points.to_vec());
        self.collapsed = count_collapsed(&selection.cells, &points);
        check_memory(file, selection.cells.len())?;
        let mesh = Mesh::new(&points, selection.cells.clone());
        let mesh = mesh.map_err(|error| Error::mesh(file, error.to_string()))?;
        let counts = MeshCounts::of(&mesh);
        match boundary.and_then(|boundary| named_faces(file, mesh, boundary)) {
            Ok(boundary) => self.boundary = boundary,
            Err(problem) => self.boundary_problem = Some(problem.to_string()),
        }
        if let Some(problem) = problem.filter(|_| other_cells == OtherCells::Error) {
            return Err(Error::mesh(file, problem));
        }
        self.counts = Some(counts);
        Ok(selection)
    }
}

/// Refuses a mesh that does not fit into memory.
fn check_memory(file: &VtkFile, cells: usize) -> Result<()> {
    match fits_memory(BYTES_PER_CELL.saturating_mul(cells as u64)) {
        true => Ok(()),
        false => {
            Err(Error::mesh(file, format!("a mesh of {cells} cells does not fit into memory")))
        }
    }
}

/// Number of cells with two nodes at the same position.
fn count_collapsed(cells: &Cells, points: &[[f64; 3]]) -> usize {
    let is_collapsed = |cell: &usize| {
        let at: Vec<[f64; 3]> = cells.nodes(*cell).iter().map(|i| points[*i as usize]).collect();
        (1..at.len()).any(|i| at[..i].contains(&at[i]))
    };
    (0..cells.len()).filter(is_collapsed).count()
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

/// The faces of the boundary of a mesh that a file names.
fn named_faces(file: &VtkFile, mesh: Mesh, boundary: FileBoundary) -> Result<Vec<BoundaryInfo>> {
    let named = boundary.named();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let (cells, _) = boundary.select(file, &named)?;
    let mesh = mesh.with_boundary(&cells);
    let mesh = mesh.map_err(|error| Error::mesh(file, error.to_string()))?;
    let describe = |(faces, group): (NamedFaces, &FaceGroup)| BoundaryInfo {
        faces,
        count: group.faces,
        area: group.area,
        unmatched: group.unmatched,
    };
    Ok(named.into_iter().zip(mesh.face_groups()).map(describe).collect())
}

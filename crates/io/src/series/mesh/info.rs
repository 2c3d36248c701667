//! What there is to know about the cells of a file.

use super::cells::{FileCells, OtherCells, Selection};
use super::refused;
use crate::Result;
use burntrace_core::{CellKind, mesh::Mesh};
use burntrace_vtk::{Kind, VtkFile};
use serde::Serialize;

/// The cells of an unstructured or structured grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeshInfo {
    /// How many there are of each kind, ghosts and others among them.
    pub kinds: Vec<CellCount>,
    /// How many are left out as ghosts, because they are hidden, or because one of their points is.
    pub hidden: usize,
    /// How many others are passed over.
    pub skipped: usize,
    /// What else the mesh that they make consists of; `None` where they make none, and in a
    /// [`MeshSeries`](super::MeshSeries), which leaves it to the field to make it.
    pub counts: Option<MeshCounts>,
    /// Why they make none.
    pub problem: Option<String>,
}

/// Cells of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellCount {
    /// The kind, by VTK's name, as `quadratic tetra`; with its code where a mesh has no such cells,
    /// as `polygon (type 7)`.
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
    /// axes; and those that make a mesh, if they do.
    pub(in crate::series) fn of(
        file: &VtkFile,
        points: &[[f64; 3]],
        other_cells: OtherCells,
    ) -> Option<(MeshInfo, Option<Selection>)> {
        if !matches!(file.kind(), Kind::UnstructuredGrid | Kind::StructuredGrid) {
            return None;
        }
        let mut info =
            MeshInfo { kinds: Vec::new(), hidden: 0, skipped: 0, counts: None, problem: None };
        let mesh = info.mesh(file, points, other_cells);
        let mesh = mesh.map_err(|problem| info.problem = Some(problem.to_string())).ok();
        Some((info, mesh))
    }

    /// Makes the mesh of a file, and counts what it is made of.
    fn mesh(
        &mut self,
        file: &VtkFile,
        points: &[[f64; 3]],
        other_cells: OtherCells,
    ) -> Result<Selection> {
        let cells = FileCells::read(file)?;
        self.kinds = cells.count();
        let selection = cells.select(file, other_cells)?;
        (self.hidden, self.skipped) = (selection.hidden, selection.skipped);
        let mesh = Mesh::new(points, selection.cells.clone());
        let mesh = mesh.map_err(|error| refused(file, error.to_string()))?;
        self.counts = Some(MeshCounts::of(&mesh));
        Ok(selection)
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

/// How many cells there are of each kind, in the order of VTK's codes.
pub(super) fn count(types: &[u8]) -> Vec<CellCount> {
    let mut cells = [0; 256];
    for code in types {
        cells[usize::from(*code)] += 1;
    }
    let counts = (0..=u8::MAX).zip(cells).filter(|(_, cells)| *cells > 0);
    counts.map(|(code, cells)| CellCount { kind: kind(code), cells }).collect()
}

/// A kind of cells, with its code where no mesh can be made of it.
fn kind(code: u8) -> String {
    if let Some(kind) = CellKind::from_vtk(code) {
        return kind.table().name.to_owned();
    }
    let name = match code {
        1 => "vertex",
        2 => "poly vertex",
        3 => "line",
        4 => "poly line",
        6 => "triangle strip",
        7 => "polygon",
        15 => "pentagonal prism",
        16 => "hexagonal prism",
        21 => "quadratic edge",
        23 => "quadratic quad",
        26 => "quadratic wedge",
        27 => "quadratic pyramid",
        28 => "biquadratic quad",
        29 => "triquadratic hexahedron",
        42 => "polyhedron",
        68..=74 => "Lagrange cell",
        75..=81 => "Bezier cell",
        _ => return format!("type {code}"),
    };
    format!("{name} (type {code})")
}

/// As `1200 x tetra`.
impl std::fmt::Display for CellCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} x {}", self.cells, self.kind)
    }
}

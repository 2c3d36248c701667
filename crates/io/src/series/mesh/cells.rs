//! Selection of the cells of a mesh.

use super::counts::{CellCount, count};
use super::refused;
use crate::Result;
use crate::listing::{counted, list};
use crate::series::{count_difference, ghosts::Ghosts};
use burntrace_core::{CellKind, mesh::Cells};
use burntrace_vtk::{Kind, VtkFile};
use serde::{Deserialize, Serialize};

/// Treatment of cells that cannot be part of a mesh: kinds that
/// [`CellKind`](burntrace_core::CellKind) does not include, and two-dimensional cells in a file with
/// three-dimensional ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherCells {
    /// They are an error; the message counts them.
    #[default]
    Error,
    /// They are skipped, together with their velocities.
    Skip,
}

/// All cells of a file.
#[derive(Debug)]
pub(super) struct FileCells {
    cells: burntrace_vtk::CellArray,
    ghosts: Ghosts,
    /// The kind of each VTK type.
    kinds: [Option<CellKind>; 256],
}

/// A cell: its kind, if a mesh can have it, its VTK type, and its points.
type Cell<'a> = (Option<CellKind>, u8, &'a [u32]);

impl FileCells {
    /// Reads the cells of a file.
    ///
    /// # Errors
    ///
    /// If the data set has no list of cells, or it cannot be read.
    pub fn read(file: &VtkFile) -> Result<FileCells> {
        let kind = file.kind();
        if matches!(kind, Kind::ImageData | Kind::RectilinearGrid) {
            let reason = format!(
                "it holds {kind}, which has axes and no list of cells; set `field.interpolation = \
                 \"grid\"`"
            );
            return Err(refused(file, reason));
        }
        let kinds = std::array::from_fn(|code| CellKind::from_vtk(code as u8));
        Ok(FileCells { cells: file.cells()?, ghosts: Ghosts::read(file)?, kinds })
    }

    /// Number of cells of each type.
    pub fn count(&self) -> Vec<CellCount> {
        count(self.cells.types())
    }

    /// The cells that are not ghosts or hidden, with their indices.
    fn visible(&self) -> impl Iterator<Item = (usize, Cell<'_>)> {
        let cells = self.cells.iter().enumerate();
        let visible = cells.filter(|(cell, (_, points))| !self.ghosts.hide(*cell, points));
        visible.map(|(cell, (code, points))| (cell, (self.kinds[usize::from(code)], code, points)))
    }

    /// Selects the cells of the mesh: the cells of the highest dimension, without ghosts.
    ///
    /// # Errors
    ///
    /// If there are none, or if there are other cells and `other_cells` does not skip them.
    pub fn select(self, file: &VtkFile, other_cells: OtherCells) -> Result<MeshCells> {
        let dimensions = self.visible().filter_map(|(_, (kind, ..))| kind).map(CellKind::dimension);
        let dimension = dimensions.max().unwrap_or(0);
        let (mut indices, mut others) = (Vec::new(), Vec::new());
        for (cell, (kind, code, _)) in self.visible() {
            match kind.filter(|kind| kind.dimension() == dimension) {
                Some(_) => indices.push(cell),
                None => others.push(code),
            }
        }
        let total = self.cells.len();
        let hidden = total - indices.len() - others.len();
        let problem = match indices.len() {
            0 => Some(no_cells(total, hidden, &others)),
            _ if others.is_empty() || other_cells == OtherCells::Skip => None,
            cells => Some(unsupported_cells(cells, dimension, &others)),
        };
        if let Some(problem) = problem {
            return Err(refused(file, problem));
        }
        let indices = (indices.len() < total).then_some(indices);
        let cells = self.subset(indices.as_deref());
        Ok(MeshCells { cells, indices, total, dimension, hidden, skipped: others.len() })
    }

    /// The cells with these indices, or all.
    fn subset(self, indices: Option<&[usize]>) -> Cells {
        let kind = |code: &u8| self.kinds[usize::from(*code)];
        let Some(indices) = indices else {
            let (types, offsets, connectivity) = self.cells.into_parts();
            return Cells { kinds: types.iter().filter_map(kind).collect(), offsets, connectivity };
        };
        let mut subset = Cells { offsets: vec![0], ..Cells::default() };
        let mut indices = indices.iter().peekable();
        for (cell, (code, points)) in self.cells.iter().enumerate() {
            if indices.next_if(|index| **index == cell).is_some() {
                subset.kinds.extend(kind(&code));
                subset.connectivity.extend_from_slice(points);
                subset.offsets.push(subset.connectivity.len() as u32);
            }
        }
        subset
    }
}

/// The cells of a file that form a mesh.
#[derive(Debug)]
pub(in crate::series) struct MeshCells {
    /// The cells.
    pub cells: Cells,
    /// Their indices in the file; `None` for all cells.
    pub indices: Option<Vec<usize>>,
    /// Number of cells in the file.
    pub total: usize,
    /// 2 or 3.
    dimension: usize,
    /// Number of ghost and hidden cells.
    pub hidden: usize,
    /// Number of other skipped cells.
    pub skipped: usize,
}

impl MeshCells {
    /// How the mesh of another file differs from this one, if it does. Cells that are in neither mesh
    /// are not compared.
    pub(super) fn difference(&self, other: &FileCells) -> Option<String> {
        let total = count_difference(other.cells.len(), self.total, "cell");
        if total.is_some() {
            return total;
        }
        let mut own = (0..).map_while(|cell| self.cell(cell)).peekable();
        let mut others = other.visible().peekable();
        (0..self.total).find_map(|cell| {
            let expected = own.next_if(|(index, ..)| *index == cell);
            let found = others.next_if(|(index, _)| *index == cell);
            let found = found.and_then(|(_, (kind, _, points))| Some((kind?, points)));
            let found = found.filter(|(kind, _)| kind.dimension() == self.dimension);
            cell_difference(cell, expected.map(|(_, kind, points)| (kind, points)), found)
        })
    }

    /// A cell of the mesh: its index in the file, its kind and its points.
    fn cell(&self, cell: usize) -> Option<(usize, CellKind, &[u32])> {
        let kind = *self.cells.kinds.get(cell)?;
        let index = match &self.indices {
            None => cell,
            Some(indices) => *indices.get(cell)?,
        };
        Some((index, kind, self.cells.nodes(cell)))
    }
}

/// How a cell of either mesh differs in the other, if it does.
fn cell_difference(
    cell: usize,
    expected: Option<(CellKind, &[u32])>,
    found: Option<(CellKind, &[u32])>,
) -> Option<String> {
    let name = |kind: CellKind| kind.table().name;
    let how = match (expected, found) {
        (Some((kind, _)), None) => {
            format!("not a {} of the mesh, but a ghost, hidden, or of another type", name(kind))
        }
        (None, Some((kind, _))) => {
            format!("a {}, and is not part of the mesh in the first file", name(kind))
        }
        (Some((a, _)), Some((b, _))) if a != b => format!("a {}, not a {}", name(b), name(a)),
        (Some((_, a)), Some((_, b))) if a != b => {
            return Some(format!("its cell {cell} has other points"));
        }
        _ => return None,
    };
    Some(format!("its cell {cell} is {how}"))
}

/// The message for a file without mesh cells.
fn no_cells(total: usize, hidden: usize, others: &[u8]) -> String {
    if total == 0 {
        return "it has no cells; a mesh needs at least one".into();
    }
    if hidden == total {
        return format!(
            "all of its {} are ghosts or hidden, by `vtkGhostType` or `vtkGhostLevels`; a mesh \
             needs at least one other cell",
            counted(total, "cell")
        );
    }
    let others = list(&count(others));
    format!("none of its cells can be part of a mesh: {others}; {}", supported_kinds())
}

/// The message for a file with cells that cannot be part of its mesh.
fn unsupported_cells(cells: usize, dimension: usize, others: &[u8]) -> String {
    format!(
        "besides {} in {dimension} dimensions, it has cells that cannot be part of the mesh: {}; \
         set `other_cells = \"skip\"` to skip them; {}",
        counted(cells, "cell"),
        list(&count(others)),
        supported_kinds()
    )
}

/// The kinds of cells that a mesh can have, for messages.
fn supported_kinds() -> String {
    let name = |kind: &CellKind| format!("{} ({})", kind.table().name, kind.table().vtk);
    let kinds: Vec<_> = CellKind::ALL.iter().map(name).collect();
    format!("a mesh can have {}, all of one dimension", kinds.join(", "))
}

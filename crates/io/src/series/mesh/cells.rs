//! Which of a file's cells make a mesh.

use super::ghosts::Ghosts;
use super::info::{CellCount, count};
use super::refused;
use crate::Result;
use crate::listing::{counted, list};
use crate::series::other_count;
use burntrace_core::{CellKind, mesh::Cells};
use burntrace_vtk::{Kind, VtkFile};
use serde::{Deserialize, Serialize};

/// What becomes of cells of which no mesh can be made: those of other kinds than
/// [`CellKind`](burntrace_core::CellKind) has, and, beside cells in three dimensions, those in two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherCells {
    /// A file that has some is refused; the message counts them.
    #[default]
    Error,
    /// They are passed over, with the velocities in them.
    Skip,
}

/// All cells of a file.
#[derive(Debug)]
pub(super) struct FileCells {
    cells: burntrace_vtk::Cells,
    ghosts: Ghosts,
    /// What each of VTK's codes stands for.
    kinds: [Option<CellKind>; 256],
}

/// A cell: its kind, if it is one of a mesh, VTK's code of it, and its points.
type Cell<'a> = (Option<CellKind>, u8, &'a [u32]);

impl FileCells {
    /// Reads the cells of a file.
    ///
    /// # Errors
    ///
    /// If the data set has none but those that follow from its axes, or they cannot be read.
    pub fn read(file: &VtkFile) -> Result<FileCells> {
        let kind = file.kind();
        if matches!(kind, Kind::ImageData | Kind::RectilinearGrid) {
            let reason = format!(
                "it holds {kind}, whose cells follow from its axes; set `field.interpolation = \
                 \"grid\"`"
            );
            return Err(refused(file, reason));
        }
        let kinds = std::array::from_fn(|code| CellKind::from_vtk(code as u8));
        Ok(FileCells { cells: file.cells()?, ghosts: Ghosts::read(file)?, kinds })
    }

    /// How many there are of each type.
    pub fn count(&self) -> Vec<CellCount> {
        count(self.cells.types())
    }

    /// The cells that are no ghosts, with their numbers.
    fn shown(&self) -> impl Iterator<Item = (usize, Cell<'_>)> {
        let cells = self.cells.iter().enumerate();
        let shown = cells.filter(|(cell, (_, points))| !self.ghosts.hide(*cell, points));
        shown.map(|(cell, (code, points))| (cell, (self.kinds[usize::from(code)], code, points)))
    }

    /// Takes the cells that make a mesh: no ghosts, and all of the greatest dimension there is.
    ///
    /// # Errors
    ///
    /// If there are none, or others that are not to be passed over.
    pub fn select(self, file: &VtkFile, other_cells: OtherCells) -> Result<Selection> {
        let dimensions = self.shown().filter_map(|(_, (kind, ..))| kind).map(CellKind::dimension);
        let dimension = dimensions.max().unwrap_or(0);
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for (cell, (kind, code, _)) in self.shown() {
            match kind.filter(|kind| kind.dimension() == dimension) {
                Some(_) => kept.push(cell),
                None => others.push(code),
            }
        }
        let total = self.cells.len();
        let hidden = total - kept.len() - others.len();
        let problem = match kept.len() {
            0 => Some(nothing_left(total, hidden, &others)),
            _ if others.is_empty() || other_cells == OtherCells::Skip => None,
            cells => Some(beside(cells, dimension, &others)),
        };
        if let Some(problem) = problem {
            return Err(refused(file, problem));
        }
        let kept = (kept.len() < total).then_some(kept);
        let cells = self.only(kept.as_deref());
        Ok(Selection { cells, kept, total, dimension, hidden, skipped: others.len() })
    }

    /// The cells with these numbers, or all.
    fn only(self, kept: Option<&[usize]>) -> Cells {
        let kind = |code: &u8| self.kinds[usize::from(*code)];
        let Some(kept) = kept else {
            let (types, offsets, connectivity) = self.cells.into_parts();
            return Cells { kinds: types.iter().filter_map(kind).collect(), offsets, connectivity };
        };
        let mut only = Cells { offsets: vec![0], ..Cells::default() };
        let mut numbers = kept.iter().peekable();
        for (cell, (code, points)) in self.cells.iter().enumerate() {
            if numbers.next_if(|number| **number == cell).is_some() {
                only.kinds.extend(kind(&code));
                only.connectivity.extend_from_slice(points);
                only.offsets.push(only.connectivity.len() as u32);
            }
        }
        only
    }
}

/// The cells of a file that make a mesh.
#[derive(Debug)]
pub(in crate::series) struct Selection {
    /// These cells.
    pub cells: Cells,
    /// Their numbers in the file; `None`: all.
    pub kept: Option<Vec<usize>>,
    /// How many cells the file has.
    pub total: usize,
    /// 2 or 3.
    dimension: usize,
    /// How many cells are ghosts or hidden.
    pub hidden: usize,
    /// How many others were passed over.
    pub skipped: usize,
}

impl Selection {
    /// How the mesh that the cells of another file make differs from this one, if it does. Cells
    /// outside of both do not count.
    pub(super) fn difference(&self, other: &FileCells) -> Option<String> {
        let total = other_count(other.cells.len(), self.total, "cell");
        if total.is_some() {
            return total;
        }
        let mut own = (0..).map_while(|place| self.cell(place)).peekable();
        let mut others = other.shown().peekable();
        (0..self.total).find_map(|cell| {
            let here = own.next_if(|(number, ..)| *number == cell);
            let there = others.next_if(|(number, _)| *number == cell);
            let there = there.and_then(|(_, (kind, _, points))| Some((kind?, points)));
            let there = there.filter(|(kind, _)| kind.dimension() == self.dimension);
            change(cell, here.map(|(_, kind, points)| (kind, points)), there)
        })
    }

    /// The number of a cell in the file, its kind and its points, by its place among these.
    fn cell(&self, place: usize) -> Option<(usize, CellKind, &[u32])> {
        let kind = *self.cells.kinds.get(place)?;
        let number = match &self.kept {
            None => place,
            Some(kept) => *kept.get(place)?,
        };
        Some((number, kind, self.cells.nodes(place)))
    }
}

/// How a cell that is one of the mesh here, there, or in both differs.
fn change(
    cell: usize,
    here: Option<(CellKind, &[u32])>,
    there: Option<(CellKind, &[u32])>,
) -> Option<String> {
    let name = |kind: CellKind| kind.table().name;
    let how = match (here, there) {
        (Some((kind, _)), None) => {
            format!("no {} of the mesh, but a ghost, hidden, or of another type", name(kind))
        }
        (None, Some((kind, _))) => format!("a {} of the mesh, and was none", name(kind)),
        (Some((a, _)), Some((b, _))) if a != b => format!("a {}, not a {}", name(b), name(a)),
        (Some((_, a)), Some((_, b))) if a != b => {
            return Some(format!("its cell {cell} has other points"));
        }
        _ => return None,
    };
    Some(format!("its cell {cell} is {how}"))
}

/// Why there is no mesh: of `total` cells so many are hidden, and the rest are `others`.
fn nothing_left(total: usize, hidden: usize, others: &[u8]) -> String {
    if total == 0 {
        return "it has no cells; a mesh needs at least one".into();
    }
    if hidden == total {
        return format!(
            "all of its {} are ghosts or hidden, by `vtkGhostType` or `vtkGhostLevels`; a mesh \
             needs at least one that is not",
            counted(total, "cell")
        );
    }
    format!(
        "it has no cells of which a mesh can be made, but {}; {}",
        list(&count(others)),
        known()
    )
}

/// Why a mesh of so many cells is not taken.
fn beside(cells: usize, dimension: usize, others: &[u8]) -> String {
    format!(
        "beside {} in {dimension} dimensions it has others, which do not belong to their mesh: {}; \
         `other_cells = \"skip\"` passes over them; {}",
        counted(cells, "cell"),
        list(&count(others)),
        known()
    )
}

/// What a mesh can be made of.
fn known() -> String {
    let name = |kind: &CellKind| format!("{} ({})", kind.table().name, kind.table().vtk);
    let known: Vec<_> = CellKind::ALL.iter().map(name).collect();
    format!("a mesh is made of {}, of one dimension", known.join(", "))
}

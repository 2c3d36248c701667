//! Ghosts: cells that the files of several processes have twice, and those that are hidden.

use super::refused;
use crate::Result;
use crate::series::velocity::{Association, with_name};
use burntrace_vtk::{Values, VtkFile};

/// The array in which VTK marks points and cells, bit by bit.
const TYPES: &str = "vtkGhostType";

/// Its forerunner: how many layers a cell is away from those of its own process.
const LEVELS: &str = "vtkGhostLevels";

/// A cell that another process has too.
const DUPLICATE: u8 = 1;

/// Cells that do not count: besides duplicates those that finer ones replace (8), and hidden ones
/// (32).
const NO_CELL: u8 = DUPLICATE | 8 | 32;

/// A hidden point. That another process has a point too (1) is no reason to leave it out: cells of
/// this one need it.
const HIDDEN_POINT: u8 = 2;

/// The marks of points and cells, none where a file marks none.
#[derive(Debug)]
pub(super) struct Ghosts {
    cells: Vec<u8>,
    points: Vec<u8>,
}

impl Ghosts {
    /// Reads the marks of a file.
    pub fn read(file: &VtkFile) -> Result<Ghosts> {
        let geometry = file.geometry();
        Ok(Ghosts {
            cells: marks(file, Association::Cell, geometry.num_cells())?,
            points: marks(file, Association::Point, geometry.num_points())?,
        })
    }

    /// Whether a cell with these points does not count.
    pub fn hide(&self, cell: usize, points: &[u32]) -> bool {
        let is_hidden = |point: &u32| {
            self.points.get(*point as usize).is_some_and(|marks| marks & HIDDEN_POINT != 0)
        };
        self.cells.get(cell).is_some_and(|marks| marks & NO_CELL != 0)
            || points.iter().any(is_hidden)
    }
}

/// The marks of the points or the cells, of which there are `count`.
fn marks(file: &VtkFile, on: Association, count: usize) -> Result<Vec<u8>> {
    let find = |name| with_name(file.arrays(), name, on);
    let (array, are_levels) = match (find(TYPES), find(LEVELS)) {
        (Some(array), _) => (array, false),
        (None, Some(array)) => (array, true),
        (None, None) => return Ok(Vec::new()),
    };
    let mut marks = match file.read(array)?.values {
        Values::U8(marks) => marks,
        // VTK writes no other type; other programs may.
        others => others.into_f64().into_iter().map(|number| number as u8).collect(),
    };
    if marks.len() != count {
        let name = &array.name;
        let found = marks.len();
        let reason = format!("its {on} array `{name}` has {found} numbers for {count} {on}s");
        return Err(refused(file, reason));
    }
    if are_levels {
        marks.iter_mut().for_each(|level| *level = (*level).min(DUPLICATE));
    }
    Ok(marks)
}

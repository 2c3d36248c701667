//! Ghost cells, which are duplicated in the files of several processes, and hidden cells and points.

use super::refused;
use crate::Result;
use crate::series::velocity::{Association, with_name};
use burntrace_vtk::{Values, VtkFile};

/// The VTK array of flags of points and cells.
const TYPES: &str = "vtkGhostType";

/// The array of earlier VTK versions: ghost level of each cell, 0 for cells of the process itself.
const LEVELS: &str = "vtkGhostLevels";

/// Flag of a cell that belongs to another process.
const DUPLICATE: u8 = 1;

/// Flags of omitted cells: duplicates, refined cells (8) and hidden cells (32).
const OMITTED_CELL: u8 = DUPLICATE | 8 | 32;

/// Flag of a hidden point. Duplicate points (1) are not omitted, because cells of this process use
/// them.
const HIDDEN_POINT: u8 = 2;

/// The flags of points and cells; empty if a file has none.
#[derive(Debug)]
pub(super) struct Ghosts {
    cells: Vec<u8>,
    points: Vec<u8>,
}

impl Ghosts {
    /// Reads the flags of a file.
    pub fn read(file: &VtkFile) -> Result<Ghosts> {
        let geometry = file.geometry();
        Ok(Ghosts {
            cells: flags(file, Association::Cell, geometry.num_cells())?,
            points: flags(file, Association::Point, geometry.num_points())?,
        })
    }

    /// Whether a cell with these points is omitted.
    pub fn hide(&self, cell: usize, points: &[u32]) -> bool {
        let is_hidden = |point: &u32| {
            self.points.get(*point as usize).is_some_and(|flags| flags & HIDDEN_POINT != 0)
        };
        self.cells.get(cell).is_some_and(|flags| flags & OMITTED_CELL != 0)
            || points.iter().any(is_hidden)
    }
}

/// The flags of the `count` points or cells.
fn flags(file: &VtkFile, on: Association, count: usize) -> Result<Vec<u8>> {
    let find = |name| with_name(file.arrays(), name, on);
    let (array, are_levels) = match (find(TYPES), find(LEVELS)) {
        (Some(array), _) => (array, false),
        (None, Some(array)) => (array, true),
        (None, None) => return Ok(Vec::new()),
    };
    let mut flags = match file.read(array)?.values {
        Values::U8(flags) => flags,
        // VTK writes no other type, but other programs may.
        others => others.into_f64().into_iter().map(|number| number as u8).collect(),
    };
    if flags.len() != count {
        let name = &array.name;
        let found = flags.len();
        let reason = format!("its {on} array `{name}` has {found} numbers for {count} {on}s");
        return Err(refused(file, reason));
    }
    if are_levels {
        flags.iter_mut().for_each(|level| *level = (*level).min(DUPLICATE));
    }
    Ok(flags)
}

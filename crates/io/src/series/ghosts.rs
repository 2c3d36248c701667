//! Ghost cells, which are duplicated in the files of several processes, and hidden cells and points.

use super::grid::Grid;
use super::velocity::{Association, error, with_name};
use crate::{Error, Result};
use burntrace_vtk::{Values, VtkFile};

/// The VTK array of flags of points and cells.
const TYPES: &str = "vtkGhostType";

/// The array of earlier VTK versions: ghost level of each cell, 0 for cells of the process itself.
const LEVELS: &str = "vtkGhostLevels";

/// Flag of a cell that belongs to another process.
const DUPLICATE: u8 = 1;

/// Flag of a hidden cell.
const HIDDEN_CELL: u8 = 32;

/// Flags of cells that are omitted from a mesh: duplicates, refined cells (8), which other cells cover,
/// and hidden cells. On a grid, a refined cell has a velocity like the others.
const OMITTED_CELL: u8 = DUPLICATE | 8 | HIDDEN_CELL;

/// Flag of a hidden point. Duplicate points (1) are not omitted, because cells of this process use
/// them.
const HIDDEN_POINT: u8 = 2;

/// Whether a file has flags of points or cells.
pub(super) fn has_flags(file: &VtkFile) -> bool {
    let on = [Association::Point, Association::Cell];
    on.into_iter().any(|on| with_name(file.arrays(), TYPES, on).is_some())
}

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

    /// The mask of the `count` points, in file order.
    pub fn hidden_points(&self, count: usize) -> Vec<bool> {
        let is_hidden =
            |point: usize| self.points.get(point).is_some_and(|f| f & HIDDEN_POINT != 0);
        (0..count).map(is_hidden).collect()
    }

    /// The mask of the hidden points or cells of a grid, in file order. A cell is hidden, too, if one of
    /// its points is.
    ///
    /// # Errors
    ///
    /// If values at the points cannot represent the hidden cells.
    pub fn hidden_on(
        &self,
        file: &VtkFile,
        grid: &Grid,
        association: Association,
    ) -> Result<Vec<bool>> {
        let points = self.hidden_points(grid.nodes().iter().product());
        let has_hidden_point = |cell: usize| corners(grid, cell).any(|point| points[point]);
        let is_hidden_cell =
            |cell: usize| self.cells.get(cell).is_some_and(|f| f & HIDDEN_CELL != 0);
        let cells = 0..grid.cells().iter().product();
        if association == Association::Cell {
            return Ok(cells.map(|c| is_hidden_cell(c) || has_hidden_point(c)).collect());
        }
        if let Some(cell) = cells.clone().find(|c| is_hidden_cell(*c) && !has_hidden_point(*c)) {
            let reason = format!(
                "its cell {cell} is hidden by `{TYPES}` and its points are not, but the velocity is at \
                 the points; hide points, give the velocity in the cells (in ParaView: Point Data to Cell \
                 Data), or set `field.ignore_hidden = true` to use hidden values"
            );
            return Err(error(file, reason));
        }
        Ok(points)
    }
}

/// The points of a cell of a grid.
fn corners(grid: &Grid, cell: usize) -> impl Iterator<Item = usize> {
    let ([nx, ny, nz], [cx, cy, _]) = (grid.nodes(), grid.cells());
    let (i, j, k) = (cell % cx, cell / cx % cy, cell / (cx * cy));
    let ends = |first: usize, nodes: usize| first..(first + 2).min(nodes);
    let rows = ends(k, nz).flat_map(move |k| ends(j, ny).map(move |j| (j, k)));
    rows.flat_map(move |(j, k)| ends(i, nx).map(move |i| (k * ny + j) * nx + i))
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
        return Err(Error::mesh(file, reason));
    }
    if are_levels {
        flags.iter_mut().for_each(|level| *level = (*level).min(DUPLICATE));
    }
    Ok(flags)
}

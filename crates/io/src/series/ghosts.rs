//! Ghost cells, which are duplicated in the files of several processes, and hidden cells and points.

use super::grid::Grid;
use super::mesh::refused;
use super::velocity::{Association, error, with_name};
use crate::Result;
use burntrace_vtk::{Values, VtkFile};

/// The VTK array of flags of points and cells.
const TYPES: &str = "vtkGhostType";

/// The array of earlier VTK versions: ghost level of each cell, 0 for cells of the process itself.
const LEVELS: &str = "vtkGhostLevels";

/// Flag of a cell that belongs to another process.
const DUPLICATE: u8 = 1;

/// Flags of refined cells (8), which another grid covers, and of hidden cells (32).
const HIDDEN_CELL: u8 = 8 | 32;

/// Flags of cells that are omitted from a mesh.
const OMITTED_CELL: u8 = DUPLICATE | HIDDEN_CELL;

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

    /// The mask of the hidden points or cells of a grid, in file order; `None` if the file has no flags.
    /// A cell is hidden, too, if one of its points is.
    ///
    /// # Errors
    ///
    /// If values at the points cannot represent the hidden cells.
    pub fn hidden_on(
        &self,
        file: &VtkFile,
        grid: &Grid,
        association: Association,
    ) -> Result<Option<Vec<bool>>> {
        if self.cells.is_empty() && self.points.is_empty() {
            return Ok(None);
        }
        let is_hidden =
            |point: usize| self.points.get(point).is_some_and(|f| f & HIDDEN_POINT != 0);
        let has_hidden_point = |cell: usize| corners(grid, cell).any(is_hidden);
        let is_hidden_cell =
            |cell: usize| self.cells.get(cell).is_some_and(|f| f & HIDDEN_CELL != 0);
        let cells = 0..grid.cells().iter().product();
        if association == Association::Cell {
            return Ok(Some(cells.map(|c| is_hidden_cell(c) || has_hidden_point(c)).collect()));
        }
        if let Some(cell) = cells.clone().find(|c| is_hidden_cell(*c) && !has_hidden_point(*c)) {
            let reason = format!(
                "its cell {cell} is hidden by `{TYPES}` and its points are not, but the velocity is at \
                 the points; hide points, or give the velocity in the cells (in ParaView: Point Data to \
                 Cell Data)"
            );
            return Err(error(file, reason));
        }
        Ok(Some((0..grid.nodes().iter().product()).map(is_hidden).collect()))
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
        return Err(refused(file, reason));
    }
    if are_levels {
        flags.iter_mut().for_each(|level| *level = (*level).min(DUPLICATE));
    }
    Ok(flags)
}

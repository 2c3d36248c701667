//! An octree-like lattice around a surface: each cell lists the triangles that are the nearest for
//! some point of the cell, or stores a lower bound of the distance.
//!
//! Cells of a lattice around the surface's box are divided into 2 x 2 x 2 cells where many
//! triangles are near, recursively. A cell is two integers; the second determines the meaning of
//! the first:
//!
//! * not 0: a lower bound of the distance in units of 1/[`QUANTA`] of a lattice cell's width,
//!   negative inside. The first is the index of a nearby triangle.
//! * 0: the offset of a list (number of triangles, their indices) or, negative, of the cells into
//!   which this one is divided.

use super::{
    facet::{Facet, Sides},
    tree::Tree,
};
use rayon::prelude::*;

/// Units of distance per lattice cell width.
pub(crate) const QUANTA: f64 = 4096.0;
/// Subdivisions along each axis of a divided cell.
pub(crate) const CUTS: usize = 2;
/// Maximum depth of subdivision.
pub(crate) const MAX_CUTS: usize = 10;
/// Lattice cells along the longest side of the surface's box, without the border.
const ALONG: f64 = 24.0;
/// A cell with more nearby triangles than this is divided.
const MAX_LISTED: usize = 32;
/// Extension of a cell beyond its sides, relative to its width, for rounding and for steps past a
/// side.
const MARGIN: f64 = 0.02;
/// Where the surface is farther from a cell than this, relative to its width, only the distance is
/// stored.
const FAR: f64 = 0.25;

/// The lattice around a surface, and its cells in memory.
pub(super) struct Cells {
    pub pitch: f64,
    pub nodes: [usize; 3],
    pub numbers: Vec<i32>,
}

enum Cell {
    Far { triangle: u32, quanta: i32 },
    Near(Vec<u32>),
    Cut(Vec<Cell>),
}

/// Builds cells.
struct CellBuilder<'a> {
    tree: &'a Tree<'a>,
    rows: &'a [[f64; 3]],
    sides: &'a [Sides],
    pitch: f64,
    /// Bound of the rounding error of a coordinate in single precision.
    rounding: f64,
}

/// Builds the cells around a surface with a bounding box; `size` is the sum of its absolute
/// coordinates.
pub(super) fn cells(
    (rows, sides): (&[[f64; 3]], &[Sides]),
    tree: &Tree,
    [low, high]: [[f64; 3]; 2],
    size: f64,
) -> Cells {
    let widths = [0, 1, 2].map(|d| high[d] - low[d]);
    let pitch = widths.iter().fold(0.0_f64, |a, b| a.max(*b)) / ALONG;
    let nodes = widths.map(|width| (width / pitch).ceil().max(1.0) as usize + 2);
    let builder =
        CellBuilder { tree, rows, sides, pitch, rounding: 4.0 * f64::from(f32::EPSILON) * size };
    let [nx, ny, nz] = nodes;
    let cell = |i: usize| {
        let at = [i % nx, i / nx % ny, i / (nx * ny)];
        let centre = [0, 1, 2].map(|d| low[d] + (at[d] as f64 - 0.5) * pitch);
        builder.cell(centre, pitch, (0, 0))
    };
    let cells: Vec<_> = (0..nx * ny * nz).into_par_iter().map(cell).collect();
    let mut numbers: Vec<i32> = sides.iter().map(|sides| sides.0).collect();
    put(&mut numbers, cells);
    Cells { pitch, nodes, numbers }
}

impl CellBuilder<'_> {
    /// A cell after `cuts` subdivisions; `near` is the nearest triangle of its parent.
    fn cell(&self, centre: [f64; 3], width: f64, (cuts, near): (usize, u32)) -> Cell {
        let (triangle, distance) = self.tree.nearest(&centre, near);
        let margin = MARGIN * width + self.rounding;
        let half = 0.5 * 3.0_f64.sqrt() * width + margin;
        if distance - half >= FAR * width {
            let quanta = ((distance - half) * (QUANTA / self.pitch)) as i32;
            let sign = if self.is_outside(&centre, triangle) { 1 } else { -1 };
            return Cell::Far { triangle, quanta: sign * quanta.max(1) };
        }
        // An upper bound of the distance from this triangle, and so from the surface, within the
        // cell.
        let near = Facet::of(self.rows, triangle as usize);
        let reach = 0.5 * width + margin;
        let corner = |i: usize| {
            let position =
                [0, 1, 2].map(|d| centre[d] + if i >> d & 1 == 1 { reach } else { -reach });
            near.squared_distance(&position).sqrt()
        };
        let farthest = (0..8).map(corner).fold(0.0_f64, f64::max);
        let can_be_cut = cuts < MAX_CUTS && width > 256.0 * self.rounding;
        let limit = if can_be_cut { MAX_LISTED } else { usize::MAX };
        match self.tree.within(&centre, farthest + half, limit) {
            Some(list) => Cell::Near(list),
            None => self.cut(centre, width, (cuts, triangle)),
        }
    }

    fn cut(&self, centre: [f64; 3], width: f64, (cuts, near): (usize, u32)) -> Cell {
        let part = width / CUTS as f64;
        let cell = |i: usize| {
            let at = [i % CUTS, i / CUTS % CUTS, i / (CUTS * CUTS)];
            let off = (CUTS as f64 - 1.0) / 2.0;
            self.cell(
                [0, 1, 2].map(|d| centre[d] + part * (at[d] as f64 - off)),
                part,
                (cuts + 1, near),
            )
        };
        Cell::Cut((0..CUTS.pow(3)).map(cell).collect())
    }

    fn is_outside(&self, p: &[f64; 3], triangle: u32) -> bool {
        let facet = Facet::of(self.rows, triangle as usize);
        let [x, y, z] = facet.local(p);
        self.sides[triangle as usize].is_outside(facet.nearest(x, y).part, z)
    }
}

/// Appends cells to the numbers, followed by the data they refer to.
fn put(numbers: &mut Vec<i32>, cells: Vec<Cell>) {
    let at = numbers.len();
    numbers.resize(at + 2 * cells.len(), 0);
    for (i, cell) in cells.into_iter().enumerate() {
        // Surfaces with more numbers than an `i32` can index are rejected.
        let end = numbers.len() as i32;
        let pair = match cell {
            Cell::Far { triangle, quanta } => [triangle as i32, quanta],
            Cell::Near(list) => {
                numbers.push(list.len() as i32);
                numbers.extend(list.iter().map(|triangle| *triangle as i32));
                [end, 0]
            }
            Cell::Cut(parts) => {
                put(numbers, parts);
                [-end, 0]
            }
        };
        numbers[at + 2 * i..][..2].copy_from_slice(&pair);
    }
}

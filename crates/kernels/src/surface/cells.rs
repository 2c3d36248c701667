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
    candidates::Candidates,
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
        builder.undivided(centre)
    };
    let cells: Vec<_> = (0..nx * ny * nz).into_par_iter().map(cell).collect();
    Cells { pitch, nodes, numbers: numbers(sides, &cells) }
}

/// A cell to be built.
#[derive(Clone, Copy)]
struct Place {
    centre: [f64; 3],
    width: f64,
    /// Number of subdivisions.
    cuts: usize,
    /// The triangle nearest to the centre, and its distance.
    nearest: (u32, f64),
}

impl CellBuilder<'_> {
    /// Extension of a cell beyond its sides.
    fn margin(&self, width: f64) -> f64 {
        MARGIN * width + self.rounding
    }

    /// Upper bound of the distance of a point of a cell from its centre.
    fn half(&self, width: f64) -> f64 {
        0.5 * 3.0_f64.sqrt() * width + self.margin(width)
    }

    /// Upper bound of the distance from its centre within which a cell of a width looks for triangles, if the
    /// nearest one is at a distance.
    fn reach(&self, distance: f64, width: f64) -> f64 {
        let corner = 3.0_f64.sqrt() * (0.5 * width + self.margin(width));
        distance + corner + self.half(width)
    }

    /// The same for all parts of a cell, from its own centre.
    fn around(&self, place: &Place) -> f64 {
        let part = place.width / CUTS as f64;
        let off = 0.5 * 3.0_f64.sqrt() * (place.width - part);
        self.reach(place.nearest.1 + off, part) + off
    }

    /// A cell of the lattice.
    fn undivided(&self, centre: [f64; 3]) -> Cell {
        let width = self.pitch;
        let place = Place { centre, width, cuts: 0, nearest: self.tree.nearest(&centre, 0) };
        if let Some(cell) = self.far(&place) {
            return cell;
        }
        let reach = self.reach(place.nearest.1, width).max(self.around(&place));
        let triangles = self.tree.within(&centre, reach);
        let candidates = Candidates::new(self.rows, triangles);
        let mut distances = Vec::new();
        candidates.distances(&centre, &mut distances);
        self.near(&place, &candidates, &distances)
    }

    /// The cell, if the surface is far from it.
    fn far(&self, place: &Place) -> Option<Cell> {
        let Place { centre, width, nearest: (triangle, distance), .. } = *place;
        let beyond = distance - self.half(width);
        (beyond >= FAR * width).then(|| {
            let quanta = (beyond * (QUANTA / self.pitch)) as i32;
            let sign = if self.is_outside(&centre, triangle) { 1 } else { -1 };
            Cell::Far { triangle, quanta: sign * quanta.max(1) }
        })
    }

    /// A cell near the surface; `distances` are those of the candidates from its centre.
    fn near(&self, place: &Place, candidates: &Candidates, distances: &[f64]) -> Cell {
        let Place { centre, width, cuts, nearest: (triangle, _) } = *place;
        // An upper bound of the distance from this triangle, and so from the surface, within the
        // cell.
        let near = Facet::of(self.rows, triangle as usize);
        let reach = 0.5 * width + self.margin(width);
        let corner = |i: usize| {
            let position =
                [0, 1, 2].map(|d| centre[d] + if i >> d & 1 == 1 { reach } else { -reach });
            near.squared_distance(&position)
        };
        let farthest = (0..8).map(corner).fold(0.0_f64, f64::max).sqrt();
        let can_be_cut = cuts < MAX_CUTS && width > 256.0 * self.rounding;
        let limit = if can_be_cut { MAX_LISTED } else { usize::MAX };
        match candidates.within(&centre, farthest + self.half(width), limit, distances) {
            Some(list) => Cell::Near(list),
            None => self.cut(place, &candidates.around(self.around(place), distances)),
        }
    }

    fn cut(&self, place: &Place, candidates: &Candidates) -> Cell {
        let part = place.width / CUTS as f64;
        let mut distances = Vec::new();
        let mut cell = |i: usize| {
            let at = [i % CUTS, i / CUTS % CUTS, i / (CUTS * CUTS)];
            let off = (CUTS as f64 - 1.0) / 2.0;
            let centre = [0, 1, 2].map(|d| place.centre[d] + part * (at[d] as f64 - off));
            candidates.distances(&centre, &mut distances);
            let nearest = candidates.nearest(&centre, place.nearest.0, &distances);
            let place = Place { centre, width: part, cuts: place.cuts + 1, nearest };
            self.far(&place).unwrap_or_else(|| self.near(&place, candidates, &distances))
        };
        Cell::Cut((0..CUTS.pow(3)).map(&mut cell).collect())
    }

    fn is_outside(&self, p: &[f64; 3], triangle: u32) -> bool {
        let facet = Facet::of(self.rows, triangle as usize);
        let [x, y, z] = facet.local(p);
        self.sides[triangle as usize].is_outside(facet.nearest(x, y).part, z)
    }
}

/// The sides of triangles and the cells, each in the same place for any number of threads. Surfaces with more
/// numbers than an `i32` can index are rejected.
fn numbers(sides: &[Sides], cells: &[Cell]) -> Vec<i32> {
    let sizes: Vec<usize> = cells.par_iter().map(Cell::size).collect();
    let mut at = sides.len() + 2 * cells.len();
    let mut numbers = vec![0; at + sizes.iter().sum::<usize>()];
    let (own, mut rest) = numbers.split_at_mut(at);
    let (own_sides, pairs) = own.split_at_mut(sides.len());
    own_sides.iter_mut().zip(sides).for_each(|(to, sides)| *to = sides.0);
    let pairs = pairs.as_chunks_mut::<2>().0.iter_mut();
    let mut works = Vec::with_capacity(cells.len());
    for ((pair, cell), size) in pairs.zip(cells).zip(sizes) {
        let (part, next) = rest.split_at_mut(size);
        works.push((pair, cell, part, at));
        (at, rest) = (at + size, next);
    }
    works.into_par_iter().for_each(|(pair, cell, part, at)| *pair = cell.put(part, at));
    numbers
}

impl Cell {
    /// The number of integers to which its own two refer.
    fn size(&self) -> usize {
        match self {
            Cell::Far { .. } => 0,
            Cell::Near(list) => 1 + list.len(),
            Cell::Cut(parts) => parts.iter().map(|part| 2 + part.size()).sum(),
        }
    }

    /// Its two integers; writes those to which they refer, which are number `at` and the next ones.
    fn put(&self, numbers: &mut [i32], at: usize) -> [i32; 2] {
        match self {
            Cell::Far { triangle, quanta } => [*triangle as i32, *quanta],
            Cell::Near(list) => {
                numbers[0] = list.len() as i32;
                let triangles = numbers[1..].iter_mut().zip(list);
                triangles.for_each(|(to, triangle)| *to = *triangle as i32);
                [at as i32, 0]
            }
            Cell::Cut(parts) => {
                let mut end = 2 * parts.len();
                for (i, part) in parts.iter().enumerate() {
                    let size = part.size();
                    let pair = part.put(&mut numbers[end..end + size], at + end);
                    numbers[2 * i..][..2].copy_from_slice(&pair);
                    end += size;
                }
                [-(at as i32), 0]
            }
        }
    }
}

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
    rivals::{CORNERS, Rivals, corners},
    tree::{Around, Tree},
};
use rayon::prelude::*;
use std::iter;

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
/// The same for cells beside the surface, where particles that slide along it are not.
pub(super) const MAX_BESIDE: usize = 64;
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

/// What a cell of the lattice refers to.
#[derive(Default)]
struct Block {
    numbers: Vec<i32>,
    /// Which of the numbers are offsets, counted from the first one.
    offsets: Vec<usize>,
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
/// coordinates. `None` if they have more numbers than an `i32` can index.
pub(super) fn cells(
    (rows, sides): (&[[f64; 3]], &[Sides]),
    tree: &Tree,
    [low, high]: [[f64; 3]; 2],
    size: f64,
) -> Option<Cells> {
    let widths = [0, 1, 2].map(|d| high[d] - low[d]);
    let pitch = widths.iter().fold(0.0_f64, |a, b| a.max(*b)) / ALONG;
    let nodes = widths.map(|width| (width / pitch).ceil().max(1.0) as usize + 2);
    let builder =
        CellBuilder { tree, rows, sides, pitch, rounding: 4.0 * f64::from(f32::EPSILON) * size };
    let [nx, ny, nz] = nodes;
    let cell = |i: usize| {
        let at = [i % nx, i / nx % ny, i / (nx * ny)];
        let centre = [0, 1, 2].map(|d| low[d] + (at[d] as f64 - 0.5) * pitch);
        let mut block = Block::default();
        let pair = builder.undivided(centre, &mut block);
        (pair, block)
    };
    let cells: Vec<_> = (0..nx * ny * nz).into_par_iter().map(cell).collect();
    numbers(sides, &cells).map(|numbers| Cells { pitch, nodes, numbers })
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
    /// Half of the width of a cell with its extension beyond its sides.
    fn half(&self, width: f64) -> f64 {
        (0.5 + MARGIN) * width + self.rounding
    }

    /// A cell of the lattice.
    fn undivided(&self, centre: [f64; 3], block: &mut Block) -> [i32; 2] {
        let (width, nearest) = (self.pitch, self.tree.nearest(&centre, 0));
        let place = Place { centre, width, cuts: 0, nearest };
        let near = |_, p: &[f64; 3]| self.tree.nearest(p, nearest.0).0;
        self.cell(&Around::Tree(self.tree), place, near, block)
    }

    /// A cell; `near` is a triangle near to one of its corners.
    fn cell(
        &self,
        around: &Around,
        place: Place,
        mut near: impl FnMut(usize, &[f64; 3]) -> u32,
        block: &mut Block,
    ) -> [i32; 2] {
        self.far(&place).unwrap_or_else(|| {
            let ends = corners(&place.centre, 0.5 * place.width);
            let ends = std::array::from_fn(|i| near(i, &ends[i]));
            self.near(around, &place, ends, block)
        })
    }

    /// The cell, if the surface is far from it.
    fn far(&self, place: &Place) -> Option<[i32; 2]> {
        let Place { centre, width, nearest: (triangle, distance), .. } = *place;
        let beyond = distance - 3.0_f64.sqrt() * self.half(width);
        (beyond >= FAR * width).then(|| {
            let quanta = (beyond * (QUANTA / self.pitch)) as i32;
            let sign = if self.is_outside(&centre, triangle) { 1 } else { -1 };
            [triangle as i32, sign * quanta.max(1)]
        })
    }

    /// A cell near the surface; `ends` are triangles near to its corners.
    fn near(
        &self,
        around: &Around,
        place: &Place,
        ends: [u32; CORNERS],
        block: &mut Block,
    ) -> [i32; 2] {
        let Place { centre, width, cuts, nearest: (triangle, distance) } = *place;
        let rival = |(triangle, p): (u32, &[f64; 3])| {
            Facet::of(self.rows, triangle as usize).nearest_point(p)
        };
        let own = corners(&centre, 0.5 * width);
        let rivals = iter::once((triangle, &centre)).chain(ends.into_iter().zip(&own));
        // In double precision, positions lose less than a thousandth of what they lose in single precision.
        let rivals =
            Rivals::new((centre, self.half(width)), rivals.map(rival), 1e-3 * self.rounding);
        let can_be_cut = cuts < MAX_CUTS && width > 256.0 * self.rounding;
        let is_beside = distance > 0.5 * width;
        let limit = if can_be_cut { MAX_BESIDE } else { usize::MAX };
        match around.admitted(&rivals, limit) {
            Some(list) if list.len() <= MAX_LISTED || is_beside || !can_be_cut => block.list(&list),
            Some(list) => self.cut(&Around::List(self.rows, list), place, ends, block),
            None => self.cut(around, place, ends, block),
        }
    }

    fn cut(
        &self,
        around: &Around,
        place: &Place,
        ends: [u32; CORNERS],
        block: &mut Block,
    ) -> [i32; 2] {
        let Place { centre, cuts, nearest: (triangle, _), .. } = *place;
        let width = place.width / CUTS as f64;
        // The place of a corner of a part among the 3 x 3 x 3 corners of all.
        let number = |part: usize, corner: usize| -> usize {
            [1, 3, 9]
                .iter()
                .enumerate()
                .map(|(d, n)| n * ((part >> d & 1) + (corner >> d & 1)))
                .sum()
        };
        let mut known = [None; 27];
        known[number(0, CORNERS - 1)] = Some(triangle);
        for (i, triangle) in ends.into_iter().enumerate() {
            known[number(i, i)] = Some(triangle);
        }
        let (first, at) = (block.next(), block.numbers.len());
        block.numbers.resize(at + 2 * CORNERS, 0);
        for (i, part) in corners(&centre, 0.5 * width).into_iter().enumerate() {
            let nearest = around.nearest(&part, triangle);
            let place = Place { centre: part, width, cuts: cuts + 1, nearest };
            let near = |corner: usize, p: &[f64; 3]| {
                *known[number(i, corner)].get_or_insert_with(|| around.nearest(p, nearest.0).0)
            };
            let pair = self.cell(around, place, near, block);
            block.put(at + 2 * i, pair);
        }
        [-first, 0]
    }

    fn is_outside(&self, p: &[f64; 3], triangle: u32) -> bool {
        let facet = Facet::of(self.rows, triangle as usize);
        let [x, y, z] = facet.local(p);
        self.sides[triangle as usize].is_outside(facet.nearest(x, y).part, z)
    }
}

/// A cell whose block comes after `before` numbers.
fn moved([first, quanta]: [i32; 2], before: i32) -> [i32; 2] {
    [if quanta == 0 { first + first.signum() * before } else { first }, quanta]
}

impl Block {
    /// The offset of the next number, counted from 1 so that it can be negative.
    fn next(&self) -> i32 {
        self.numbers.len() as i32 + 1
    }

    /// A cell that lists triangles.
    fn list(&mut self, list: &[u32]) -> [i32; 2] {
        let at = self.next();
        self.numbers.push(list.len() as i32);
        self.numbers.extend(list.iter().map(|triangle| *triangle as i32));
        [at, 0]
    }

    fn put(&mut self, at: usize, pair: [i32; 2]) {
        self.numbers[at..at + 2].copy_from_slice(&pair);
        if pair[1] == 0 {
            self.offsets.push(at);
        }
    }
}

/// The sides of triangles and the cells, each in the same place for any number of threads; `None` if there are more numbers
/// than an `i32` can index.
fn numbers(sides: &[Sides], cells: &[([i32; 2], Block)]) -> Option<Vec<i32>> {
    let own = sides.len() + 2 * cells.len();
    let count = own + cells.iter().map(|(_, block)| block.numbers.len()).sum::<usize>();
    i32::try_from(count).ok()?;
    let mut numbers = vec![0; count];
    let (start, mut rest) = numbers.split_at_mut(own);
    let (own_sides, pairs) = start.split_at_mut(sides.len());
    own_sides.iter_mut().zip(sides).for_each(|(to, sides)| *to = sides.0);
    let mut at = own;
    let mut works = Vec::with_capacity(cells.len());
    for (pair, cell) in pairs.as_chunks_mut::<2>().0.iter_mut().zip(cells) {
        let (part, next) = rest.split_at_mut(cell.1.numbers.len());
        works.push((pair, cell, part, at as i32 - 1));
        (at, rest) = (at + cell.1.numbers.len(), next);
    }
    works.into_par_iter().for_each(|(pair, (first, block), part, before)| {
        *pair = moved(*first, before);
        part.copy_from_slice(&block.numbers);
        for at in &block.offsets {
            let pair = moved([part[*at], part[at + 1]], before);
            part[*at..at + 2].copy_from_slice(&pair);
        }
    });
    Some(numbers)
}

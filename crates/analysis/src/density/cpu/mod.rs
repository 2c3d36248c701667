//! The sums on a CPU: plain loops on all threads of the current rayon pool, compiled for the widest
//! vectors that the machine turns out to have.
//!
//! Terms are summed in the arithmetic's precision, at most [`BLOCK`] of them, and those sums in double
//! precision: a sum of a million terms in single precision would lose those that are small.

mod course;
mod grid;
mod points;
mod product;
mod rows;

pub(super) use course::{Number, course};
pub(super) use grid::on_nodes;
pub(super) use points::at;

use super::{
    cells::{Cells, PADDING},
    smoother::Smoother,
};

/// Particles that are summed in the arithmetic's precision.
const BLOCK: usize = 256;

/// Numbers that are worked on together.
const WIDTH: usize = 8;

/// Sources as a backend holds them.
pub(super) struct SourceArrays<'a, F> {
    /// Coordinates along each axis, padded.
    axes: [&'a [F]; 3],
    /// Weights, padded by zeros.
    weights: &'a [F],
    starts: &'a [i32],
    cells: &'a Cells,
    smoother: &'a Smoother,
}

impl<'a, F: Number> SourceArrays<'a, F> {
    /// # Panics
    ///
    /// Where the arrays are not of the cells' size.
    pub fn new(rows: &'a [F], starts: &'a [i32], cells: &'a Cells, smoother: &'a Smoother) -> Self {
        let row = cells.sources + PADDING;
        assert_eq!(rows.len(), 4 * row, "sources");
        assert_eq!(starts.len(), cells.counts.iter().product::<usize>() + 1, "cells");
        let part = |d: usize| &rows[d * row..][..row];
        SourceArrays {
            axes: [part(0), part(1), part(2)],
            weights: part(3),
            starts,
            cells,
            smoother,
        }
    }

    /// The upper triangle of the kernel's matrix, row by row: xx, xy, xz, yy, yz, zz.
    fn per_unit(&self) -> [F; 6] {
        let a = &self.smoother.per_unit;
        [a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2]].map(F::of)
    }

    /// Sources in the cells from one to another one along x.
    fn run(&self, cells: std::ops::RangeInclusive<usize>, y: usize, z: usize) -> [usize; 2] {
        let [nx, ny, _] = self.cells.counts;
        let row = (z * ny + y) * nx;
        [self.starts[row + cells.start()], self.starts[row + cells.end() + 1]].map(|n| n as usize)
    }
}

/// A length with what rounding may add to it; how far is looked, while the kernel says what counts.
#[inline(always)]
fn wider(length: f64) -> f64 {
    length * 1.001
}

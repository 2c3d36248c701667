//! Kernel sums on a CPU: plain loops on all threads of the current rayon pool, compiled for several
//! vector widths and dispatched at run time to the widest one that the processor supports.
//!
//! Blocks of at most [`BLOCK`] terms are summed in the working precision, and the blocks in double
//! precision. In single precision a plain sum of a million terms would lose the small ones.

mod grid;
mod points;
mod product;
mod rows;
mod slab;

pub(super) use grid::on_nodes;
pub(super) use points::at;

use super::{
    cells::{PADDING, SourceCells},
    radial::Number,
    smoother::Smoother,
};

/// Maximum number of terms summed in the working precision.
const BLOCK: usize = 256;

/// Numbers processed together in a vector.
const WIDTH: usize = 8;

/// The sources as slices of a backend's tensors.
pub(super) struct SourceArrays<'a, F> {
    /// Coordinates along each axis, padded.
    axes: [&'a [F]; 3],
    /// Weights, zero-padded.
    weights: &'a [F],
    starts: &'a [i32],
    cells: &'a SourceCells,
    smoother: &'a Smoother,
}

impl<'a, F: Number> SourceArrays<'a, F> {
    /// # Panics
    ///
    /// If the lengths of the arrays do not match the cells.
    pub fn new(
        rows: &'a [F],
        starts: &'a [i32],
        cells: &'a SourceCells,
        smoother: &'a Smoother,
    ) -> Self {
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

    /// The upper triangle of the kernel's whitening matrix, row by row: xx, xy, xz, yy, yz, zz.
    fn whitening(&self) -> [F; 6] {
        let a = &self.smoother.whitening;
        [a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2]].map(F::of)
    }

    /// The range of sources in a row of cells along x, as `[start, end]`.
    fn range(&self, cells: std::ops::RangeInclusive<usize>, y: usize, z: usize) -> [usize; 2] {
        let [nx, ny, _] = self.cells.counts;
        let row = (z * ny + y) * nx;
        [self.starts[row + cells.start()], self.starts[row + cells.end() + 1]].map(|n| n as usize)
    }
}

/// A search radius with a margin for rounding. The kernel itself decides which particles contribute.
#[inline(always)]
fn with_margin(length: f64) -> f64 {
    length * 1.001
}

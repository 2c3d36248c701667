//! The locator: finds the cells near a position.

use crate::{MeshShape, cpu::Real};

/// A lattice of bins, each with the cells that intersect it.
pub(super) struct Bins<'a, F> {
    starts: &'a [i32],
    entries: &'a [i32],
    counts: [usize; 3],
    origin: [F; 3],
    per_length: [F; 3],
}

impl<'a, F: Real> Bins<'a, F> {
    pub fn new(index: &'a [i32], shape: &MeshShape) -> Self {
        Bins {
            starts: &index[shape.bins_at()..shape.entries_at()],
            entries: &index[shape.entries_at()..],
            counts: shape.bins,
            origin: shape.origin.map(F::of),
            per_length: shape.per_length.map(F::of),
        }
    }

    /// The bin of a position.
    pub fn at(&self, p: [F; 3]) -> usize {
        let along = |d: usize| {
            let bin = ((p[d] - self.origin[d]) * self.per_length[d]).max(F::zero());
            (bin.as_i32() as usize).min(self.counts[d] - 1)
        };
        (along(2) * self.counts[1] + along(1)) * self.counts[0] + along(0)
    }

    /// Whether two positions differ by less than a bin along each axis.
    pub fn are_close(&self, [a, b]: [[F; 3]; 2]) -> bool {
        (0..3).all(|d| (b[d] - a[d]).abs() * self.per_length[d] < F::one())
    }

    /// Numbers of the cells in a bin, increasing.
    pub fn cells(&self, bin: usize) -> &'a [i32] {
        &self.entries[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

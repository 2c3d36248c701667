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

    /// Numbers of the cells near a position, increasing.
    pub fn near(&self, p: [F; 3]) -> &'a [i32] {
        let [i, j, k] = [0, 1, 2].map(|d| {
            let bin = ((p[d] - self.origin[d]) * self.per_length[d]).max(F::zero());
            (bin.as_i32() as usize).min(self.counts[d] - 1)
        });
        let bin = (k * self.counts[1] + j) * self.counts[0] + i;
        &self.entries[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

//! Slabs of lattice nodes, and the trait of the algorithms that spread particles over them.

use super::{SourceArrays, with_margin};
use crate::density::{ops::NodeGrid, radial::Number};
use burntrace_kernels::host::Lanes;
use std::ops::Range;

/// A slab of nodes, owned by one thread.
pub(super) struct Slab<'a, F> {
    /// The first node along each axis, and one past the last node.
    pub low: [usize; 3],
    pub high: [usize; 3],
    /// The axis along which the lattice is cut into slabs.
    pub axis: usize,
    pub sources: &'a SourceArrays<'a, F>,
    pub grid: &'a NodeGrid,
}

/// An algorithm that spreads particles over nodes.
pub(super) trait Spreader<F: Number> {
    /// Prepares the data shared by all blocks of a slab.
    fn new(slab: &Slab<F>) -> Self;
    /// Adds the kernels of at most [`BLOCK`](super::BLOCK) particles to a block of nodes.
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, nodes: &mut NodeBlock);
}

/// The nodes of a slab within reach of some particles, with the sums of the slab.
pub(super) struct NodeBlock<'a> {
    /// The first node along each axis, and the number of nodes.
    pub first: [usize; 3],
    pub counts: [usize; 3],
    low: [usize; 3],
    size: [usize; 2],
    sums: &'a mut [f64],
}

impl NodeBlock<'_> {
    /// The sums of a row of nodes along x.
    #[inline(always)]
    pub fn row(&mut self, j: usize, k: usize) -> &mut [f64] {
        let [x, y, z] = [0, 1, 2].map(|d| self.first[d] - self.low[d]);
        let start = ((z + k) * self.size[1] + y + j) * self.size[0] + x;
        &mut self.sums[start..start + self.counts[0]]
    }
}

impl<F: Number> Slab<'_, F> {
    /// The first and last cells along each axis whose particles may reach the slab.
    pub fn cells(&self) -> ([usize; 3], [usize; 3]) {
        let cells = self.sources.cells;
        let (mut low, mut high) = ([0; 3], cells.counts.map(|count| count - 1));
        let d = self.axis;
        let reach = with_margin(self.sources.smoother.reach[d]);
        let position = |node: usize| self.grid.first[d] + node as f64 * self.grid.pitch[d];
        low[d] = cells.cell_along(d, position(self.low[d]) - reach);
        high[d] = cells.cell_along(d, position(self.high[d] - 1) + reach);
        (low, high)
    }

    /// The nodes of the slab within reach of some particles; `None` if the particles reach none.
    pub fn nodes_within_reach<'a>(
        &self,
        particles: &Range<usize>,
        sums: &'a mut [f64],
    ) -> Option<NodeBlock<'a>> {
        let mut first = self.low;
        let mut counts = [1; 3];
        for d in 0..3 {
            let coordinates = &self.sources.axes[d][particles.clone()];
            let min = coordinates.iter().copied().fold(F::infinity(), F::min);
            let max = coordinates.iter().copied().fold(F::min_value(), F::max);
            let reach = with_margin(self.sources.smoother.reach[d]);
            let pitch = self.grid.pitch[d];
            if pitch > 0.0 {
                let node = |x: f64| (x - self.grid.first[d]) / pitch;
                let from = node(min.double() - reach).ceil().max(0.0) as usize;
                // Negative if all nodes are above the particles' reach.
                let end = (node(max.double() + reach).floor() + 1.0).max(0.0) as usize;
                first[d] = from.max(self.low[d]);
                counts[d] = end.min(self.high[d]).checked_sub(first[d]).filter(|&n| n > 0)?;
            }
        }
        let size = [0, 1].map(|d| self.high[d] - self.low[d]);
        Some(NodeBlock { first, counts, low: self.low, size, sums })
    }

    /// The coordinate of a node.
    #[inline(always)]
    pub fn coordinate(&self, axis: usize, node: usize) -> F {
        F::of(self.grid.first[axis] + node as f64 * self.grid.pitch[axis])
    }
}

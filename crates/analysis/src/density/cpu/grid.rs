//! Sums at the nodes of a lattice: particles are spread over the nodes that they reach.
//!
//! A thread owns a slab of the lattice and goes through all cells whose particles reach it, in their
//! order: sums do not depend on how many threads there are.

use super::{
    BLOCK, Number, SourceArrays, course::with_course, product::Product, rows::Rows, wider,
};
use crate::density::ops::NodeGrid;
use burntrace_kernels::host::{Lanes, Task, dispatch};
use rayon::prelude::*;
use std::{marker::PhantomData, ops::Range};

/// Slabs that a lattice is cut into, at most.
const SLABS: usize = 32;

/// The sum of the kernels at each node, without their scale.
pub(in crate::density) fn on_nodes<F: Number>(
    sources: &SourceArrays<F>,
    grid: &NodeGrid,
) -> Vec<f64> {
    let axis = (0..3).rev().find(|&d| grid.counts[d] > 1).unwrap_or(0);
    let plane: usize = grid.counts[..axis].iter().product();
    // Thin slabs share the work evenly, but particles are looked at for each slab that they reach.
    let reach = match grid.pitch[axis] {
        pitch if pitch > 0.0 => (sources.smoother.reach[axis] / pitch) as usize,
        _ => 0,
    };
    let thickness = grid.counts[axis].div_ceil(SLABS).max(reach.min(grid.counts[axis] / 8)).max(1);
    let mut sums = vec![0.0; grid.counts.iter().product()];
    let slabs = sums.par_chunks_mut(thickness * plane).enumerate();
    let is_product = sources.smoother.is_product();
    with_course!(sources.smoother.profile, C => slabs.for_each(|(number, sums)| {
        let (mut low, mut high) = ([0; 3], grid.counts);
        low[axis] = number * thickness;
        high[axis] = low[axis] + sums.len() / plane;
        let slab = Slab { low, high, axis, sources, grid };
        if is_product {
            dispatch(Fill::<F, Product<F>> { slab, sums, way: PhantomData });
        } else {
            dispatch(Fill::<F, Rows<F, C>> { slab, sums, way: PhantomData });
        }
    }));
    sums
}

/// Nodes that one thread owns.
pub(super) struct Slab<'a, F> {
    low: [usize; 3],
    high: [usize; 3],
    /// The axis along which slabs follow each other.
    axis: usize,
    pub sources: &'a SourceArrays<'a, F>,
    pub grid: &'a NodeGrid,
}

/// A way to spread particles.
pub(super) trait Way<F: Number> {
    /// Has what all blocks of a slab need.
    fn new(slab: &Slab<F>) -> Self;
    /// Adds the kernels of some particles, [`BLOCK`] at most, to nodes of a slab.
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, part: &mut Part);
}

/// Nodes of a slab that some particles reach, and the sums of the slab.
pub(super) struct Part<'a> {
    /// The first of the nodes along each axis, and how many there are.
    pub first: [usize; 3],
    pub counts: [usize; 3],
    low: [usize; 3],
    size: [usize; 2],
    sums: &'a mut [f64],
}

impl Part<'_> {
    /// The sums of a row of the nodes along x.
    #[inline(always)]
    pub fn row(&mut self, j: usize, k: usize) -> &mut [f64] {
        let [x, y, z] = [0, 1, 2].map(|d| self.first[d] - self.low[d]);
        let start = ((z + k) * self.size[1] + y + j) * self.size[0] + x;
        &mut self.sums[start..start + self.counts[0]]
    }
}

struct Fill<'a, F, W> {
    slab: Slab<'a, F>,
    sums: &'a mut [f64],
    way: PhantomData<W>,
}

impl<F: Number, W: Way<F>> Task<F> for Fill<'_, F, W> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let Fill { slab, sums, .. } = self;
        let mut way = W::new(&slab);
        let (low, high) = slab.cells();
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let [mut n, end] = slab.sources.run(x..=x, y, z);
                    while n < end {
                        let particles = n..end.min(n + BLOCK);
                        n = particles.end;
                        if let Some(mut part) = slab.part(&particles, sums) {
                            way.add::<L>(&slab, particles, &mut part);
                        }
                    }
                }
            }
        }
    }
}

impl<F: Number> Slab<'_, F> {
    /// The cells whose particles may reach the slab, first and last along each axis.
    fn cells(&self) -> ([usize; 3], [usize; 3]) {
        let cells = self.sources.cells;
        let (mut low, mut high) = ([0; 3], cells.counts.map(|count| count - 1));
        let d = self.axis;
        let reach = wider(self.sources.smoother.reach[d]);
        let place = |node: usize| self.grid.first[d] + node as f64 * self.grid.pitch[d];
        low[d] = cells.along(d, place(self.low[d]) - reach);
        high[d] = cells.along(d, place(self.high[d] - 1) + reach);
        (low, high)
    }

    /// The nodes of the slab that some particles may reach; none where there are none.
    fn part<'a>(&self, particles: &Range<usize>, sums: &'a mut [f64]) -> Option<Part<'a>> {
        let mut first = self.low;
        let mut counts = [1; 3];
        for d in 0..3 {
            let places = &self.sources.axes[d][particles.clone()];
            let least = places.iter().copied().fold(F::infinity(), F::min);
            let most = places.iter().copied().fold(F::neg_infinity(), F::max);
            let reach = wider(self.sources.smoother.reach[d]);
            let pitch = self.grid.pitch[d];
            if pitch > 0.0 {
                let node = |x: f64| (x - self.grid.first[d]) / pitch;
                let from = node(least.double() - reach).ceil().max(0.0) as usize;
                // Negative where all nodes are beyond.
                let end = (node(most.double() + reach).floor() + 1.0).max(0.0) as usize;
                first[d] = from.max(self.low[d]);
                counts[d] = end.min(self.high[d]).checked_sub(first[d]).filter(|&n| n > 0)?;
            }
        }
        let size = [0, 1].map(|d| self.high[d] - self.low[d]);
        Some(Part { first, counts, low: self.low, size, sums })
    }

    /// The coordinate of a node.
    #[inline(always)]
    pub fn place(&self, axis: usize, node: usize) -> F {
        F::of(self.grid.first[axis] + node as f64 * self.grid.pitch[axis])
    }
}

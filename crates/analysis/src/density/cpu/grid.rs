//! Sums at the nodes of a lattice: particles are spread over the nodes within reach.
//!
//! Each thread owns a slab of the lattice and visits, in order, all cells whose particles reach it. The
//! sums therefore do not depend on the number of threads.

use super::{
    BLOCK, SourceArrays,
    product::ProductSpreader,
    rows::RowSpreader,
    slab::{Slab, Spreader},
};
use crate::density::{
    ops::NodeGrid,
    radial::{Number, with_radial_kernel},
};
use burntrace_kernels::host::{Lanes, Task, dispatch};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Maximum number of slabs of a lattice.
const MAX_SLABS: usize = 32;

/// The sum of the kernels at each node, without their scale.
pub(in crate::density) fn on_nodes<F: Number>(
    sources: &SourceArrays<F>,
    grid: &NodeGrid,
) -> Vec<f64> {
    let axis = (0..3).rev().find(|&d| grid.counts[d] > 1).unwrap_or(0);
    let plane: usize = grid.counts[..axis].iter().product();
    // Thin slabs balance the load, but each slab visits all particles within reach of it.
    let reach = match grid.pitch[axis] {
        pitch if pitch > 0.0 => (sources.smoother.reach[axis] / pitch) as usize,
        _ => 0,
    };
    let thickness =
        grid.counts[axis].div_ceil(MAX_SLABS).max(reach.min(grid.counts[axis] / 8)).max(1);
    let mut sums = vec![0.0; grid.counts.iter().product()];
    let slabs = sums.par_chunks_mut(thickness * plane).enumerate();
    let is_product = sources.smoother.is_product();
    with_radial_kernel!(sources.smoother.profile, K => slabs.for_each(|(number, sums)| {
        let (mut low, mut high) = ([0; 3], grid.counts);
        low[axis] = number * thickness;
        high[axis] = low[axis] + sums.len() / plane;
        let slab = Slab { low, high, axis, sources, grid };
        if is_product {
            dispatch(FillSlab::<F, ProductSpreader<F>> { slab, sums, spreader: PhantomData });
        } else {
            dispatch(FillSlab::<F, RowSpreader<F, K>> { slab, sums, spreader: PhantomData });
        }
    }));
    sums
}

/// Sums all particles within reach of a slab.
struct FillSlab<'a, F, S> {
    slab: Slab<'a, F>,
    sums: &'a mut [f64],
    spreader: PhantomData<S>,
}

impl<F: Number, S: Spreader<F>> Task<F> for FillSlab<'_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let FillSlab { slab, sums, .. } = self;
        let mut spreader = S::new(&slab);
        let (low, high) = slab.cells();
        for z in low[2]..=high[2] {
            for y in low[1]..=high[1] {
                for x in low[0]..=high[0] {
                    let [mut n, end] = slab.sources.range(x..=x, y, z);
                    while n < end {
                        let particles = n..end.min(n + BLOCK);
                        n = particles.end;
                        if let Some(mut nodes) = slab.nodes_within_reach(&particles, sums) {
                            spreader.add::<L>(&slab, particles, &mut nodes);
                        }
                    }
                }
            }
        }
    }
}

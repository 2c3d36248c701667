//! Spreading of separable kernels: one table for each axis, and a matrix product.
//!
//! For each `k`, `sum_p z_p(k) y_p(j) x_p(i)` is the product of a matrix with rows `j` and columns `p`
//! and one with rows `p` and columns `i`. Tiles of four rows by eight or sixteen columns are summed in
//! registers.

use super::{
    BLOCK, WIDTH,
    slab::{NodeBlock, Slab, Spreader},
};
use crate::density::radial::{Gaussian, Number, RadialKernel};
use burntrace_kernels::host::{Eight, Lanes, Vector};
use std::ops::Range;

/// Rows of nodes in a tile.
const ROWS: usize = 4;

/// Spreads separable kernels. The tables are refilled for each block of particles.
pub(super) struct ProductSpreader<F> {
    /// A row for each particle and a column for each node, zero-padded.
    tables: [Vec<F>; 3],
    /// Columns of each table.
    columns: [usize; 3],
    /// Particles that reach a plane of nodes, and the factor of each in each row there.
    reaching: Vec<usize>,
    factors: Vec<F>,
}

impl<F: Number> Spreader<F> for ProductSpreader<F> {
    fn new(_: &Slab<F>) -> Self {
        let reaching = Vec::with_capacity(BLOCK);
        let factors = Vec::new();
        ProductSpreader { tables: Default::default(), columns: [0; 3], reaching, factors }
    }

    #[inline(always)]
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, nodes: &mut NodeBlock) {
        for axis in 0..3 {
            self.fill::<L>(slab, &particles, nodes, axis);
        }
        for k in 0..nodes.counts[2] {
            self.fill_factors(slab, &particles, k);
            for j in (0..nodes.counts[1]).step_by(ROWS) {
                let mut i = 0;
                // Sixteen single-precision sums a row fit into the registers.
                if size_of::<F>() == 4 {
                    while i + 2 * WIDTH <= self.columns[0] {
                        self.multiply::<L, 2>(nodes, i, j, k);
                        i += 2 * WIDTH;
                    }
                }
                while i < self.columns[0] {
                    self.multiply::<L, 1>(nodes, i, j, k);
                    i += WIDTH;
                }
            }
        }
    }
}

impl<F: Number> ProductSpreader<F> {
    /// Fills the table of an axis: the one-dimensional kernels at the nodes.
    #[inline(always)]
    fn fill<L: Lanes<F>>(
        &mut self,
        slab: &Slab<F>,
        particles: &Range<usize>,
        nodes: &NodeBlock,
        axis: usize,
    ) {
        let count = nodes.counts[axis];
        let columns = count.next_multiple_of(WIDTH);
        self.columns[axis] = columns;
        let table = &mut self.tables[axis];
        table.resize(columns * particles.len(), F::zero());
        let smoother = slab.sources.smoother;
        let per_unit = F::of(smoother.whitening[axis][axis]);
        let cutoff = F::of(smoother.cutoff);
        let first = slab.coordinate(axis, nodes.first[axis]);
        let pitch = F::of(slab.grid.pitch[axis]);
        let coordinates = &slab.sources.axes[axis][particles.clone()];
        for (row, &x) in table.chunks_exact_mut(columns).zip(coordinates) {
            let first = first - x;
            for (i, values) in row.chunks_exact_mut(WIDTH).enumerate() {
                for (l, value) in values.iter_mut().enumerate() {
                    let node = i * WIDTH + l;
                    let u = per_unit * (first + F::from_i32(node as i32) * pitch);
                    let is_within = (u.abs() <= cutoff) & (node < count);
                    let kernel = Gaussian::at::<F, L>(u * u);
                    *value = if is_within { kernel } else { F::zero() };
                }
            }
        }
    }

    /// Lists the particles that reach a plane of nodes, with their factors in its rows.
    #[inline(always)]
    fn fill_factors(&mut self, slab: &Slab<F>, particles: &Range<usize>, k: usize) {
        let [_, y, z] = &self.tables;
        let [_, ny, nz] = self.columns;
        self.reaching.clear();
        self.factors.clear();
        for (p, &weight) in slab.sources.weights[particles.clone()].iter().enumerate() {
            let factor = weight * z[p * nz + k];
            if factor != F::zero() {
                self.reaching.push(p);
                self.factors.extend(y[p * ny..][..ny].iter().map(|&y| factor * y));
            }
        }
    }

    /// Adds a tile of the matrix product: [`ROWS`] rows by `EIGHTS` times eight columns.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    fn multiply<L: Lanes<F>, const EIGHTS: usize>(
        &self,
        nodes: &mut NodeBlock,
        i: usize,
        j: usize,
        k: usize,
    ) {
        let zero = L::Eight::splat(F::zero());
        // Indexed loops are inlined and unrolled reliably; iterators are not.
        let mut sums = [[zero; EIGHTS]; ROWS];
        let [nx, ny, _] = self.columns;
        for (&p, factors) in self.reaching.iter().zip(self.factors.chunks_exact(ny)) {
            let factors = &factors[j..j + ROWS];
            let row = &self.tables[0][p * nx + i..][..EIGHTS * WIDTH];
            for e in 0..EIGHTS {
                // SAFETY: the slice has `EIGHTS * WIDTH` numbers.
                let x = unsafe { L::Eight::read(row.as_ptr().add(e * WIDTH).cast()) };
                for r in 0..ROWS {
                    sums[r][e] = x.fma(L::Eight::splat(factors[r]), sums[r][e]);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate().take(nodes.counts[1] - j) {
            let row = &mut nodes.row(j + r, k)[i..];
            for (to, eight) in row.chunks_mut(WIDTH).zip(sums) {
                for (to, sum) in to.iter_mut().zip(eight.array()) {
                    *to += sum.double();
                }
            }
        }
    }
}

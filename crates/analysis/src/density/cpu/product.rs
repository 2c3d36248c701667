//! Spreading where kernels are products of functions of one coordinate: a table for each axis, and a
//! product of matrices.
//!
//! `sum_p z_p(k) y_p(j) x_p(i)` is, for each `k`, a matrix of rows `j` and columns `p` times one of rows
//! `p` and columns `i`. Four rows and one or two eights of columns are summed in registers.

use super::{
    BLOCK, Number, WIDTH,
    course::{Course, Gaussian},
    grid::{Part, Slab, Way},
};
use burntrace_kernels::host::{Eight, Lanes, Vector};
use std::ops::Range;

/// Rows of nodes that are summed at once.
const ROWS: usize = 4;

/// Tables that one block of particles after another fills.
pub(super) struct Product<F> {
    /// A row for each particle and a column for each node, padded by zeros.
    tables: [Vec<F>; 3],
    /// Columns of each table.
    columns: [usize; 3],
    /// Particles that reach a plane, and what each gives to the rows there.
    reaching: Vec<usize>,
    shares: Vec<F>,
}

impl<F: Number> Way<F> for Product<F> {
    fn new(_: &Slab<F>) -> Self {
        let reaching = Vec::with_capacity(BLOCK);
        Product { tables: Default::default(), columns: [0; 3], reaching, shares: Vec::new() }
    }

    #[inline(always)]
    fn add<L: Lanes<F>>(&mut self, slab: &Slab<F>, particles: Range<usize>, part: &mut Part) {
        for axis in 0..3 {
            self.fill::<L>(slab, &particles, part, axis);
        }
        for k in 0..part.counts[2] {
            self.share(slab, &particles, k);
            for j in (0..part.counts[1]).step_by(ROWS) {
                let mut i = 0;
                // As many sums as there are registers for.
                if size_of::<F>() == 4 {
                    while i + 2 * WIDTH <= self.columns[0] {
                        self.multiply::<L, 2>(part, i, j, k);
                        i += 2 * WIDTH;
                    }
                }
                while i < self.columns[0] {
                    self.multiply::<L, 1>(part, i, j, k);
                    i += WIDTH;
                }
            }
        }
    }
}

impl<F: Number> Product<F> {
    /// The functions of one coordinate at the nodes.
    #[inline(always)]
    fn fill<L: Lanes<F>>(
        &mut self,
        slab: &Slab<F>,
        particles: &Range<usize>,
        part: &Part,
        axis: usize,
    ) {
        let count = part.counts[axis];
        let columns = count.next_multiple_of(WIDTH);
        self.columns[axis] = columns;
        let table = &mut self.tables[axis];
        table.resize(columns * particles.len(), F::zero());
        let smoother = slab.sources.smoother;
        let (per_unit, cut) = (F::of(smoother.per_unit[axis][axis]), F::of(smoother.cut));
        let (first, pitch) = (slab.place(axis, part.first[axis]), F::of(slab.grid.pitch[axis]));
        let places = &slab.sources.axes[axis][particles.clone()];
        for (row, &place) in table.chunks_exact_mut(columns).zip(places) {
            let first = first - place;
            for (i, values) in row.chunks_exact_mut(WIDTH).enumerate() {
                for (l, value) in values.iter_mut().enumerate() {
                    let node = i * WIDTH + l;
                    let u = per_unit * (first + F::from_i32(node as i32) * pitch);
                    let counts = (u.abs() <= cut) & (node < count);
                    let course = Gaussian::at::<F, L>(u * u);
                    *value = if counts { course } else { F::zero() };
                }
            }
        }
    }

    /// What each particle that reaches a plane gives to its rows.
    #[inline(always)]
    fn share(&mut self, slab: &Slab<F>, particles: &Range<usize>, k: usize) {
        let [_, y, z] = &self.tables;
        let [_, ny, nz] = self.columns;
        self.reaching.clear();
        self.shares.clear();
        for (p, &weight) in slab.sources.weights[particles.clone()].iter().enumerate() {
            let share = weight * z[p * nz + k];
            if share != F::zero() {
                self.reaching.push(p);
                self.shares.extend(y[p * ny..][..ny].iter().map(|&y| share * y));
            }
        }
    }

    /// Adds to a few rows of nodes, and to so many eights of columns.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)]
    fn multiply<L: Lanes<F>, const EIGHTS: usize>(
        &self,
        part: &mut Part,
        i: usize,
        j: usize,
        k: usize,
    ) {
        let zero = L::Eight::splat(F::zero());
        // By index: an iterator might be called where it should be inlined and unrolled.
        let mut sums = [[zero; EIGHTS]; ROWS];
        let [nx, ny, _] = self.columns;
        for (&p, shares) in self.reaching.iter().zip(self.shares.chunks_exact(ny)) {
            let shares = &shares[j..j + ROWS];
            let row = &self.tables[0][p * nx + i..][..EIGHTS * WIDTH];
            for e in 0..EIGHTS {
                // SAFETY: so many numbers are in the slice.
                let x = unsafe { L::Eight::read(row.as_ptr().add(e * WIDTH).cast()) };
                for r in 0..ROWS {
                    sums[r][e] = x.fma(L::Eight::splat(shares[r]), sums[r][e]);
                }
            }
        }
        for (r, sums) in sums.iter().enumerate().take(part.counts[1] - j) {
            let row = &mut part.row(j + r, k)[i..];
            for (to, eight) in row.chunks_mut(WIDTH).zip(sums) {
                for (to, sum) in to.iter_mut().zip(eight.array()) {
                    *to += sum.double();
                }
            }
        }
    }
}

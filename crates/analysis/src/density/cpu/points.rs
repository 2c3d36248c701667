//! Sums at points: each point searches for the particles within reach.

use super::{BLOCK, SourceArrays, WIDTH, with_margin};
use crate::density::radial::{Number, RadialKernel, with_radial_kernel};
use burntrace_kernels::host::{Lanes, Task, dispatch};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Points of a task.
const TILE: usize = 64;

/// The sum of the kernels at each point, without their scale.
pub(in crate::density) fn at<F: Number>(points: &[[F; 3]], sources: &SourceArrays<F>) -> Vec<f64> {
    let mut sums = vec![0.0; points.len()];
    let tiles = points.par_chunks(TILE).zip(sums.par_chunks_mut(TILE));
    with_radial_kernel!(sources.smoother.profile, K => tiles.for_each(|(points, sums)| {
        dispatch(Gather::<F, K> { points, sums, sources, kernel: PhantomData });
    }));
    sums
}

struct Gather<'a, F, K> {
    points: &'a [[F; 3]],
    sums: &'a mut [f64],
    sources: &'a SourceArrays<'a, F>,
    kernel: PhantomData<K>,
}

impl<F: Number, K: RadialKernel> Task<F> for Gather<'_, F, K> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        for (point, sum) in self.points.iter().zip(self.sums) {
            *sum = at_point::<F, K, L>(point, self.sources);
        }
    }
}

#[inline(always)]
fn at_point<F: Number, K: RadialKernel, L: Lanes<F>>(
    point: &[F; 3],
    sources: &SourceArrays<F>,
) -> f64 {
    let position = point.map(F::double);
    let cells = sources.cells;
    let reach = sources.smoother.reach;
    let low = [0, 1, 2].map(|d| cells.cell_along(d, position[d] - with_margin(reach[d])));
    let high = [0, 1, 2].map(|d| cells.cell_along(d, position[d] + with_margin(reach[d])));
    let mut sum = 0.0;
    for z in low[2]..=high[2] {
        for y in low[1]..=high[1] {
            let [mut n, end] = sources.range(low[0]..=high[0], y, z);
            while n < end {
                let stop = end.min(n + BLOCK);
                sum += sum_range::<F, K, L>(point, sources, n, stop);
                n = stop;
            }
        }
    }
    sum
}

/// Sums the kernels of a contiguous range of particles.
#[inline(always)]
fn sum_range<F: Number, K: RadialKernel, L: Lanes<F>>(
    point: &[F; 3],
    sources: &SourceArrays<F>,
    start: usize,
    end: usize,
) -> f64 {
    let [xx, xy, xz, yy, yz, zz] = sources.whitening();
    let cutoff = F::of(sources.smoother.cutoff);
    let mut sums = [F::zero(); WIDTH];
    let mut n = start;
    while n < end {
        let eight = |values: &[F]| -> [F; WIDTH] {
            let mut eight = [F::zero(); WIDTH];
            eight.copy_from_slice(&values[n..n + WIDTH]);
            eight
        };
        let [x, y, z] = sources.axes.map(eight);
        let weight = eight(sources.weights);
        for l in 0..WIDTH {
            let [dx, dy, dz] = [point[0] - x[l], point[1] - y[l], point[2] - z[l]];
            let (u, v, w) = (xx * dx + xy * dy + xz * dz, yy * dy + yz * dz, zz * dz);
            let square = u.fused::<L>(u, v.fused::<L>(v, w * w));
            let is_within = match (K::IS_BOX, K::IS_CUT) {
                (true, _) => u.abs().max(v.abs()).max(w.abs()) <= cutoff,
                (_, true) => square <= cutoff * cutoff,
                _ => true,
            };
            let counts = is_within & (n + l < end);
            let value = weight[l] * K::at::<F, L>(square);
            sums[l] += if counts { value } else { F::zero() };
        }
        n += WIDTH;
    }
    sums.iter().map(|sum| sum.double()).sum()
}

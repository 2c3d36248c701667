//! Sums at points: each looks for the particles that reach it.

use super::{
    BLOCK, Number, SourceArrays, WIDTH,
    course::{Course, with_course},
    wider,
};
use burntrace_kernels::host::{Lanes, Task, dispatch};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Points that a thread takes at once.
const TILE: usize = 64;

/// The sum of the kernels at each point, without their scale.
pub(in crate::density) fn at<F: Number>(points: &[[F; 3]], sources: &SourceArrays<F>) -> Vec<f64> {
    let mut sums = vec![0.0; points.len()];
    let tiles = points.par_chunks(TILE).zip(sums.par_chunks_mut(TILE));
    with_course!(sources.smoother.profile, C => tiles.for_each(|(points, sums)| {
        dispatch(Gather::<F, C> { points, sums, sources, course: PhantomData });
    }));
    sums
}

struct Gather<'a, F, C> {
    points: &'a [[F; 3]],
    sums: &'a mut [f64],
    sources: &'a SourceArrays<'a, F>,
    course: PhantomData<C>,
}

impl<F: Number, C: Course> Task<F> for Gather<'_, F, C> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        for (point, sum) in self.points.iter().zip(self.sums) {
            *sum = at_point::<F, C, L>(point, self.sources);
        }
    }
}

#[inline(always)]
fn at_point<F: Number, C: Course, L: Lanes<F>>(point: &[F; 3], sources: &SourceArrays<F>) -> f64 {
    let place = point.map(F::double);
    let cells = sources.cells;
    let reach = sources.smoother.reach;
    let low = [0, 1, 2].map(|d| cells.along(d, place[d] - wider(reach[d])));
    let high = [0, 1, 2].map(|d| cells.along(d, place[d] + wider(reach[d])));
    let mut sum = 0.0;
    for z in low[2]..=high[2] {
        for y in low[1]..=high[1] {
            let [mut n, end] = sources.run(low[0]..=high[0], y, z);
            while n < end {
                let stop = end.min(n + BLOCK);
                sum += of_run::<F, C, L>(point, sources, n, stop);
                n = stop;
            }
        }
    }
    sum
}

/// The sum of the kernels of some particles that follow each other.
#[inline(always)]
fn of_run<F: Number, C: Course, L: Lanes<F>>(
    point: &[F; 3],
    sources: &SourceArrays<F>,
    start: usize,
    end: usize,
) -> f64 {
    let [xx, xy, xz, yy, yz, zz] = sources.per_unit();
    let cut = F::of(sources.smoother.cut);
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
            let is_within = match (C::IS_BOX, C::IS_CUT) {
                (true, _) => u.abs().max(v.abs()).max(w.abs()) <= cut,
                (_, true) => square <= cut * cut,
                _ => true,
            };
            let counts = is_within & (n + l < end);
            let value = weight[l] * C::at::<F, L>(square);
            sums[l] = sums[l] + if counts { value } else { F::zero() };
        }
        n += WIDTH;
    }
    sums.iter().map(|sum| sum.double()).sum()
}

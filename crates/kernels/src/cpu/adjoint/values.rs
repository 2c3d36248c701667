//! Gradients by the values of a field.
//!
//! Particles are divided into parts, whose gradients are summed one after another, and the parts in
//! order. The division depends on the launch alone, so that any number of threads gives the same bits.

use crate::{
    Outside,
    cpu::{
        Real,
        frame_pair::{FramePair, frame_pair},
        lanes::{Eight, Four, Lanes, Vector},
        segment::SegmentContext,
        shares::{FaceShares, MAX_SHARES, Shares},
    },
    physics::tables::FRAME_SIZE,
};
use rayon::prelude::*;
use std::ops::Range;

/// Number of values in a page. Pages without a gradient are not stored.
const PAGE: usize = 64;

/// Number of bytes that the tables of pages of all parts may take.
const TABLES: usize = 64 << 20;

/// Maximum number of parts: enough for the threads of a large machine.
const MAX_PARTS: usize = 64;

/// The gradient of a particle by the values of the cell in which it is. A particle stays in a cell for
/// several samples.
pub(super) struct Pending<F> {
    cell: Option<usize>,
    frames: [usize; 2],
    count: usize,
    values: [usize; MAX_SHARES],
    sums: [[[F; 4]; MAX_SHARES]; 2],
}

impl<F: Real> Pending<F> {
    pub fn none() -> Self {
        Pending {
            cell: None,
            frames: [0; 2],
            count: 0,
            values: [0; MAX_SHARES],
            sums: [[[F::zero(); 4]; MAX_SHARES]; 2],
        }
    }

    /// Adds the gradient by a sample.
    #[inline(always)]
    pub fn add<L: Lanes<F>>(
        &mut self,
        shares: &mut Shares<F>,
        pair: &FramePair<F>,
        gradient: L::Four,
        all: &mut ValueGradients<F>,
    ) {
        let frames = [pair.first, pair.second];
        if shares.cell.is_none() || shares.cell != self.cell || frames != self.frames {
            self.pass_to(all);
            (self.cell, self.frames, self.count) = (shares.cell, frames, shares.count);
            self.values[..shares.count].copy_from_slice(&shares.values[..shares.count]);
        }
        if let Some(faces) = &shares.faces {
            return self.add_faces(faces, pair, gradient.array());
        }
        // The partner of a last odd value.
        shares.weights[shares.count] = F::zero();
        // The fourth component is that of a height on a sphere, and 0 in a flat space.
        let [x, y, z, up] = gradient.array();
        let pairs = shares.count.div_ceil(2);
        let both = L::Eight::new(&[x, y, z, up, x, y, z, up]);
        let [first, second] = &mut self.sums;
        let (first, _) = first.as_flattened_mut().as_chunks_mut::<8>();
        let (second, _) = second.as_flattened_mut().as_chunks_mut::<8>();
        let by_first = both * L::Eight::splat(pair.first_weight);
        let by_second = both * L::Eight::splat(pair.second_weight);
        // By index: an iterator call might not be inlined.
        for k in 0..pairs {
            let [a, b] = [shares.weights[2 * k], shares.weights[2 * k + 1]];
            let weights = L::Eight::new(&[a, a, a, a, b, b, b, b]);
            first[k] = by_first.fma(weights, L::Eight::new(&first[k])).array();
            second[k] = by_second.fma(weights, L::Eight::new(&second[k])).array();
        }
    }

    /// Adds the gradient by a sample of fluxes through faces.
    #[inline(never)]
    fn add_faces(&mut self, faces: &FaceShares<F>, pair: &FramePair<F>, gradient: [F; 4]) {
        let along = |v: [F; 4]| (0..4).fold(F::zero(), |sum, d| sum + v[d] * gradient[d]);
        let by_flux = faces.by_flux.map(along);
        let weights = [pair.first_weight, pair.second_weight];
        for (sums, in_time) in self.sums.iter_mut().zip(weights) {
            for (sum, weights) in sums.iter_mut().zip(&faces.weights) {
                for d in 0..3 {
                    sum[d] += by_flux[d] * weights[d] * in_time;
                }
            }
        }
    }

    /// Passes the sums on, and starts new ones.
    #[inline(never)]
    pub fn pass_to(&mut self, all: &mut ValueGradients<F>) {
        for (sums, frame) in self.sums.iter_mut().zip(self.frames) {
            for (sum, value) in sums[..self.count].iter_mut().zip(&self.values) {
                // A frame of weight 0 may not be there.
                if *sum != [F::zero(); 4] {
                    let at = all.at(frame + value);
                    for (x, gradient) in at.iter_mut().zip(std::mem::take(sum)) {
                        *x += gradient;
                    }
                }
            }
        }
        (self.cell, self.count) = (None, 0);
    }
}

/// Gradients by a range of the field's values.
pub(super) struct ValueGradients<F> {
    first: usize,
    /// One more than the number of each page, or 0.
    pages: Vec<u32>,
    values: Vec<[F; 4]>,
}

impl<F: Real> ValueGradients<F> {
    pub fn zeros(range: &Range<usize>) -> Self {
        let pages = vec![0; range.len().div_ceil(PAGE)];
        ValueGradients { first: range.start, pages, values: Vec::new() }
    }

    fn at(&mut self, value: usize) -> &mut [F; 4] {
        let place = value - self.first;
        let page = &mut self.pages[place / PAGE];
        if *page == 0 {
            *page = (self.values.len() / PAGE) as u32 + 1;
            self.values.resize(self.values.len() + PAGE, [F::zero(); 4]);
        }
        &mut self.values[(*page as usize - 1) * PAGE + place % PAGE]
    }

    /// The gradients of a page, if it has any.
    fn page(&self, page: usize) -> Option<&[[F; 4]]> {
        let number = (self.pages[page] as usize).checked_sub(1)?;
        Some(&self.values[number * PAGE..(number + 1) * PAGE])
    }
}

/// The range of values that the steps of a launch read.
pub(super) fn frames_read<F: Real>(context: &SegmentContext<F>) -> Range<usize> {
    let (launch, clock) = (&context.launch, &context.segment.clock);
    let size = launch.int(FRAME_SIZE) as usize;
    if clock.outside == Outside::Periodic {
        // Those of a step may be the last ones and the first.
        return 0..clock.frames * size;
    }
    let steps = context.segment.steps.iter().enumerate();
    // A particle that is released during a step, or takes a part of it, reads frames between those of
    // whole steps.
    let ends = steps.flat_map(|(j, step)| [0.0, step.h].map(|at| frame_pair(launch, j, F::of(at))));
    let stages = (0..context.segment.steps.len()).flat_map(|j| *context.frame_pairs(j));
    let frames = ends.chain(stages).flat_map(|pair| [pair.first, pair.second]);
    let (mut first, mut last) = (usize::MAX, 0);
    for frame in frames {
        (first, last) = (first.min(frame), last.max(frame));
    }
    first.min(last)..last + size
}

/// The number of parts for tiles of particles that read a range of values.
pub(super) fn parts_of(read: &Range<usize>, tiles: usize) -> usize {
    let bytes = read.len().div_ceil(PAGE) * size_of::<u32>();
    (TABLES / bytes.max(1)).clamp(1, MAX_PARTS).min(tiles.max(1))
}

/// Adds the gradients of all parts, which have the same range.
pub(super) fn add_parts<F: Real>(all: &mut [[F; 4]], parts: &[ValueGradients<F>]) {
    let Some(ValueGradients { first, pages, .. }) = parts.first() else { return };
    let end = all.len().min(first + pages.len() * PAGE);
    all[*first..end].par_chunks_mut(PAGE).enumerate().for_each(|(page, sums)| {
        for gradients in parts.iter().filter_map(|part| part.page(page)) {
            for (sum, gradient) in sums.iter_mut().zip(gradients) {
                for (sum, x) in sum.iter_mut().zip(gradient) {
                    *sum += *x;
                }
            }
        }
    });
}

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
const PAGE: usize = 16;

/// Number of pages that are stored together.
const BLOCK: usize = 64;

/// Number of pages that are added at a time.
const ADDED: usize = 16;

/// Number of bytes that the tables of pages of all parts may take.
const TABLES: usize = 64 << 20;

/// Maximum number of parts: enough for the threads of a large machine.
const MAX_PARTS: usize = 64;

/// Number of samples in a cell whose gradients are added together.
const WAITING: usize = 4;

/// The gradient of a particle by the values of the cell in which it is. A particle stays in a cell for
/// several samples.
pub(super) struct Pending<F> {
    cell: Option<usize>,
    frames: [usize; 2],
    count: usize,
    /// The values of the last cell that is known by them, which stay those of it.
    values: [usize; MAX_SHARES],
    known: Option<usize>,
    sums: [[[F; 4]; MAX_SHARES]; 2],
    /// Samples in the cell whose gradients are not in the sums yet, and their number.
    waiting: [Sample<F>; WAITING],
    samples: usize,
}

/// A sample, and the gradient by it.
struct Sample<F> {
    shares: Shares<F>,
    gradient: [F; 4],
    /// The weights of both frames.
    in_time: [F; 2],
}

impl<F: Real> Pending<F> {
    pub fn none() -> Self {
        let zero = [F::zero(); 4];
        Pending {
            cell: None,
            frames: [0; 2],
            count: 0,
            values: [0; MAX_SHARES],
            known: None,
            sums: [[zero; MAX_SHARES]; 2],
            waiting: std::array::from_fn(|_| {
                let (shares, in_time) = (Shares::none(), [F::zero(); 2]);
                Sample { shares, gradient: zero, in_time }
            }),
            samples: 0,
        }
    }

    /// Room for the values of the next sample.
    #[inline(always)]
    pub fn shares(&mut self) -> &mut Shares<F> {
        let shares = &mut self.waiting[self.samples].shares;
        shares.known = self.known;
        shares
    }

    /// Adds the gradient by a sample, of which [`shares`](Self::shares) has the values.
    #[inline(always)]
    pub fn add<L: Lanes<F>>(
        &mut self,
        pair: &FramePair<F>,
        gradient: L::Four,
        all: &mut ValueGradients<F>,
    ) {
        let frames = [pair.first, pair.second];
        let cell = self.waiting[self.samples].shares.cell;
        if cell.is_none() || cell != self.cell || frames != self.frames {
            let last = self.samples;
            self.finish::<L>(all);
            self.enter(last, frames);
        }
        let sample = &mut self.waiting[self.samples];
        if let Some(faces) = sample.shares.faces {
            return self.add_faces(&faces, pair, gradient.array());
        }
        // The partner of a last odd value.
        sample.shares.weights[self.count] = F::zero();
        sample.gradient = gradient.array();
        sample.in_time = [pair.first_weight, pair.second_weight];
        self.samples += 1;
        if self.samples == WAITING {
            self.sum::<L, WAITING>();
        }
    }

    /// Enters the cell of a sample, which becomes the first one.
    #[inline(never)]
    fn enter(&mut self, sample: usize, frames: [usize; 2]) {
        let Shares { cell, count, values, weights, .. } = &self.waiting[sample].shares;
        (self.cell, self.frames, self.count) = (*cell, frames, *count);
        if cell.is_none() || self.known != *cell {
            self.values[..*count].copy_from_slice(&values[..*count]);
            self.known = *cell;
        }
        let weights = *weights;
        if sample > 0 {
            self.waiting[0].shares.weights = weights;
        }
    }

    /// Adds the gradients of `N` samples to the sums, which are read and written once.
    #[inline(always)]
    fn sum<L: Lanes<F>, const N: usize>(&mut self) {
        let zero = L::Eight::splat(F::zero());
        let mut by = [[zero; 2]; N];
        // By index, here and below: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for n in 0..N {
            let Sample { gradient: [x, y, z, up], in_time, .. } = self.waiting[n];
            // The fourth component is that of a height on a sphere or of a diffusivity, and 0 in a flat space.
            let both = L::Eight::new(&[x, y, z, up, x, y, z, up]);
            by[n] = [both * L::Eight::splat(in_time[0]), both * L::Eight::splat(in_time[1])];
        }
        let [first, second] = &mut self.sums;
        let (first, _) = first.as_flattened_mut().as_chunks_mut::<8>();
        let (second, _) = second.as_flattened_mut().as_chunks_mut::<8>();
        for k in 0..self.count.div_ceil(2) {
            let mut sums = [L::Eight::new(&first[k]), L::Eight::new(&second[k])];
            #[allow(clippy::needless_range_loop)]
            for n in 0..N {
                let weights = &self.waiting[n].shares.weights;
                let [a, b] = [weights[2 * k], weights[2 * k + 1]];
                let weights = L::Eight::new(&[a, a, a, a, b, b, b, b]);
                sums = [by[n][0].fma(weights, sums[0]), by[n][1].fma(weights, sums[1])];
            }
            (first[k], second[k]) = (sums[0].array(), sums[1].array());
        }
        self.samples = 0;
    }

    /// Passes all sums on, and starts new ones.
    #[inline(always)]
    pub fn finish<L: Lanes<F>>(&mut self, all: &mut ValueGradients<F>) {
        match self.samples {
            0 => {}
            1 => self.sum::<L, 1>(),
            2 => self.sum::<L, 2>(),
            _ => self.sum::<L, 3>(),
        }
        self.pass_to(all);
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

    #[inline(never)]
    fn pass_to(&mut self, all: &mut ValueGradients<F>) {
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
        // The partner of a last odd value has no weight, but a gradient that is not a number would stay.
        for sums in &mut self.sums {
            sums[self.count] = [F::zero(); 4];
        }
        (self.cell, self.count) = (None, 0);
    }
}

/// Gradients by a range of the field's values.
pub(super) struct ValueGradients<F> {
    first: usize,
    /// One more than the number of each page, or 0.
    pages: Vec<u32>,
    /// The pages, in blocks that stay where they are.
    blocks: Vec<Vec<[F; 4]>>,
    count: usize,
}

impl<F: Real> ValueGradients<F> {
    pub fn zeros(range: &Range<usize>) -> Self {
        let pages = vec![0; range.len().div_ceil(PAGE)];
        ValueGradients { first: range.start, pages, blocks: Vec::new(), count: 0 }
    }

    fn at(&mut self, value: usize) -> &mut [F; 4] {
        let place = value - self.first;
        let page = &mut self.pages[place / PAGE];
        if *page == 0 {
            if self.count.is_multiple_of(BLOCK) {
                self.blocks.push(vec![[F::zero(); 4]; BLOCK * PAGE]);
            }
            self.count += 1;
            *page = self.count as u32;
        }
        let number = *page as usize - 1;
        &mut self.blocks[number / BLOCK][number % BLOCK * PAGE + place % PAGE]
    }

    /// The gradients of a page, if it has any.
    fn page(&self, page: usize) -> Option<&[[F; 4]]> {
        let number = (*self.pages.get(page)? as usize).checked_sub(1)?;
        Some(&self.blocks[number / BLOCK][number % BLOCK * PAGE..][..PAGE])
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
    all[*first..end].par_chunks_mut(ADDED * PAGE).enumerate().for_each(|(chunk, sums)| {
        for part in parts {
            for (page, sums) in sums.chunks_mut(PAGE).enumerate() {
                let Some(gradients) = part.page(chunk * ADDED + page) else { continue };
                for (sum, gradient) in sums.iter_mut().zip(gradients) {
                    for (sum, x) in sum.iter_mut().zip(gradient) {
                        *sum += *x;
                    }
                }
            }
        }
    });
}

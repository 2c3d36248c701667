//! Gradients by the values of a field.
//!
//! Particles are divided into parts, whose gradients are summed one after another, and the parts in
//! order. The division depends on the launch alone, so that any number of threads gives the same bits.

use crate::{
    Outside,
    cpu::{
        Real,
        frame_pair::{FramePair, frame_pair},
        lanes::{Eight, Four, Lanes, Task, Vector},
        segment::SegmentContext,
        shares::{BLOCK_OF_SHARES, BLOCKS, FaceShares, MAX_SHARES, Shares},
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

/// Number of particle-steps of a part: with fewer, more of the time would go into filling and adding pages.
const STEPS_OF_PART: usize = 1 << 16;

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
    /// Whether the frames have weights; one without may not be there.
    in_use: [bool; 2],
    /// Of a few values at a time, for each frame, those by each component.
    sums: [[BlockSums<F>; 2]; BLOCKS],
    /// Samples in the cell whose gradients are not in the sums yet, and their number.
    waiting: [Sample<F>; WAITING],
    samples: usize,
}

/// The gradients by each component of a few values.
type BlockSums<F> = [[F; BLOCK_OF_SHARES]; 4];

/// A sample, and the gradients by its velocity in each frame.
struct Sample<F> {
    shares: Shares<F>,
    by_frame: [[F; 4]; 2],
}

impl<F: Real> Pending<F> {
    pub fn none() -> Self {
        Pending {
            cell: None,
            frames: [0; 2],
            count: 0,
            values: [0; MAX_SHARES],
            known: None,
            in_use: [false; 2],
            sums: [[[[F::zero(); BLOCK_OF_SHARES]; 4]; 2]; BLOCKS],
            waiting: std::array::from_fn(|_| Sample {
                shares: Shares::none(),
                by_frame: [[F::zero(); 4]; 2],
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
        self.in_use[0] |= pair.first_weight != F::zero();
        self.in_use[1] |= pair.second_weight != F::zero();
        let sample = &mut self.waiting[self.samples];
        if let Some(faces) = sample.shares.faces {
            return self.add_faces(&faces, pair, gradient.array());
        }
        let first = gradient * L::Four::splat(pair.first_weight);
        let second = gradient * L::Four::splat(pair.second_weight);
        sample.by_frame = [first.array(), second.array()];
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
        let mut weights = [L::Eight::splat(F::zero()); N];
        // By index, here and below: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for block in 0..self.count.div_ceil(BLOCK_OF_SHARES) {
            for n in 0..N {
                weights[n] = L::Eight::new(&self.waiting[n].shares.weights[block]);
            }
            for frame in 0..2 {
                // The fourth component is that of a height on a sphere or of a diffusivity, and 0 in a flat space.
                for d in 0..4 {
                    let mut sum = L::Eight::new(&self.sums[block][frame][d]);
                    for n in 0..N {
                        let by = L::Eight::splat(self.waiting[n].by_frame[frame][d]);
                        sum = weights[n].fma(by, sum);
                    }
                    self.sums[block][frame][d] = sum.array();
                }
            }
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
        if self.count > 0 {
            L::apart(PassOn { pending: self, all });
        }
    }

    /// Adds the gradient by a sample of fluxes through faces.
    #[inline(never)]
    fn add_faces(&mut self, faces: &FaceShares<F>, pair: &FramePair<F>, gradient: [F; 4]) {
        let along = |v: [F; 4]| (0..4).fold(F::zero(), |sum, d| sum + v[d] * gradient[d]);
        let by_flux = faces.by_flux.map(along);
        let weights = [pair.first_weight, pair.second_weight];
        for (sums, in_time) in self.sums[0].iter_mut().zip(weights) {
            for d in 0..3 {
                for (sum, weights) in sums[d].iter_mut().zip(&faces.weights) {
                    *sum += by_flux[d] * weights[d] * in_time;
                }
            }
        }
    }
}

/// Passes the sums of a particle on.
struct PassOn<'a, F> {
    pending: &'a mut Pending<F>,
    all: &'a mut ValueGradients<F>,
}

impl<F: Real> Task<F> for PassOn<'_, F> {
    // By index: iterator calls might not be inlined.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let PassOn { pending, all } = self;
        for first in (0..pending.count).step_by(BLOCK_OF_SHARES) {
            let count = (pending.count - first).min(BLOCK_OF_SHARES);
            for frame in 0..2 {
                if !pending.in_use[frame] {
                    continue;
                }
                let sums = &mut pending.sums[first / BLOCK_OF_SHARES][frame];
                let rows = rows_of::<F, L>(sums);
                *sums = [[F::zero(); BLOCK_OF_SHARES]; 4];
                let values = &pending.values[first..first + count];
                let mut k = 0;
                while k < count {
                    let at = all.at(pending.frames[frame] + values[k]);
                    at[0] = (L::Four::new(at[0]) + rows[k]).array();
                    k += 1;
                    // Neighbours along x on a grid are next to each other.
                    if k < count && values[k] == values[k - 1] + 1 && at.len() > 1 {
                        at[1] = (L::Four::new(at[1]) + rows[k]).array();
                        k += 1;
                    }
                }
            }
        }
        (pending.cell, pending.count, pending.in_use) = (None, 0, [false; 2]);
    }
}

/// The gradients by each value, from those by each component.
#[inline(always)]
fn rows_of<F: Real, L: Lanes<F>>([x, y, z, up]: &BlockSums<F>) -> [L::Four; BLOCK_OF_SHARES] {
    let [x, y, z, up] = [L::Eight::new(x), L::Eight::new(y), L::Eight::new(z), L::Eight::new(up)];
    let [a, b, c, d] = L::Eight::transposed([x, y, z, up]);
    let ([a, e], [b, f], [c, g], [d, h]) = (a.halves(), b.halves(), c.halves(), d.halves());
    [a, b, c, d, e, f, g, h]
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

    /// The gradients by a value and by those after it in its page.
    #[inline(always)]
    fn at(&mut self, value: usize) -> &mut [[F; 4]] {
        let place = value - self.first;
        let mut page = self.pages[place / PAGE];
        if page == 0 {
            page = self.new_page(place / PAGE);
        }
        let (number, within) = (page as usize - 1, place % PAGE);
        &mut self.blocks[number / BLOCK][number % BLOCK * PAGE..][..PAGE][within..]
    }

    /// Stores a page. Returns one more than its number.
    #[cold]
    #[inline(never)]
    fn new_page(&mut self, page: usize) -> u32 {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push(vec![[F::zero(); 4]; BLOCK * PAGE]);
        }
        self.count += 1;
        self.pages[page] = self.count as u32;
        self.count as u32
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

/// The number of parts for some particle-steps that read a range of values.
pub(super) fn parts_of(read: &Range<usize>, steps: usize) -> usize {
    let bytes = read.len().div_ceil(PAGE) * size_of::<u32>();
    (TABLES / bytes.max(1)).min(steps / STEPS_OF_PART).clamp(1, MAX_PARTS)
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

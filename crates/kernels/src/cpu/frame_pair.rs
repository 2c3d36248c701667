//! Which two frames a moment lies between, and their weights.

use super::{
    Real,
    lanes::{Four, Lanes, Vector},
};
use crate::{Clock, Outside, Step, TimeInterpolation};

/// Two frames and their weights; a weight of zero means that the frame need not be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePair<F> {
    /// Where the two frames begin among the values.
    pub frames: [usize; 2],
    pub weights: [F; 2],
}

/// A clock in the kernel's precision.
pub(crate) struct Frames<'a, F> {
    clock: &'a Clock,
    gaps: Vec<F>,
    /// Values per frame.
    size: usize,
}

impl<'a, F: Real> Frames<'a, F> {
    /// # Panics
    ///
    /// Where there are more intervals than frames: samplers rely on frames that are there.
    pub fn new(clock: &'a Clock, size: usize) -> Self {
        assert!(clock.frames >= 1 && clock.gaps.len() <= clock.frames, "frames of a clock");
        Frames { clock, gaps: clock.gaps.iter().map(|&gap| F::of(gap)).collect(), size }
    }

    /// The moment that is `offset` after the beginning of a step.
    ///
    /// A moment beyond the step's own interval lies in one of the next ones.
    pub fn moment(&self, step: &Step, offset: F) -> FramePair<F> {
        let count = self.gaps.len();
        if count == 0 {
            return FramePair { frames: [0, 0], weights: [F::one(), F::zero()] };
        }
        let wraps = self.clock.outside == Outside::Periodic;
        let mut k = step.interval;
        let mut since = F::of(step.since) + offset;
        while since > self.gaps[k] && (wraps || k + 1 < count) {
            since = since - self.gaps[k];
            k = (k + 1) % count;
        }
        while since < F::zero() && (wraps || k > 0) {
            k = if k == 0 { count - 1 } else { k - 1 };
            since = since + self.gaps[k];
        }
        FramePair {
            frames: [k, (k + 1) % self.clock.frames].map(|frame| frame * self.size),
            weights: self.weights(since / self.gaps[k]),
        }
    }

    /// Weights of the two frames at a fraction of their interval.
    fn weights(&self, fraction: F) -> [F; 2] {
        let slack = F::of(8.0) * F::epsilon();
        let is_outside = fraction < -slack || fraction > F::one() + slack;
        if is_outside && self.clock.outside == Outside::Zero {
            return [F::zero(), F::zero()];
        }
        let a = fraction.max(F::zero()).min(F::one());
        match self.clock.in_time {
            TimeInterpolation::Linear => [F::one() - a, a],
            TimeInterpolation::Nearest if a < F::of(0.5) => [F::one(), F::zero()],
            TimeInterpolation::Nearest => [F::zero(), F::one()],
        }
    }
}

/// The value of an index at a moment, read from its two frames.
#[inline(always)]
pub(super) fn blend<F: Real, L: Lanes<F>>(
    values: &[[F; 4]],
    index: usize,
    moment: &FramePair<F>,
) -> L::Four {
    let [w0, w1] = moment.weights;
    let read = |k: usize| L::Four::new(values[moment.frames[k] + index]);
    let first = read(0) * L::Four::splat(w0);
    if w1 == F::zero() { first } else { read(1).fma(L::Four::splat(w1), first) }
}

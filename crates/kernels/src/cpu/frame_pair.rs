//! The two frames that bracket a time, and their weights.

use super::{
    Real,
    lanes::{Four, Lanes, Vector},
};
use crate::{Clock, Outside, Step, TimeInterpolation};

/// Two frames and their weights. A frame of weight zero need not be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePair<F> {
    /// Offsets of the two frames in the velocities.
    pub frames: [usize; 2],
    pub weights: [F; 2],
}

/// A clock in the kernel's precision.
pub(crate) struct Frames<'a, F> {
    clock: &'a Clock,
    frame_intervals: Vec<F>,
    /// Values per frame.
    size: usize,
}

impl<'a, F: Real> Frames<'a, F> {
    /// # Panics
    ///
    /// If there are more intervals than frames: samplers rely on valid frame offsets.
    pub fn new(clock: &'a Clock, size: usize) -> Self {
        assert!(
            clock.frames >= 1 && clock.frame_intervals.len() <= clock.frames,
            "more frame intervals than frames"
        );
        Frames {
            clock,
            frame_intervals: clock
                .frame_intervals
                .iter()
                .map(|&interval| F::of(interval))
                .collect(),
            size,
        }
    }

    /// The frames and weights `offset` after the start of a step.
    ///
    /// A time beyond the step's own interval is found in one of the following ones.
    pub fn frame_pair(&self, step: &Step, offset: F) -> FramePair<F> {
        let count = self.frame_intervals.len();
        if count == 0 {
            return FramePair { frames: [0, 0], weights: [F::one(), F::zero()] };
        }
        let wraps = self.clock.outside == Outside::Periodic;
        let mut k = step.interval;
        let mut since = F::of(step.since) + offset;
        while since > self.frame_intervals[k] && (wraps || k + 1 < count) {
            since = since - self.frame_intervals[k];
            k = (k + 1) % count;
        }
        while since < F::zero() && (wraps || k > 0) {
            k = if k == 0 { count - 1 } else { k - 1 };
            since = since + self.frame_intervals[k];
        }
        FramePair {
            frames: [k, (k + 1) % self.clock.frames].map(|frame| frame * self.size),
            weights: self.weights(since / self.frame_intervals[k]),
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

/// A value interpolated in time between two frames.
#[inline(always)]
pub(super) fn blend<F: Real, L: Lanes<F>>(
    values: &[[F; 4]],
    index: usize,
    pair: &FramePair<F>,
) -> L::Four {
    let [w0, w1] = pair.weights;
    let read = |k: usize| L::Four::new(values[pair.frames[k] + index]);
    let first = read(0) * L::Four::splat(w0);
    if w1 == F::zero() { first } else { read(1).fma(L::Four::splat(w1), first) }
}

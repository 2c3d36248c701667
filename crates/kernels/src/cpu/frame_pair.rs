//! The two frames that bracket a time, and their weights.

use super::{
    Real,
    lanes::{Four, Lanes, Vector},
    launch::Launch,
};
use crate::physics::frames;

/// Two frames and their weights. A frame of weight zero need not be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FramePair<F> {
    /// Offsets of the two frames in the velocities.
    pub frames: [usize; 2],
    pub weights: [F; 2],
}

impl<F: Real> FramePair<F> {
    /// The same frames, from another of their values on.
    #[inline(always)]
    pub fn from_value(&self, value: usize) -> Self {
        let [first, second] = self.frames;
        FramePair { frames: [first + value, second + value], ..*self }
    }
}

/// The frames and weights `offset` after the start of step `j`.
pub(super) fn frame_pair<F: Real>(launch: &Launch<F>, j: usize, offset: F) -> FramePair<F> {
    let pair = frames::host::frame_pair(launch, j, offset);
    FramePair {
        frames: [pair.first, pair.second],
        weights: [pair.first_weight, pair.second_weight],
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

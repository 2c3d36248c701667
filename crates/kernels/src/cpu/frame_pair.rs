//! Values interpolated in time.

use super::launch::Launch;
use super::{
    Real,
    lanes::{Four, Lanes, Vector},
};
pub(super) use crate::physics::frames::host::{FramePair, frame_pair, from_value, from_velocity};
use crate::{
    Segment, TimeInterpolation,
    physics::{
        frames::host::interval,
        tables::{FRAME_INTERVALS, FRAME_SIZE, FRAMES},
    },
};

/// A value interpolated in time between two frames. A frame of weight zero is not read.
#[inline(always)]
pub(super) fn blend<F: Real, L: Lanes<F>>(
    values: &[[F; 4]],
    index: usize,
    pair: &FramePair<F>,
) -> L::Four {
    let first = L::Four::new(values[pair.first + index]) * L::Four::splat(pair.first_weight);
    if pair.second_weight == F::zero() {
        return first;
    }
    L::Four::new(values[pair.second + index]).fma(L::Four::splat(pair.second_weight), first)
}

/// The frames and weights of the derivative of a value by time, `offset` after the start of step `j`. All weights are 0 where
/// values are constant in time.
pub(super) fn rate_pair<F: Real>(
    launch: &Launch<F>,
    j: usize,
    offset: F,
    segment: &Segment,
) -> FramePair<F> {
    let none = FramePair {
        first: 0,
        second: 0,
        first_weight: F::zero(),
        second_weight: F::zero(),
        is_velocity: true,
    };
    let is_linear = segment.clock.in_time == TimeInterpolation::Linear;
    if launch.features.steady || launch.features.formula || !is_linear {
        return none;
    }
    let interval = interval(launch, j, offset);
    let length = launch.float(FRAME_INTERVALS + interval.k);
    if interval.since < F::zero() || interval.since > length {
        return none;
    }
    let (size, frames) = (launch.int(FRAME_SIZE) as usize, launch.int(FRAMES) as usize);
    let (first, second) = (interval.k * size, (interval.k + 1) % frames * size);
    let rate = F::one() / length;
    FramePair { first, second, first_weight: -rate, second_weight: rate, is_velocity: true }
}

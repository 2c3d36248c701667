//! Values interpolated in time.

use super::{
    Real,
    lanes::{Four, Lanes, Vector},
};
pub(super) use crate::physics::frames::host::{FramePair, frame_pair, from_value, from_velocity};

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

//! Values interpolated in time.

use super::{Vec4, cubecl, launch::Launch};
pub(super) use crate::physics::frames::device::{FramePair, frame_pair, from_value, from_velocity};
use burn_cubecl::cubecl::prelude::*;

/// Velocity `index` of a frame, interpolated between two frames.
#[cube]
pub(super) fn blend<F: Float>(launch: &Launch<F>, index: usize, pair: &FramePair<F>) -> Vec4<F> {
    let mut value = Vec4::<F>::new(pair.first_weight) * launch.velocity[pair.first + index];
    if comptime!(!launch.features.steady) {
        // A hole must not matter where its weight is 0.
        if comptime!(!launch.features.holes) || pair.second_weight != F::new(0.0_f32) {
            value += Vec4::<F>::new(pair.second_weight) * launch.velocity[pair.second + index];
        }
    }
    value
}

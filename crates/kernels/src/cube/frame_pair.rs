//! The two frames that bracket a time, and their weights.

use super::{
    Form, Vec4, cubecl, rounding,
    tables::{FRAME_INTERVALS, FRAME_SIZE, FRAMES, INTERVAL_COUNT, STEP_INTERVALS},
};
use crate::{Outside, TimeInterpolation};
use burn_cubecl::cubecl::prelude::*;

/// Offsets of the two frames in the velocities, and their weights.
#[derive(CubeType)]
pub(super) struct FramePair<F: Float> {
    pub first: usize,
    pub second: usize,
    pub first_weight: F,
    pub second_weight: F,
}

/// The frames and weights `offset` after the start of step `j`.
#[cube]
pub(super) fn frame_pair<F: Float>(
    floats: &[F],
    ints: &[i32],
    j: usize,
    offset: F,
    #[comptime] form: Form,
) -> FramePair<F> {
    if comptime!(form.steady) {
        FramePair::<F> {
            first: 0usize,
            second: 0usize,
            first_weight: F::new(1.0_f32),
            second_weight: F::new(0.0_f32),
        }
    } else {
        unsteady::<F>(floats, ints, j, offset, form)
    }
}

#[cube]
fn unsteady<F: Float>(
    floats: &[F],
    ints: &[i32],
    j: usize,
    offset: F,
    #[comptime] form: Form,
) -> FramePair<F> {
    let count = ints[INTERVAL_COUNT] as usize;
    let frames = ints[FRAMES] as usize;
    let size = ints[FRAME_SIZE] as usize;
    let wraps = comptime!(form.outside == Outside::Periodic);
    let zero = F::new(0.0_f32);
    let mut k = ints[STEP_INTERVALS + j] as usize;
    let mut since = floats[FRAME_INTERVALS + count + 2 * j] + offset;
    while since > floats[FRAME_INTERVALS + k] && (wraps || k + 1 < count) {
        since -= floats[FRAME_INTERVALS + k];
        k = (k + 1) % count;
    }
    while since < zero && (wraps || k > 0) {
        k = (k + count - 1) % count;
        since += floats[FRAME_INTERVALS + k];
    }
    let fraction = since / floats[FRAME_INTERVALS + k];
    let second = weight::<F>(fraction, form);
    let inside = inside::<F>(fraction, form);
    FramePair::<F> {
        first: k * size,
        second: ((k + 1) % frames) * size,
        first_weight: inside * (F::new(1.0_f32) - second),
        second_weight: inside * second,
    }
}

/// Weight of the second frame at a fraction of the interval.
#[cube]
fn weight<F: Float>(fraction: F, #[comptime] form: Form) -> F {
    let a = clamp(fraction, F::new(0.0_f32), F::new(1.0_f32));
    if comptime!(form.in_time == TimeInterpolation::Linear) {
        a
    } else {
        select(a < F::new(0.5_f32), F::new(0.0_f32), F::new(1.0_f32))
    }
}

/// 0 outside the frames of a field that is zero there, else 1.
#[cube]
fn inside<F: Float>(fraction: F, #[comptime] form: Form) -> F {
    let one = F::new(1.0_f32);
    if comptime!(form.outside == Outside::Zero) {
        let slack = F::new(8.0_f32) * rounding::<F>();
        let outside = fraction < F::new(0.0_f32) - slack || fraction > one + slack;
        select(outside, F::new(0.0_f32), one)
    } else {
        one
    }
}

/// A value interpolated in time between two frames.
#[cube]
pub(super) fn blend<F: Float>(
    values: &[Vec4<F>],
    index: usize,
    pair: &FramePair<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let mut value = Vec4::<F>::new(pair.first_weight) * values[pair.first + index];
    if comptime!(!form.steady) {
        value += Vec4::<F>::new(pair.second_weight) * values[pair.second + index];
    }
    value
}

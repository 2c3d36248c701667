//! Which two frames a moment lies between, and their weights.

use super::{
    Form, Vec4, cubecl, rounding,
    tables::{FRAME_SIZE, FRAMES, GAP_COUNT, GAPS, INTERVALS},
};
use crate::{Outside, TimeInterpolation};
use burn_cubecl::cubecl::prelude::*;

/// Where the two frames begin among the values, and their weights.
#[derive(CubeType)]
pub(super) struct FramePair<F: Float> {
    pub first: usize,
    pub second: usize,
    pub first_weight: F,
    pub second_weight: F,
}

/// The moment that is `offset` after the beginning of step `j`.
#[cube]
pub(super) fn moment<F: Float>(
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
    let count = ints[GAP_COUNT] as usize;
    let frames = ints[FRAMES] as usize;
    let size = ints[FRAME_SIZE] as usize;
    let wraps = comptime!(form.outside == Outside::Periodic);
    let zero = F::new(0.0_f32);
    let mut k = ints[INTERVALS + j] as usize;
    let mut since = floats[GAPS + count + 2 * j] + offset;
    while since > floats[GAPS + k] && (wraps || k + 1 < count) {
        since -= floats[GAPS + k];
        k = (k + 1) % count;
    }
    while since < zero && (wraps || k > 0) {
        k = (k + count - 1) % count;
        since += floats[GAPS + k];
    }
    let fraction = since / floats[GAPS + k];
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

/// 0 where a field that is zero outside its frames is outside, else 1.
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

/// The value of an index at a moment, read from its two frames.
#[cube]
pub(super) fn blend<F: Float>(
    values: &[Vec4<F>],
    index: usize,
    moment: &FramePair<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let mut value = Vec4::<F>::new(moment.first_weight) * values[moment.first + index];
    if comptime!(!form.steady) {
        value += Vec4::<F>::new(moment.second_weight) * values[moment.second + index];
    }
    value
}

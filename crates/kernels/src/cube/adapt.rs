//! Adaptive step-size control. See `cpu/adapt.rs`.

use super::{
    Vec4, cubecl, rounding,
    tables::{CONTROL, CONTROL_MAX, CONTROL_MIN},
};
use crate::Adaptive;
use burn_cubecl::cubecl::prelude::*;

/// Result of a trial step.
#[derive(CubeType)]
pub(super) struct Verdict<F: Float> {
    pub is_accepted: bool,
    /// Ratio of the next step to this one.
    pub factor: F,
}

/// Length of a trial step within the remainder of a step, given the suggestion of the last one (0
/// for none); both have the sign of the step.
#[cube]
pub(super) fn length<F: Float>(floats: &[F], suggested: F, left: F) -> F {
    let size = left.abs();
    let maximum = min(floats[CONTROL_MAX], size);
    let mut length = select(suggested == F::new(0.0_f32), maximum, min(suggested.abs(), maximum));
    // Avoids a remainder that is too short for a step of its own.
    if length * F::new(1.001_f32) >= size {
        length = size;
    }
    select(left < F::new(0.0_f32), F::new(0.0_f32) - length, length)
}

/// Accepts or rejects a trial step of length `h` by its error.
#[cube]
pub(super) fn judge<F: Float>(
    floats: &[F],
    from: Vec4<F>,
    to: Vec4<F>,
    error: Vec4<F>,
    h: F,
    full_dt: F,
) -> Verdict<F> {
    let mut norm = F::new(0.0_f32);
    let mut is_number = true;
    #[unroll]
    for d in 0..3usize {
        let size =
            floats[CONTROL + 1] + floats[CONTROL] * max(from.extract(d).abs(), to.extract(d).abs());
        let part = error.extract(d).abs() / size;
        is_number = is_number && part <= F::max_value();
        norm = max(norm, part);
    }
    let slack = F::new(Adaptive::ROUNDINGS as f32) * rounding::<F>() * full_dt.abs();
    let is_minimum = h.abs() <= floats[CONTROL_MIN] || h.abs() <= slack;
    let minimum = F::new(Adaptive::SHRINK as f32);
    let maximum = F::new(Adaptive::GROW as f32);
    let mut factor = maximum;
    if !is_number {
        factor = minimum;
    } else if norm > F::new(0.0_f32) {
        // Vulkan has no powers of doubles; single precision suffices for this factor.
        let root = f32::cast_from(max(norm, F::new(1e-30_f32))).powf(-0.2_f32);
        factor = clamp(F::new(Adaptive::SAFETY as f32) * F::cast_from(root), minimum, maximum);
    }
    let is_good = is_number && norm <= F::new(1.0_f32);
    Verdict::<F> { is_accepted: is_good || is_minimum, factor }
}

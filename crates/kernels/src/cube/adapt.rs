//! Steps whose lengths follow from an estimate of their error. See `cpu/adapt.rs`.

use super::{
    Vec4, cubecl, rounding,
    tables::{CONTROL, CONTROL_LEAST, CONTROL_MOST},
};
use crate::Adaptive;
use burn_cubecl::cubecl::prelude::*;

/// What becomes of an attempt.
#[derive(CubeType)]
pub(super) struct Verdict<F: Float> {
    pub is_accepted: bool,
    /// By what the next step is longer.
    pub factor: F,
}

/// The length of an attempt within what is left of a step, given what the last one suggests (0 for
/// nothing); both have the sign of the step.
#[cube]
pub(super) fn length<F: Float>(floats: &[F], suggested: F, left: F) -> F {
    let size = left.abs();
    let most = min(floats[CONTROL_MOST], size);
    let mut length = select(suggested == F::new(0.0_f32), most, min(suggested.abs(), most));
    // What would be left over should not be too short for a step of its own.
    if length * F::new(1.001_f32) >= size {
        length = size;
    }
    select(left < F::new(0.0_f32), F::new(0.0_f32) - length, length)
}

/// Judges an attempt of length `h` by its error.
#[cube]
pub(super) fn judge<F: Float>(
    floats: &[F],
    from: Vec4<F>,
    to: Vec4<F>,
    error: Vec4<F>,
    h: F,
    whole: F,
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
    let slack = F::new(Adaptive::ROUNDINGS as f32) * rounding::<F>() * whole.abs();
    let is_least = h.abs() <= floats[CONTROL_LEAST] || h.abs() <= slack;
    let least = F::new(Adaptive::SHRINK as f32);
    let most = F::new(Adaptive::GROW as f32);
    let mut factor = most;
    if !is_number {
        factor = least;
    } else if norm > F::new(0.0_f32) {
        // Cards have no powers of doubles; and the factor need not be so exact.
        let root = f32::cast_from(max(norm, F::new(1e-30_f32))).powf(-0.2_f32);
        factor = clamp(F::new(Adaptive::SAFETY as f32) * F::cast_from(root), least, most);
    }
    let is_good = is_number && norm <= F::new(1.0_f32);
    Verdict::<F> { is_accepted: is_good || is_least, factor }
}

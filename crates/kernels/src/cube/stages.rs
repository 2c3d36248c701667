//! A Runge-Kutta step and its stages.

use super::{
    Form, Vec4, cubecl,
    frame_pair::frame_pair,
    step::{Hint, sample},
    tables::{DRIFT, FIRST_STEP, FRAME_INTERVALS, INTERVAL_COUNT, STAGNANT},
    vec4,
    walk::diffuse,
    walls::wrap,
};
use crate::Ratio;
use burn_cubecl::cubecl::prelude::*;

/// Result of a step, before boundary conditions.
#[derive(CubeType)]
pub(super) struct StepResult<F: Float> {
    pub to: Vec4<F>,
    pub slow: bool,
    /// The fraction of the segment's step at which it ends.
    pub until: F,
    /// Difference from the embedded solution, with adaptive steps.
    pub error: Vec4<F>,
}

/// A coefficient of a scheme.
#[cube]
pub(super) fn ratio<F: Float>(#[comptime] ratio: Ratio) -> F {
    F::cast_from(comptime!(ratio.0)) / F::cast_from(comptime!(ratio.1))
}

/// One Runge-Kutta step of length `h` from the fraction `start` of step `j` to the fraction
/// `until`.
#[cube]
pub(super) fn rk_step<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    slot: u32,
    generation: i32,
    j: usize,
    start: F,
    h: F,
    until: F,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> StepResult<F> {
    let tableau = comptime!(*form.scheme.tableau());
    let full_dt = floats[FRAME_INTERVALS + ints[INTERVAL_COUNT] as usize + 2 * j + 1];
    let stages = comptime!(if form.adaptive { tableau.stages } else { tableau.solution_stages() });
    let drift = vec4::<F>(floats[DRIFT], floats[DRIFT + 1], floats[DRIFT + 2]);
    let mut k = Sequence::<Vec4<F>>::new();
    #[unroll]
    for s in 0..stages {
        let mut stage = from;
        #[unroll]
        for r in 0..s {
            let a = comptime!(tableau.a[s][r]);
            if comptime!(!a.is_zero()) {
                stage += Vec4::<F>::new(ratio::<F>(a) * h) * k[r];
            }
        }
        let offset = start * full_dt + ratio::<F>(comptime!(tableau.c[s])) * h;
        let at = frame_pair::<F>(floats, ints, j, offset, form);
        let p = wrap::<F>(floats, ints, stage, form);
        let mut v =
            sample::<F, N>(velocity, coords, index, floats, ints, p, &at, hint, form) + drift;
        if comptime!(form.walk.varies) {
            v.insert(3usize, F::new(0.0_f32));
        }
        k.push(v);
    }
    let mut mean_velocity = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..comptime!(tableau.solution_stages()) {
        let b = comptime!(tableau.b[s]);
        if comptime!(!b.is_zero()) {
            mean_velocity += Vec4::<F>::new(ratio::<F>(b)) * k[s];
        }
    }
    let mut error = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..stages {
        let e = comptime!(tableau.error[s]);
        if comptime!(form.adaptive && !e.is_zero()) {
            error += Vec4::<F>::new(ratio::<F>(e) * h) * k[s];
        }
    }
    let mut to = from + Vec4::<F>::new(h) * mean_velocity;
    if comptime!(form.walk.is_on) {
        to = diffuse::<F, N>(
            velocity,
            coords,
            index,
            floats,
            ints,
            from,
            to,
            slot,
            generation,
            ints[FIRST_STEP] + j as i32,
            j,
            start * full_dt,
            h,
            hint,
            form,
        );
    }
    StepResult::<F> { to, slow: square::<F>(k[0]) < floats[STAGNANT], until, error }
}

/// The squared length of a velocity.
#[cube]
fn square<F: Float>(v: Vec4<F>) -> F {
    v.extract(0usize) * v.extract(0usize)
        + v.extract(1usize) * v.extract(1usize)
        + v.extract(2usize) * v.extract(2usize)
}

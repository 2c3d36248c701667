//! A random walk added to the steps of the field. See `cpu/walk.rs`.

use super::{
    Form, Vec4, cubecl,
    frame_pair::frame_pair,
    random::{bits, normals},
    step::{Hint, sample},
    tables::{DIFFUSIVITY, REACHES, WALK_SEED},
    walls::wrap,
};
use crate::random::WALK;
use burn_cubecl::cubecl::prelude::*;

/// The position after the random walk of step `j`, of length `h` from `offset` after its start.
#[cube]
#[allow(clippy::collapsible_if)] // the outer condition is evaluated at kernel compile time
pub(super) fn diffuse<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    from: Vec4<F>,
    to: Vec4<F>,
    slot: u32,
    generation: i32,
    number: i32,
    j: usize,
    offset: F,
    h: F,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    let zero = F::new(0.0_f32);
    let bits = bits(
        ints[WALK_SEED] as u32,
        ints[WALK_SEED + 1] as u32,
        slot,
        generation as u32,
        number as u32,
        WALK,
    );
    let normal = normals::<F>(&bits);
    let mut here = F::new(1.0_f32);
    if comptime!(form.walk.varies) {
        here = max(
            diffusivity::<F, N>(velocity, coords, index, floats, ints, from, j, offset, hint, form),
            zero,
        );
    }
    let dt = h.abs();
    let mut moved = to;
    #[unroll]
    for d in 0..3usize {
        let factor = floats[DIFFUSIVITY + d];
        let mut gradient = zero;
        if comptime!(form.walk.varies) {
            if factor > zero {
                let reach = floats[REACHES + d];
                let mut above = from;
                above.insert(d, from.extract(d) + reach);
                let above = diffusivity::<F, N>(
                    velocity, coords, index, floats, ints, above, j, offset, hint, form,
                );
                let mut below = from;
                below.insert(d, from.extract(d) - reach);
                let below = diffusivity::<F, N>(
                    velocity, coords, index, floats, ints, below, j, offset, hint, form,
                );
                gradient = factor * (above - below) / (reach + reach);
            }
        }
        let dw = dt.sqrt() * normal.extract(d);
        let mut squares = dt;
        if comptime!(form.walk.is_milstein) {
            squares = F::new(0.5_f32) * (dw * dw + dt);
        }
        let k = factor * here;
        moved.insert(d, to.extract(d) + (gradient * squares + (k + k).sqrt() * dw));
    }
    moved
}

/// The field's diffusivity at a position.
#[cube]
fn diffusivity<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    at: Vec4<F>,
    j: usize,
    offset: F,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> F {
    let pair = frame_pair::<F>(floats, ints, j, offset, form);
    let p = wrap::<F>(floats, ints, at, form);
    sample::<F, N>(velocity, coords, index, floats, ints, p, &pair, hint, form).extract(3usize)
}

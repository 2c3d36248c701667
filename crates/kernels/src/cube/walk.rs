//! A random walk added to the steps of the field.

use super::{
    Vec4, cubecl,
    frame_pair::{FramePair, from_value},
    launch::Launch,
    sampler::{Hint, image, sample},
};
use crate::physics::{
    diffusion::device::{Address, Spread, displacement},
    prelude::device::constant,
    sphere::device::{change, place},
    tables::{DIFFUSIVITY, DIFFUSIVITY_AT, REACHES},
};
use burn_cubecl::cubecl::prelude::*;

/// The change of position by a random walk in a step of length `h` from `from`.
#[cube]
pub(super) fn diffuse<F: Float>(
    launch: &Launch<F>,
    from: Vec4<F>,
    address: &Address,
    pair: &FramePair<F>,
    h: F,
    hint: &mut Hint<F>,
) -> Vec4<F> {
    let zero = F::new(0.0_f32);
    let mut here = F::new(1.0_f32);
    let mut gradient = Vec4::<F>::new(zero);
    if comptime!(launch.features.walk.varies) {
        here = max(diffusivity::<F>(launch, from, pair, hint), zero);
        #[unroll]
        for d in 0..3usize {
            let factor = launch.float(DIFFUSIVITY + d);
            if factor > zero {
                let reach = launch.float(REACHES + d);
                let mut above = from;
                above.insert(d, from.extract(d) + reach);
                let mut below = from;
                below.insert(d, from.extract(d) - reach);
                let above = diffusivity::<F>(launch, above, pair, hint);
                let below = diffusivity::<F>(launch, below, pair, hint);
                gradient.insert(d, factor * (above - below) / (reach + reach));
            }
        }
        if comptime!(launch.features.sphere) {
            let place = place::<F>(launch, from);
            let per = constant::<F>(180.0 / std::f64::consts::PI) / place.radius;
            gradient.insert(0usize, gradient.extract(0usize) * per / place.north.extract(2usize));
            gradient.insert(1usize, gradient.extract(1usize) * per);
        }
    }
    let by = displacement::<F>(launch, address, &Spread::<F> { here, gradient }, h);
    if comptime!(launch.features.sphere) {
        let mut level = by;
        level.insert(2usize, zero);
        change::<F>(&place::<F>(launch, from), level, by.extract(2usize))
    } else {
        by
    }
}

/// The field's diffusivity at a position.
#[cube]
fn diffusivity<F: Float>(
    launch: &Launch<F>,
    at: Vec4<F>,
    pair: &FramePair<F>,
    hint: &mut Hint<F>,
) -> F {
    let pair = from_value::<F>(pair, launch.int(DIFFUSIVITY_AT) as usize);
    sample::<F>(launch, image::<F>(launch, at), &pair, hint).extract(3usize)
}

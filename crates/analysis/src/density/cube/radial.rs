//! Radial kernels as functions of the squared distance, with the formulas of `density/radial.rs`.

use super::{
    KernelVariant, cubecl,
    tables::{LN_2, LOG2_E, POWER_COUNT, POWERS, TERM_COUNT, TERMS},
};
use crate::density::profile::Profile;
use burn_cubecl::cubecl::prelude::*;

/// The value of a profile for a squared distance. The caller truncates.
#[cube]
pub(super) fn profile_value<F: Float>(
    floats: &[F],
    square: F,
    #[comptime] variant: KernelVariant,
) -> F {
    if comptime!(variant.is_gaussian()) {
        exp::<F>(floats, F::new(-0.5_f32) * square)
    } else {
        let q = square.sqrt();
        if comptime!(variant.profile == Profile::CubicSpline) {
            F::new(0.25_f32) * power::<F>(remaining::<F>(2.0_f32, q), 3usize)
                - power::<F>(remaining::<F>(1.0_f32, q), 3usize)
        } else if comptime!(variant.profile == Profile::QuinticSpline) {
            power::<F>(remaining::<F>(3.0_f32, q), 5usize)
                - F::new(6.0_f32) * power::<F>(remaining::<F>(2.0_f32, q), 5usize)
                + F::new(15.0_f32) * power::<F>(remaining::<F>(1.0_f32, q), 5usize)
        } else {
            wendland::<F>(q, variant)
        }
    }
}

/// `max(end - q, 0)`.
#[cube]
fn remaining<F: Float>(#[comptime] end: f32, q: F) -> F {
    max(F::new(end) - q, F::new(0.0_f32))
}

#[cube]
fn power<F: Float>(x: F, #[comptime] exponent: usize) -> F {
    let mut product = F::new(1.0_f32);
    #[unroll]
    for _ in 0..exponent {
        product *= x;
    }
    product
}

/// `(1 - s)^power (1 + b s + c s^2 + d s^3)` with `s = q / 2`.
#[cube]
fn wendland<F: Float>(q: F, #[comptime] variant: KernelVariant) -> F {
    let (exponent, b, c, d) = comptime!(polynomial(variant.profile));
    let s = F::new(0.5_f32) * q;
    // `polynomial` returns `3 c`, which is exact in f32.
    let c = F::new(c) / F::new(3.0_f32);
    let rest = ((F::new(d) * s + c) * s + F::new(b)) * s + F::new(1.0_f32);
    power::<F>(remaining::<F>(1.0_f32, s), exponent) * rest
}

/// The exponent and the coefficients `b`, `3 c`, `d` of Wendland's functions.
fn polynomial(profile: Profile) -> (usize, f32, f32, f32) {
    match profile {
        Profile::WendlandC2 => (4, 4.0, 0.0, 0.0),
        Profile::WendlandC4 => (6, 6.0, 35.0, 0.0),
        Profile::WendlandC6 => (8, 8.0, 75.0, 32.0),
        Profile::LineC2 => (3, 3.0, 0.0, 0.0),
        Profile::LineC4 => (5, 5.0, 24.0, 0.0),
        _ => (7, 7.0, 57.0, 21.0),
    }
}

/// `exp(x)` for `x <= 0`: `2^-k exp(x + k ln 2)`, the latter by its Taylor series. Devices lack `exp` in
/// double precision, and their results differ in single precision.
#[cube]
fn exp<F: Float>(floats: &[F], x: F) -> F {
    let k = i32::cast_from(F::new(0.5_f32) - x * floats[LOG2_E]);
    let mut value = F::new(0.0_f32);
    if k < comptime!(POWER_COUNT as i32) {
        let count = F::cast_from(k);
        let rest = (x + count * floats[LN_2]) + count * floats[LN_2 + 1];
        let terms = if F::size_bits().comptime() <= 32 { 8usize } else { TERM_COUNT };
        let mut sum = F::new(0.0_f32);
        #[unroll]
        for n in 0..terms {
            sum = sum * rest + floats[TERMS + terms - 1 - n];
        }
        value = sum * floats[POWERS + k as usize];
    }
    value
}

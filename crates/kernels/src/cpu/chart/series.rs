//! Series of four angles at once, as long as a precision needs.

use crate::{
    cpu::{
        Real,
        lanes::{Four, Lanes, Vector},
    },
    physics::prelude::host::size_bits,
};
use std::f64::consts::PI;

/// A number in all lanes.
#[inline(always)]
pub(super) fn number<F: Real, L: Lanes<F>>(x: f64) -> L::Four {
    L::Four::splat(F::of(x))
}

/// The number of terms of a series that a precision needs.
#[inline(always)]
fn terms<F: Real>([single, double]: [usize; 2]) -> usize {
    if size_bits::<F>() <= 32 { single } else { double }
}

/// Numbers from -4096 on, rounded down.
#[inline(always)]
fn floor<F: Real, L: Lanes<F>>(x: L::Four) -> L::Four {
    (x + number::<F, L>(4096.0)).trunc() - number::<F, L>(4096.0)
}

/// Sines and cosines of angles in degrees.
#[inline(always)]
pub(super) fn turn<F: Real, L: Lanes<F>>(degrees: L::Four) -> [L::Four; 2] {
    let (one, minus, half) = (number::<F, L>(1.0), number::<F, L>(-1.0), number::<F, L>(0.5));
    let quarters = floor::<F, L>(degrees * number::<F, L>(1.0 / 90.0) + half);
    let x = (degrees - quarters * number::<F, L>(90.0)) * number::<F, L>(PI / 180.0);
    let square = x * x;
    // One over the factorials of 2, 4, ..., 18, with their signs.
    const COS: [f64; 9] = [
        -0.5,
        1.0 / 24.0,
        -1.0 / 720.0,
        1.0 / 40_320.0,
        -1.0 / 3_628_800.0,
        1.0 / 479_001_600.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 20_922_789_888_000.0,
        -1.0 / 6_402_373_705_728_000.0,
    ];
    let terms = terms::<F>([5, 9]);
    let (mut sin, mut cos) = (number::<F, L>(0.0), number::<F, L>(0.0));
    for i in 0..terms {
        let n = terms - i;
        sin = sin.fma(square, number::<F, L>(COS[n - 1] / (2 * n + 1) as f64));
        cos = cos.fma(square, number::<F, L>(COS[n - 1]));
    }
    let (sin, cos) = ((sin * square).fma(x, x), cos.fma(square, one));
    let odd = quarters - number::<F, L>(2.0) * floor::<F, L>(quarters * half);
    let turns = quarters - number::<F, L>(4.0) * floor::<F, L>(quarters * number::<F, L>(0.25));
    let first = odd.where_less(half, sin, cos);
    let second = odd.where_less(half, cos, sin);
    let left = turns - number::<F, L>(1.5);
    [
        first * turns.where_less(number::<F, L>(1.5), one, minus),
        second * (left * left).where_less(one, minus, one),
    ]
}

/// The square root of 1 + `x`, less 1, for numbers below 1/256.
#[inline(always)]
pub(super) fn excess<F: Real, L: Lanes<F>>(x: L::Four) -> L::Four {
    // The binomial coefficients of 1/2.
    const HALF: [f64; 6] = [0.5, -0.125, 0.0625, -0.0390625, 0.02734375, -0.0205078125];
    let mut sum = number::<F, L>(0.0);
    let terms = terms::<F>([2, 6]);
    for i in 0..terms {
        sum = sum.fma(x, number::<F, L>(HALF[terms - 1 - i]));
    }
    sum * x
}

/// Angles whose tangents are below 1/16, in radians.
#[inline(always)]
pub(super) fn arc<F: Real, L: Lanes<F>>(tangent: L::Four) -> L::Four {
    let square = tangent * tangent;
    let mut sum = number::<F, L>(0.0);
    let terms = terms::<F>([2, 6]);
    for i in 0..terms {
        let n = terms - i;
        let sign = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
        sum = sum.fma(square, number::<F, L>(sign / (2 * n + 1) as f64));
    }
    (sum * square).fma(tangent, tangent)
}

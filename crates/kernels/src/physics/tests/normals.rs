//! Normal variates against the standard library.

use crate::{
    cpu::Real,
    physics::normal_constants::{EIGHTH, FRACTION},
    physics::normals::host::{self as kernel, Bits, radius},
    random::{WALK, bits},
};
use std::f64::consts::{LN_2, TAU};

fn double<F: Real>(n: F) -> f64 {
    n.exact()
}

/// The fraction represented by a word; exact.
fn number(word: u32) -> f64 {
    (f64::from(word) + 0.5) * FRACTION
}

/// The variates computed with the standard library, accurate to a rounding or two.
fn expected([a, b, c, d]: [u32; 4]) -> [f64; 3] {
    let radius = |word| {
        let u = number(word);
        let ln = if u > 0.5 { (u - 1.0).ln_1p() } else { u.ln() };
        (-2.0 * ln).sqrt()
    };
    let direction = |word| {
        let quarters = (4.0 * number(word)).round();
        let (sin, cos) = (TAU * (number(word) - quarters / 4.0)).sin_cos();
        [(cos, sin), (-sin, cos), (-cos, -sin), (sin, -cos)][quarters as usize % 4]
    };
    let (cos, sin) = direction(b);
    [radius(a) * cos, radius(a) * sin, radius(c) * direction(d).0]
}

/// Words next to those at which a formula switches, and next to all powers of 2.
fn edges() -> Vec<u32> {
    let mut words = vec![0, u32::MAX];
    for shift in 0..32 {
        let root = (2.0_f64.sqrt() * f64::from(1_u32 << shift)) as u32;
        for middle in [1 << shift, root, u32::MAX - (1 << shift), EIGHTH.wrapping_mul(shift)] {
            words.extend((0..5_u32).map(|i| middle.wrapping_add(i).wrapping_sub(2)));
        }
    }
    words
}

/// Random words, and all pairs of edges.
fn samples() -> impl Iterator<Item = [u32; 4]> {
    let random = (0..1_000_000).map(|slot| bits(3, slot, 0, 0, 0));
    let edges = edges();
    let pairs: Vec<_> = edges.iter().flat_map(|&a| edges.iter().map(move |&b| [a, b])).collect();
    random.chain(pairs.into_iter().map(|[a, b]| [a, b, b, a]))
}

/// Maximum error in units in the last place, for a float of `digits` digits.
fn worst<F: Real>(digits: i32) -> f64 {
    let mut worst = 0.0_f64;
    for bits in samples() {
        for (n, expected) in normals::<F>(bits).into_iter().zip(expected(bits)) {
            let unit = 2.0_f64.powi(expected.abs().log2().floor() as i32 + 1 - digits);
            worst = worst.max((double(n) - expected).abs() / unit);
        }
    }
    worst
}

#[test]
fn normals_are_accurate_to_four_roundings() {
    let (single, double) = (worst::<f32>(24), worst::<f64>(53));
    // Measured when written: 3.8 and 3.0; against 40 digits (mpmath) 3.6 and 3.2, 400,000
    // draws.
    assert!(single < 4.0 && double < 4.0, "{single} {double}");
}

#[test]
fn extreme_words_give_extreme_normals() {
    let farthest = (66.0 * LN_2).sqrt();
    let nearest = (-2.0 * (-0.5 * FRACTION).ln_1p()).sqrt();
    assert!((radius::<f64>(0) / farthest - 1.0).abs() < 1e-15);
    assert!((radius::<f64>(u32::MAX) / nearest - 1.0).abs() < 1e-15);
    assert!((radius::<f32>(0) / farthest as f32 - 1.0).abs() < 3e-7);
    assert!((radius::<f32>(u32::MAX) / nearest as f32 - 1.0).abs() < 3e-7);
}

/// Mean powers of the variates, and of their products.
fn moments<F: Real>() -> ([f64; 4], [f64; 3]) {
    let (mut powers, mut products) = ([0.0; 4], [0.0; 3]);
    for slot in 0..COUNT {
        let n = normals::<F>(bits(11, slot, 1, 2, WALK));
        let [x, y, z] = n.map(double);
        for (i, sum) in powers.iter_mut().enumerate() {
            *sum += [x, y, z].map(|n| n.powi(i as i32 + 1)).iter().sum::<f64>();
        }
        products = [products[0] + x * y, products[1] + y * z, products[2] + z * x];
    }
    (powers.map(|sum| sum / f64::from(3 * COUNT)), products.map(|sum| sum / f64::from(COUNT)))
}

const COUNT: u32 = 1_000_000;

/// Moments of the standard normal distribution within five standard errors: the variance of the
/// power `p` is `(2p - 1)!! - ((p - 1)!!)^2` for even powers, `(2p - 1)!!` for odd ones.
#[test]
fn moments_match_independent_normals() {
    let expected = [(0.0, 1.0), (1.0, 2.0), (0.0, 15.0), (3.0, 96.0)];
    for (powers, products) in [moments::<f32>(), moments::<f64>()] {
        for (mean, (expected, variance)) in powers.into_iter().zip(expected) {
            let error = (variance / f64::from(3 * COUNT)).sqrt();
            assert!((mean - expected).abs() < 5.0 * error, "{powers:?}");
        }
        let error = f64::from(COUNT).recip().sqrt();
        assert!(products.iter().all(|mean| mean.abs() < 5.0 * error), "{products:?}");
    }
}

pub(super) fn normals<F: Real>([a, b, c, d]: [u32; 4]) -> [F; 3] {
    kernel::normals::<F>(&Bits { a, b, c, d }).0
}

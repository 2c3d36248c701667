//! Counter-based random numbers: Philox4x32-10 of [`burntrace_kernels::random`].
//!
//! A number is a function of its address (seed, slot, generation, draw) only. There is no state, so
//! the result does not depend on the order of requests, the number of threads or the size of
//! batches.
//!
//! `slot` is the slot of a particle. `generation` is 0 for the seeds, and counts the releases from
//! the slot after that. `draw` distinguishes the numbers of one generation.

use burntrace_kernels::random::{halves, philox};

/// Spacing of the numbers that [`uniform`] returns: 2^-53.
const ULP: f64 = 1.0 / (1_u64 << 53) as f64;

/// 128 random bits.
pub(crate) fn bits(seed: u64, slot: u64, generation: u32, draw: u32) -> [u32; 4] {
    let [low, high] = halves(slot);
    philox([low, high, generation, draw], halves(seed))
}

/// The upper 53 of 64 bits as a fraction in [0, 1).
fn fraction(high: u32, low: u32) -> f64 {
    let word = u64::from(high) << 32 | u64::from(low);
    (word >> 11) as f64 * ULP
}

/// A uniform number in [0, 1) with 53 random bits.
pub(crate) fn uniform(seed: u64, slot: u64, generation: u32, draw: u32) -> f64 {
    let [high, low, ..] = bits(seed, slot, generation, draw);
    fraction(high, low)
}

/// Two independent standard normal numbers (Box and Muller 1958).
///
/// The random bits are the same on all platforms. The logarithm and the cosine depend on the
/// platform, so the last digit may differ.
pub(crate) fn normals(seed: u64, slot: u64, generation: u32, draw: u32) -> [f64; 2] {
    let [a, b, c, d] = bits(seed, slot, generation, draw);
    // 1 - u is in (0, 1], and has a finite logarithm.
    let radius = (-2.0 * (1.0 - fraction(a, b)).ln()).sqrt();
    let (sin, cos) = (std::f64::consts::TAU * fraction(c, d)).sin_cos();
    [radius * cos, radius * sin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_depend_on_every_part_of_the_address() {
        let reference = bits(1, 2, 3, 4);
        let others = [
            bits(2, 2, 3, 4),
            bits(1 | 1 << 32, 2, 3, 4),
            bits(1, 3, 3, 4),
            bits(1, 2 | 1 << 32, 3, 4),
            bits(1, 2, 4, 4),
            bits(1, 2, 3, 5),
        ];
        assert!(others.iter().all(|other| *other != reference));
        assert_eq!(reference, bits(1, 2, 3, 4));
    }

    #[test]
    fn fractions_fill_the_half_open_unit_interval() {
        assert_eq!(fraction(0, 0), 0.0);
        assert_eq!(fraction(1 << 31, 0), 0.5);
        assert_eq!(fraction(u32::MAX, u32::MAX), 1.0 - ULP);
    }

    #[test]
    fn samples_have_the_moments_of_the_distributions() {
        let n = 100_000;
        let (mut sum, mut square) = (0.0, 0.0);
        let (mut first, mut second, mut product) = (0.0, 0.0, 0.0);
        for i in 0..n {
            let u = uniform(7, i, 0, 0);
            sum += u;
            square += u * u;
            let [a, b] = normals(7, i, 0, 1);
            first += a + b;
            second += a * a + b * b;
            product += a * b;
        }
        let n = n as f64;
        // Five standard errors of each mean.
        assert!((sum / n - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt());
        assert!((square / n - 1.0 / 3.0).abs() < 5.0 * (4.0 / 45.0 / n).sqrt());
        assert!((first / (2.0 * n)).abs() < 5.0 / (2.0 * n).sqrt());
        assert!((second / (2.0 * n) - 1.0).abs() < 5.0 * (2.0 / (2.0 * n)).sqrt());
        assert!((product / n).abs() < 5.0 / n.sqrt());
    }
}

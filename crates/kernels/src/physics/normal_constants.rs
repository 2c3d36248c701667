//! Constants of Philox4x32-10, and of the series of normal variates; see [`crate::random`].

pub(crate) const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
pub(crate) const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
pub(crate) const ROUNDS: usize = 10;

/// Number of terms of the series below for a float of `bits` bits; the truncation error is below a
/// quarter of its rounding.
pub(crate) const fn terms(bits: usize) -> usize {
    if bits <= 32 { 5 } else { MAX_TERMS }
}

/// Maximum number of terms of the series below.
pub(crate) const MAX_TERMS: usize = 9;

/// `(2 artanh s - 2 s) / s^3` in powers of `s^2`: 2/3, 2/5, ...
pub(crate) const LOGARITHM: [f64; MAX_TERMS] = odd_parts();
/// `(sin x - x) / x^3` in powers of `x^2`: -1/3!, 1/5!, ...
pub(crate) const SINE: [f64; MAX_TERMS] = factorial_parts(3);
/// `(cos x - 1) / x^2` in powers of `x^2`: -1/2!, 1/4!, ...
pub(crate) const COSINE: [f64; MAX_TERMS] = factorial_parts(2);

const fn odd_parts() -> [f64; MAX_TERMS] {
    let mut parts = [0.0; MAX_TERMS];
    let mut i = 0;
    while i < MAX_TERMS {
        parts[i] = 2.0 / (2 * i + 3) as f64;
        i += 1;
    }
    parts
}

/// `-1 / first!, 1 / (first + 2)!, ...` for `first` 2 or 3; doubles represent these factorials (up
/// to 19!) exactly.
const fn factorial_parts(first: usize) -> [f64; MAX_TERMS] {
    let mut parts = [0.0; MAX_TERMS];
    let mut factorial = if first == 2 { -2.0 } else { -6.0 };
    let mut i = 0;
    while i < MAX_TERMS {
        parts[i] = 1.0 / factorial;
        let n = first + 2 * i;
        factorial *= -(((n + 1) * (n + 2)) as f64);
        i += 1;
    }
    parts
}

/// The natural logarithm of 2 in two parts. The first has 16 bits, so that its product with a 6-bit
/// number is exact even in single precision.
pub(crate) const LN_2: [f64; 2] = [45426.0 / 65536.0, 1.428_606_820_309_417_2e-6];

/// `sqrt(2) - 1` in units of 2^-32: fractions above it are assigned to the next power of 2.
pub(crate) const UPPER: u32 = 0x6A09_E667;

/// 2^-32: converts a fraction's bits, as an integer, to the fraction.
pub(crate) const FRACTION: f64 = 1.0 / (1_u64 << 32) as f64;

/// An eighth of a turn, half of a right angle, as a word.
pub(crate) const EIGHTH: u32 = 1 << 29;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_have_their_values() {
        assert_eq!(LN_2[0] + LN_2[1], std::f64::consts::LN_2);
        assert_eq!(UPPER, ((2.0_f64.sqrt() - 1.0) / FRACTION) as u32);
        assert_eq!(SINE[..2], [-1.0 / 6.0, 1.0 / 120.0]);
        assert_eq!(COSINE[..2], [-0.5, 1.0 / 24.0]);
        let factorial = |n: u64| (1..=n).product::<u64>() as f64;
        assert_eq!((SINE[8], COSINE[8]), (-1.0 / factorial(19), -1.0 / factorial(18)));
        assert_eq!(LOGARITHM[8], 2.0 / 19.0);
    }
}

//! Random bits of an address, and normal variates computed from them, with the formulas of
//! [`crate::random`].
//!
//! Multiplications and additions are not fused, so that the numbers are the same on every processor.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod normals {
    use crate::physics::normal_constants::{
        COSINE, EIGHTH, FRACTION, LN_2, LOGARITHM, MAX_TERMS, MULTIPLIERS, ROUNDS, SINE, UPPER,
        WEYL, terms,
    };
    use crate::physics::vector::both::vec3;

    /// 128 random bits.
    pub(crate) struct Bits {
        pub a: u32,
        pub b: u32,
        pub c: u32,
        pub d: u32,
    }

    /// 128 random bits of an address; the seed is given in halves, the lower one first.
    #[inline(always)]
    pub(crate) fn bits(
        seed_low: u32,
        seed_high: u32,
        slot: u32,
        generation: u32,
        draw: u32,
        stream: u32,
    ) -> Bits {
        philox(Bits { a: slot, b: generation, c: draw, d: stream }, seed_low, seed_high)
    }

    /// Philox4x32-10: 128 random bits of a counter and a key, given in halves.
    #[inline(always)]
    pub(crate) fn philox(counter: Bits, low: u32, high: u32) -> Bits {
        let mut counter = counter;
        let mut low = low;
        let mut high = high;
        #[unroll]
        for _ in 0..comptime!(ROUNDS) {
            let first = u32::cast_from(comptime!(MULTIPLIERS[0]));
            let second = u32::cast_from(comptime!(MULTIPLIERS[1]));
            let a = high_product(second, counter.c) ^ counter.b ^ low;
            let b = wrapping_product(second, counter.c);
            let c = high_product(first, counter.a) ^ counter.d ^ high;
            let d = wrapping_product(first, counter.a);
            counter.a = a;
            counter.b = b;
            counter.c = c;
            counter.d = d;
            low = wrapping_sum(low, u32::cast_from(comptime!(WEYL[0])));
            high = wrapping_sum(high, u32::cast_from(comptime!(WEYL[1])));
        }
        counter
    }

    /// Three independent standard normal variates.
    #[inline(always)]
    pub(crate) fn normals<F: Float>(bits: &Bits) -> Vec3<F> {
        let turn = direction::<F>(bits.b);
        let other = direction::<F>(bits.d);
        let length = radius::<F>(bits.a);
        vec3::<F>(length * turn.cosine, length * turn.sine, radius::<F>(bits.c) * other.cosine)
    }

    /// `sqrt(-2 ln u)`.
    #[inline(always)]
    pub(crate) fn radius<F: Float>(word: u32) -> F {
        // u = (1 + fraction / 2^32) / 2^(zeros + 1), where fraction holds the bits of 2 word + 1 after
        // its leading bit. Masking avoids the shift by 32 of word 0, undefined on some devices.
        let zeros = word.leading_zeros();
        let fraction = select(word == 0u32, 0u32, (word << 1u32 | 1u32) << (zeros & 31u32));
        let is_upper = fraction > comptime!(UPPER);
        let parts = select(is_upper, wrapping_sum(!fraction, 1u32), fraction);
        let part = select(is_upper, constant::<F>(-0.5 * FRACTION), constant::<F>(FRACTION));
        let t = F::cast_from(parts) * part;
        let k = F::cast_from(select(is_upper, zeros, zeros + 1u32));
        let below = k * constant::<F>(LN_2[1]) - ln_1p::<F>(t);
        let logarithm = k * constant::<F>(LN_2[0]) + below;
        (logarithm + logarithm).sqrt()
    }

    /// `ln (1 + t)` for `1 + t` between the square roots of 1/2 and 2.
    #[inline(always)]
    fn ln_1p<F: Float>(t: F) -> F {
        let s = t / (F::new(2.0_f32) + t);
        let square = s * s;
        t - s * (t - square * series::<F>(square, LOGARITHM))
    }

    /// Cosine and sine of an angle.
    struct Direction<F: Float> {
        cosine: F,
        sine: F,
    }

    /// Cosine and sine of `2 pi u`.
    #[inline(always)]
    fn direction<F: Float>(word: u32) -> Direction<F> {
        let shifted = wrapping_sum(word, u32::cast_from(comptime!(EIGHTH)));
        let quadrant = shifted >> 30u32;
        // The remainder of word + 1/2, between -2^29 and 2^29, doubled.
        let within = comptime!(2 * EIGHTH - 1);
        let rest = i32::cast_from(shifted & within) - comptime!(EIGHTH as i32);
        let x = F::cast_from(2i32 * rest + 1i32) * constant::<F>(std::f64::consts::PI * FRACTION);
        let square = x * x;
        let sine = x + x * (square * series::<F>(square, SINE));
        let cosine = F::new(1.0_f32) + square * series::<F>(square, COSINE);
        let is_even = quadrant & 1u32 == 0u32;
        let across = select(is_even, cosine, sine);
        let up = select(is_even, sine, cosine);
        let is_left = quadrant == 1u32 || quadrant == 2u32;
        Direction::<F> {
            cosine: select(is_left, -across, across),
            sine: select(quadrant >= 2u32, -up, up),
        }
    }

    /// A power series at `x`, with the number of terms for the float type.
    #[inline(always)]
    fn series<F: Float>(x: F, #[comptime] parts: [f64; MAX_TERMS]) -> F {
        let last = comptime!(terms(size_bits::<F>()) - 1);
        let mut sum = constant::<F>(comptime!(parts[last]));
        #[unroll]
        for i in 0..last {
            sum = sum * x + constant::<F>(comptime!(parts[last - 1 - i]));
        }
        sum
    }
}

//! Random bits of an address, and normal variates computed from them, with the formulas of
//! [`crate::random`].

use super::{Vec4, cubecl, vec4};
use crate::random::{
    COSINE, EIGHTH, FRACTION, LN_2, LOGARITHM, MAX_TERMS, MULTIPLIERS, ROUNDS, SINE, UPPER, WEYL,
    terms,
};
use burn_cubecl::cubecl::prelude::*;

/// 128 random bits.
#[derive(CubeType)]
pub(super) struct Bits {
    a: u32,
    b: u32,
    c: u32,
    d: u32,
}

/// 128 random bits of an address; the seed is given in halves, the lower one first.
#[cube]
pub(super) fn bits(
    seed_low: u32,
    seed_high: u32,
    slot: u32,
    generation: u32,
    draw: u32,
    stream: u32,
) -> Bits {
    let mut counter = Bits { a: slot, b: generation, c: draw, d: stream };
    let mut low = seed_low;
    let mut high = seed_high;
    #[unroll]
    for _ in 0..comptime!(ROUNDS) {
        let first = u32::cast_from(comptime!(MULTIPLIERS[0]));
        let second = u32::cast_from(comptime!(MULTIPLIERS[1]));
        let a = second.mul_hi(counter.c) ^ counter.b ^ low;
        let b = second * counter.c;
        let c = first.mul_hi(counter.a) ^ counter.d ^ high;
        let d = first * counter.a;
        counter.a = a;
        counter.b = b;
        counter.c = c;
        counter.d = d;
        low += u32::cast_from(comptime!(WEYL[0]));
        high += u32::cast_from(comptime!(WEYL[1]));
    }
    counter
}

/// Three independent standard normal variates.
#[cube]
pub(super) fn normals<F: Float>(bits: &Bits) -> Vec4<F> {
    let turn = direction::<F>(bits.b);
    let other = direction::<F>(bits.d);
    let length = radius::<F>(bits.a);
    vec4::<F>(length * turn.cosine, length * turn.sine, radius::<F>(bits.c) * other.cosine)
}

/// `sqrt(-2 ln u)`.
#[cube]
fn radius<F: Float>(word: u32) -> F {
    // u = (1 + fraction / 2^32) / 2^(zeros + 1), where fraction holds the bits of 2 word + 1 after
    // its leading bit. Masking avoids the shift by 32 of word 0, undefined on some devices.
    let zeros = word.leading_zeros();
    let fraction = select(word == 0u32, 0u32, (word << 1u32 | 1u32) << (zeros & 31u32));
    let is_upper = fraction > comptime!(UPPER);
    let parts = select(is_upper, !fraction + 1u32, fraction);
    let part = select(is_upper, constant::<F>(-0.5 * FRACTION), constant::<F>(FRACTION));
    let t = F::cast_from(parts) * part;
    let k = F::cast_from(select(is_upper, zeros, zeros + 1u32));
    let below = k * constant::<F>(LN_2[1]) - ln_1p::<F>(t);
    let logarithm = k * constant::<F>(LN_2[0]) + below;
    (logarithm + logarithm).sqrt()
}

/// `ln (1 + t)` for `1 + t` between the square roots of 1/2 and 2.
#[cube]
fn ln_1p<F: Float>(t: F) -> F {
    let s = t / (F::new(2.0_f32) + t);
    let square = s * s;
    t - s * (t - square * series::<F>(square, LOGARITHM))
}

/// Cosine and sine of an angle.
#[derive(CubeType)]
struct Direction<F: Float> {
    cosine: F,
    sine: F,
}

/// Cosine and sine of `2 pi u`.
#[cube]
fn direction<F: Float>(word: u32) -> Direction<F> {
    let shifted = word + comptime!(EIGHTH);
    let quadrant = shifted >> 30u32;
    // The remainder of word + 1/2, between -2^29 and 2^29, doubled.
    let rest = i32::cast_from(shifted & comptime!(2 * EIGHTH - 1)) - comptime!(EIGHTH as i32);
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
#[cube]
fn series<F: Float>(x: F, #[comptime] parts: [f64; MAX_TERMS]) -> F {
    let last = comptime!(terms(F::size_bits()) - 1);
    let mut sum = constant::<F>(comptime!(parts[last]));
    #[unroll]
    for i in 0..last {
        sum = sum * x + constant::<F>(comptime!(parts[last - 1 - i]));
    }
    sum
}

/// A constant in double precision, rounded to the kernel's. Devices without double precision must
/// not receive doubles.
#[cube]
fn constant<F: Float>(#[comptime] value: f64) -> F {
    if F::size_bits().comptime() <= 32 {
        F::new(comptime!(value as f32))
    } else {
        F::cast_from(comptime!(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cpu, random};
    use burn_cubecl::{
        CubeDevice,
        cubecl::{calculate_cube_count_elemwise, device::WgpuDeviceKind},
    };

    const COUNT: usize = 100_000;
    /// Columns of an address: the halves of the seed and four counter words.
    const COLUMNS: usize = 6;
    /// Maximum difference from the CPU's variates, in units in the last place. Software Vulkan has
    /// 2; Vulkan allows roots and quotients an error of more than one rounding.
    const MAX_DIFFERENCE: f64 = 4.0;

    #[cube(launch)]
    fn normals_kernel<F: Float>(
        addresses: &[u32],
        words: &mut [u32],
        output: &mut [F],
        #[define(F)] _dtype: ElemType,
    ) {
        let i = ABSOLUTE_POS;
        if i >= words.len() / 4 {
            terminate!();
        }
        let at = i * COLUMNS;
        let bits = bits(
            addresses[at],
            addresses[at + 1],
            addresses[at + 2],
            addresses[at + 3],
            addresses[at + 4],
            addresses[at + 5],
        );
        let normals = normals::<F>(&bits);
        words[4 * i] = bits.a;
        words[4 * i + 1] = bits.b;
        words[4 * i + 2] = bits.c;
        words[4 * i + 3] = bits.d;
        #[unroll]
        for d in 0..3usize {
            output[3 * i + d] = normals.extract(d);
        }
    }

    /// Addresses: alternately over the whole range, and as small as in a run.
    fn addresses() -> Vec<u32> {
        let row = |i: u32| {
            let [a, b, c, d] = random::bits(1, i, 0, 0, 0);
            let [low, high, ..] = random::bits(2, i, 0, 0, 0);
            if i.is_multiple_of(2) {
                [low, high, a, b, c, d]
            } else {
                [low, high, i, b % 4, c % 1000, random::WALK]
            }
        };
        (0..COUNT as u32).flat_map(row).collect()
    }

    /// Words and variates of the addresses, computed on a device.
    fn compute<F: bytemuck::Pod>(
        device: &CubeDevice,
        addresses: &[u32],
        dtype: ElemType,
    ) -> (Vec<[u32; 4]>, Vec<[F; 3]>) {
        let client = device.client();
        let input = client.create_from_slice(bytemuck::cast_slice(addresses));
        let words = client.empty(COUNT * size_of::<[u32; 4]>());
        let output = client.empty(COUNT * size_of::<[F; 3]>());
        let dim = CubeDim::new(&client, COUNT);
        // SAFETY: the lengths are those of the buffers.
        let [input, words_arg, output_arg] = unsafe {
            [
                BufferArg::from_raw_parts(input, addresses.len()),
                BufferArg::from_raw_parts(words.clone(), 4 * COUNT),
                BufferArg::from_raw_parts(output.clone(), 3 * COUNT),
            ]
        };
        normals_kernel::launch(
            &client,
            calculate_cube_count_elemwise(&client, COUNT, dim),
            dim,
            input,
            words_arg,
            output_arg,
            dtype,
        );
        let words = client.read_one(words).unwrap();
        let output = client.read_one(output).unwrap();
        (bytemuck::pod_collect_to_vec(&words), bytemuck::pod_collect_to_vec(&output))
    }

    /// Compares a device with the CPU: bits for equality, variates in units in the last place of a
    /// float of `digits` digits. Returns the maximum difference.
    fn compare<F: cpu::Real>(device: &CubeDevice, dtype: ElemType, digits: i32) -> f64 {
        let addresses = addresses();
        let (words, normals) = compute::<F>(device, &addresses, dtype);
        let mut worst = 0.0_f64;
        for ((address, words), normals) in addresses.chunks(COLUMNS).zip(words).zip(normals) {
            let seed = u64::from(address[1]) << 32 | u64::from(address[0]);
            let expected = random::bits(seed, address[2], address[3], address[4], address[5]);
            assert_eq!(words, expected, "{address:?}");
            for (n, expected) in normals.into_iter().zip(cpu::random::normals::<F>(expected)) {
                let [n, expected]: [f64; 2] = [n, expected].map(|n| num_traits::cast(n).unwrap());
                let unit = 2.0_f64.powi(expected.abs().log2().floor() as i32 + 1 - digits);
                worst = worst.max((n - expected).abs() / unit);
            }
        }
        worst
    }

    #[test]
    fn device_matches_cpu_random_numbers() {
        let Ok(device) = CubeDevice::vulkan(WgpuDeviceKind::default()) else {
            return crate::requirements::skip("vulkan", "no Vulkan device");
        };
        let single = compare::<f32>(&device, f32::elem_type_native(), 24);
        assert!(single <= MAX_DIFFERENCE, "{single}");
        let double = f64::elem_type_native();
        if device.client().features().supports_type(double) {
            let double = compare::<f64>(&device, double, 53);
            assert!(double <= MAX_DIFFERENCE, "{double}");
        }
    }
}

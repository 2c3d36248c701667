//! Random numbers of a device against the host's.

use super::*;
use crate::{
    physics::{
        normals::device::{bits, normals},
        prelude::device::*,
    },
    random,
};
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
fn compare<F: Real>(device: &CubeDevice, dtype: ElemType, digits: i32) -> f64 {
    let addresses = addresses();
    let (words, normals) = compute::<F>(device, &addresses, dtype);
    let mut worst = 0.0_f64;
    for ((address, words), normals) in addresses.chunks(COLUMNS).zip(words).zip(normals) {
        let seed = u64::from(address[1]) << 32 | u64::from(address[0]);
        let expected = random::bits(seed, address[2], address[3], address[4], address[5]);
        assert_eq!(words, expected, "{address:?}");
        for (n, expected) in normals.into_iter().zip(super::normals::normals::<F>(expected)) {
            let [n, expected]: [f64; 2] = [n, expected].map(|n| n.exact());
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

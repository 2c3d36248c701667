//! Particle search and kernel sums. The particles of a row of cells are contiguous in memory.
//!
//! Sums are nested: [`BLOCK`] terms, then a row of cells, then a plane of cells, then the total. In
//! single precision a plain sum of a million terms would lose the small ones.

use super::{
    KernelVariant, cubecl,
    radial::profile_value,
    tables::{CELLS, CUT, FIRST, MATRIX, NODES, PER_LENGTH, PITCH, REACH, ROW, SCALE},
};
use burn_cubecl::cubecl::prelude::*;

/// Terms of an innermost sum.
const BLOCK: i32 = 256;

/// A point relative to the corner of the cells.
#[derive(CubeType)]
struct Point<F: Float> {
    x: F,
    y: F,
    z: F,
}

/// The particles in the order of their cells, and the parameters.
#[derive(CubeType, CubeLaunch)]
pub(super) struct Particles<F: Float> {
    rows: Box<[F]>,
    starts: Box<[i32]>,
    /// See [`tables`](super::tables).
    floats: Box<[F]>,
    ints: Box<[i32]>,
}

/// Sums all kernels at each evaluation point: one thread per point.
#[cube(launch)]
pub(super) fn density_kernel<F: Float>(
    points: &[F],
    sums: &mut [F],
    particles: &Particles<F>,
    #[comptime] variant: KernelVariant,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= sums.len() {
        terminate!();
    }
    let point = evaluation_point::<F>(points, particles, i, variant);
    let x_low = cell::<F>(particles, point.x - particles.floats[REACH], 0usize);
    let x_high = cell::<F>(particles, point.x + particles.floats[REACH], 0usize);
    let y_low = cell::<F>(particles, point.y - particles.floats[REACH + 1], 1usize);
    let y_high = cell::<F>(particles, point.y + particles.floats[REACH + 1], 1usize);
    let z_low = cell::<F>(particles, point.z - particles.floats[REACH + 2], 2usize);
    let z_high = cell::<F>(particles, point.z + particles.floats[REACH + 2], 2usize);
    let mut sum = F::new(0.0_f32);
    for z in z_low..z_high + 1 {
        let mut plane = F::new(0.0_f32);
        for y in y_low..y_high + 1 {
            let row = (z * particles.ints[CELLS + 1] + y) * particles.ints[CELLS];
            let start = particles.starts[(row + x_low) as usize];
            let end = particles.starts[(row + x_high + 1) as usize];
            plane += sum_range::<F>(particles, &point, start, end, variant);
        }
        sum += plane;
    }
    sums[i] = sum * particles.floats[SCALE];
}

/// The evaluation point of a thread.
#[cube]
fn evaluation_point<F: Float>(
    points: &[F],
    particles: &Particles<F>,
    i: usize,
    #[comptime] variant: KernelVariant,
) -> Point<F> {
    if comptime!(variant.is_lattice) {
        let nx = particles.ints[NODES] as usize;
        let ny = particles.ints[NODES + 1] as usize;
        let row = i / nx;
        Point::<F> {
            x: particles.floats[FIRST] + F::cast_from(i % nx) * particles.floats[PITCH],
            y: particles.floats[FIRST + 1] + F::cast_from(row % ny) * particles.floats[PITCH + 1],
            z: particles.floats[FIRST + 2] + F::cast_from(row / ny) * particles.floats[PITCH + 2],
        }
    } else {
        Point::<F> { x: points[3 * i], y: points[3 * i + 1], z: points[3 * i + 2] }
    }
}

/// The cell of a coordinate, clamped to the lattice; NaN maps to an arbitrary cell.
#[cube]
fn cell<F: Float>(particles: &Particles<F>, x: F, #[comptime] axis: usize) -> i32 {
    let last = particles.ints[CELLS + axis] - 1;
    let g = clamp(x * particles.floats[PER_LENGTH + axis], F::new(0.0_f32), F::cast_from(last));
    clamp(i32::cast_from(g), 0, last)
}

/// Sums the kernels of a contiguous range of particles.
#[cube]
fn sum_range<F: Float>(
    particles: &Particles<F>,
    point: &Point<F>,
    start: i32,
    end: i32,
    #[comptime] variant: KernelVariant,
) -> F {
    let mut sum = F::new(0.0_f32);
    // In blocks: a device may abort a single long loop.
    let blocks = (end - start + comptime!(BLOCK - 1)) / comptime!(BLOCK);
    for block in 0..blocks {
        let first = start + block * comptime!(BLOCK);
        let mut part = F::new(0.0_f32);
        for n in first..min(first + comptime!(BLOCK), end) {
            part += term::<F>(particles, point, n as usize, variant);
        }
        sum += part;
    }
    sum
}

/// The kernel of one particle, without its scale.
#[cube]
fn term<F: Float>(
    particles: &Particles<F>,
    point: &Point<F>,
    n: usize,
    #[comptime] variant: KernelVariant,
) -> F {
    let row = particles.ints[ROW] as usize;
    let dx = point.x - particles.rows[n];
    let dy = point.y - particles.rows[row + n];
    let dz = point.z - particles.rows[2 * row + n];
    let u = particles.floats[MATRIX] * dx
        + particles.floats[MATRIX + 1] * dy
        + particles.floats[MATRIX + 2] * dz;
    let v = particles.floats[MATRIX + 3] * dy + particles.floats[MATRIX + 4] * dz;
    let w = particles.floats[MATRIX + 5] * dz;
    let square = u * u + v * v + w * w;
    let mut value = F::new(0.0_f32);
    if comptime!(variant.is_box) {
        if max(max(u.abs(), v.abs()), w.abs()) <= particles.floats[CUT] {
            value = particles.rows[3 * row + n]
                * profile_value::<F>(&particles.floats, square, variant);
        }
    } else if square <= particles.floats[CUT] * particles.floats[CUT] {
        value =
            particles.rows[3 * row + n] * profile_value::<F>(&particles.floats, square, variant);
    }
    value
}

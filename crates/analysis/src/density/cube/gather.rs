//! The search for particles, and the sums. A row of cells is one run of particles in memory.
//!
//! Sums of [`BLOCK`] terms are added to that of a run, those of runs to that of a plane of cells, and
//! those to the sum of all: one sum of a million terms would lose the small ones in single precision.

use super::{
    Form,
    course::course,
    cubecl,
    tables::{CELLS, CUT, FIRST, MATRIX, NODES, PER_LENGTH, PITCH, REACH, ROW, SCALE},
};
use burn_cubecl::cubecl::prelude::*;

/// Terms that are summed before they are added to others.
const BLOCK: i32 = 256;

/// A place, counted from the corner of the cells.
#[derive(CubeType)]
struct Place<F: Float> {
    x: F,
    y: F,
    z: F,
}

/// The sum of all kernels at each place.
#[cube(launch)]
pub(super) fn density_kernel<F: Float>(
    points: &[F],
    sums: &mut [F],
    rows: &[F],
    starts: &[i32],
    floats: &[F],
    ints: &[i32],
    #[comptime] form: Form,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= sums.len() {
        terminate!();
    }
    let place = place::<F>(points, floats, ints, i, form);
    let x_low = cell::<F>(floats, ints, place.x - floats[REACH], 0usize);
    let x_high = cell::<F>(floats, ints, place.x + floats[REACH], 0usize);
    let y_low = cell::<F>(floats, ints, place.y - floats[REACH + 1], 1usize);
    let y_high = cell::<F>(floats, ints, place.y + floats[REACH + 1], 1usize);
    let z_low = cell::<F>(floats, ints, place.z - floats[REACH + 2], 2usize);
    let z_high = cell::<F>(floats, ints, place.z + floats[REACH + 2], 2usize);
    let mut sum = F::new(0.0_f32);
    for z in z_low..z_high + 1 {
        let mut plane = F::new(0.0_f32);
        for y in y_low..y_high + 1 {
            let row = (z * ints[CELLS + 1] + y) * ints[CELLS];
            let start = starts[(row + x_low) as usize];
            let end = starts[(row + x_high + 1) as usize];
            plane += of_run::<F>(rows, floats, ints, &place, start, end, form);
        }
        sum += plane;
    }
    sums[i] = sum * floats[SCALE];
}

/// The place of a thread.
#[cube]
fn place<F: Float>(
    points: &[F],
    floats: &[F],
    ints: &[i32],
    i: usize,
    #[comptime] form: Form,
) -> Place<F> {
    if comptime!(form.is_lattice) {
        let nx = ints[NODES] as usize;
        let ny = ints[NODES + 1] as usize;
        let row = i / nx;
        Place::<F> {
            x: floats[FIRST] + F::cast_from(i % nx) * floats[PITCH],
            y: floats[FIRST + 1] + F::cast_from(row % ny) * floats[PITCH + 1],
            z: floats[FIRST + 2] + F::cast_from(row / ny) * floats[PITCH + 2],
        }
    } else {
        Place::<F> { x: points[3 * i], y: points[3 * i + 1], z: points[3 * i + 2] }
    }
}

/// The cell of a coordinate, or the nearest one; what is no number is in some cell.
#[cube]
fn cell<F: Float>(floats: &[F], ints: &[i32], x: F, #[comptime] axis: usize) -> i32 {
    let last = ints[CELLS + axis] - 1;
    let g = clamp(x * floats[PER_LENGTH + axis], F::new(0.0_f32), F::cast_from(last));
    clamp(i32::cast_from(g), 0, last)
}

/// The sum of the kernels of particles that follow each other.
#[cube]
fn of_run<F: Float>(
    rows: &[F],
    floats: &[F],
    ints: &[i32],
    place: &Place<F>,
    start: i32,
    end: i32,
    #[comptime] form: Form,
) -> F {
    let mut sum = F::new(0.0_f32);
    // Blocks are counted: a device may break longer loops off.
    let blocks = (end - start + comptime!(BLOCK - 1)) / comptime!(BLOCK);
    for block in 0..blocks {
        let first = start + block * comptime!(BLOCK);
        let mut part = F::new(0.0_f32);
        for n in first..min(first + comptime!(BLOCK), end) {
            part += term::<F>(rows, floats, ints, place, n as usize, form);
        }
        sum += part;
    }
    sum
}

/// The kernel of a particle, without its scale.
#[cube]
fn term<F: Float>(
    rows: &[F],
    floats: &[F],
    ints: &[i32],
    place: &Place<F>,
    n: usize,
    #[comptime] form: Form,
) -> F {
    let row = ints[ROW] as usize;
    let dx = place.x - rows[n];
    let dy = place.y - rows[row + n];
    let dz = place.z - rows[2 * row + n];
    let u = floats[MATRIX] * dx + floats[MATRIX + 1] * dy + floats[MATRIX + 2] * dz;
    let v = floats[MATRIX + 3] * dy + floats[MATRIX + 4] * dz;
    let w = floats[MATRIX + 5] * dz;
    let square = u * u + v * v + w * w;
    let mut value = F::new(0.0_f32);
    if comptime!(form.is_box) {
        if max(max(u.abs(), v.abs()), w.abs()) <= floats[CUT] {
            value = rows[3 * row + n] * course::<F>(floats, square, form);
        }
    } else if square <= floats[CUT] * floats[CUT] {
        value = rows[3 * row + n] * course::<F>(floats, square, form);
    }
    value
}

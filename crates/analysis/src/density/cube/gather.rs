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
    reals: &[F],
    wholes: &[i32],
    #[comptime] form: Form,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= sums.len() {
        terminate!();
    }
    let place = place::<F>(points, reals, wholes, i, form);
    let x_low = cell::<F>(reals, wholes, place.x - reals[REACH], 0usize);
    let x_high = cell::<F>(reals, wholes, place.x + reals[REACH], 0usize);
    let y_low = cell::<F>(reals, wholes, place.y - reals[REACH + 1], 1usize);
    let y_high = cell::<F>(reals, wholes, place.y + reals[REACH + 1], 1usize);
    let z_low = cell::<F>(reals, wholes, place.z - reals[REACH + 2], 2usize);
    let z_high = cell::<F>(reals, wholes, place.z + reals[REACH + 2], 2usize);
    let mut sum = F::new(0.0_f32);
    for z in z_low..z_high + 1 {
        let mut plane = F::new(0.0_f32);
        for y in y_low..y_high + 1 {
            let row = (z * wholes[CELLS + 1] + y) * wholes[CELLS];
            let start = starts[(row + x_low) as usize];
            let end = starts[(row + x_high + 1) as usize];
            plane += of_run::<F>(rows, reals, wholes, &place, start, end, form);
        }
        sum += plane;
    }
    sums[i] = sum * reals[SCALE];
}

/// The place of a thread.
#[cube]
fn place<F: Float>(
    points: &[F],
    reals: &[F],
    wholes: &[i32],
    i: usize,
    #[comptime] form: Form,
) -> Place<F> {
    if comptime!(form.is_lattice) {
        let nx = wholes[NODES] as usize;
        let ny = wholes[NODES + 1] as usize;
        let row = i / nx;
        Place::<F> {
            x: reals[FIRST] + F::cast_from(i % nx) * reals[PITCH],
            y: reals[FIRST + 1] + F::cast_from(row % ny) * reals[PITCH + 1],
            z: reals[FIRST + 2] + F::cast_from(row / ny) * reals[PITCH + 2],
        }
    } else {
        Place::<F> { x: points[3 * i], y: points[3 * i + 1], z: points[3 * i + 2] }
    }
}

/// The cell of a coordinate, or the nearest one; what is no number is in some cell.
#[cube]
fn cell<F: Float>(reals: &[F], wholes: &[i32], x: F, #[comptime] axis: usize) -> i32 {
    let last = wholes[CELLS + axis] - 1;
    let g = clamp(x * reals[PER_LENGTH + axis], F::new(0.0_f32), F::cast_from(last));
    clamp(i32::cast_from(g), 0, last)
}

/// The sum of the kernels of particles that follow each other.
#[cube]
fn of_run<F: Float>(
    rows: &[F],
    reals: &[F],
    wholes: &[i32],
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
            part += term::<F>(rows, reals, wholes, place, n as usize, form);
        }
        sum += part;
    }
    sum
}

/// The kernel of a particle, without its scale.
#[cube]
fn term<F: Float>(
    rows: &[F],
    reals: &[F],
    wholes: &[i32],
    place: &Place<F>,
    n: usize,
    #[comptime] form: Form,
) -> F {
    let row = wholes[ROW] as usize;
    let dx = place.x - rows[n];
    let dy = place.y - rows[row + n];
    let dz = place.z - rows[2 * row + n];
    let u = reals[MATRIX] * dx + reals[MATRIX + 1] * dy + reals[MATRIX + 2] * dz;
    let v = reals[MATRIX + 3] * dy + reals[MATRIX + 4] * dz;
    let w = reals[MATRIX + 5] * dz;
    let square = u * u + v * v + w * w;
    let mut value = F::new(0.0_f32);
    if comptime!(form.is_box) {
        if max(max(u.abs(), v.abs()), w.abs()) <= reals[CUT] {
            value = rows[3 * row + n] * course::<F>(reals, square, form);
        }
    } else if square <= reals[CUT] * reals[CUT] {
        value = rows[3 * row + n] * course::<F>(reals, square, form);
    }
    value
}

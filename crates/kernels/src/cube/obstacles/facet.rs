//! One triangle of a surface. See `surface/facet.rs`.

use super::super::{Vec4, cubecl, vec4};
use crate::surface::facet::{FACE, FACET_ROWS};
use burn_cubecl::cubecl::prelude::*;

/// Floats per triangle.
pub(super) const FLOATS: usize = 3 * FACET_ROWS;

/// A triangle in registers.
#[derive(CubeType)]
pub(super) struct Facet<F: Float> {
    pub corner: Vec4<F>,
    pub along: Vec4<F>,
    pub up: Vec4<F>,
    pub normal: Vec4<F>,
    pub third: Vec4<F>,
}

/// The feature of a triangle nearest to a point in its plane.
#[derive(CubeType)]
pub(super) struct Nearest<F: Float> {
    pub a: F,
    pub b: F,
    pub part: i32,
}

#[cube]
pub(super) fn three<F: Float>(rows: &[F], at: usize) -> Vec4<F> {
    vec4::<F>(rows[at], rows[at + 1], rows[at + 2])
}

/// Loads the triangle whose numbers start at an offset.
#[cube]
pub(super) fn facet<F: Float>(rows: &[F], at: usize) -> Facet<F> {
    let (along, normal) = (three::<F>(rows, at + 3), three::<F>(rows, at + 6));
    let (ax, ay, az) = (along.extract(0usize), along.extract(1usize), along.extract(2usize));
    let (nx, ny, nz) = (normal.extract(0usize), normal.extract(1usize), normal.extract(2usize));
    let up = vec4::<F>(ny * az - nz * ay, nz * ax - nx * az, nx * ay - ny * ax);
    Facet::<F> { corner: three::<F>(rows, at), along, up, normal, third: three::<F>(rows, at + 9) }
}

/// The feature of a triangle nearest to a point in its plane.
#[cube]
pub(super) fn nearest<F: Float>(facet: &Facet<F>, x: F, y: F) -> Nearest<F> {
    let zero = F::new(0.0_f32);
    let one = F::new(1.0_f32);
    let (length, third_x, third_y) =
        (facet.third.extract(0usize), facet.third.extract(1usize), facet.third.extract(2usize));
    let left = third_y * x - third_x * y;
    let right = third_y * (length - x) - (length - third_x) * y;
    let mut a = zero;
    let mut b = zero;
    let mut part = i32::new(comptime!(FACE as i64));
    if y < zero || left < zero || right < zero {
        let mut smallest = F::max_value();
        #[unroll]
        for k in 0..3usize {
            let mut from_x = x;
            let mut from_y = y;
            let mut side_x = length;
            let mut side_y = zero;
            if comptime!(k == 1) {
                from_x = x - length;
                side_x = third_x - length;
                side_y = third_y;
            }
            if comptime!(k == 2) {
                from_x = x - third_x;
                from_y = y - third_y;
                side_x = -third_x;
                side_y = -third_y;
            }
            let square = side_x * side_x + side_y * side_y;
            let fraction = (from_x * side_x + from_y * side_y) / square;
            let is_begin = fraction <= zero;
            let is_end = fraction >= one;
            let taken = clamp(fraction, zero, one);
            let off_x = from_x - taken * side_x;
            let off_y = from_y - taken * side_y;
            let square = off_x * off_x + off_y * off_y;
            if square < smallest {
                smallest = square;
                a = off_x;
                b = off_y;
                let side = i32::new(comptime!(1 + k as i64));
                let start = i32::new(comptime!(4 + k as i64));
                let end = i32::new(comptime!(4 + (k as i64 + 1) % 3));
                part = select(is_begin, start, select(is_end, end, side));
            }
        }
    }
    Nearest::<F> { a, b, part }
}

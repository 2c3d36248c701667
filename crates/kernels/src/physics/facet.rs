//! One triangle of a closed surface.

use burntrace_macros::host_device;

/// Rows of three numbers that store a triangle: a corner; the unit vector to the next corner, along
/// its longest side; the unit outward normal; the length of that side, and the in-plane coordinates
/// of the third corner.
pub(crate) const FACET_ROWS: usize = 4;

/// The interior of a triangle. Its sides are 1 to 3, starting at the first, second and third
/// corner; its corners are 4 to 6.
pub(crate) const FACE: usize = 0;

#[host_device]
pub(crate) mod facet {
    use super::FACE;
    use crate::physics::vector::both::{cross, dot};

    /// A triangle with its local frame: the first corner is the origin, the second one is on the x
    /// axis, the third one above it.
    pub(crate) struct Facet<F: Float> {
        pub corner: Vec3<F>,
        pub along: Vec3<F>,
        pub up: Vec3<F>,
        pub normal: Vec3<F>,
        /// The length of the first side, and the in-plane coordinates of the third corner.
        pub third: Vec3<F>,
    }

    /// The feature (interior, side or corner) of a triangle nearest to a point in its plane, and
    /// the vector from there to the point.
    pub(crate) struct Nearest<F: Float> {
        pub a: F,
        pub b: F,
        pub part: i32,
    }

    /// Loads the triangle with an index among the rows.
    #[inline(always)]
    pub(crate) fn facet<F: Float>(launch: &Launch<F>, row: usize) -> Facet<F> {
        let (along, normal) = (launch.row(row + 1), launch.row(row + 2));
        let up = cross::<F>(normal, along);
        Facet::<F> { corner: launch.row(row), along, up, normal, third: launch.row(row + 3) }
    }

    /// The feature of a triangle nearest to a point in its plane.
    pub(crate) fn nearest<F: Float>(facet: &Facet<F>, x: F, y: F) -> Nearest<F> {
        let zero = F::new(0.0_f32);
        let one = F::new(1.0_f32);
        let length = facet.third.extract(0usize);
        let third_x = facet.third.extract(1usize);
        let third_y = facet.third.extract(2usize);
        let left = third_y * x - third_x * y;
        let right = third_y * (length - x) - (length - third_x) * y;
        let mut a = zero;
        let mut b = zero;
        let mut part = i32::new(comptime!(FACE as i64));
        if y < zero || left < zero || right < zero {
            let mut smallest = F::max_value();
            #[unroll]
            for k in 0..3usize {
                let mut start_x = zero;
                let mut start_y = zero;
                let mut end_x = zero;
                let mut end_y = zero;
                if comptime!(k == 0) {
                    end_x = length;
                }
                if comptime!(k == 1) {
                    start_x = length;
                    end_x = third_x;
                    end_y = third_y;
                }
                if comptime!(k == 2) {
                    start_x = third_x;
                    start_y = third_y;
                }
                let side_x = end_x - start_x;
                let side_y = end_y - start_y;
                let from_x = x - start_x;
                let from_y = y - start_y;
                let square = side_x * side_x + side_y * side_y;
                let fraction = (from_x * side_x + from_y * side_y) / square;
                let is_start = fraction <= zero;
                let is_end = fraction >= one;
                let on_x = select(is_end, x - end_x, from_x - fraction * side_x);
                let on_y = select(is_end, y - end_y, from_y - fraction * side_y);
                let off_x = select(is_start, from_x, on_x);
                let off_y = select(is_start, from_y, on_y);
                let square = off_x * off_x + off_y * off_y;
                if square < smallest {
                    smallest = square;
                    a = off_x;
                    b = off_y;
                    let side = i32::new(comptime!(1 + k as i64));
                    let start = i32::new(comptime!(4 + k as i64));
                    let end = i32::new(comptime!(4 + (k as i64 + 1) % 3));
                    part = select(is_start, start, select(is_end, end, side));
                }
            }
        }
        Nearest::<F> { a, b, part }
    }

    /// The coordinates of a point in the local frame.
    #[inline(always)]
    pub(crate) fn local<F: Float>(facet: &Facet<F>, p: Vec3<F>) -> Vec3<F> {
        let from = p - facet.corner;
        let mut local = Vec3::<F>::new(F::new(0.0_f32));
        local.insert(0usize, dot::<F>(from, facet.along));
        local.insert(1usize, dot::<F>(from, facet.up));
        local.insert(2usize, dot::<F>(from, facet.normal));
        local
    }
}

//! One triangle of a surface.

use num_traits::Float;

/// Rows of three numbers that store a triangle: a corner; the unit vector to the next corner, along
/// its longest side; the unit outward normal; the length of that side, and the in-plane coordinates
/// of the third corner.
pub(crate) const FACET_ROWS: usize = 4;

/// A triangle with its local frame: the first corner is the origin, the second one is on the x
/// axis, the third one above it.
#[derive(Clone, Copy)]
pub(crate) struct Facet<F> {
    pub corner: [F; 3],
    pub along: [F; 3],
    pub normal: [F; 3],
    pub third: [F; 3],
}

/// The interior of a triangle. Its sides are 1 to 3, starting at the first, second and third
/// corner; its corners are 4 to 6.
pub(crate) const FACE: usize = 0;

/// The feature (interior, side or corner) of a triangle nearest to a point in its plane.
#[derive(Clone, Copy)]
pub(crate) struct Nearest<F> {
    /// From that feature to the point.
    pub off: [F; 2],
    /// The number of the feature.
    pub part: usize,
}

pub(crate) fn dot<F: Float>(a: &[F; 3], b: &[F; 3]) -> F {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn minus<F: Float>(a: &[F; 3], b: &[F; 3]) -> [F; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(crate) fn cross<F: Float>(a: &[F; 3], b: &[F; 3]) -> [F; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

impl<F: Float> Facet<F> {
    /// The triangle with a given index.
    #[inline(always)]
    pub fn of(rows: &[[F; 3]], which: usize) -> Self {
        let at = FACET_ROWS * which;
        let rows = &rows[at..at + FACET_ROWS];
        Facet { corner: rows[0], along: rows[1], normal: rows[2], third: rows[3] }
    }

    /// The third axis of its frame.
    #[inline(always)]
    pub fn up(&self) -> [F; 3] {
        cross(&self.normal, &self.along)
    }

    /// The components of a vector in the local frame.
    #[inline(always)]
    pub fn rotated(&self, v: &[F; 3]) -> [F; 3] {
        [dot(v, &self.along), dot(v, &self.up()), dot(v, &self.normal)]
    }

    /// The coordinates of a point in the local frame.
    #[inline(always)]
    pub fn local(&self, p: &[F; 3]) -> [F; 3] {
        self.rotated(&minus(p, &self.corner))
    }

    /// The feature nearest to a point in the triangle's plane.
    pub fn nearest(&self, x: F, y: F) -> Nearest<F> {
        let [length, third_x, third_y] = self.third;
        let zero = F::zero();
        let (left, right) =
            (third_y * x - third_x * y, third_y * (length - x) - (length - third_x) * y);
        if y >= zero && left >= zero && right >= zero {
            return Nearest { off: [zero; 2], part: FACE };
        }
        let corners = [[zero, zero], [length, zero], [third_x, third_y]];
        let mut nearest = Nearest { off: [zero; 2], part: FACE };
        let mut smallest = F::max_value();
        for k in 0..3 {
            let (start, end) = (corners[k], corners[(k + 1) % 3]);
            let side = [end[0] - start[0], end[1] - start[1]];
            let from = [x - start[0], y - start[1]];
            let square = side[0] * side[0] + side[1] * side[1];
            let fraction = (from[0] * side[0] + from[1] * side[1]) / square;
            let (off, part) = if fraction <= zero {
                (from, 4 + k)
            } else if fraction >= F::one() {
                ([x - end[0], y - end[1]], 4 + (k + 1) % 3)
            } else {
                ([from[0] - fraction * side[0], from[1] - fraction * side[1]], 1 + k)
            };
            let square = off[0] * off[0] + off[1] * off[1];
            if square < smallest {
                (smallest, nearest) = (square, Nearest { off, part });
            }
        }
        nearest
    }

    /// Squared distance of a point.
    pub fn squared_distance(&self, p: &[F; 3]) -> F {
        let [x, y, z] = self.local(p);
        let [a, b] = self.nearest(x, y).off;
        a * a + b * b + z * z
    }
}

/// Number of the first side, and of the first corner, among the features.
pub(crate) const SIDES: usize = 1;
pub(crate) const CORNERS: usize = 4;

/// The side of the surface of points whose nearest feature is a side or corner of a triangle. Two
/// bits per feature: where the surface is nearly flat, the triangle's plane decides; elsewhere all
/// such points are on one side.
///
/// (The points nearest to a corner form a convex cone, which the surface cannot enter, so all of it
/// is on one side. Signs from planes and normals alone fail by rounding at sharp edges.)
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Sides(pub i32);

pub(crate) const BY_PLANE: i32 = 0;
pub(crate) const OUTSIDE: i32 = 1;
pub(crate) const INSIDE: i32 = 2;

impl Sides {
    pub fn put(&mut self, part: usize, side: i32) {
        self.0 |= side << (2 * (part - 1));
    }

    /// Whether a point is outside, given its nearest feature and its distance from the plane.
    pub fn is_outside<F: Float>(self, part: usize, z: F) -> bool {
        let side = if part == FACE { BY_PLANE } else { (self.0 >> (2 * (part - 1))) & 3 };
        if side == BY_PLANE { z > F::zero() } else { side == OUTSIDE }
    }
}

//! One triangle of a surface.

use num_traits::Float;

/// Rows of three numbers in which a triangle lies in memory: a corner; the unit vector to the next
/// corner, along its longest side; the unit normal, outward; and the length of that side, and the
/// place of the third corner in the plane.
pub(crate) const FACET_ROWS: usize = 4;

/// A triangle in a frame of its own: its first corner is the origin, the second one on the x axis,
/// the third one above it.
#[derive(Clone, Copy)]
pub(crate) struct Facet<F> {
    pub corner: [F; 3],
    pub along: [F; 3],
    pub normal: [F; 3],
    pub third: [F; 3],
}

/// The inner part of a triangle. Its sides are 1 to 3, from the first, second and third corner on,
/// and these are 4 to 6.
pub(crate) const FACE: usize = 0;

/// The part of a triangle nearest to a place in its plane.
#[derive(Clone, Copy)]
pub(crate) struct Nearest<F> {
    /// From that part to the place.
    pub off: [F; 2],
    /// Which part it is.
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
    /// The triangle whose rows begin at a place.
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

    /// A vector in its frame.
    #[inline(always)]
    pub fn turned(&self, v: &[F; 3]) -> [F; 3] {
        [dot(v, &self.along), dot(v, &self.up()), dot(v, &self.normal)]
    }

    /// A place in its frame.
    #[inline(always)]
    pub fn local(&self, p: &[F; 3]) -> [F; 3] {
        self.turned(&minus(p, &self.corner))
    }

    /// The part of it nearest to a place in its plane.
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
        let mut least = F::max_value();
        for k in 0..3 {
            let (begin, end) = (corners[k], corners[(k + 1) % 3]);
            let side = [end[0] - begin[0], end[1] - begin[1]];
            let from = [x - begin[0], y - begin[1]];
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
            if square < least {
                (least, nearest) = (square, Nearest { off, part });
            }
        }
        nearest
    }

    /// The square of the distance of a place.
    pub fn square(&self, p: &[F; 3]) -> F {
        let [x, y, z] = self.local(p);
        let [a, b] = self.nearest(x, y).off;
        a * a + b * b + z * z
    }
}

/// The part of a triangle that a side or corner is.
pub(crate) const SIDES: usize = 1;
pub(crate) const CORNERS: usize = 4;

/// On which side of the surface places are to which a part of a triangle is the nearest. A number of
/// two bits for each side and corner: where the surface is nearly flat there, the side of the
/// triangle's plane says it; at others no place is on the other side.
///
/// (What has a corner as its nearest part is a convex cone, which the surface cannot enter: all of
/// it is on one side. Signs from planes and normals alone fail by rounding where edges are sharp.)
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Sides(pub i32);

pub(crate) const BY_PLANE: i32 = 0;
pub(crate) const OUTSIDE: i32 = 1;
pub(crate) const INSIDE: i32 = 2;

impl Sides {
    pub fn put(&mut self, part: usize, side: i32) {
        self.0 |= side << (2 * (part - 1));
    }

    /// Whether a place is outside, given the part nearest to it, and its distance from the plane.
    pub fn is_outside<F: Float>(self, part: usize, z: F) -> bool {
        let side = if part == FACE { BY_PLANE } else { (self.0 >> (2 * (part - 1))) & 3 };
        if side == BY_PLANE { z > F::zero() } else { side == OUTSIDE }
    }
}

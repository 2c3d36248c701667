//! One triangle of a surface.

use crate::physics::{
    facet::{
        FACE, FACET_ROWS,
        host::{self, Nearest},
    },
    prelude::host::Vec3,
    vector,
};

/// A triangle with its local frame: see [`host::Facet`].
#[derive(Clone, Copy)]
pub(crate) struct Facet {
    pub corner: [f64; 3],
    pub along: [f64; 3],
    pub normal: [f64; 3],
    pub third: [f64; 3],
}

pub(crate) fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    vector::host::dot(Vec3(*a), Vec3(*b))
}

pub(crate) fn minus(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    (Vec3(*a) - Vec3(*b)).0
}

pub(crate) fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    vector::host::cross(Vec3(*a), Vec3(*b)).0
}

/// The larger of two numbers, in one instruction: unlike `max`, it need not choose where one is not a number.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl Facet {
    /// The triangle with a given index.
    pub fn of(rows: &[[f64; 3]], which: usize) -> Self {
        let at = FACET_ROWS * which;
        let rows = &rows[at..at + FACET_ROWS];
        Facet { corner: rows[0], along: rows[1], normal: rows[2], third: rows[3] }
    }

    /// What is stored of it.
    pub fn rows(&self) -> [[f64; 3]; FACET_ROWS] {
        [self.corner, self.along, self.normal, self.third]
    }

    fn on_host(&self) -> host::Facet<f64> {
        let [corner, along] = [Vec3(self.corner), Vec3(self.along)];
        let [normal, third] = [Vec3(self.normal), Vec3(self.third)];
        let up = vector::host::cross(normal, along);
        host::Facet { corner, along, up, normal, third }
    }

    /// The direction in its plane across the first side.
    pub fn up(&self) -> [f64; 3] {
        cross(&self.normal, &self.along)
    }

    /// The coordinates of a point in the local frame.
    pub fn local(&self, p: &[f64; 3]) -> [f64; 3] {
        host::local(&self.on_host(), Vec3(*p)).0
    }

    /// The feature nearest to a point in the triangle's plane.
    pub fn nearest(&self, x: f64, y: f64) -> Nearest<f64> {
        host::nearest(&self.on_host(), x, y)
    }

    /// The point of the triangle nearest to a point.
    pub fn nearest_point(&self, p: &[f64; 3]) -> [f64; 3] {
        let [x, y, z] = self.local(p);
        let Nearest { a, b, .. } = self.nearest(x, y);
        let up = self.up();
        [0, 1, 2].map(|d| p[d] - a * self.along[d] - b * up[d] - z * self.normal[d])
    }

    /// Squared distance of a point.
    pub fn squared_distance(&self, p: &[f64; 3]) -> f64 {
        let [x, y, z] = self.local(p);
        self.squared_distance_of(x, y, z)
    }

    /// The same for a point in the local frame.
    pub fn squared_distance_of(&self, x: f64, y: f64, z: f64) -> f64 {
        let Nearest { a, b, .. } = self.nearest(x, y);
        a * a + b * b + z * z
    }

    /// A lower bound of it: the squared distance from the rectangle on the longest side that holds the triangle.
    pub fn at_least(&self, x: f64, y: f64, z: f64) -> f64 {
        let [length, _, high] = self.third;
        let (a, b) = (larger(larger(-x, x - length), 0.0), larger(larger(-y, y - high), 0.0));
        a * a + b * b + z * z
    }

    /// An upper bound of it: the squared distance from the nearest corner.
    pub fn at_most(&self, x: f64, y: f64, z: f64) -> f64 {
        let [length, third_x, third_y] = self.third;
        let (a, b) = (x - third_x, y - third_y);
        let first = x * x + y * y;
        let second = (x - length) * (x - length) + y * y;
        z * z + smaller(smaller(first, second), a * a + b * b)
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
    pub fn is_outside(self, part: i32, z: f64) -> bool {
        let side = if part == FACE as i32 { BY_PLANE } else { (self.0 >> (2 * (part - 1))) & 3 };
        if side == BY_PLANE { z > 0.0 } else { side == OUTSIDE }
    }
}

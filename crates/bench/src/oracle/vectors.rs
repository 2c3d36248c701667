//! Vectors of three components.

use super::Point;

pub fn plus(a: Point, b: Point) -> Point {
    std::array::from_fn(|d| a[d] + b[d])
}

pub fn minus(a: Point, b: Point) -> Point {
    std::array::from_fn(|d| a[d] - b[d])
}

pub fn scaled(a: Point, factor: f64) -> Point {
    a.map(|x| factor * x)
}

pub fn dot(a: Point, b: Point) -> f64 {
    (0..3).map(|d| a[d] * b[d]).sum()
}

pub fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// A vector of length 1 in the direction of `a`.
pub fn unit(a: Point) -> Point {
    scaled(a, 1.0 / length(a))
}

/// A point on the straight line between two points.
pub fn between(from: Point, to: Point, part: f64) -> Point {
    plus(from, scaled(minus(to, from), part))
}

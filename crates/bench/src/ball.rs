//! A ball of many triangles, and where the reference meets it.
//!
//! The six faces of a cube, divided into squares of equal angles and moved onto a sphere. Each square is divided
//! along the diagonal that leaves the body convex: a straight path does not meet it again after sliding along one of them.

use crate::oracle::{
    Point,
    bodies::cross_polygon,
    events::{Contact, Response},
    vectors::{cross, dot, length, minus, unit},
};
use std::f64::consts::FRAC_PI_4;

/// Squares along an edge of the cube.
const SQUARES: usize = 289;
const CENTRE: [f64; 3] = [0.5; 3];
const RADIUS: f64 = 0.2;
/// Squares around the point where a path meets the sphere, on each side, through which it may meet the ball.
const AROUND: f64 = 2.0;

/// The triangles of the ball, as corner positions, counter-clockwise from outside.
pub struct Ball {
    pub triangles: Vec<[[f64; 3]; 3]>,
}

impl Ball {
    pub fn new() -> Self {
        let squares = (0..6).flat_map(|face| (0..SQUARES * SQUARES).map(move |i| (face, i)));
        let triangles = squares.flat_map(|(face, i)| square(face, [i % SQUARES, i / SQUARES]));
        Ball { triangles: triangles.collect() }
    }

    /// Moves a position in the ball, and those around it, to a shell near it.
    pub fn beside(position: [f64; 3]) -> [f64; 3] {
        let off = minus(position, CENTRE);
        let distance = length(off);
        if distance == 0.0 || distance > 1.02 * RADIUS {
            return position;
        }
        let scale = RADIUS * (1.02 + 0.3 * distance / RADIUS) / distance;
        // In single precision, as all seeds.
        [0, 1, 2].map(|d| f64::from((CENTRE[d] + scale * off[d]) as f32))
    }

    /// The first contact of a straight path with the ball, along which it slides.
    pub fn first_contact(&self, from: Point, to: Point) -> Option<Contact> {
        let crossing = |[a, b, c]: [Point; 3]| {
            let normal = unit(cross(minus(b, a), minus(c, a)));
            Some((cross_polygon(&[a, b, c], normal, from, to)?, normal))
        };
        let near = self.near(on_sphere(from, minus(to, from))?);
        let (fraction, normal) = near.filter_map(crossing).min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Contact { fraction, normal, response: Response::Slide })
    }

    /// The triangles around a direction from the centre.
    fn near(&self, off: [f64; 3]) -> impl Iterator<Item = [[f64; 3]; 3]> {
        (0..6).flat_map(move |face| {
            let (axis, sign) = (face / 2, if face % 2 == 0 { 1.0 } else { -1.0 });
            let height = sign * off[axis];
            let index = |d: usize| {
                let angle = (off[(axis + d) % 3] / height).atan() / FRAC_PI_4;
                0.5 * (angle + 1.0) * SQUARES as f64
            };
            let range = |d: usize| {
                let last = SQUARES as f64;
                let [low, high] = [index(d) - AROUND, index(d) + AROUND];
                match height > 0.0 && low < last && high > 0.0 {
                    true => low.max(0.0) as usize..high.min(last).ceil() as usize,
                    false => 0..0,
                }
            };
            let (columns, rows) = (range(1), range(2));
            rows.flat_map(move |j| columns.clone().map(move |i| (face * SQUARES + j) * SQUARES + i))
                .flat_map(|square| [self.triangles[2 * square], self.triangles[2 * square + 1]])
        })
    }
}

/// Where a path meets the sphere, measured from its centre; its start if that is in the sphere.
fn on_sphere(from: [f64; 3], path: [f64; 3]) -> Option<[f64; 3]> {
    let off = minus(from, CENTRE);
    let (square, along) = (dot(path, path), dot(off, path));
    let beyond = dot(off, off) - RADIUS * RADIUS;
    let root = along * along - square * beyond;
    if beyond <= 0.0 {
        return Some(off);
    }
    let part = (-along - root.max(0.0).sqrt()) / square;
    (root >= 0.0 && (0.0..=1.0).contains(&part)).then(|| [0, 1, 2].map(|d| off[d] + part * path[d]))
}

/// The two triangles of a square.
fn square(face: usize, [i, j]: [usize; 2]) -> [[[f64; 3]; 3]; 2] {
    let (axis, is_high) = (face / 2, face.is_multiple_of(2));
    let at = |i: usize, j: usize| {
        let mut p = [0.0; 3];
        p[axis] = if is_high { 1.0 } else { -1.0 };
        p[(axis + 1) % 3] = tangent(i);
        p[(axis + 2) % 3] = tangent(j);
        // The same bits for each face that has the point.
        let scale = RADIUS / (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt();
        [0, 1, 2].map(|d| CENTRE[d] + scale * p[d])
    };
    let mut corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
    if !is_high {
        corners.reverse();
    }
    let [a, b, c, d] = corners;
    let is_convex = dot(minus(d, a), cross(minus(b, a), minus(c, a))) <= 0.0;
    if is_convex { [[a, b, c], [a, c, d]] } else { [[b, c, d], [b, d, a]] }
}

/// The tangent of equal angles, from -1 to 1.
fn tangent(i: usize) -> f64 {
    match i {
        0 => -1.0,
        SQUARES => 1.0,
        _ => (FRAC_PI_4 * ((2 * i) as f64 / SQUARES as f64 - 1.0)).tan(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::vectors::between;

    #[test]
    fn a_path_meets_the_ball_and_others_do_not() {
        let ball = Ball::new();
        assert_eq!(ball.triangles.len(), 1_002_252);
        // Straight onto the ball, past it, and away from it.
        let (from, to) = ([0.5 + 0.201, 0.503, 0.499], [0.5 + 0.197, 0.503, 0.499]);
        let distance = |p: Point| length(minus(p, CENTRE));
        let contact = ball.first_contact(from, to).unwrap();
        let met = distance(between(from, to, contact.fraction));
        assert!((met - RADIUS).abs() < 2e-6, "{met}");
        assert!(dot(contact.normal, unit(minus(from, CENTRE))) > 0.999);
        assert!(ball.first_contact([0.5 + 0.21, 0.6, 0.5], [0.5 + 0.21, 0.4, 0.5]).is_none());
        assert!(ball.first_contact(from, from.map(|x| x + 0.2)).is_none());
        assert!(distance(Ball::beside([0.55, 0.5, 0.5])) > 1.02 * RADIUS);
    }
}

//! A ball of many triangles, and how the reference slides along it.
//!
//! The six faces of a cube, divided into squares of equal angles and moved onto a sphere. Each square is divided
//! along the diagonal that leaves the body convex: a straight path then enters it through the last of the planes
//! that it crosses, and does not meet it again after sliding along one of them.

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
        let distance = dot(off, off).sqrt();
        if distance == 0.0 || distance > 1.02 * RADIUS {
            return position;
        }
        let scale = RADIUS * (1.02 + 0.3 * distance / RADIUS) / distance;
        // In single precision, as all seeds.
        [0, 1, 2].map(|d| f64::from((CENTRE[d] + scale * off[d]) as f32))
    }

    /// The end of a straight path that slides along the ball.
    pub fn slid(&self, from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
        let path = minus(to, from);
        let Some(near) = on_sphere(from, path) else { return to };
        let (mut enter, mut leave, mut across) = (f64::MIN, f64::MAX, [0.0; 3]);
        for [a, b, c] in self.near(near) {
            let normal = cross(minus(b, a), minus(c, a));
            let (speed, height) = (dot(path, normal), dot(minus(from, a), normal));
            match -height / speed {
                part if speed < 0.0 && part > enter => (enter, across) = (part, normal),
                part if speed > 0.0 => leave = leave.min(part),
                _ => {}
            }
        }
        // A start on a plane may be below it by rounding.
        if enter > leave || !(-1e-6..=1.0).contains(&enter) {
            return to;
        }
        let rest = path.map(|x| x * (1.0 - enter.max(0.0)));
        let inward = dot(rest, across) / dot(across, across);
        [0, 1, 2].map(|d| to[d] - inward * across[d])
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

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| a[d] - b[d])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| {
        let (e, f) = ((d + 1) % 3, (d + 2) % 3);
        a[e] * b[f] - a[f] * b[e]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_slides_along_the_ball_and_others_stay() {
        let ball = Ball::new();
        assert_eq!(ball.triangles.len(), 1_002_252);
        // Straight onto the ball, aslant, past it, and away from it.
        let from = [0.5 + 0.201, 0.503, 0.499];
        let to = [0.5 + 0.197, 0.503, 0.499];
        let end = ball.slid(from, to);
        let distance = |p: [f64; 3]| dot(minus(p, CENTRE), minus(p, CENTRE)).sqrt();
        assert!((distance(end) - RADIUS).abs() < 2e-6, "{}", distance(end));
        let aslant = ball.slid(from, [0.5 + 0.199, 0.507, 0.499]);
        assert!((aslant[1] - 0.507).abs() < 1e-4 && distance(aslant) > RADIUS - 2e-6);
        let past = [0.5 + 0.21, 0.4, 0.5];
        assert_eq!(ball.slid([0.5 + 0.21, 0.6, 0.5], past), past);
        assert_eq!(ball.slid(to.map(|x| x + 0.1), from.map(|x| x + 0.2)), from.map(|x| x + 0.2));
        assert!(distance(Ball::beside([0.55, 0.5, 0.5])) > 1.02 * RADIUS);
    }
}

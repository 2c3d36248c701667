//! Test surfaces, with reference results computed independently of the library.

use super::{
    ClosedSurface,
    facet::{cross, dot, minus},
};
use std::{collections::HashMap, f64::consts::TAU};

/// Points and triangles.
#[derive(Clone, Default)]
pub(crate) struct Model {
    pub points: Vec<[f64; 3]>,
    pub triangles: Vec<[usize; 3]>,
}

impl Model {
    pub fn build(&self) -> ClosedSurface {
        ClosedSurface::new(&self.points, &self.triangles).unwrap()
    }

    pub fn moved(mut self, scale: f64, shift: [f64; 3]) -> Self {
        for p in &mut self.points {
            *p = [0, 1, 2].map(|d| p[d] * scale + shift[d]);
        }
        self
    }

    pub fn with(mut self, other: Model) -> Self {
        let first = self.points.len();
        self.points.extend(other.points);
        self.triangles
            .extend(other.triangles.into_iter().map(|corners| corners.map(|i| i + first)));
        self
    }

    fn quad(&mut self, [a, b, c, d]: [usize; 4]) {
        self.triangles.extend([[a, b, c], [a, c, d]]);
    }
}

/// A box of twelve triangles.
pub(crate) fn block(low: [f64; 3], high: [f64; 3]) -> Model {
    let corner = |i: usize| [0, 1, 2].map(|d| if i >> d & 1 == 1 { high[d] } else { low[d] });
    let mut model = Model { points: (0..8).map(corner).collect(), triangles: Vec::new() };
    for quad in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
    {
        model.quad(quad);
    }
    model
}

/// A prism of height `height` on a plane figure, given counter-clockwise and star-shaped about its
/// first point.
pub(crate) fn prism(figure: &[[f64; 2]], height: f64) -> Model {
    let n = figure.len();
    let level = |z: f64| figure.iter().map(move |[x, y]| [*x, *y, z]);
    let mut model = Model { points: level(0.0).chain(level(height)).collect(), ..Model::default() };
    for i in 0..n {
        let j = (i + 1) % n;
        model.quad([i, j, n + j, n + i]);
    }
    for i in 1..n - 1 {
        model.triangles.extend([[0, i + 1, i], [n, n + i, n + i + 1]]);
    }
    model
}

/// A step: a reentrant edge, and corners of both kinds at its ends.
pub(crate) fn step() -> Model {
    prism(&[[0.5, 0.4], [0.5, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.4]], 0.7)
}

/// A knife: an edge of about three degrees.
pub(crate) fn knife() -> Model {
    prism(&[[0.0, 0.0], [1.0, -0.025], [1.0, 0.025]], 0.5)
}

/// A star with sharp spikes and notches between them.
pub(crate) fn star() -> Model {
    let mut model = Model { points: vec![[0.0, 0.0, 0.2], [0.0, 0.0, -0.2]], ..Model::default() };
    let n = 10;
    for i in 0..n {
        let (sine, cosine) = (TAU * i as f64 / n as f64).sin_cos();
        let radius = if i % 2 == 0 { 1.0 } else { 0.25 };
        model.points.push([radius * cosine, radius * sine, 0.0]);
    }
    for i in 0..n {
        let (a, b) = (2 + i, 2 + (i + 1) % n);
        model.triangles.extend([[0, a, b], [1, b, a]]);
    }
    model
}

/// A torus around z.
pub(crate) fn torus(around: usize, across: usize) -> Model {
    let mut model = Model::default();
    for i in 0..around {
        for j in 0..across {
            let (sine, cosine) = (TAU * i as f64 / around as f64).sin_cos();
            let (up, out) = (TAU * j as f64 / across as f64).sin_cos();
            let radius = 0.7 + 0.3 * out;
            model.points.push([radius * cosine, radius * sine, 0.3 * up]);
        }
    }
    let at = |i: usize, j: usize| i % around * across + j % across;
    for i in 0..around {
        for j in 0..across {
            model.quad([at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
        }
    }
    model
}

/// A ball of radius 1: an octahedron, refined several times.
pub(crate) fn ball(times: usize) -> Model {
    let mut points = vec![
        [1.0, 0.0, 0.0],
        [-1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, -1.0],
    ];
    let mut triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    for _ in 0..times {
        let mut middles = HashMap::new();
        let mut middle = |a: usize, b: usize| {
            *middles.entry((a.min(b), a.max(b))).or_insert_with(|| {
                let sum: [f64; 3] = [0, 1, 2].map(|d| points[a][d] + points[b][d]);
                let norm = dot(&sum, &sum).sqrt();
                points.push(sum.map(|x| x / norm));
                points.len() - 1
            })
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
            })
            .collect();
    }
    Model { points, triangles }
}

/// All models.
pub(crate) fn all() -> Vec<(&'static str, Model)> {
    let shell = ball(2).with(ball(2).moved(0.6, [0.1, 0.0, 0.0]));
    vec![
        ("block", block([-0.5, -0.3, 0.0], [0.5, 0.8, 0.6])),
        ("step", step()),
        ("knife", knife()),
        ("star", star()),
        ("torus", torus(24, 12)),
        ("ball", ball(3)),
        ("shell", shell),
    ]
}

fn corners(surface: &ClosedSurface) -> impl Iterator<Item = [[f64; 3]; 3]> + '_ {
    surface.triangles().iter().map(|t| t.map(|i| surface.points()[i as usize]))
}

/// Winding number of a surface around a point: the sum of the solid angles of its triangles (van
/// Oosterom, Strackee, IEEE Trans. Biomed. Eng. 30, 1983).
pub(crate) fn winding(surface: &ClosedSurface, p: [f64; 3]) -> f64 {
    let norm = |v: &[f64; 3]| dot(v, v).sqrt();
    let angle = |corners: [[f64; 3]; 3]| {
        let [a, b, c] = corners.map(|corner| minus(&corner, &p));
        let (la, lb, lc) = (norm(&a), norm(&b), norm(&c));
        let below = la * lb * lc + dot(&a, &b) * lc + dot(&b, &c) * la + dot(&c, &a) * lb;
        2.0 * dot(&a, &cross(&b, &c)).atan2(below)
    };
    corners(surface).map(angle).sum::<f64>() / (2.0 * TAU)
}

/// Distance from a triangle: from its plane above its interior, else from its sides.
fn distance_from(corners: [[f64; 3]; 3], p: [f64; 3]) -> f64 {
    let norm = |v: &[f64; 3]| dot(v, v).sqrt();
    let [a, b, c] = corners;
    let normal = cross(&minus(&b, &a), &minus(&c, &a));
    let sides = [[a, b], [b, c], [c, a]];
    let is_over = |[from, to]: &[[f64; 3]; 2]| {
        dot(&cross(&minus(to, from), &minus(&p, from)), &normal) >= 0.0
    };
    if sides.iter().all(is_over) {
        return (dot(&minus(&p, &a), &normal) / norm(&normal)).abs();
    }
    let from_side = |[from, to]: &[[f64; 3]; 2]| {
        let (side, off) = (minus(to, from), minus(&p, from));
        let part = (dot(&off, &side) / dot(&side, &side)).clamp(0.0, 1.0);
        norm(&[0, 1, 2].map(|d| off[d] - part * side[d]))
    };
    sides.iter().map(from_side).fold(f64::INFINITY, f64::min)
}

/// Signed distance of a point, over all triangles.
pub(crate) fn distance(surface: &ClosedSurface, p: [f64; 3]) -> f64 {
    let distance = corners(surface).map(|t| distance_from(t, p)).fold(f64::INFINITY, f64::min);
    if winding(surface, p) > 0.5 { -distance } else { distance }
}

/// Fraction of a path at which it first crosses a surface, over all triangles (Möller, Trumbore, J.
/// Graphics Tools 2, 1997).
pub(crate) fn first_hit(surface: &ClosedSurface, [from, to]: [[f64; 3]; 2]) -> Option<f64> {
    let path = minus(&to, &from);
    let meets = |[a, b, c]: [[f64; 3]; 3]| {
        let (ab, ac, off) = (minus(&b, &a), minus(&c, &a), minus(&from, &a));
        let (h, q) = (cross(&path, &ac), cross(&off, &ab));
        let det = dot(&ab, &h);
        let (u, v, t) = (dot(&off, &h) / det, dot(&path, &q) / det, dot(&ac, &q) / det);
        let is_in = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&t);
        is_in.then_some(t)
    };
    corners(surface).filter_map(meets).min_by(f64::total_cmp)
}

//! From triangles in any order and direction to a closed surface whose triangles look outward.

use super::{
    SurfaceError,
    facet::{cross, dot, minus},
};
use std::collections::HashMap;

/// Triangles that bound a body: corners counter-clockwise as seen from outside.
pub(super) struct Closed {
    pub points: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// The triangle across the side from each corner to the next one.
    pub neighbours: Vec<[u32; 3]>,
}

/// Makes triangles a closed surface.
pub(super) fn close(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<Closed, SurfaceError> {
    check_points(points, triangles)?;
    let (points, triangles) = merged(points, triangles);
    if triangles.is_empty() {
        return Err(SurfaceError::Empty);
    }
    let neighbours = neighbours(&points, &triangles)?;
    let mut closed = Closed { points, triangles, neighbours };
    let parts = closed.turn_alike()?;
    closed.turn_outward(&parts);
    Ok(closed)
}

fn check_points(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<(), SurfaceError> {
    if i32::try_from(triangles.len()).is_err() || u32::try_from(points.len()).is_err() {
        return Err(SurfaceError::TooMany { triangles: triangles.len() });
    }
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(point) = corners.iter().find(|point| **point >= points.len()) {
            return Err(SurfaceError::NoPoint { triangle, point: *point, points: points.len() });
        }
    }
    let is_wild =
        |corners: &[usize; 3]| corners.iter().any(|i| points[*i].iter().any(is_no_number));
    let mut wild = triangles.iter().enumerate().filter(|(_, corners)| is_wild(corners));
    match wild.next() {
        Some((triangle, _)) => Err(SurfaceError::NotFinite { triangle, others: wild.count() }),
        None => Ok(()),
    }
}

/// Whether a coordinate is none that can be worked with.
fn is_no_number(x: &f64) -> bool {
    // Squares of lengths are numbers in single precision, too.
    x.is_nan() || x.abs() > 1e17
}

/// Points at the same place made one, without the triangles that have no more than two corners then.
fn merged(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    let mut numbers = HashMap::new();
    let mut places = Vec::new();
    let mut number = |i: usize| {
        // Zeros of either sign are the same.
        let place = points[i].map(|x| x + 0.0);
        *numbers.entry(place.map(f64::to_bits)).or_insert_with(|| {
            places.push(place);
            places.len() as u32 - 1
        })
    };
    let triangles = triangles.iter().map(|corners| corners.map(&mut number));
    let triangles = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    (places, triangles)
}

/// The neighbour across each side.
fn neighbours(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Vec<[u32; 3]>, SurfaceError> {
    let mut sides = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            sides.push((a.min(b), a.max(b), triangle as u32, k));
        }
    }
    sides.sort_unstable();
    let mut neighbours = vec![[0; 3]; triangles.len()];
    let (mut open, mut crowded) = (Vec::new(), Vec::new());
    for edge in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        match edge {
            [(.., one, i), (.., other, j)] => {
                neighbours[*one as usize][*i] = *other;
                neighbours[*other as usize][*j] = *one;
            }
            [(a, b, ..)] => open.push([*a, *b]),
            many => crowded.push([many[0].0, many[0].1]),
        }
    }
    let ends = |edge: [u32; 2]| edge.map(|i| points[i as usize]);
    if let Some(edge) = crowded.first() {
        let [from, to] = ends(*edge);
        return Err(SurfaceError::Crowded { count: crowded.len(), from, to });
    }
    if let Some(edge) = open.first() {
        let [from, to] = ends(*edge);
        return Err(SurfaceError::Open { count: open.len(), from, to });
    }
    Ok(neighbours)
}

impl Closed {
    pub fn corners(&self, triangle: usize) -> [[f64; 3]; 3] {
        self.triangles[triangle].map(|i| self.points[i as usize])
    }

    fn turn(&mut self, triangle: usize) {
        self.triangles[triangle].swap(0, 1);
        self.neighbours[triangle].swap(1, 2);
    }

    /// Turns the triangles of each connected part to the same side as the first one of it. Returns
    /// the part of each triangle.
    fn turn_alike(&mut self) -> Result<Vec<u32>, SurfaceError> {
        const NONE: u32 = u32::MAX;
        let mut parts = vec![NONE; self.triangles.len()];
        let (mut next, mut part) = (Vec::new(), 0);
        for first in 0..self.triangles.len() {
            if parts[first] != NONE {
                continue;
            }
            parts[first] = part;
            next.push(first);
            while let Some(triangle) = next.pop() {
                for k in 0..3 {
                    let other = self.neighbours[triangle][k] as usize;
                    let is_alike = self.is_alike(triangle, k);
                    if parts[other] == NONE {
                        if !is_alike {
                            self.turn(other);
                        }
                        parts[other] = part;
                        next.push(other);
                    } else if !is_alike {
                        let place = self.corners(triangle)[k];
                        return Err(SurfaceError::OneSided { place });
                    }
                }
            }
            part += 1;
        }
        Ok(parts)
    }

    /// Whether the neighbour across a side goes along it the other way.
    fn is_alike(&self, triangle: usize, k: usize) -> bool {
        let corners = self.triangles[triangle];
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        let [x, y, z] = self.triangles[self.neighbours[triangle][k] as usize];
        [[x, y], [y, z], [z, x]].contains(&[b, a])
    }

    /// Turns parts so that what is within an odd number of them is inside.
    fn turn_outward(&mut self, parts: &[u32]) {
        let count = parts.iter().max().map_or(0, |last| *last as usize + 1);
        let mut about = vec![Part::default(); count];
        for (triangle, part) in parts.iter().enumerate() {
            about[*part as usize].add(self.corners(triangle), triangle);
        }
        let mut is_turned: Vec<bool> = about.iter().map(|part| part.volume < 0.0).collect();
        if count > 1 {
            let within = self.surrounding(parts, &about);
            for (turned, within) in is_turned.iter_mut().zip(within) {
                *turned ^= within % 2 == 1;
            }
        }
        for (triangle, part) in parts.iter().enumerate() {
            if is_turned[*part as usize] {
                self.turn(triangle);
            }
        }
    }

    /// How many other parts each part is within, by how often a ray from it meets them.
    fn surrounding(&self, parts: &[u32], about: &[Part]) -> Vec<usize> {
        let mut within = vec![0; about.len()];
        for (part, own) in about.iter().enumerate() {
            let [a, b, c] = self.corners(own.first);
            let from = [0, 1, 2].map(|d| 0.29 * a[d] + 0.37 * b[d] + 0.34 * c[d]);
            let holds =
                |other: &Part| (0..3).all(|d| other.low[d] < from[d] && from[d] < other.high[d]);
            let around: Vec<bool> =
                about.iter().enumerate().map(|(i, other)| i != part && holds(other)).collect();
            if !around.contains(&true) {
                continue;
            }
            let mut crossings = vec![0; about.len()];
            for (triangle, other) in parts.iter().enumerate() {
                if around[*other as usize] && is_crossed(from, self.corners(triangle)) {
                    crossings[*other as usize] += 1;
                }
            }
            within[part] = crossings.iter().filter(|count| *count % 2 == 1).count();
        }
        within
    }
}

/// A connected part of a surface.
#[derive(Clone)]
struct Part {
    /// Six times the volume within, positive where its triangles look outward.
    volume: f64,
    /// Its first triangle, and a corner of that.
    first: usize,
    origin: [f64; 3],
    low: [f64; 3],
    high: [f64; 3],
}

impl Default for Part {
    fn default() -> Self {
        Part {
            volume: 0.0,
            first: usize::MAX,
            origin: [0.0; 3],
            low: [f64::MAX; 3],
            high: [f64::MIN; 3],
        }
    }
}

impl Part {
    fn add(&mut self, corners: [[f64; 3]; 3], triangle: usize) {
        if self.first == usize::MAX {
            (self.first, self.origin) = (triangle, corners[0]);
        }
        for corner in corners {
            self.low = [0, 1, 2].map(|d| self.low[d].min(corner[d]));
            self.high = [0, 1, 2].map(|d| self.high[d].max(corner[d]));
        }
        // The sum does not depend on the origin, and rounds less with one that is near.
        let [a, b, c] = corners.map(|corner| minus(&corner, &self.origin));
        self.volume += dot(&a, &cross(&b, &c));
    }
}

/// Whether a ray in a direction that is none of a model's meets a triangle.
fn is_crossed(from: [f64; 3], corners: [[f64; 3]; 3]) -> bool {
    const DIRECTION: [f64; 3] = [0.327_154_28, 0.819_437_61, 0.470_613_59];
    let [a, b, c] = corners.map(|corner| minus(&corner, &from));
    let side = |p: &[f64; 3], q: &[f64; 3]| dot(&DIRECTION, &cross(p, q));
    let (u, v, w) = (side(&b, &c), side(&c, &a), side(&a, &b));
    let is_same = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    let total = u + v + w;
    // The barycentric mean of the corners along the ray.
    let ahead =
        [a, b, c].into_iter().zip([u, v, w]).map(|(p, weight)| weight * dot(&p, &DIRECTION));
    is_same && total != 0.0 && ahead.sum::<f64>() / total > 0.0
}

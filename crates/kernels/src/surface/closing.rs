//! Builds a closed, outward-oriented surface from triangles in any order and orientation.

use super::{
    SurfaceError,
    facet::{cross, dot, minus},
};
use rayon::prelude::*;

/// Triangles that bound a body: corners counter-clockwise as seen from outside.
pub(super) struct Closed {
    pub points: Vec<[f64; 3]>,
    pub triangles: Vec<[u32; 3]>,
    /// The triangle across the side from each corner to the next one.
    pub neighbours: Vec<[u32; 3]>,
}

/// Builds a closed surface from triangles.
pub(super) fn close(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> Result<Closed, SurfaceError> {
    check_points(points, triangles)?;
    let (points, triangles) = merged(points, triangles);
    if triangles.is_empty() {
        return Err(SurfaceError::Empty);
    }
    let neighbours = neighbours(&points, &triangles)?;
    let mut closed = Closed { points, triangles, neighbours };
    let parts = closed.orient_consistently()?;
    closed.orient_outward(&parts);
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
    let is_invalid =
        |corners: &[usize; 3]| corners.iter().any(|i| points[*i].iter().any(is_invalid_coordinate));
    let mut invalid = triangles.iter().enumerate().filter(|(_, corners)| is_invalid(corners));
    match invalid.next() {
        Some((triangle, _)) => Err(SurfaceError::NotFinite { triangle, others: invalid.count() }),
        None => Ok(()),
    }
}

/// Whether a coordinate cannot be used.
fn is_invalid_coordinate(x: &f64) -> bool {
    // Limits squared lengths to the range of single precision.
    x.is_nan() || x.abs() > 1e17
}

/// Merges coincident points and removes triangles with coincident corners.
fn merged(points: &[[f64; 3]], triangles: &[[usize; 3]]) -> (Vec<[f64; 3]>, Vec<[u32; 3]>) {
    const NONE: u32 = u32::MAX;
    let first = first_of_coincident(points);
    let mut numbers = vec![NONE; points.len()];
    let mut unique = Vec::new();
    let mut number = |i: usize| {
        let number = &mut numbers[first[i] as usize];
        if *number == NONE {
            *number = unique.len() as u32;
            unique.push(without_sign_of_zero(points[i]));
        }
        *number
    };
    let triangles = triangles.iter().map(|corners| corners.map(&mut number));
    let triangles = triangles.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    (unique, triangles)
}

/// The first of the points at the position of each point.
fn first_of_coincident(points: &[[f64; 3]]) -> Vec<u32> {
    let keys = points.par_iter().zip(0..points.len() as u32);
    let keys = keys.map(|(p, i)| (without_sign_of_zero(*p).map(f64::to_bits), i));
    let mut sorted: Vec<_> = keys.collect();
    sorted.par_sort_unstable();
    let mut first = vec![0; points.len()];
    for same in sorted.chunk_by(|a, b| a.0 == b.0) {
        same.iter().for_each(|(_, i)| first[*i as usize] = same[0].1);
    }
    first
}

/// A position with 0.0 for -0.0.
fn without_sign_of_zero(position: [f64; 3]) -> [f64; 3] {
    position.map(|x| x + 0.0)
}

/// The neighbour across each side.
fn neighbours(points: &[[f64; 3]], triangles: &[[u32; 3]]) -> Result<Vec<[u32; 3]>, SurfaceError> {
    let sides = triangles.par_iter().enumerate().flat_map_iter(|(triangle, corners)| {
        (0..3).map(move |k| {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            (a.min(b), a.max(b), triangle as u32, k as u32)
        })
    });
    let mut sides: Vec<_> = sides.collect();
    sides.par_sort_unstable();
    let mut neighbours = vec![[0; 3]; triangles.len()];
    let (mut open, mut crowded) = (Vec::new(), Vec::new());
    for edge in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        match edge {
            [(.., one, i), (.., other, j)] => {
                neighbours[*one as usize][*i as usize] = *other;
                neighbours[*other as usize][*j as usize] = *one;
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

    fn flip(&mut self, triangle: usize) {
        self.triangles[triangle].swap(0, 1);
        self.neighbours[triangle].swap(1, 2);
    }

    /// Orients the triangles of each connected part like its first one. Returns the part of each
    /// triangle.
    fn orient_consistently(&mut self) -> Result<Vec<u32>, SurfaceError> {
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
                    let has_same_orientation = self.has_same_orientation(triangle, k);
                    if parts[other] == NONE {
                        if !has_same_orientation {
                            self.flip(other);
                        }
                        parts[other] = part;
                        next.push(other);
                    } else if !has_same_orientation {
                        let position = self.corners(triangle)[k];
                        return Err(SurfaceError::OneSided { position });
                    }
                }
            }
            part += 1;
        }
        Ok(parts)
    }

    /// Whether the neighbour across a side traverses it in the opposite direction.
    fn has_same_orientation(&self, triangle: usize, k: usize) -> bool {
        let corners = self.triangles[triangle];
        let (a, b) = (corners[k], corners[(k + 1) % 3]);
        let [x, y, z] = self.triangles[self.neighbours[triangle][k] as usize];
        [[x, y], [y, z], [z, x]].contains(&[b, a])
    }

    /// Orients parts so that points within an odd number of them are inside.
    fn orient_outward(&mut self, parts: &[u32]) {
        let count = parts.iter().max().map_or(0, |last| *last as usize + 1);
        let mut about = vec![Part::default(); count];
        for (triangle, part) in parts.iter().enumerate() {
            about[*part as usize].add(self.corners(triangle), triangle);
        }
        let mut is_flipped: Vec<bool> = about.iter().map(|part| part.volume < 0.0).collect();
        if count > 1 {
            let enclosing = self.surrounding(parts, &about);
            for (flipped, enclosing) in is_flipped.iter_mut().zip(enclosing) {
                *flipped ^= enclosing % 2 == 1;
            }
        }
        for (triangle, part) in parts.iter().enumerate() {
            if is_flipped[*part as usize] {
                self.flip(triangle);
            }
        }
    }

    /// The number of other parts around each part, by the crossings of a ray.
    fn surrounding(&self, parts: &[u32], about: &[Part]) -> Vec<usize> {
        let mut enclosing = vec![0; about.len()];
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
            enclosing[part] = crossings.iter().filter(|count| *count % 2 == 1).count();
        }
        enclosing
    }
}

/// A connected part of a surface.
#[derive(Clone)]
struct Part {
    /// Six times the enclosed volume, positive if its triangles face outward.
    volume: f64,
    /// Its first triangle, and a corner of it.
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
        // The sum does not depend on the origin; a near one reduces rounding.
        let [a, b, c] = corners.map(|corner| minus(&corner, &self.origin));
        self.volume += dot(&a, &cross(&b, &c));
    }
}

/// Whether a ray in an arbitrary fixed direction crosses a triangle.
fn is_crossed(from: [f64; 3], corners: [[f64; 3]; 3]) -> bool {
    const DIRECTION: [f64; 3] = [0.327_154_28, 0.819_437_61, 0.470_613_59];
    let [a, b, c] = corners.map(|corner| minus(&corner, &from));
    let side = |p: &[f64; 3], q: &[f64; 3]| dot(&DIRECTION, &cross(p, q));
    let (u, v, w) = (side(&b, &c), side(&c, &a), side(&a, &b));
    let is_same = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    let total = u + v + w;
    // The point on the ray as the barycentric mean of the corners.
    let ahead =
        [a, b, c].into_iter().zip([u, v, w]).map(|(p, weight)| weight * dot(&p, &DIRECTION));
    is_same && total != 0.0 && ahead.sum::<f64>() / total > 0.0
}

//! Triangles around a cell, with spheres around them that decide most questions about their distances.

use super::facet::Facet;

/// Relative bound of the rounding of distances and radii.
const SLACK: f64 = 1e-12;

/// Triangles around a cell: all that any of its parts has to know.
pub(super) struct Candidates<'a> {
    rows: &'a [[f64; 3]],
    triangles: Vec<u32>,
    /// The middle of each triangle, and the radius of the sphere around it.
    middles: [Vec<f64>; 3],
    radii: Vec<f64>,
}

impl<'a> Candidates<'a> {
    pub fn new(rows: &'a [[f64; 3]], triangles: Vec<u32>) -> Self {
        let spheres: Vec<_> =
            triangles.iter().map(|i| Facet::of(rows, *i as usize).sphere()).collect();
        let middles = [0, 1, 2].map(|d| spheres.iter().map(|(middle, _)| middle[d]).collect());
        let radii = spheres.iter().map(|(_, radius)| *radius).collect();
        Candidates { rows, triangles, middles, radii }
    }

    /// The distances of the middles from a point.
    pub fn distances(&self, p: &[f64; 3], distances: &mut Vec<f64>) {
        let [x, y, z] = &self.middles;
        let middles = x.iter().zip(y).zip(z);
        distances.clear();
        distances.extend(middles.map(|((x, y), z)| {
            let off = [x - p[0], y - p[1], z - p[2]];
            (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]).sqrt()
        }));
    }

    /// The triangle nearest to a point, which is one of these, and its distance, starting from a guess;
    /// `distances` are those of the middles.
    pub fn nearest(&self, p: &[f64; 3], guess: u32, distances: &[f64]) -> (u32, f64) {
        let square = |triangle| Facet::of(self.rows, triangle as usize).squared_distance(p);
        let (mut best, mut smallest) = (guess, square(guess));
        let mut bound = smallest.sqrt() * (1.0 + SLACK);
        for ((triangle, distance), radius) in self.triangles.iter().zip(distances).zip(&self.radii)
        {
            if distance - radius >= bound {
                continue;
            }
            let square = square(*triangle);
            if square < smallest {
                (best, smallest) = (*triangle, square);
                bound = smallest.sqrt() * (1.0 + SLACK);
            }
        }
        (best, smallest.sqrt())
    }

    /// The triangles within a distance of a point, sorted; `None` if there are more than `limit`.
    pub fn within(
        &self,
        p: &[f64; 3],
        distance: f64,
        limit: usize,
        distances: &[f64],
    ) -> Option<Vec<u32>> {
        let [sure, possible] = [distance * (1.0 - SLACK), distance * (1.0 + SLACK)];
        let bound = distance * distance;
        let mut found = Vec::new();
        for ((triangle, middle), radius) in self.triangles.iter().zip(distances).zip(&self.radii) {
            let is_possible = middle - radius <= possible;
            let is_within = || {
                *middle <= sure
                    || Facet::of(self.rows, *triangle as usize).squared_distance(p) <= bound
            };
            if is_possible && is_within() {
                if found.len() == limit {
                    return None;
                }
                found.push(*triangle);
            }
        }
        Some(found)
    }

    /// Those that may be within a distance of the point of `distances`.
    pub fn around(&self, distance: f64, distances: &[f64]) -> Self {
        let possible = distance * (1.0 + SLACK);
        let kept: Vec<usize> = (0..self.triangles.len())
            .filter(|i| distances[*i] - self.radii[*i] <= possible)
            .collect();
        let numbers = |all: &[f64]| kept.iter().map(|i| all[*i]).collect();
        Candidates {
            rows: self.rows,
            triangles: kept.iter().map(|i| self.triangles[*i]).collect(),
            middles: [0, 1, 2].map(|d| numbers(&self.middles[d])),
            radii: numbers(&self.radii),
        }
    }
}

impl Facet {
    /// A point of the triangle, and the radius of the sphere around it that holds the triangle.
    fn sphere(&self) -> ([f64; 3], f64) {
        let [length, x, y] = self.third;
        let (mid_x, mid_y) = ((length + x) / 3.0, y / 3.0);
        let up = super::facet::cross(&self.normal, &self.along);
        let middle = [0, 1, 2].map(|d| self.corner[d] + mid_x * self.along[d] + mid_y * up[d]);
        let corners = [[0.0, 0.0], [length, 0.0], [x, y]];
        let radius = corners.map(|[x, y]| (x - mid_x).hypot(y - mid_y));
        // With what the coordinates lose by rounding.
        let size = self.corner.iter().fold(length, |size, x| size.max(x.abs()));
        (middle, radius.into_iter().fold(0.0, f64::max) + 16.0 * f64::EPSILON * size)
    }
}

//! Plane polygons.

use crate::{Error, Result};

type Point = [f64; 2];

/// A simple polygon with counter-clockwise corners.
pub(super) struct Polygon {
    corners: Vec<Point>,
    /// Points closer to the boundary than this count as on it, because corners are rounded.
    tolerance: f64,
}

impl Polygon {
    /// A polygon that does not touch itself.
    ///
    /// `size` is a length of the order of its extent.
    ///
    /// # Errors
    ///
    /// [`Error::Inlet`] if two sides touch.
    pub(super) fn new(corners: Vec<Point>, size: f64) -> Result<Self> {
        let polygon = Polygon { corners, tolerance: 1e-9 * size };
        let count = polygon.corners.len();
        for i in 0..count {
            for j in i + 1..count {
                if polygon.sides_touch(i, j) {
                    return Err(Error::Inlet(format!(
                        "the polygon intersects itself: its side from corner {i} to {} touches \
                         the side from corner {j} to {}; give each corner once, in order along \
                         the boundary",
                        (i + 1) % count,
                        (j + 1) % count
                    )));
                }
            }
        }
        Ok(polygon)
    }

    pub(super) fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// Its sides; side `i` starts at corner `i`.
    fn sides(&self) -> impl Iterator<Item = [Point; 2]> {
        let next = self.corners.iter().cycle().skip(1);
        self.corners.iter().zip(next).map(|(a, b)| [*a, *b])
    }

    fn side(&self, i: usize) -> [Point; 2] {
        [self.corners[i], self.corners[(i + 1) % self.corners.len()]]
    }

    /// Whether two sides, `i < j`, touch anywhere but in a common corner.
    fn sides_touch(&self, i: usize, j: usize) -> bool {
        let [a, b] = self.side(i);
        let [c, d] = self.side(j);
        // Adjacent sides touch elsewhere only if the second runs back along the first.
        if j == i + 1 {
            return signed_area(a, b, d) == 0.0 && dot_from(b, a, d) >= 0.0;
        }
        if i == 0 && j + 1 == self.corners.len() {
            return signed_area(c, a, b) == 0.0 && dot_from(a, c, b) >= 0.0;
        }
        let near =
            (0..2).all(|k| a[k].min(b[k]) <= c[k].max(d[k]) && c[k].min(d[k]) <= a[k].max(b[k]));
        near && straddles(a, b, c, d) && straddles(c, d, a, b)
    }

    /// Whether a point is inside by the even-odd rule, and not on the boundary.
    pub(super) fn contains(&self, p: Point) -> bool {
        let mut inside = false;
        for [a, b] in self.sides() {
            if distance2(p, a, b) <= self.tolerance * self.tolerance {
                return false;
            }
            inside ^= (a[1] <= p[1]) != (b[1] <= p[1]) && p[0] < crossing(a, b, p[1]);
        }
        inside
    }

    /// Intervals of the first coordinate inside the polygon, at a second coordinate `y`.
    pub(super) fn row(&self, y: f64) -> Vec<[f64; 2]> {
        let met = self.sides().filter(|[a, b]| (a[1] <= y) != (b[1] <= y));
        let mut x: Vec<f64> = met.map(|[a, b]| crossing(a, b, y)).collect();
        x.sort_by(f64::total_cmp);
        let tolerance = 2.0 * self.tolerance;
        x.as_chunks().0.iter().copied().filter(|[a, b]| b - a > tolerance).collect()
    }

    /// Minimum and maximum coordinates.
    pub(super) fn bounds(&self) -> [Point; 2] {
        let corners = || self.corners.iter();
        [
            [0, 1].map(|k| corners().fold(f64::INFINITY, |m, p| m.min(p[k]))),
            [0, 1].map(|k| corners().fold(f64::NEG_INFINITY, |m, p| m.max(p[k]))),
        ]
    }

    pub(super) fn area(&self) -> f64 {
        0.5 * self.sides().map(|[a, b]| a[0] * b[1] - b[0] * a[1]).sum::<f64>()
    }

    /// Centroid, which can be outside a concave polygon.
    pub(super) fn centroid(&self) -> Point {
        let six = 6.0 * self.area();
        [0, 1].map(|k| {
            let parts =
                self.sides().map(|[a, b]| (a[k] + b[k]) * (a[0] * b[1] - b[0] * a[1]) / six);
            parts.sum()
        })
    }
}

/// Twice the signed area of a triangle, positive for counter-clockwise corners.
fn signed_area(a: Point, b: Point, c: Point) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// Scalar product of the vectors from one point to two others.
fn dot_from(from: Point, a: Point, b: Point) -> f64 {
    (a[0] - from[0]) * (b[0] - from[0]) + (a[1] - from[1]) * (b[1] - from[1])
}

/// Whether two points are not strictly on one side of the line through `a` and `b`.
fn straddles(a: Point, b: Point, c: Point, d: Point) -> bool {
    let [p, q] = [signed_area(a, b, c), signed_area(a, b, d)];
    !(p > 0.0 && q > 0.0 || p < 0.0 && q < 0.0)
}

/// First coordinate at which the line through two points has the second coordinate `y`.
fn crossing(a: Point, b: Point, y: f64) -> f64 {
    a[0] + (b[0] - a[0]) * ((y - a[1]) / (b[1] - a[1]))
}

/// Squared distance of a point to a side.
fn distance2(p: Point, a: Point, b: Point) -> f64 {
    let f = (dot_from(a, b, p) / dot_from(a, b, b)).clamp(0.0, 1.0);
    let d = [0, 1].map(|k| p[k] - (a[k] + f * (b[k] - a[k])));
    d[0] * d[0] + d[1] * d[1]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An L shape: the unit square without its upper right quarter.
    fn l_shape() -> Polygon {
        let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.5, 0.5], [0.5, 1.0], [0.0, 1.0]];
        Polygon::new(corners.to_vec(), 1.0).unwrap()
    }

    #[test]
    fn area_centroid_and_bounds_are_exact() {
        let ell = l_shape();
        assert!((ell.area() - 0.75).abs() < 1e-15);
        // A half at (1/2, 1/4) and a quarter at (1/4, 3/4).
        let expected = (0.5 * 0.5 + 0.25 * 0.25) / 0.75;
        assert!(ell.centroid().iter().all(|x| (x - expected).abs() < 1e-15));
        assert_eq!(ell.bounds(), [[0.0; 2], [1.0; 2]]);
    }

    #[test]
    fn boundary_is_not_inside() {
        let ell = l_shape();
        for p in [[0.25, 0.75], [0.75, 0.25], [0.25, 0.5], [0.499, 0.999]] {
            assert!(ell.contains(p), "{p:?}");
        }
        for p in [[0.75, 0.75], [0.5, 0.75], [0.75, 0.5], [0.0, 0.5], [-0.1, 0.5], [2.0, 0.5]] {
            assert!(!ell.contains(p), "{p:?}");
        }
    }

    #[test]
    fn rows_of_a_concave_polygon_have_several_pieces() {
        // A U shape of width 3.
        let corners = [[0, 0], [3, 0], [3, 2], [2, 2], [2, 1], [1, 1], [1, 2], [0, 2]];
        let u = Polygon::new(corners.map(|p| p.map(f64::from)).to_vec(), 3.0).unwrap();
        assert_eq!(u.row(0.5), [[0.0, 3.0]]);
        assert_eq!(u.row(1.5), [[0.0, 1.0], [2.0, 3.0]]);
        assert!(u.row(2.5).is_empty());
    }

    #[test]
    fn self_intersecting_polygons_are_refused() {
        let refused = |corners: &[Point]| match Polygon::new(corners.to_vec(), 1.0) {
            Err(Error::Inlet(message)) => message,
            _ => panic!("accepted"),
        };
        let bow = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, 2.0]];
        assert!(refused(&bow).contains("from corner 1 to 2 touches the side from corner 3 to 0"));
        // A side that runs back, a repeated corner, a corner on another side.
        refused(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0]]);
        refused(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]);
        refused(&[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]);
        refused(&[[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 0.0], [0.0, 1.0]]);
        // Collinear sides that do not touch, and a corner of 180 degrees, are valid.
        let comb = [[0, 0], [1, 0], [1, 1], [2, 1], [2, 0], [3, 0], [3, 2], [1, 2], [0, 2]];
        assert!(Polygon::new(comb.map(|p| p.map(f64::from)).to_vec(), 3.0).is_ok());
    }
}

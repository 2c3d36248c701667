//! Triangulation of polygons, from the positions of their corners alone.

/// Maximum number of corners: the time increases with their third power.
const MAX_CORNERS: usize = 64;

/// A corner of a convex quad has at least this quality; 1 is that of an equilateral triangle.
const MIN_QUALITY: f64 = 1e-3;

/// A polygon, with its corners in an order that does not depend on where and in which direction they are
/// listed, so that both cells at a face get the same triangles.
pub(super) struct Polygon {
    corners: Vec<u32>,
    positions: Vec<[f64; 3]>,
    normal: [f64; 3],
    is_reversed: bool,
}

impl Polygon {
    /// The polygon with these corners. The error is the reason why it cannot be used.
    pub(super) fn new(corners: &[u32], position: impl Fn(u32) -> [f64; 3]) -> Result<Self, String> {
        let count = corners.len();
        if !(3..=MAX_CORNERS).contains(&count) {
            return Err(format!(
                "it has a polygon with {count} corners; 3 to {MAX_CORNERS} are supported"
            ));
        }
        let at =
            |i: usize| corners.get(i % count).map_or([f64::NAN; 3], |corner| position(*corner));
        let smaller = |a: &usize, b: &usize| at(*a).partial_cmp(&at(*b));
        let first = (0..count).min_by(|a, b| smaller(a, b).unwrap_or(std::cmp::Ordering::Equal));
        let first = first.unwrap_or(0);
        let is_reversed = at(first + count - 1) < at(first + 1);
        let step = if is_reversed { count - 1 } else { 1 };
        let order: Vec<usize> = (0..count).map(|i| (first + i * step) % count).collect();
        let positions: Vec<[f64; 3]> = order.iter().map(|i| at(*i)).collect();
        let corners = order.iter().filter_map(|i| corners.get(*i).copied()).collect();
        let normal = normal(&positions);
        Ok(Self { corners, positions, normal, is_reversed })
    }

    /// Whether the corners are convex, with some margin.
    pub(super) fn is_convex(&self) -> bool {
        let count = self.corners.len();
        (0..count).all(|i| self.quality([i, (i + 1) % count, (i + 2) % count]) > MIN_QUALITY)
    }

    /// Triangles with the orientation of the polygon. The quality of the worst one is the maximum.
    pub(super) fn triangles(&self) -> Vec<[u32; 3]> {
        let count = self.corners.len();
        // For each chord from i to j: the quality of the best triangulation of the corners between, and
        // its corner beside the chord.
        let mut best = vec![(f64::INFINITY, 0); count * count];
        for length in 2..count {
            for i in 0..count - length {
                let j = i + length;
                let mut chosen = (f64::NEG_INFINITY, i + 1);
                for k in i + 1..j {
                    let parts = best[i * count + k].0.min(best[k * count + j].0);
                    let quality = parts.min(self.quality([i, k, j]));
                    if quality > chosen.0 {
                        chosen = (quality, k);
                    }
                }
                best[i * count + j] = chosen;
            }
        }
        let (mut triangles, mut chords) = (Vec::new(), vec![(0, count - 1)]);
        while let Some((i, j)) = chords.pop() {
            if j - i >= 2 {
                let k = best[i * count + j].1;
                triangles.push(self.triangle([i, k, j]));
                chords.extend([(i, k), (k, j)]);
            }
        }
        triangles
    }

    fn triangle(&self, [a, b, c]: [usize; 3]) -> [u32; 3] {
        let [a, b, c] = [a, b, c].map(|i| self.corners[i]);
        if self.is_reversed { [a, c, b] } else { [a, b, c] }
    }

    /// The area of a triangle along the normal, relative to its longest edge; 1 if it is equilateral, 0
    /// without area, negative if its orientation is the opposite one.
    fn quality(&self, corners: [usize; 3]) -> f64 {
        let [a, b, c] = corners.map(|i| self.positions[i]);
        let (u, v, w) = (minus(b, a), minus(c, a), minus(c, b));
        let longest = dot(u, u).max(dot(v, v)).max(dot(w, w));
        let area = dot(cross(u, v), self.normal);
        let quality = area / (longest * 3.0_f64.sqrt() / 2.0);
        if quality.is_nan() { 0.0 } else { quality }
    }
}

/// The unit normal of a polygon; 0 without area.
fn normal(positions: &[[f64; 3]]) -> [f64; 3] {
    let first = positions.first().copied().unwrap_or_default();
    let sides = positions.array_windows().map(|[a, b]| cross(minus(*a, first), minus(*b, first)));
    let sum = sides.fold([0.0; 3], |sum, side| [0, 1, 2].map(|d| sum[d] + side[d]));
    let length = dot(sum, sum).sqrt();
    if length > 0.0 { sum.map(|x| x / length) } else { [0.0; 3] }
}

pub(super) fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| a[d] - b[d])
}

pub(super) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Six times the volume of a tetrahedron; positive if its first three corners turn counterclockwise, seen
/// from the fourth one.
pub(super) fn volume([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    dot(cross(minus(b, a), minus(c, a)), minus(d, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangles(positions: &[[f64; 3]], corners: &[u32]) -> Vec<[u32; 3]> {
        let polygon = Polygon::new(corners, |point| positions[point as usize]);
        polygon.unwrap_or_else(|reason| panic!("{reason}")).triangles()
    }

    fn area(positions: &[[f64; 3]], triangle: [u32; 3]) -> f64 {
        let [a, b, c] = triangle.map(|point| positions[point as usize]);
        cross(minus(b, a), minus(c, a))[2] / 2.0
    }

    /// The same triangles, whatever their order and their first corner.
    fn sorted(mut triangles: Vec<[u32; 3]>) -> Vec<[u32; 3]> {
        triangles.iter_mut().for_each(|triangle| triangle.sort_unstable());
        triangles.sort_unstable();
        triangles
    }

    /// An L, a square with points in the middle of its edges, and a star.
    fn shapes() -> Vec<(Vec<[f64; 3]>, f64)> {
        let plane = |xy: &[[f64; 2]]| xy.iter().map(|[x, y]| [*x, *y, 0.0]).collect::<Vec<_>>();
        let l = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
        let square = [
            [0.0, 0.0],
            [1.0, 0.0],
            [2.0, 0.0],
            [2.0, 1.0],
            [2.0, 2.0],
            [1.0, 2.0],
            [0.0, 2.0],
            [0.0, 1.0],
        ];
        let star: Vec<[f64; 2]> = (0..10_u8)
            .map(|i| {
                let angle = f64::from(i) * std::f64::consts::PI / 5.0;
                let radius = if i % 2 == 0 { 2.0 } else { 0.9 };
                [radius * angle.cos(), radius * angle.sin()]
            })
            .collect();
        let of_star = 5.0 * 2.0 * 0.9 * (std::f64::consts::PI / 5.0).sin();
        vec![(plane(&l), 3.0), (plane(&square), 4.0), (plane(&star), of_star)]
    }

    #[test]
    fn triangles_cover_a_polygon_without_overlap() {
        for (positions, expected) in shapes() {
            let corners: Vec<u32> = (0..positions.len() as u32).collect();
            let triangles = triangles(&positions, &corners);
            assert_eq!(triangles.len(), corners.len() - 2);
            let areas: Vec<f64> = triangles.iter().map(|t| area(&positions, *t)).collect();
            assert!(areas.iter().all(|area| *area > 1e-9), "{areas:?}");
            assert!((areas.iter().sum::<f64>() - expected).abs() < 1e-12, "{areas:?}");
        }
    }

    #[test]
    fn both_sides_of_a_face_have_the_same_triangles() {
        for (positions, _) in shapes() {
            let corners: Vec<u32> = (0..positions.len() as u32).collect();
            let expected = sorted(triangles(&positions, &corners));
            for turn in 0..corners.len() {
                let mut turned = corners.clone();
                turned.rotate_left(turn);
                assert_eq!(sorted(triangles(&positions, &turned)), expected);
                turned.reverse();
                let reversed = triangles(&positions, &turned);
                assert!(reversed.iter().all(|triangle| area(&positions, *triangle) < 0.0));
                assert_eq!(sorted(reversed), expected);
            }
        }
    }

    #[test]
    fn convexity_of_quads_needs_four_real_corners() {
        let is_convex = |xy: [[f64; 2]; 4]| {
            let polygon = Polygon::new(&[0, 1, 2, 3], |i| {
                let [x, y] = xy[i as usize];
                [x, y, 1.0]
            });
            polygon.is_ok_and(|polygon| polygon.is_convex())
        };
        assert!(is_convex([[0.0, 0.0], [1.0, 0.0], [1.5, 1.0], [0.0, 1.0]]));
        assert!(!is_convex([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]), "three in a line");
        assert!(!is_convex([[0.0, 0.0], [2.0, 0.0], [0.3, 0.3], [0.0, 2.0]]), "an arrow");
        let error = Polygon::new(&[0; 65], |_| [0.0; 3]).err();
        assert!(error.is_some_and(|reason| reason.contains("65 corners")));
    }
}

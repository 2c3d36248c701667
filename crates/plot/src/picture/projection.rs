//! The projection of positions to points of a picture.

use super::canvas::Point;

/// A map from positions to points and depths: affine or, with perspective, projective.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projection {
    /// Pixels to the right, pixels down, and nearness to the viewer: factors of x, y and z, and a
    /// constant.
    rows: [[f64; 4]; 3],
    /// The point in the middle of the picture, about which near things are larger.
    middle: Point,
    /// The inverse of the distance of the viewer from the middle of the box; 0 without perspective.
    nearness: f64,
}

/// Distance of the viewer from the middle of a box in perspective, in half diagonals of the box.
const DISTANCE: f64 = 4.0;

impl Projection {
    /// Along the axis that is not among `axes`, such that `ranges` fill `sides` (left and right,
    /// top and bottom).
    pub(crate) fn plane(axes: [usize; 2], ranges: [[f64; 2]; 2], sides: [[f64; 2]; 2]) -> Self {
        let mut rows = [[0.0; 4]; 3];
        let ends = [sides[0], [sides[1][1], sides[1][0]]];
        for (i, ([low, high], [from, to])) in ranges.into_iter().zip(ends).enumerate() {
            let scale = (to - from) / (high - low);
            rows[i][axes[i]] = scale;
            rows[i][3] = from - low * scale;
        }
        Self { rows, middle: [0.0; 2], nearness: 0.0 }
    }

    /// From a direction; see [`View::Space`](super::View::Space). Each axis is
    /// stretched by its factor, and the middle of `domain` is at 0.
    pub(crate) fn space(
        [azimuth, elevation]: [f64; 2],
        domain: [[f64; 3]; 2],
        stretch: [f64; 3],
        perspective: bool,
    ) -> Self {
        let (sin, cos) = azimuth.to_radians().sin_cos();
        let (up, flat) = elevation.to_radians().sin_cos();
        let mut rows = [
            [-sin, cos, 0.0, 0.0],
            [cos * up, sin * up, -flat, 0.0],
            [cos * flat, sin * flat, up, 0.0],
        ];
        for row in &mut rows {
            (0..3).for_each(|i| row[i] *= stretch[i]);
            row[3] = -(0..3).map(|i| row[i] * (domain[0][i] + domain[1][i]) / 2.0).sum::<f64>();
        }
        let half = |i: usize| stretch[i] * (domain[1][i] - domain[0][i]) / 2.0;
        let radius = (0..3).map(|i| half(i).powi(2)).sum::<f64>().sqrt();
        let nearness = if perspective && radius > 0.0 { 1.0 / (DISTANCE * radius) } else { 0.0 };
        Self { rows, middle: [0.0; 2], nearness }
    }

    /// The projection scaled, with its origin moved to `middle`.
    pub(crate) fn moved(mut self, scale: f64, middle: Point) -> Self {
        for (i, row) in self.rows.iter_mut().enumerate() {
            row.iter_mut().for_each(|factor| *factor *= scale);
            row[3] += middle.get(i).copied().unwrap_or(0.0);
        }
        self.middle = [0, 1].map(|i| self.middle[i] * scale + middle[i]);
        self.nearness /= scale;
        self
    }

    /// The point of a position and, as the third coordinate, its nearness to the viewer.
    pub(crate) fn with_depth(&self, position: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = position;
        let [right, down, near] = self.rows.map(|[a, b, c, d]| a * x + b * y + c * z + d);
        let factor = 1.0 / (1.0 - near * self.nearness).max(1e-3);
        let [mx, my] = self.middle;
        [mx + (right - mx) * factor, my + (down - my) * factor, near]
    }

    /// The point of a position.
    pub(crate) fn point(&self, position: [f64; 3]) -> Point {
        let [x, y, _] = self.with_depth(position);
        [x, y]
    }

    /// The component of an axis towards the viewer: above 0 if its high end is nearer.
    pub(crate) fn towards_viewer(&self, axis: usize) -> f64 {
        self.rows[2][axis]
    }

    /// Whether the depth of positions differs.
    pub(crate) fn has_depth(&self) -> bool {
        self.rows[2][..3].iter().any(|&factor| factor != 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_have_their_low_corner_at_the_bottom_left() {
        let plane =
            Projection::plane([0, 2], [[1.0, 3.0], [-1.0, 0.0]], [[100.0, 300.0], [50.0, 150.0]]);
        assert_eq!(plane.point([1.0, 77.0, -1.0]), [100.0, 150.0]);
        assert_eq!(plane.point([3.0, -5.0, 0.0]), [300.0, 50.0]);
        assert!(!plane.has_depth());
    }

    #[test]
    fn angles_are_those_of_matplotlib() {
        let close = |a: [f64; 3], b: [f64; 3]| (0..3).all(|i| (a[i] - b[i]).abs() < 1e-12);
        // From the x axis: y to the right, z up, x towards the viewer.
        let front = Projection::space([0.0, 0.0], [[0.0; 3]; 2], [1.0; 3], false);
        assert!(close(front.with_depth([0.0, 1.0, 0.0]), [1.0, 0.0, 0.0]));
        assert!(close(front.with_depth([0.0, 0.0, 1.0]), [0.0, -1.0, 0.0]));
        assert!(close(front.with_depth([1.0, 0.0, 0.0]), [0.0, 0.0, 1.0]));
        // From above, at -90 degrees: x to the right, y up.
        let above = Projection::space([-90.0, 90.0], [[0.0; 3]; 2], [1.0; 3], false);
        assert!(close(above.with_depth([1.0, 0.0, 0.0]), [1.0, 0.0, 0.0]));
        assert!(close(above.with_depth([0.0, 1.0, 0.0]), [0.0, -1.0, 0.0]));
        let middle =
            Projection::space([30.0, 20.0], [[0.0, 2.0, 4.0], [2.0, 4.0, 8.0]], [1.0; 3], false);
        assert!(close(middle.with_depth([1.0, 3.0, 6.0]), [0.0; 3]));
    }

    #[test]
    fn near_edges_are_longer_in_perspective() {
        let cube = [[-1.0; 3], [1.0; 3]];
        let width =
            |view: Projection, x: f64| view.point([x, 1.0, 0.0])[0] - view.point([x, -1.0, 0.0])[0];
        let view = Projection::space([0.0, 0.0], cube, [1.0; 3], true).moved(10.0, [50.0, 40.0]);
        // The viewer is at x = 4 times the half diagonal.
        let distance = 4.0 * 3f64.sqrt();
        for x in [-1.0, 0.0, 1.0] {
            assert!((width(view, x) - 20.0 * distance / (distance - x)).abs() < 1e-9, "{x}");
        }
        assert_eq!(view.point([0.0; 3]), [50.0, 40.0]);
        let flat = Projection::space([0.0, 0.0], cube, [1.0; 3], false).moved(10.0, [50.0, 40.0]);
        assert_eq!(width(flat, 1.0), width(flat, -1.0));
    }
}

//! The projection of positions to points of a picture.

use super::canvas::Point;

/// An affine map from positions to points and depths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Projection {
    /// Pixels to the right, pixels down, and nearness to the viewer: factors of x, y and z, and a
    /// constant.
    rows: [[f64; 4]; 3],
}

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
        Self { rows }
    }

    /// Orthographic, from a direction; see [`View::Space`](super::View::Space). Each axis is
    /// stretched by its factor, and the middle of `domain` is at 0.
    pub(crate) fn space(
        [azimuth, elevation]: [f64; 2],
        domain: [[f64; 3]; 2],
        stretch: [f64; 3],
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
        Self { rows }
    }

    /// The projection scaled, with its origin moved to `middle`.
    pub(crate) fn moved(mut self, scale: f64, middle: Point) -> Self {
        for (i, row) in self.rows.iter_mut().enumerate() {
            row.iter_mut().for_each(|factor| *factor *= scale);
            row[3] += middle.get(i).copied().unwrap_or(0.0);
        }
        self
    }

    /// The point of a position and, as the third coordinate, its nearness to the viewer.
    pub(crate) fn with_depth(&self, position: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = position;
        self.rows.map(|[a, b, c, d]| a * x + b * y + c * z + d)
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
        let front = Projection::space([0.0, 0.0], [[0.0; 3]; 2], [1.0; 3]);
        assert!(close(front.with_depth([0.0, 1.0, 0.0]), [1.0, 0.0, 0.0]));
        assert!(close(front.with_depth([0.0, 0.0, 1.0]), [0.0, -1.0, 0.0]));
        assert!(close(front.with_depth([1.0, 0.0, 0.0]), [0.0, 0.0, 1.0]));
        // From above, at -90 degrees: x to the right, y up.
        let above = Projection::space([-90.0, 90.0], [[0.0; 3]; 2], [1.0; 3]);
        assert!(close(above.with_depth([1.0, 0.0, 0.0]), [1.0, 0.0, 0.0]));
        assert!(close(above.with_depth([0.0, 1.0, 0.0]), [0.0, -1.0, 0.0]));
        let middle = Projection::space([30.0, 20.0], [[0.0, 2.0, 4.0], [2.0, 4.0, 8.0]], [1.0; 3]);
        assert!(close(middle.with_depth([1.0, 3.0, 6.0]), [0.0; 3]));
    }
}

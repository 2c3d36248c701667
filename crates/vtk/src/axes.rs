//! Images whose axes are permuted or reversed.

use crate::geometry::{Geometry, UNIT_DIRECTION};
use crate::scalar::ScalarType;
use crate::values::Values;

impl Geometry {
    /// Puts the axes of an image in the order x, y, z, if its `direction` permutes or reverses them
    /// exactly: then each row and each column has one 1 or -1. A reversed axis gets a negative spacing.
    /// Gives the old axis of each new one, if the order changes.
    pub(crate) fn sort_axes(&mut self) -> Option<[usize; 3]> {
        let Self::Image { extent, spacing, direction, .. } = self else { return None };
        let (axes, signs) = permutation(direction)?;
        let (old_extent, old_spacing) = (*extent, *spacing);
        let [x0, x1, y0, y1, z0, z1] = old_extent;
        let ends = [[x0, x1], [y0, y1], [z0, z1]];
        let along = |new: usize| -> Option<([i64; 2], f64)> {
            let old = *axes.get(new)?;
            Some((*ends.get(old)?, signs.get(new)? * old_spacing.get(old)?))
        };
        let (([x0, x1], x), ([y0, y1], y), ([z0, z1], z)) = (along(0)?, along(1)?, along(2)?);
        *extent = [x0, x1, y0, y1, z0, z1];
        *spacing = [x, y, z];
        *direction = UNIT_DIRECTION;
        (axes != [0, 1, 2]).then_some(axes)
    }
}

/// The column and the value of the entry in each row of a matrix that permutes or reverses axes.
fn permutation(matrix: &[f64; 9]) -> Option<([usize; 3], [f64; 3])> {
    let (mut axes, mut signs) = ([0; 3], [0.0; 3]);
    let (rows, _) = matrix.as_chunks::<3>();
    for ((row, axis), sign) in rows.iter().zip(&mut axes).zip(&mut signs) {
        let column = row.iter().position(|x| x.abs() == 1.0)?;
        let others = row.iter().filter(|x| **x != 0.0).count();
        *axis = column;
        *sign = *row.get(column).filter(|_| others == 1)?;
    }
    [0, 1, 2].iter().all(|column| axes.contains(column)).then_some((axes, signs))
}

/// Reorders tuples of a scalar type so that the first of the new axes varies fastest. `dims` are their numbers along the
/// new axes, and `axes` the old axis of each new one. `None` without enough memory or values.
pub(crate) fn reorder(
    values: Values,
    scalar: ScalarType,
    components: usize,
    dims: [usize; 3],
    axes: [usize; 3],
) -> Option<Values> {
    let [a, b, c] = axes;
    let [nx, ny, nz] = dims;
    // Number of tuples along each old axis, and between neighbours along it.
    let mut old = [1; 3];
    for (axis, count) in axes.into_iter().zip(dims) {
        *old.get_mut(axis)? = count;
    }
    let steps = [1, old[0], old[0].checked_mul(old[1])?];
    let (x, y, z) = (*steps.get(a)?, *steps.get(b)?, *steps.get(c)?);
    let mut sorted = Values::empty(scalar);
    sorted.try_reserve(values.len()).ok()?;
    sorted.resize(values.len());
    let mut to = 0;
    for (k, j) in (0..nz).flat_map(|k| (0..ny).map(move |j| (k, j))) {
        for i in 0..nx {
            let from = i * x + j * y + k * z;
            sorted.copy_run(to, &values, from.checked_mul(components)?, components)?;
            to += components;
        }
    }
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(direction: [f64; 9]) -> Geometry {
        let (extent, origin) = ([0, 1, 0, 2, 5, 8], [10.0, 20.0, 30.0]);
        Geometry::Image { extent, origin, spacing: [1.0, 2.0, 3.0], direction }
    }

    #[test]
    fn axes_are_sorted() {
        // The first axis of the file is along -y, the second along z, the third along x.
        let mut geometry = image([0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(geometry.sort_axes(), Some([2, 0, 1]));
        let expected = Geometry::Image {
            extent: [5, 8, 0, 1, 0, 2],
            origin: [10.0, 20.0, 30.0],
            spacing: [3.0, -1.0, 2.0],
            direction: UNIT_DIRECTION,
        };
        assert_eq!(geometry, expected);
        let mut mirrored = image([-1.0, 0.0, 0.0, 0.0, 1.0, -0.0, 0.0, 0.0, 1.0]);
        assert_eq!(mirrored.sort_axes(), None);
        assert!(matches!(mirrored, Geometry::Image { spacing: [-1.0, 2.0, 3.0], .. }));
    }

    #[test]
    fn other_directions_are_left() {
        for direction in [
            [0.8, -0.6, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 1.0],
            [1.0, 1e-17, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0],
            [0.0; 9],
            [f64::NAN; 9],
        ] {
            let mut geometry = image(direction);
            let before = format!("{geometry:?}");
            assert_eq!(geometry.sort_axes(), None);
            assert_eq!(format!("{geometry:?}"), before);
        }
    }

    #[test]
    fn values_are_reordered_with_their_axes() {
        // 2 x 3 x 1 in the file, 3 x 1 x 2 in the order of x, y and z.
        let values = Values::I32(vec![0, 1, 2, 3, 4, 5]);
        let sorted = reorder(values, ScalarType::I32, 1, [3, 1, 2], [1, 2, 0]).unwrap();
        assert_eq!(sorted, Values::I32(vec![0, 2, 4, 1, 3, 5]));
        let pairs = Values::U8(vec![0, 10, 1, 11, 2, 12, 3, 13]);
        let sorted = reorder(pairs, ScalarType::U8, 2, [2, 2, 1], [1, 0, 2]).unwrap();
        assert_eq!(sorted, Values::U8(vec![0, 10, 2, 12, 1, 11, 3, 13]));
        assert_eq!(reorder(Values::U8(vec![1]), ScalarType::U8, 1, [2, 1, 1], [1, 0, 2]), None);
    }
}

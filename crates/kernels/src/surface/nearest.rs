//! Distances from triangles that need not be closed.

use super::{
    bounding_box,
    facet::Facet,
    frames::{facet, has_area, longest_side},
    tree::Tree,
};

/// Triangles in space, of which the nearest one to a point is found.
///
/// ```
/// use burntrace_kernels::Triangles;
///
/// let floor = Triangles::new([[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]).expect("an area");
/// assert_eq!(floor.distance(&[0.25, 0.25, -2.0]), 2.0);
/// assert_eq!(floor.distance(&[4.0, 0.0, 4.0]), 5.0);
/// ```
#[derive(Debug)]
pub struct Triangles(Tree<'static>);

impl Triangles {
    /// Triangles by the coordinates of their corners, of which those without an area are left out; `None` if none is left.
    pub fn new(triangles: impl IntoIterator<Item = [[f64; 3]; 3]>) -> Option<Self> {
        let (mut rows, mut boxes) = (Vec::new(), Vec::new());
        for mut corners in triangles {
            let first = longest_side(&corners);
            corners.rotate_left(first);
            let facet: Facet = facet(&corners);
            if has_area(&facet, &corners) {
                rows.extend(facet.rows());
                boxes.push(bounding_box(&corners));
            }
        }
        (!boxes.is_empty()).then(|| Triangles(Tree::new(rows, &boxes)))
    }

    /// The distance of a point from the nearest triangle.
    pub fn distance(&self, point: &[f64; 3]) -> f64 {
        self.0.nearest(point, 0).1
    }
}

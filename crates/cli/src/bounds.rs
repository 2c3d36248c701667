//! Bounding boxes.

use std::array::from_fn;

/// Low and high corner of the bounding box of points. NaN is ignored; without points, the low corner is
/// infinite and the high one negative infinite.
pub fn bounding_box(points: impl IntoIterator<Item = [f64; 3]>) -> [[f64; 3]; 2] {
    let empty = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    points.into_iter().fold(empty, |[low, high], point| {
        [from_fn(|d| low[d].min(point[d])), from_fn(|d| high[d].max(point[d]))]
    })
}

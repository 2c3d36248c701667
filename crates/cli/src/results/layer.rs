//! What of an image a picture shows.

use super::Results;
use crate::summary::in_six_digits;
use burntrace::io;
use burntrace_plot::{Axis, Raster};

/// Names of the axes.
pub const AXES: [&str; 3] = ["x", "y", "z"];

/// Numbers on a plane of an image, and where it lies where it is one of several: as `, z = 0.5`.
pub struct Layer {
    /// Without name, unit and title.
    pub raster: Raster,
    pub place: String,
}

/// The plane of an image with one node along an axis, or the layer in the middle along z; none of a
/// line. `values` are those of the image's nodes.
pub fn layer(results: &Results, image: &io::Image, values: &[f64]) -> Option<Layer> {
    let several: Vec<usize> = (0..3).filter(|&d| image.counts[d] > 1).collect();
    let node = |d: usize, i: usize| image.origin[d] + i as f64 * image.spacing[d];
    let (flat, values, place) = match several[..] {
        [a, b] => ([a, b], values, String::new()),
        [a, b, c] => {
            let (middle, size) = (image.counts[c] / 2, image.counts[a] * image.counts[b]);
            let place = format!(", {} = {}", AXES[c], in_six_digits(node(c, middle)));
            ([a, b], &values[middle * size..][..size], place)
        }
        _ => return None,
    };
    let unit = results.units().length;
    let axis = |d: usize| Axis {
        name: AXES[d].into(),
        unit: unit.clone(),
        range: [image.origin[d], node(d, image.counts[d] - 1)],
    };
    let raster = Raster {
        axes: flat.map(axis),
        counts: flat.map(|d| image.counts[d]),
        values: values.iter().map(|&value| value as f32).collect(),
        ..Raster::default()
    };
    Some(Layer { raster, place })
}

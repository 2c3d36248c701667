//! Layers of images, for pictures.

use super::AXES;
use burntrace_case::format::rounded_to_extent;
use burntrace_io::{Image, tracks::Units};
use burntrace_plot::{Axis, Raster};

/// An axis of positions.
pub(super) fn axis(units: &Units, d: usize, range: [f64; 2]) -> Axis {
    let [name, unit] = units.axis_names()[d].clone();
    Axis { name, unit, range }
}

/// One layer of an image.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The values, without name, unit and title.
    pub raster: Raster,
    /// The position of the layer in a 3D image, as `, z = 0.5 m`; else empty.
    pub position: String,
}

impl Layer {
    /// The plane of an image that has one node along an axis, or one layer of a 3D image. `None`
    /// for an image along a line. `values` are the values at the nodes of the image.
    ///
    /// `chosen` is the layer of a 3D image, and `units` those of the run.
    pub fn of(image: &Image, values: &[f64], chosen: usize, units: &Units) -> Option<Layer> {
        let extended: Vec<usize> = (0..3).filter(|&d| image.counts[d] > 1).collect();
        let node = |d: usize, i: usize| image.origin[d] + i as f64 * image.spacing[d];
        let (flat, values, position) = match extended[..] {
            [a, b] => ([a, b], values, String::new()),
            [a, b, c] => {
                let size = image.counts[a] * image.counts[b];
                let chosen = chosen.min(image.counts[c] - 1);
                let [low, high] = [0, image.counts[c] - 1].map(|i| node(c, i));
                let position = rounded_to_extent(node(c, chosen), high - low);
                let position = format!(", {} = {position} {}", AXES[c], units.length);
                ([a, b], &values[chosen * size..][..size], position.trim_end().into())
            }
            _ => return None,
        };
        let axis = |d: usize| axis(units, d, [image.origin[d], node(d, image.counts[d] - 1)]);
        let raster = Raster {
            axes: flat.map(axis),
            counts: flat.map(|d| image.counts[d]),
            values: values.iter().map(|&value| value as f32).collect(),
            ..Raster::default()
        };
        Some(Layer { raster, position })
    }
}

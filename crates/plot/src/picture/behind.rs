//! A field behind the tracks.

use super::axes::Axes;
use super::canvas::{Canvas, Shape};
use super::color_scale::ColorScale;
use crate::data::Raster;

/// Width of the cells that it is drawn in, in ems: a field has far fewer nodes than a picture has pixels.
const CELL: f64 = 0.12;

/// Draws a field between two axes, where it has samples: the nearest one, as pictures of fields do.
pub(crate) fn draw(canvas: &mut Canvas, axes: &Axes, raster: &Raster, scale: &ColorScale) {
    let [[left, right], [top, bottom]] = axes.sides;
    let cell = CELL * canvas.em;
    let counts =
        [right - left, bottom - top].map(|length| (length / cell).ceil().max(1.0) as usize);
    let palette = canvas.palette;
    let mut pixels = Vec::with_capacity(counts[0] * counts[1]);
    for row in 0..counts[1] {
        for column in 0..counts[0] {
            let part = |i: usize, n: usize| (i as f64 + 0.5) / n as f64;
            let parts = [part(column, counts[0]), 1.0 - part(row, counts[1])];
            let at = [0, 1].map(|i| {
                let [low, high] = axes.specs[i].range;
                low + parts[i] * (high - low)
            });
            let value = raster.nearest(at);
            pixels.push(
                value.map_or(palette.background, |value| scale.color(value, palette.missing)),
            );
        }
    }
    canvas.shapes.push(Shape::Image { corners: axes.corners(), counts, pixels });
}

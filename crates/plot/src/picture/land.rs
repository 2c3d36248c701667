//! Land in plots.

use super::axes::Axes;
use super::canvas::Canvas;
use super::scene::clipped;
use crate::color::mix;
use crate::land::Land;

/// Contrast of land to the background.
const STRENGTH: f64 = 0.25;

/// Shades land between two axes, and draws its coast.
pub(crate) fn draw(canvas: &mut Canvas, axes: &Axes, land: &Land) {
    let palette = canvas.palette;
    let color = mix(palette.background, palette.foreground, STRENGTH);
    let [[left, right], [low, high]] = [0, 1].map(|i| axes.specs[i].range);
    let window = [[left, low, 0.0], [right, high, 0.0]];
    let (walls, mut gaps, mut coast) = (land.coast(), Vec::new(), Vec::new());
    for shift in land.shifts([left, right]) {
        for corners in land.rectangles() {
            // Whole pixels, so that rows of cells have no gap between them.
            let [a, b] = corners.map(|[x, y]| {
                axes.at([(x + shift).clamp(left, right), y.clamp(low, high)]).map(f64::round)
            });
            if a[0] < b[0] && b[1] < a[1] {
                canvas.rectangle([a, b], color);
                gaps.push([a, [b[0], a[1]]]);
            }
        }
        let lines = walls.iter().map(|line| line.map(|[x, y]| [x + shift, y, 0.0]));
        coast.extend(lines.filter_map(|line| clipped(line, window)));
    }
    // In enlarged SVG files, rows have one.
    canvas.lines(&gaps, 0.8, color);
    let coast: Vec<_> = coast.iter().map(|line| line.map(|[x, y, _]| axes.at([x, y]))).collect();
    canvas.lines(&coast, canvas.hairline(), palette.muted);
}

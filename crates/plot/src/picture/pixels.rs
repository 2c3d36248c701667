//! Rasterization of shapes, with antialiasing.

use super::canvas::{Dot, Point, Segment, Shape};
use super::font;
use crate::color::Rgb;

/// The pixels of a picture as red, green and blue, row by row from the top.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pixels {
    pub size: [usize; 2],
    pub rgb: Vec<u8>,
}

impl Pixels {
    pub(crate) fn new(size: [u32; 2], background: Rgb) -> Self {
        let size = size.map(|side| side as usize);
        Self { size, rgb: background.repeat(size[0] * size[1]) }
    }

    pub(crate) fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Segments { segments, width, opacity } => {
                let stroke = Stroke { half: *width as f32 / 2.0, opacity: *opacity as f32 };
                segments.iter().for_each(|segment| self.segment(segment, stroke));
            }
            Shape::Dots { dots, radius, edge_width } => {
                dots.iter().for_each(|dot| self.dot(dot, *radius as f32, *edge_width as f32));
            }
            Shape::Polygon { points, color } => self.polygon(points, *color),
            Shape::Image { corners, counts, pixels } => self.image(corners, *counts, pixels),
            Shape::Text(text) => font::draw(text, |x, y, coverage| {
                if x >= 0 && y >= 0 {
                    self.blend(x as usize, y as usize, text.color, coverage);
                }
            }),
        }
    }

    /// Blends a colour into a pixel, if it is inside the picture.
    fn blend(&mut self, x: usize, y: usize, color: Rgb, coverage: f32) {
        if y < self.size[1]
            && let Some(pixel) = self.row(y).get_mut(x)
        {
            mix_in(pixel, color.map(f32::from), coverage);
        }
    }

    /// The pixels of a row.
    fn row(&mut self, y: usize) -> &mut [[u8; 3]] {
        let width = 3 * self.size[0];
        self.rgb[y * width..(y + 1) * width].as_chunks_mut().0
    }

    /// The pixels that `low` to `high` touches along an axis, clipped to the picture.
    fn span(&self, axis: usize, low: f32, high: f32) -> std::ops::Range<usize> {
        // Conversion to `usize` truncates, and saturates at 0.
        low as usize..(high as usize + usize::from(high > 0.0)).min(self.size[axis])
    }

    /// Draws a line. Opaque lines have round caps, so that they join. Others have butt caps: round
    /// ones would be blended twice at the joints.
    fn segment(&mut self, segment: &Segment, stroke: Stroke) {
        let (line, color) = (Line::new(segment), segment.color.map(f32::from));
        let reach = stroke.half + 0.5;
        let ([ax, ay], [bx, by]) = (segment.from, segment.to);
        for y in self.span(1, ay.min(by) - reach, ay.max(by) + reach) {
            let dy = y as f32 + 0.5 - ay;
            let (mut low, mut high) = (ax.min(bx) - reach, ax.max(bx) + reach);
            if line.direction[1].abs() > 1e-4 {
                let middle = ax + dy * line.direction[0] / line.direction[1];
                let half = reach / line.direction[1].abs();
                (low, high) = (low.max(middle - half), high.min(middle + half));
            }
            if line.direction[0].abs() > 1e-4 {
                // The ends of the line, extended by the reach, along the row.
                let ends = [-reach, line.length + reach]
                    .map(|end| ax + (end - dy * line.direction[1]) / line.direction[0]);
                (low, high) = (low.max(ends[0].min(ends[1])), high.min(ends[0].max(ends[1])));
            }
            let span = self.span(0, low, high);
            let Some(pixels) = self.row(y).get_mut(span.clone()) else { continue };
            for (x, pixel) in span.zip(pixels) {
                let coverage = stroke.coverage(&line, [x as f32 + 0.5 - ax, dy]);
                mix_in(pixel, color, coverage);
            }
        }
    }

    fn dot(&mut self, dot: &Dot, radius: f32, edge_width: f32) {
        let [cx, cy] = dot.center;
        for y in self.span(1, cy - radius - 0.5, cy + radius + 0.5) {
            for x in self.span(0, cx - radius - 0.5, cx + radius + 0.5) {
                let [dx, dy] = [x as f32 + 0.5 - cx, y as f32 + 0.5 - cy];
                let distance = (dx * dx + dy * dy).sqrt();
                let coverage = |radius: f32| (radius + 0.5 - distance).clamp(0.0, 1.0);
                self.blend(x, y, dot.edge, coverage(radius));
                self.blend(x, y, dot.fill, coverage(radius - edge_width));
            }
        }
    }

    /// Fills a convex polygon, antialiased at its sides.
    fn polygon(&mut self, points: &[Point], color: Rgb) {
        let points: Vec<_> = points.iter().map(|point| point.map(|x| x as f32)).collect();
        let ends = |axis: usize| {
            let values = points.iter().map(|point| point[axis]);
            values.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], v| {
                [low.min(v), high.max(v)]
            })
        };
        let ([left, right], [top, bottom]) = (ends(0), ends(1));
        let sides: Vec<_> = (0..points.len()).map(|i| Side::new(&points, i)).collect();
        for y in self.span(1, top, bottom) {
            for x in self.span(0, left, right) {
                let center = [x as f32 + 0.5, y as f32 + 0.5];
                let coverage = sides.iter().map(|side| side.coverage(center)).product();
                self.blend(x, y, color, coverage);
            }
        }
    }

    /// Draws an image by nearest-neighbour sampling.
    fn image(&mut self, [low, high]: &[Point; 2], counts: [usize; 2], pixels: &[Rgb]) {
        if pixels.is_empty() {
            return;
        }
        let ends = |i: usize| low[i].round() as usize..(high[i].round() as usize).min(self.size[i]);
        let spans = [ends(0), ends(1)];
        let sample = |axis: usize, pixel: usize| {
            let fraction = (pixel as f64 + 0.5 - low[axis]) / (high[axis] - low[axis]);
            ((fraction * counts[axis] as f64).max(0.0) as usize).min(counts[axis] - 1)
        };
        let columns: Vec<_> = spans[0].clone().map(|x| sample(0, x)).collect();
        for y in spans[1].clone() {
            let row = &pixels[sample(1, y) * counts[0]..][..counts[0]];
            let start = 3 * (y * self.size[0] + spans[0].start);
            for (pixel, &column) in self.rgb[start..].chunks_exact_mut(3).zip(&columns) {
                pixel.copy_from_slice(&row[column]);
            }
        }
    }
}

/// Blends a colour into a pixel.
fn mix_in(pixel: &mut [u8; 3], color: [f32; 3], coverage: f32) {
    for (old, to) in pixel.iter_mut().zip(color) {
        let from = f32::from(*old);
        *old = (from + (to - from) * coverage + 0.5) as u8;
    }
}

/// A line relative to its start: unit direction and length.
struct Line {
    direction: [f32; 2],
    length: f32,
}

impl Line {
    fn new(segment: &Segment) -> Self {
        let [x, y] = [0, 1].map(|i| segment.to[i] - segment.from[i]);
        let length = (x * x + y * y).sqrt();
        let direction = if length > 0.0 { [x / length, y / length] } else { [1.0, 0.0] };
        Self { direction, length }
    }
}

#[derive(Clone, Copy)]
struct Stroke {
    /// Half of the width, in pixels.
    half: f32,
    opacity: f32,
}

impl Stroke {
    /// The coverage, times the opacity, of the pixel at a position relative to the start of the
    /// line.
    fn coverage(self, line: &Line, [x, y]: [f32; 2]) -> f32 {
        let t = x * line.direction[0] + y * line.direction[1];
        let across = y * line.direction[0] - x * line.direction[1];
        if self.opacity < 1.0 {
            let coverage = overlap(across, -self.half, self.half) * overlap(t, 0.0, line.length);
            return coverage * self.opacity;
        }
        let beyond = t - t.clamp(0.0, line.length);
        let distance = (beyond * beyond + across * across).sqrt();
        overlap(distance, -self.half, self.half)
    }
}

/// The part of the unit interval around `center` that is between `low` and `high`.
fn overlap(center: f32, low: f32, high: f32) -> f32 {
    ((center + 0.5).min(high) - (center - 0.5).max(low)).clamp(0.0, 1.0)
}

/// A side of a polygon: the half plane that contains the polygon.
struct Side {
    inward: [f32; 2],
    offset: f32,
}

impl Side {
    fn new(points: &[[f32; 2]], i: usize) -> Self {
        let (a, b) = (points[i], points[(i + 1) % points.len()]);
        let c = points[(i + 2) % points.len()];
        let length = (b[0] - a[0]).hypot(b[1] - a[1]).max(f32::MIN_POSITIVE);
        let normal = [(a[1] - b[1]) / length, (b[0] - a[0]) / length];
        let depth = normal[0] * (c[0] - a[0]) + normal[1] * (c[1] - a[1]);
        let inward = if depth < 0.0 { normal.map(|n| -n) } else { normal };
        Self { inward, offset: inward[0] * a[0] + inward[1] * a[1] }
    }

    /// The coverage of the pixel centred at a point.
    fn coverage(&self, [x, y]: [f32; 2]) -> f32 {
        (self.inward[0] * x + self.inward[1] * y - self.offset + 0.5).clamp(0.0, 1.0)
    }
}

//! Shapes as pixels.

use super::canvas::{Dot, Place, Segment, Shape};
use super::font;
use crate::color::Rgb;

/// Red, green and blue of the pixels of a picture, rows from the top to the bottom.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pixels {
    pub size: [usize; 2],
    pub rgb: Vec<u8>,
}

impl Pixels {
    pub(crate) fn new(size: [u32; 2], paper: Rgb) -> Self {
        let size = size.map(|side| side as usize);
        Self { size, rgb: paper.repeat(size[0] * size[1]) }
    }

    pub(crate) fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Segments { segments, width, opacity } => {
                let stroke = Stroke { half: *width as f32 / 2.0, opacity: *opacity as f32 };
                segments.iter().for_each(|segment| self.segment(segment, stroke));
            }
            Shape::Dots { dots, radius, rim } => {
                dots.iter().for_each(|dot| self.dot(dot, *radius as f32, *rim as f32));
            }
            Shape::Polygon { points, color } => self.polygon(points, *color),
            Shape::Image { corners, counts, pixels } => self.image(corners, *counts, pixels),
            Shape::Text(text) => font::draw(text, |x, y, cover| {
                if x >= 0 && y >= 0 {
                    self.blend(x as usize, y as usize, text.color, cover);
                }
            }),
        }
    }

    /// Covers a part of a pixel, if it is one of the picture.
    fn blend(&mut self, x: usize, y: usize, color: Rgb, cover: f32) {
        if y < self.size[1]
            && let Some(pixel) = self.row(y).get_mut(x)
        {
            mix_in(pixel, color.map(f32::from), cover);
        }
    }

    /// The pixels of a row.
    fn row(&mut self, y: usize) -> &mut [[u8; 3]] {
        let width = 3 * self.size[0];
        self.rgb[y * width..(y + 1) * width].as_chunks_mut().0
    }

    /// The whole pixels from `low` to `high` along an axis.
    fn span(&self, axis: usize, low: f32, high: f32) -> std::ops::Range<usize> {
        // Conversion rounds down, and to 0 what is below it.
        low as usize..(high as usize + usize::from(high > 0.0)).min(self.size[axis])
    }

    /// Lines that let nothing through have round ends, so that they join. Others end straight: round
    /// ends would cover the joints twice.
    fn segment(&mut self, segment: &Segment, stroke: Stroke) {
        let (line, color) = (Line::new(segment), segment.color.map(f32::from));
        let reach = stroke.half + 0.5;
        let ([ax, ay], [bx, by]) = (segment.from, segment.to);
        for y in self.span(1, ay.min(by) - reach, ay.max(by) + reach) {
            let down = y as f32 + 0.5 - ay;
            let (mut low, mut high) = (ax.min(bx) - reach, ax.max(bx) + reach);
            if line.along[1].abs() > 1e-4 {
                let middle = ax + down * line.along[0] / line.along[1];
                let wide = reach / line.along[1].abs();
                (low, high) = (low.max(middle - wide), high.min(middle + wide));
            }
            if line.along[0].abs() > 1e-4 {
                // Beyond the ends, seen along the row.
                let ends = [-reach, line.length + reach]
                    .map(|end| ax + (end - down * line.along[1]) / line.along[0]);
                (low, high) = (low.max(ends[0].min(ends[1])), high.min(ends[0].max(ends[1])));
            }
            let span = self.span(0, low, high);
            let Some(pixels) = self.row(y).get_mut(span.clone()) else { continue };
            for (x, pixel) in span.zip(pixels) {
                let cover = stroke.cover(&line, [x as f32 + 0.5 - ax, down]);
                mix_in(pixel, color, cover);
            }
        }
    }

    fn dot(&mut self, dot: &Dot, radius: f32, rim: f32) {
        let [cx, cy] = dot.at;
        for y in self.span(1, cy - radius - 0.5, cy + radius + 0.5) {
            for x in self.span(0, cx - radius - 0.5, cx + radius + 0.5) {
                let [right, down] = [x as f32 + 0.5 - cx, y as f32 + 0.5 - cy];
                let far = (right * right + down * down).sqrt();
                let cover = |radius: f32| (radius + 0.5 - far).clamp(0.0, 1.0);
                self.blend(x, y, dot.rim, cover(radius));
                self.blend(x, y, dot.fill, cover(radius - rim));
            }
        }
    }

    /// Fills a convex polygon; the pixels at its rim by how far it goes into them.
    fn polygon(&mut self, points: &[Place], color: Rgb) {
        let points: Vec<_> = points.iter().map(|at| at.map(|along| along as f32)).collect();
        let ends = |axis: usize| {
            let along = points.iter().map(|at| at[axis]);
            along.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], v| {
                [low.min(v), high.max(v)]
            })
        };
        let ([left, right], [top, bottom]) = (ends(0), ends(1));
        let sides: Vec<_> = (0..points.len()).map(|i| Side::new(&points, i)).collect();
        for y in self.span(1, top, bottom) {
            for x in self.span(0, left, right) {
                let at = [x as f32 + 0.5, y as f32 + 0.5];
                let cover = sides.iter().map(|side| side.cover(at)).product();
                self.blend(x, y, color, cover);
            }
        }
    }

    /// Each pixel has the colour of the sample in whose cell its middle lies.
    fn image(&mut self, [low, high]: &[Place; 2], counts: [usize; 2], pixels: &[Rgb]) {
        if pixels.is_empty() {
            return;
        }
        let ends = |i: usize| low[i].round() as usize..(high[i].round() as usize).min(self.size[i]);
        let spans = [ends(0), ends(1)];
        let sample = |axis: usize, at: usize| {
            let part = (at as f64 + 0.5 - low[axis]) / (high[axis] - low[axis]);
            ((part * counts[axis] as f64).max(0.0) as usize).min(counts[axis] - 1)
        };
        let columns: Vec<_> = spans[0].clone().map(|x| sample(0, x)).collect();
        for y in spans[1].clone() {
            let row = &pixels[sample(1, y) * counts[0]..][..counts[0]];
            let at = 3 * (y * self.size[0] + spans[0].start);
            for (pixel, &column) in self.rgb[at..].chunks_exact_mut(3).zip(&columns) {
                pixel.copy_from_slice(&row[column]);
            }
        }
    }
}

/// Covers a part of a pixel.
fn mix_in(pixel: &mut [u8; 3], color: [f32; 3], cover: f32) {
    for (old, to) in pixel.iter_mut().zip(color) {
        let from = f32::from(*old);
        *old = (from + (to - from) * cover + 0.5) as u8;
    }
}

/// A line from its start.
struct Line {
    along: [f32; 2],
    length: f32,
}

impl Line {
    fn new(segment: &Segment) -> Self {
        let [x, y] = [0, 1].map(|i| segment.to[i] - segment.from[i]);
        let length = (x * x + y * y).sqrt();
        let along = if length > 0.0 { [x / length, y / length] } else { [1.0, 0.0] };
        Self { along, length }
    }
}

#[derive(Clone, Copy)]
struct Stroke {
    half: f32,
    opacity: f32,
}

impl Stroke {
    /// How much of the pixel at a place from the line's start is covered, in the colour's opacity.
    fn cover(self, line: &Line, [x, y]: [f32; 2]) -> f32 {
        let t = x * line.along[0] + y * line.along[1];
        let across = y * line.along[0] - x * line.along[1];
        if self.opacity < 1.0 {
            let part = overlap(across, -self.half, self.half) * overlap(t, 0.0, line.length);
            return part * self.opacity;
        }
        let beyond = t - t.clamp(0.0, line.length);
        let far = (beyond * beyond + across * across).sqrt();
        overlap(far, -self.half, self.half)
    }
}

/// How much of the pixel around `at` lies between `low` and `high`.
fn overlap(at: f32, low: f32, high: f32) -> f32 {
    ((at + 0.5).min(high) - (at - 0.5).max(low)).clamp(0.0, 1.0)
}

/// A side of a polygon: the half plane in which the polygon lies.
struct Side {
    inwards: [f32; 2],
    offset: f32,
}

impl Side {
    fn new(points: &[[f32; 2]], i: usize) -> Self {
        let (a, b) = (points[i], points[(i + 1) % points.len()]);
        let c = points[(i + 2) % points.len()];
        let length = (b[0] - a[0]).hypot(b[1] - a[1]).max(f32::MIN_POSITIVE);
        let normal = [(a[1] - b[1]) / length, (b[0] - a[0]) / length];
        let depth = normal[0] * (c[0] - a[0]) + normal[1] * (c[1] - a[1]);
        let inwards = if depth < 0.0 { normal.map(|n| -n) } else { normal };
        Self { inwards, offset: inwards[0] * a[0] + inwards[1] * a[1] }
    }

    fn cover(&self, [x, y]: [f32; 2]) -> f32 {
        (self.inwards[0] * x + self.inwards[1] * y - self.offset + 0.5).clamp(0.0, 1.0)
    }
}

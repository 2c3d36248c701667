//! The operators that draw the shapes of a picture.

use super::super::canvas::{Dot, Point, Segment, Shape};
use super::text;
use crate::color::Rgb;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content as Operators, Name};

/// What draws a page, and what it refers to by name.
pub(super) struct Content<'a> {
    pub operators: Vec<u8>,
    pub images: Vec<Image<'a>>,
    pub states: Vec<GraphicsState>,
}

/// An image, row by row from the top.
pub(super) struct Image<'a> {
    pub name: String,
    pub counts: [usize; 2],
    pub pixels: &'a [Rgb],
}

/// An opacity.
pub(super) struct GraphicsState {
    pub name: String,
    pub opacity: f32,
}

/// The page while it is drawn.
struct Page<'a> {
    operators: Operators,
    images: Vec<Image<'a>>,
    states: Vec<GraphicsState>,
}

impl<'a> Content<'a> {
    /// Draws shapes on a page of a size in pixels, each of a length in points.
    pub fn of(size: [u32; 2], scale: f32, background: Rgb, shapes: &'a [Shape]) -> Self {
        let [width, height] = size.map(|side| side as f32);
        let mut page = Page { operators: Operators::new(), images: Vec::new(), states: Vec::new() };
        // Pixels down from the top, as in pictures.
        page.operators.transform([scale, 0.0, 0.0, -scale, 0.0, scale * height]);
        page.fill(background).rect(0.0, 0.0, width, height).fill_nonzero();
        shapes.iter().for_each(|shape| page.draw(shape));
        let Page { operators, images, states } = page;
        Self { operators: operators.finish().to_vec(), images, states }
    }
}

impl<'a> Page<'a> {
    fn draw(&mut self, shape: &'a Shape) {
        match shape {
            Shape::Segments { segments, width, opacity } => self.lines(segments, *width, *opacity),
            Shape::Dots { dots, radius, edge_width } => self.dots(dots, *radius, *edge_width),
            Shape::Polygon { points, color } => self.polygon(points, *color),
            Shape::Image { corners, counts, pixels } => self.image(*corners, *counts, pixels),
            Shape::Text(line) => {
                self.fill(line.color);
                text::draw(&mut self.operators, line);
            }
        }
    }

    fn fill(&mut self, color: Rgb) -> &mut Operators {
        let [red, green, blue] = parts(color);
        self.operators.set_fill_rgb(red, green, blue)
    }

    fn stroke(&mut self, color: Rgb) -> &mut Operators {
        let [red, green, blue] = parts(color);
        self.operators.set_stroke_rgb(red, green, blue)
    }

    /// Sets an opacity, which holds until the state is restored.
    fn set_opacity(&mut self, opacity: f64) {
        let opacity = opacity as f32;
        let known = self.states.iter().position(|state| state.opacity == opacity);
        let index = known.unwrap_or_else(|| {
            let name = format!("G{}", self.states.len());
            self.states.push(GraphicsState { name, opacity });
            self.states.len() - 1
        });
        self.operators.set_parameters(Name(self.states[index].name.as_bytes()));
    }

    /// Lines, of which those of one colour that follow each other are one path. Opaque ones have round ends, so that they
    /// join; the ends of others would be seen twice.
    fn lines(&mut self, segments: &[Segment], width: f64, opacity: f64) {
        self.operators.save_state();
        self.operators.set_line_width(width as f32).set_line_join(LineJoinStyle::RoundJoin);
        if opacity < 1.0 {
            self.set_opacity(opacity);
        } else {
            self.operators.set_line_cap(LineCapStyle::RoundCap);
        }
        for run in segments.chunk_by(|a, b| a.color == b.color) {
            self.stroke(run[0].color);
            let mut pen = None;
            for Segment { from, to, .. } in run {
                if pen != Some(*from) {
                    self.operators.move_to(rounded(from[0]), rounded(from[1]));
                }
                self.operators.line_to(rounded(to[0]), rounded(to[1]));
                pen = Some(*to);
            }
            self.operators.stroke();
        }
        self.operators.restore_state();
    }

    /// Discs: lines of no length with round ends, of the edge and, on it, of what it surrounds.
    fn dots(&mut self, dots: &[Dot], radius: f64, edge_width: f64) {
        self.operators.save_state();
        self.operators.set_line_cap(LineCapStyle::RoundCap);
        for Dot { center, fill, edge } in dots {
            let [x, y] = center.map(rounded);
            for (color, radius) in [(*edge, radius), (*fill, radius - edge_width)] {
                self.stroke(color).set_line_width(2.0 * radius as f32);
                self.operators.move_to(x, y).line_to(x, y).stroke();
            }
        }
        self.operators.restore_state();
    }

    fn polygon(&mut self, points: &[Point], color: Rgb) {
        let [first, others @ ..] = points else { return };
        self.fill(color).move_to(rounded(first[0] as f32), rounded(first[1] as f32));
        for [x, y] in others {
            self.operators.line_to(rounded(*x as f32), rounded(*y as f32));
        }
        self.operators.close_path().fill_nonzero();
    }

    fn image(&mut self, [low, high]: [Point; 2], counts: [usize; 2], pixels: &'a [Rgb]) {
        let name = format!("I{}", self.images.len());
        let [width, height] = [0, 1].map(|i| (high[i] - low[i]) as f32);
        self.operators.save_state();
        // An image is a square of side 1, whose first row is at its top.
        self.operators.transform([width, 0.0, 0.0, -height, low[0] as f32, high[1] as f32]);
        self.operators.x_object(Name(name.as_bytes())).restore_state();
        self.images.push(Image { name, counts, pixels });
    }
}

/// The parts of a colour, 0 to 1.
fn parts(color: Rgb) -> [f32; 3] {
    color.map(|part| (f32::from(part) / 255.0 * 1000.0).round() / 1000.0)
}

/// A length in hundredths of a pixel, which makes files smaller.
fn rounded(pixels: f32) -> f32 {
    (pixels * 100.0).round() / 100.0
}

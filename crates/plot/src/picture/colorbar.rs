//! The colour bar.

use super::axis::{draw_vertical_title, fitting_ticks, max_label_width};
use super::canvas::{Align, Canvas, Point, Shape};
use super::color_scale::ColorScale;
use super::ticks::{self, Ticks};

/// A colour bar: the colours of a quantity with their values.
#[derive(Clone, Debug)]
pub(crate) struct Colorbar<'a> {
    scale: &'a ColorScale,
    name: &'a str,
    unit: &'a str,
}

/// Width of the bar, the space to its left, and the length of its ticks, in ems.
const WIDTH: f64 = 0.9;
const GAP: f64 = 1.6;
const TICK: f64 = 0.3;

impl<'a> Colorbar<'a> {
    /// The bar of a colour scale; `None` if no value has a colour.
    pub(crate) fn new(scale: &'a ColorScale, name: &'a str, unit: &'a str) -> Option<Self> {
        (!scale.is_empty).then_some(Self { scale, name, unit })
    }

    fn fraction(&self, value: f64) -> f64 {
        ticks::fraction(value, self.scale.range, self.scale.log)
    }

    fn ticks(&self, canvas: &Canvas, height: f64) -> Ticks {
        fitting_ticks(
            |value| height * self.fraction(value),
            |_| 2.2 * canvas.em,
            |max_steps| self.scale.ticks(max_steps),
        )
    }

    /// The total width, with labels and title, of a bar of a height.
    pub(crate) fn width(&self, canvas: &Canvas, height: f64) -> f64 {
        let labels = max_label_width(&self.ticks(canvas, height), canvas.em);
        (GAP + WIDTH + TICK + 0.3 + 1.7) * canvas.em + labels
    }

    /// Draws the bar to the right of `left`.
    pub(crate) fn draw(&self, canvas: &mut Canvas, left: f64, [top, bottom]: [f64; 2]) {
        let (em, palette) = (canvas.em, canvas.palette);
        let [from, to] = [left + GAP * em, left + (GAP + WIDTH) * em];
        self.draw_colors(canvas, [[from, top], [to, bottom]]);
        let ticks = self.ticks(canvas, bottom - top);
        let mut lines = Vec::new();
        for (value, label) in &ticks.at {
            let y = bottom - (bottom - top) * self.fraction(*value);
            lines.push([[to, y], [to + TICK * em, y]]);
            canvas.text(
                label,
                [to + (TICK + 0.3) * em, y + 0.36 * em],
                1.0,
                Align::Start,
                palette.foreground,
            );
        }
        canvas.lines(&lines, canvas.hairline(), palette.foreground);
        let x = to + (TICK + 0.3 + 1.25) * em + max_label_width(&ticks, em);
        let title = ticks.title(self.name, self.unit);
        draw_vertical_title(canvas, &title, x, [top, bottom]);
    }

    /// Draws the colours, with a triangular extension at each end beyond which there are values.
    fn draw_colors(&self, canvas: &mut Canvas, corners: [Point; 2]) {
        let [[from, top], [to, bottom]] = corners;
        let count = 256;
        let color = |row: usize| self.scale.at(1.0 - row as f64 / (count - 1) as f64);
        let pixels: Vec<_> = (0..count).map(color).collect();
        let (tip, middle) = (0.7 * canvas.em, (from + to) / 2.0);
        // The triangles overlap the bar by two pixels, so that there is no gap.
        let ends =
            [(bottom - 2.0, bottom + tip, pixels[count - 1]), (top + 2.0, top - tip, pixels[0])];
        for ((base, point, color), _) in
            ends.into_iter().zip(self.scale.extends).filter(|(_, extends)| *extends)
        {
            let points = vec![[from, base], [to, base], [middle, point]];
            canvas.shapes.push(Shape::Polygon { points, color });
        }
        canvas.shapes.push(Shape::Image { corners, counts: [1, count], pixels });
    }
}

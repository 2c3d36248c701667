//! The colour bar.

use super::canvas::{Align, Canvas, Place, Shape, Text};
use super::coding::Coding;
use super::font;
use super::frame::readable;
use super::ticks::{self, Ticks};

/// The colours of a quantity with their values.
#[derive(Clone, Debug)]
pub(crate) struct Bar<'a> {
    coding: &'a Coding,
    name: &'a str,
    unit: &'a str,
}

/// Width of the colours, and what is left of them and right of them, in ems.
const WIDTH: f64 = 0.9;
const GAP: f64 = 1.6;
const TICK: f64 = 0.3;

impl<'a> Bar<'a> {
    /// The bar of a coding; none if no value has a colour.
    pub(crate) fn new(coding: &'a Coding, name: &'a str, unit: &'a str) -> Option<Self> {
        (!coding.empty).then_some(Self { coding, name, unit })
    }

    fn place(&self, value: f64) -> f64 {
        ticks::place(value, self.coding.range, self.coding.log)
    }

    fn ticks(&self, canvas: &Canvas, height: f64) -> Ticks {
        readable(
            |value| height * self.place(value),
            |_| 2.2 * canvas.em,
            |most| self.coding.ticks(most),
        )
    }

    /// The width of everything, for colours of a height.
    pub(crate) fn width(&self, canvas: &Canvas, height: f64) -> f64 {
        let labels = widest(&self.ticks(canvas, height), canvas.em);
        (GAP + WIDTH + TICK + 0.3 + 1.7) * canvas.em + labels
    }

    /// Draws it to the right of `left`.
    pub(crate) fn draw(&self, canvas: &mut Canvas, left: f64, [top, bottom]: [f64; 2]) {
        let (em, inks) = (canvas.em, canvas.inks);
        let [from, to] = [left + GAP * em, left + (GAP + WIDTH) * em];
        self.colors(canvas, [[from, top], [to, bottom]]);
        let ticks = self.ticks(canvas, bottom - top);
        let mut lines = Vec::new();
        for (value, label) in &ticks.at {
            let y = bottom - (bottom - top) * self.place(*value);
            lines.push([[to, y], [to + TICK * em, y]]);
            canvas.text(
                label,
                [to + (TICK + 0.3) * em, y + 0.36 * em],
                1.0,
                Align::Start,
                inks.ink,
            );
        }
        canvas.lines(&lines, canvas.hairline(), inks.ink);
        let x = to + (TICK + 0.3 + 1.25) * em + widest(&ticks, em);
        let title = ticks.title(self.name, self.unit);
        upwards(canvas, &title, x, [top, bottom]);
    }

    /// The colours, with a tip where there are values beyond.
    fn colors(&self, canvas: &mut Canvas, corners: [Place; 2]) {
        let [[from, top], [to, bottom]] = corners;
        let count = 256;
        let color = |row: usize| self.coding.colors.at(1.0 - row as f64 / (count - 1) as f64);
        let pixels: Vec<_> = (0..count).map(color).collect();
        let (tip, middle) = (0.7 * canvas.em, (from + to) / 2.0);
        // Tips begin below the colours, so that there is no gap.
        let ends =
            [(bottom - 2.0, bottom + tip, pixels[count - 1]), (top + 2.0, top - tip, pixels[0])];
        for ((base, point, color), _) in
            ends.into_iter().zip(self.coding.beyond).filter(|(_, is)| *is)
        {
            let points = vec![[from, base], [to, base], [middle, point]];
            canvas.shapes.push(Shape::Polygon { points, color });
        }
        canvas.shapes.push(Shape::Image { corners, counts: [1, count], pixels });
    }
}

/// The width of the widest label.
pub(crate) fn widest(ticks: &Ticks, em: f64) -> f64 {
    ticks.at.iter().map(|(_, label)| font::width(label, em)).fold(0.0, f64::max)
}

/// Draws text that goes upwards, in the middle of a height where that can be.
pub(crate) fn upwards(canvas: &mut Canvas, text: &str, x: f64, [top, bottom]: [f64; 2]) {
    let em = canvas.em;
    let (text, size) = font::fit(text, em, canvas.size[1] - 2.0 * em);
    let half = font::width(&text, size) / 2.0 + 0.5 * em;
    let x = x.min(canvas.size[0] - 0.4 * em).max(0.9 * em);
    let y = ((top + bottom) / 2.0).min(canvas.size[1] - half).max(half);
    let (align, color) = (Align::Middle, canvas.inks.ink);
    if !text.is_empty() {
        canvas.shapes.push(Shape::Text(Text {
            text,
            at: [x, y],
            size,
            align,
            upwards: true,
            color,
        }));
    }
}

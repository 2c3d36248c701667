//! The axes of a picture and their place.

use super::bar::{Bar, upwards, widest};
use super::canvas::{Align, Canvas, Place};
use super::font;
use super::head::Head;
use super::ticks::{self, Ticks};

/// What is along an axis.
#[derive(Clone, Debug)]
pub(crate) struct Span<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// Has a width; above 0 if it is logarithmic.
    pub range: [f64; 2],
    pub log: bool,
    /// Whether there are whole numbers only.
    pub whole: bool,
}

impl<'a> Span<'a> {
    pub(crate) fn new(name: &'a str, unit: &'a str, range: [f64; 2]) -> Self {
        Self { name, unit, range: ticks::widened(range), log: false, whole: false }
    }

    /// At most so many steps between ticks.
    pub(crate) fn ticks(&self, most: usize) -> Ticks {
        match self.log {
            true => ticks::logarithmic(self.range, most),
            false => ticks::linear(self.range, most, self.whole),
        }
    }

    /// The ticks of a horizontal axis of a length in pixels.
    fn rightwards(&self, length: f64, em: f64) -> Ticks {
        readable(
            |value| length * self.place(value),
            |label| font::width(label, em) + 1.2 * em,
            |most| self.ticks(most),
        )
    }

    /// The ticks of a vertical axis of a length in pixels.
    fn upwards(&self, length: f64, em: f64) -> Ticks {
        readable(|value| length * self.place(value), |_| 2.0 * em, |most| self.ticks(most))
    }

    /// A value's place, 0 at the low end and 1 at the high one.
    pub(crate) fn place(&self, value: f64) -> f64 {
        ticks::place(value, self.range, self.log)
    }
}

/// The ticks whose labels have room along a side: as many as can be. `size` is what a label takes of
/// it, and `place` where a value is, both in pixels.
pub(crate) fn readable(
    place: impl Fn(f64) -> f64,
    size: impl Fn(&str) -> f64,
    of: impl Fn(usize) -> Ticks,
) -> Ticks {
    let apart = |(a, one): &(f64, String), (b, other): &(f64, String)| {
        (place(*b) - place(*a)).abs() >= (size(one) + size(other)) / 2.0
    };
    let fits = |ticks: &Ticks| ticks.at.windows(2).all(|pair| apart(&pair[0], &pair[1]));
    let mut ticks = of(2);
    for most in (3..=10).rev() {
        let more = of(most);
        if fits(&more) {
            return more;
        }
    }
    if !fits(&ticks) {
        // The first and the last one are the farthest from each other.
        ticks.at.drain(1..ticks.at.len() - 1);
    }
    if !fits(&ticks) {
        ticks.at.truncate(1);
    }
    ticks
}

/// How axes are to be placed.
pub(crate) struct Layout<'a> {
    pub spans: [Span<'a>; 2],
    /// Whether both axes have one scale.
    pub equal: bool,
    pub bar: Option<Bar<'a>>,
    pub head: Head,
}

/// The least side of axes with one scale, in ems; shorter ones get a scale of their own.
const SHORTEST: f64 = 5.0;
/// What is said of them then.
pub(crate) const STRETCHED: &str = "axes have different scales";
/// What is below axes: ticks, labels and name.
const FOOT: f64 = 4.0;
/// The length of ticks, and what is between them and their labels.
const TICK: f64 = 0.35;
const SPACE: f64 = 0.35;

impl<'a> Layout<'a> {
    /// Finds the place of the axes, and draws what is beside and above them.
    pub(crate) fn place(mut self, canvas: &mut Canvas) -> Frame<'a> {
        let (mut area, mut sides) = self.settled(canvas);
        if self.equal && self.sides(area, canvas.em).1 {
            self.head.add_note(STRETCHED);
            (area, sides) = self.settled(canvas);
        }
        if let Some(bar) = &self.bar {
            bar.draw(canvas, sides[0][1], bar_sides(area[1], sides[1], canvas.em));
        }
        self.head.draw(canvas, [sides[0][0], sides[1][0] - area[1][0]]);
        Frame { spans: self.spans, sides }
    }

    /// The area and the sides of the axes. The labels take the more of the area the longer they are,
    /// and which ones there are depends on the sides.
    fn settled(&self, canvas: &Canvas) -> ([[f64; 2]; 2], [[f64; 2]; 2]) {
        let mut sides = None;
        for _ in 0..3 {
            let area = self.area(canvas, sides);
            sides = Some(self.sides(area, canvas.em).0);
        }
        let area = self.area(canvas, sides);
        (area, self.sides(area, canvas.em).0)
    }

    /// Where axes can be: left and right, top and bottom; `sides` are those of the axes, where they
    /// are known.
    fn area(&self, canvas: &Canvas, sides: Option<[[f64; 2]; 2]>) -> [[f64; 2]; 2] {
        let em = canvas.em;
        let top = self.head.height(canvas);
        let bottom = (canvas.size[1] - FOOT * em).max(top + em);
        let vertical = sides.map_or([top, bottom], |sides| sides[1]);
        let labels = widest(&self.spans[1].upwards(vertical[1] - vertical[0], em), em);
        let left = labels + (TICK + SPACE + 2.0) * em;
        let beside = bar_sides([top, bottom], vertical, em);
        let right =
            self.bar.as_ref().map_or(1.8 * em, |bar| bar.width(canvas, beside[1] - beside[0]));
        [[left, (canvas.size[0] - right).max(left + em)], [top, bottom]]
    }

    /// The place of the axes in their area, and whether they had to have different scales.
    fn sides(&self, area: [[f64; 2]; 2], em: f64) -> ([[f64; 2]; 2], bool) {
        if !self.equal {
            return (area, false);
        }
        let room = area.map(|[low, high]| high - low);
        let widths = [0, 1].map(|i| self.spans[i].range[1] - self.spans[i].range[0]);
        let scale = (room[0] / widths[0]).min(room[1] / widths[1]);
        let exact = widths.map(|width| width * scale);
        let sides = [0, 1].map(|i| {
            let half = exact[i].max((SHORTEST * em).min(room[i])) / 2.0;
            let middle = (area[i][0] + area[i][1]) / 2.0;
            [middle - half, middle + half]
        });
        let stretched = (0..2).any(|i| sides[i][1] - sides[i][0] > 1.01 * exact[i]);
        (sides, stretched)
    }
}

/// The ends of a colour bar: those of the axes, or beyond them if they are low.
fn bar_sides([highest, lowest]: [f64; 2], [top, bottom]: [f64; 2], em: f64) -> [f64; 2] {
    let more = (4.0 * em - (bottom - top) / 2.0).max(0.0).min(top - highest).min(lowest - bottom);
    [top - more, bottom + more]
}

/// Two axes in their place.
#[derive(Clone, Debug)]
pub(crate) struct Frame<'a> {
    pub spans: [Span<'a>; 2],
    /// Left and right, top and bottom, in pixels.
    pub sides: [[f64; 2]; 2],
}

impl Frame<'_> {
    /// The place of two values.
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> Place {
        let [[left, right], [top, bottom]] = self.sides;
        let [x, y] = [self.spans[0].place(x), self.spans[1].place(y)];
        [left + (right - left) * x, bottom - (bottom - top) * y]
    }

    /// The top left and the bottom right corner.
    pub(crate) fn corners(&self) -> [Place; 2] {
        let [[left, right], [top, bottom]] = self.sides;
        [[left, top], [right, bottom]]
    }

    /// Draws lines across at the ticks, which are behind the data.
    pub(crate) fn grid(&self, canvas: &mut Canvas) {
        let [[left, right], [top, bottom]] = self.sides;
        let mut lines = Vec::new();
        for (x, _) in self.ticks(0, canvas.em).at {
            let [x, _] = self.at([x, self.spans[1].range[0]]);
            lines.push([[x, top], [x, bottom]]);
        }
        for (y, _) in self.ticks(1, canvas.em).at {
            let [_, y] = self.at([self.spans[0].range[0], y]);
            lines.push([[left, y], [right, y]]);
        }
        canvas.lines(&lines, canvas.hairline(), canvas.inks.faint);
    }

    fn ticks(&self, axis: usize, em: f64) -> Ticks {
        let [low, high] = self.sides[axis];
        let span = &self.spans[axis];
        if axis == 0 { span.rightwards(high - low, em) } else { span.upwards(high - low, em) }
    }

    /// Draws the axes around the data.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        canvas.outline(self.corners(), canvas.inks.ink);
        self.draw_below(canvas);
        self.draw_left(canvas);
    }

    fn draw_below(&self, canvas: &mut Canvas) {
        let (em, ink) = (canvas.em, canvas.inks.ink);
        let [[left, right], [_, bottom]] = self.sides;
        let ticks = self.ticks(0, em);
        let mut lines = Vec::new();
        for (value, label) in &ticks.at {
            let [x, _] = self.at([*value, self.spans[1].range[0]]);
            lines.push([[x, bottom], [x, bottom + TICK * em]]);
            within(canvas, label, x, bottom + (TICK + SPACE + 0.75) * em);
        }
        canvas.lines(&lines, canvas.hairline(), ink);
        let title = ticks.title(self.spans[0].name, self.spans[0].unit);
        within(canvas, &title, (left + right) / 2.0, bottom + 3.0 * em);
    }

    fn draw_left(&self, canvas: &mut Canvas) {
        let (em, ink) = (canvas.em, canvas.inks.ink);
        let [[left, _], vertical] = self.sides;
        let ticks = self.ticks(1, em);
        let mut lines = Vec::new();
        for (value, label) in &ticks.at {
            let [_, y] = self.at([self.spans[0].range[0], *value]);
            lines.push([[left - TICK * em, y], [left, y]]);
            let x = left - (TICK + SPACE) * em;
            canvas.text(label, [x, y + 0.36 * em], 1.0, Align::End, ink);
        }
        canvas.lines(&lines, canvas.hairline(), ink);
        let x = left - (TICK + SPACE + 0.75) * em - widest(&ticks, em);
        upwards(canvas, &ticks.title(self.spans[1].name, self.spans[1].unit), x, vertical);
    }
}

/// Draws text around `x`, or as near to it as the picture lets it.
fn within(canvas: &mut Canvas, text: &str, x: f64, y: f64) {
    let em = canvas.em;
    let (text, size) = font::fit(text, em, canvas.size[0] - em);
    let half = font::width(&text, size) / 2.0 + 0.25 * em;
    let x = x.min(canvas.size[0] - half).max(half);
    canvas.text(&text, [x, y], size / em, Align::Middle, canvas.inks.ink);
}

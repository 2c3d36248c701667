//! Two axes around a plot, and their layout beside colour bar and heading.

use super::axis::{AxisSpec, draw_vertical_title, max_label_width, scale_of_map};
use super::canvas::{Align, Canvas, Point};
use super::colorbar::Colorbar;
use super::font;
use super::heading::Heading;
use super::ticks::{Ticks, round_step};

/// The content to lay out: axes, colour bar and heading.
pub(crate) struct Layout<'a> {
    pub specs: [AxisSpec<'a>; 2],
    /// The length of a unit of the horizontal axis in those of the vertical one; `None` if each has its own scale.
    pub aspect: Option<f64>,
    pub colorbar: Option<Colorbar<'a>>,
    pub heading: Heading,
}

/// Minimum length of an axis with a given aspect, in ems; shorter ones get their own scale.
const MIN_LENGTH: f64 = 5.0;
/// The note added to the subtitle in this case.
pub(crate) const UNEQUAL_SCALES: &str = "axes have different scales";
/// The height below the axes for ticks, labels and title, in ems.
const BOTTOM_MARGIN: f64 = 4.0;
/// The length of ticks, and the space between them and their labels, in ems.
const TICK: f64 = 0.35;
const SPACE: f64 = 0.35;

impl<'a> Layout<'a> {
    /// Computes the layout, and draws the colour bar and the heading.
    pub(crate) fn place(mut self, canvas: &mut Canvas) -> Axes<'a> {
        let (mut area, mut sides) = self.solve(canvas);
        if self.aspect.is_some() && self.sides(area, canvas.em).1 {
            self.heading.add_to_subtitle(UNEQUAL_SCALES);
            (area, sides) = self.solve(canvas);
        }
        if let Some(bar) = &self.colorbar {
            bar.draw(canvas, sides[0][1], colorbar_sides(area[1], sides[1], canvas.em));
        }
        self.heading.draw(canvas, [sides[0][0], sides[1][0] - area[1][0]]);
        Axes { specs: self.specs, sides }
    }

    /// The area and the sides of the axes, by fixed-point iteration: the width of the labels
    /// determines the sides, and the sides determine which labels there are.
    fn solve(&self, canvas: &Canvas) -> ([[f64; 2]; 2], [[f64; 2]; 2]) {
        let mut sides = None;
        for _ in 0..3 {
            let area = self.area(canvas, sides);
            sides = Some(self.sides(area, canvas.em).0);
        }
        let area = self.area(canvas, sides);
        (area, self.sides(area, canvas.em).0)
    }

    /// The area available to the axes: left and right, top and bottom. `sides` are the sides of the
    /// axes, if known.
    fn area(&self, canvas: &Canvas, sides: Option<[[f64; 2]; 2]>) -> [[f64; 2]; 2] {
        let em = canvas.em;
        let top = self.heading.height(canvas);
        let bottom = (canvas.size[1] - BOTTOM_MARGIN * em).max(top + em);
        let vertical = sides.map_or([top, bottom], |sides| sides[1]);
        let labels =
            max_label_width(&self.specs[1].vertical_ticks(vertical[1] - vertical[0], em), em);
        let left = labels + (TICK + SPACE + 2.0) * em;
        let bar_sides = colorbar_sides([top, bottom], vertical, em);
        let right = self
            .colorbar
            .as_ref()
            .map_or(1.8 * em, |bar| bar.width(canvas, bar_sides[1] - bar_sides[0]));
        [[left, (canvas.size[0] - right).max(left + em)], [top, bottom]]
    }

    /// The sides of the axes in their area, and whether their scales have to differ.
    fn sides(&self, area: [[f64; 2]; 2], em: f64) -> ([[f64; 2]; 2], bool) {
        let Some(aspect) = self.aspect else { return (area, false) };
        let available = area.map(|[low, high]| high - low);
        let [across, up] = [0, 1].map(|i| self.specs[i].range[1] - self.specs[i].range[0]);
        let widths = [aspect * across, up];
        let scale = (available[0] / widths[0]).min(available[1] / widths[1]);
        let exact = widths.map(|width| width * scale);
        let sides = [0, 1].map(|i| {
            let half = exact[i].max((MIN_LENGTH * em).min(available[i])) / 2.0;
            let middle = (area[i][0] + area[i][1]) / 2.0;
            [middle - half, middle + half]
        });
        let differ = (0..2).any(|i| sides[i][1] - sides[i][0] > 1.01 * exact[i]);
        (sides, differ)
    }
}

/// The ends of a colour bar: the ends of the vertical axis, or beyond them if the axis is short.
fn colorbar_sides([highest, lowest]: [f64; 2], [top, bottom]: [f64; 2], em: f64) -> [f64; 2] {
    let more = (4.0 * em - (bottom - top) / 2.0).max(0.0).min(top - highest).min(lowest - bottom);
    [top - more, bottom + more]
}

/// Two axes with their position in the picture.
#[derive(Clone, Debug)]
pub(crate) struct Axes<'a> {
    pub specs: [AxisSpec<'a>; 2],
    /// Left and right, top and bottom, in pixels.
    pub sides: [[f64; 2]; 2],
}

impl Axes<'_> {
    /// The point of a pair of values.
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> Point {
        let [[left, right], [top, bottom]] = self.sides;
        let [x, y] = [self.specs[0].fraction(x), self.specs[1].fraction(y)];
        [left + (right - left) * x, bottom - (bottom - top) * y]
    }

    /// The top left and the bottom right corner.
    pub(crate) fn corners(&self) -> [Point; 2] {
        let [[left, right], [top, bottom]] = self.sides;
        [[left, top], [right, bottom]]
    }

    /// Draws grid lines at the ticks, behind the data.
    pub(crate) fn draw_grid(&self, canvas: &mut Canvas) {
        let [[left, right], [top, bottom]] = self.sides;
        let mut lines = Vec::new();
        for (x, _) in self.ticks(0, canvas.em).at {
            let [x, _] = self.at([x, self.specs[1].range[0]]);
            lines.push([[x, top], [x, bottom]]);
        }
        for (y, _) in self.ticks(1, canvas.em).at {
            let [_, y] = self.at([self.specs[0].range[0], y]);
            lines.push([[left, y], [right, y]]);
        }
        canvas.lines(&lines, canvas.hairline(), canvas.palette.grid);
    }

    fn ticks(&self, axis: usize, em: f64) -> Ticks {
        let [low, high] = self.sides[axis];
        let spec = &self.specs[axis];
        match axis {
            0 => spec.horizontal_ticks(high - low, em),
            _ => spec.vertical_ticks(high - low, em),
        }
    }

    /// Draws the axes around the data.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        canvas.outline(self.corners(), canvas.palette.foreground);
        self.draw_horizontal(canvas);
        self.draw_vertical(canvas);
    }

    /// Draws a scale bar below the right end of a map, true at its middle latitude, if there is room beside the title. `radius`
    /// is that of the sphere in metres.
    pub(crate) fn draw_scale_bar(&self, canvas: &mut Canvas, radius: Option<f64>) {
        let [across, up] = &self.specs;
        let Some((radius, scale)) = radius.zip(scale_of_map([across, up])) else { return };
        let (em, color) = (canvas.em, canvas.palette.muted);
        let [[left, right], [_, bottom]] = self.sides;
        let kilometres = 1e-3 * radius.to_radians() * scale * (across.range[1] - across.range[0]);
        let (length, digit) = round_step(0.1 * kilometres);
        let label = format!("{length:.*} km", usize::try_from(-digit).unwrap_or(0));
        let start = right - (right - left) * length / kilometres;
        let y = bottom + 2.75 * em;
        let title = across.title(&across.horizontal_ticks(right - left, em));
        let title_end = 0.5 * (left + right + font::width(&title, em));
        if start - font::width(&label, em) - em < title_end {
            return;
        }
        let end = |x: f64| [[x, y - 0.3 * em], [x, y + 0.3 * em]];
        canvas.lines(
            &[[[start, y], [right, y]], end(start), end(right)],
            1.5 * canvas.hairline(),
            color,
        );
        canvas.text(&label, [start - 0.4 * em, y + 0.35 * em], 1.0, Align::End, color);
    }

    fn draw_horizontal(&self, canvas: &mut Canvas) {
        let (em, color) = (canvas.em, canvas.palette.foreground);
        let [[left, right], [_, bottom]] = self.sides;
        let ticks = self.ticks(0, em);
        let mut lines = Vec::new();
        for (value, label) in &ticks.at {
            let [x, _] = self.at([*value, self.specs[1].range[0]]);
            lines.push([[x, bottom], [x, bottom + TICK * em]]);
            draw_centered(canvas, label, x, bottom + (TICK + SPACE + 0.75) * em);
        }
        canvas.lines(&lines, canvas.hairline(), color);
        let title = self.specs[0].title(&ticks);
        draw_centered(canvas, &title, (left + right) / 2.0, bottom + 3.0 * em);
    }

    fn draw_vertical(&self, canvas: &mut Canvas) {
        let (em, color) = (canvas.em, canvas.palette.foreground);
        let [[left, _], vertical] = self.sides;
        let ticks = self.ticks(1, em);
        let mut lines = Vec::new();
        for (value, label) in &ticks.at {
            let [_, y] = self.at([self.specs[0].range[0], *value]);
            lines.push([[left - TICK * em, y], [left, y]]);
            let x = left - (TICK + SPACE) * em;
            canvas.text(label, [x, y + 0.36 * em], 1.0, Align::End, color);
        }
        canvas.lines(&lines, canvas.hairline(), color);
        let x = left - (TICK + SPACE + 0.75) * em - max_label_width(&ticks, em);
        let title = self.specs[1].title(&ticks);
        draw_vertical_title(canvas, &title, x, vertical);
    }
}

/// Draws text centred at `x`, or as near to it as the picture allows.
fn draw_centered(canvas: &mut Canvas, text: &str, x: f64, y: f64) {
    let em = canvas.em;
    let (text, size) = font::fit(text, em, canvas.size[0] - em);
    let half = font::width(&text, size) / 2.0 + 0.25 * em;
    let x = x.min(canvas.size[0] - half).max(half);
    canvas.text(&text, [x, y], size / em, Align::Middle, canvas.palette.foreground);
}

//! The heading of a picture: title, subtitle and legend.

use super::canvas::{Align, Canvas, Dot, Point, Shape};
use super::font;
use super::style::Style;
use super::ticks::sentence_case;
use crate::color::Rgb;

/// The heading of a picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heading {
    pub title: String,
    /// A line below the title.
    pub subtitle: String,
    pub legend: Vec<LegendEntry>,
    /// Whether it has no subtitle, whatever is added to it.
    pub bare: bool,
}

/// A marker and its label.
#[derive(Clone, Debug)]
pub(crate) struct LegendEntry {
    pub marker: Marker,
    pub label: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Marker {
    Ring,
    Disc,
    Square(Rgb),
    Line(Rgb),
}

impl LegendEntry {
    pub(crate) fn new(marker: Marker, label: impl Into<String>) -> Self {
        Self { marker, label: label.into() }
    }
}

/// Font size of the title and of the text below it, in ems.
const TITLE_SIZE: f64 = 1.3;
const TEXT_SIZE: f64 = 0.95;
/// Height of a row of the legend.
const ROW_HEIGHT: f64 = 1.5;
/// Width of a marker, with the space before its label.
const MARKER_WIDTH: f64 = 1.3;
/// Space between two entries.
const ENTRY_GAP: f64 = 1.4;

/// An entry of the rows below the title: the subtitle, or a marker with its label.
struct PlacedEntry<'a> {
    marker: Option<Marker>,
    text: &'a str,
    /// Distance from the left, in pixels.
    x: f64,
    row: usize,
}

impl Heading {
    /// The heading without a subtitle, where the style has none.
    pub(crate) fn styled(mut self, style: &Style) -> Self {
        if !style.subtitle {
            self.bare = true;
            self.subtitle.clear();
        }
        self
    }

    /// Appends to the subtitle.
    pub(crate) fn add_to_subtitle(&mut self, text: &str) {
        self.subtitle = match self.subtitle.is_empty() {
            _ if self.bare => return,
            true => sentence_case(text),
            false => format!("{} · {text}", self.subtitle),
        };
    }

    /// Its height in pixels.
    pub(crate) fn height(&self, canvas: &Canvas) -> f64 {
        let rows = self.entries(canvas).last().map_or(0, |entry| entry.row + 1);
        let title = if self.title.is_empty() { 0.4 } else { 0.6 + 1.3 * TITLE_SIZE };
        (title + ROW_HEIGHT * rows as f64 + 0.5) * canvas.em
    }

    /// The subtitle and the legend, broken into rows as wide as the picture.
    fn entries(&self, canvas: &Canvas) -> Vec<PlacedEntry<'_>> {
        let em = canvas.em;
        let subtitle = Some((None, self.subtitle.as_str())).filter(|(_, text)| !text.is_empty());
        let legend = self.legend.iter().map(|entry| (Some(entry.marker), entry.label.as_str()));
        let (mut x, mut row, mut entries) = (0.0, 0, Vec::new());
        for (marker, text) in subtitle.into_iter().chain(legend) {
            let width = font::width(text, TEXT_SIZE * em)
                + if marker.is_some() { MARKER_WIDTH * em } else { 0.0 };
            if x > 0.0 && x + width > max_width(canvas) {
                (x, row) = (0.0, row + 1);
            }
            entries.push(PlacedEntry { marker, text, x, row });
            x += width + ENTRY_GAP * em;
        }
        entries
    }

    /// Draws the heading with its top at `y`, and with its left end at `left` if it fits there.
    pub(crate) fn draw(&self, canvas: &mut Canvas, [left, y]: Point) {
        let em = canvas.em;
        let (title, size) = font::fit(&self.title, TITLE_SIZE * em, max_width(canvas));
        let start = |width: f64| left.min(canvas.size[0] - em - width).max(em);
        let top = y + if title.is_empty() { 0.4 } else { 0.6 + 1.3 * TITLE_SIZE } * em;
        let baseline = [start(font::width(&title, size)), top - 0.45 * TITLE_SIZE * em];
        let entries = self.entries(canvas);
        let ends = entries.iter().map(|entry| {
            let marker = if entry.marker.is_some() { MARKER_WIDTH * em } else { 0.0 };
            entry.x + marker + font::width(entry.text, TEXT_SIZE * em)
        });
        let entries_left = start(ends.fold(0.0, f64::max));
        let foreground = canvas.palette.foreground;
        canvas.text(&title, baseline, size / em, Align::Start, foreground);
        for entry in entries {
            let baseline = top + (ROW_HEIGHT * entry.row as f64 + 1.0) * em;
            draw_entry(canvas, &entry, [entries_left + entry.x, baseline]);
        }
    }
}

/// The width of a row: the width of the picture without its margins.
fn max_width(canvas: &Canvas) -> f64 {
    canvas.size[0] - 2.0 * canvas.em
}

fn draw_entry(canvas: &mut Canvas, entry: &PlacedEntry, [left, baseline]: Point) {
    let (em, palette) = (canvas.em, canvas.palette);
    let center = [left + 0.5 * em, baseline - 0.35 * em];
    let mut dot = |fill, edge| {
        let dots = vec![Dot { center: center.map(|x| x as f32), fill, edge }];
        let edge_width = (em / 10.0).max(1.0);
        canvas.shapes.push(Shape::Dots { dots, radius: 0.3 * em, edge_width });
    };
    match entry.marker {
        Some(Marker::Ring) => dot(palette.background, palette.muted),
        Some(Marker::Disc) => dot(palette.muted, palette.muted),
        Some(Marker::Square(color)) => {
            let half = 0.4 * em;
            canvas.rectangle([center.map(|x| x - half), center.map(|x| x + half)], color);
        }
        Some(Marker::Line(color)) => {
            let ends = [[left, center[1]], [left + em, center[1]]];
            canvas.lines(&[ends], (em / 7.0).max(1.5), color);
        }
        None => {}
    }
    let start = if entry.marker.is_some() { left + MARKER_WIDTH * em } else { left };
    let (text, size) = font::fit(entry.text, TEXT_SIZE * em, canvas.size[0] - em - start);
    canvas.text(&text, [start, baseline], size / em, Align::Start, palette.muted);
}

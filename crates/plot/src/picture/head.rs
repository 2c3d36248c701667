//! What stands above a picture: its title, and what its signs mean.

use super::canvas::{Align, Canvas, Dot, Place, Shape};
use super::font;
use crate::color::Rgb;

/// What stands above a picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    pub title: String,
    /// A sentence below it.
    pub note: String,
    pub signs: Vec<Sign>,
}

/// A sign and what it means.
#[derive(Clone, Debug)]
pub(crate) struct Sign {
    pub mark: Mark,
    pub meaning: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    Ring,
    Disc,
    Square(Rgb),
    Line(Rgb),
}

impl Sign {
    pub(crate) fn new(mark: Mark, meaning: impl Into<String>) -> Self {
        Self { mark, meaning: meaning.into() }
    }
}

/// Size of the title and of the text below it, in ems.
const TITLE: f64 = 1.3;
const BELOW: f64 = 0.95;
/// Height of a row of signs.
const ROW: f64 = 1.5;
/// What a mark takes before its text.
const MARK: f64 = 1.3;
/// What is between two signs.
const GAP: f64 = 1.4;

/// An entry of the rows below the title: a sign, or the note.
struct Entry<'a> {
    mark: Option<Mark>,
    text: &'a str,
    /// From the left, in pixels.
    at: f64,
    row: usize,
}

impl Head {
    /// Adds to the note.
    pub(crate) fn add_note(&mut self, note: &str) {
        let between = if self.note.is_empty() { "" } else { " · " };
        self.note += &format!("{between}{note}");
    }

    /// How much of the height it takes.
    pub(crate) fn height(&self, canvas: &Canvas) -> f64 {
        let rows = self.entries(canvas).last().map_or(0, |entry| entry.row + 1);
        let title = if self.title.is_empty() { 0.4 } else { 0.6 + 1.3 * TITLE };
        (title + ROW * rows as f64 + 0.5) * canvas.em
    }

    /// The note and the signs in rows that are as wide as the picture.
    fn entries(&self, canvas: &Canvas) -> Vec<Entry<'_>> {
        let em = canvas.em;
        let note = Some((None, self.note.as_str())).filter(|(_, note)| !note.is_empty());
        let signs = self.signs.iter().map(|sign| (Some(sign.mark), sign.meaning.as_str()));
        let (mut at, mut row, mut entries) = (0.0, 0, Vec::new());
        for (mark, text) in note.into_iter().chain(signs) {
            let wide = font::width(text, BELOW * em) + if mark.is_some() { MARK * em } else { 0.0 };
            if at > 0.0 && at + wide > room(canvas) {
                (at, row) = (0.0, row + 1);
            }
            entries.push(Entry { mark, text, at, row });
            at += wide + GAP * em;
        }
        entries
    }

    /// Draws it so far down, with its left end at `left` if there is room to the right.
    pub(crate) fn draw(&self, canvas: &mut Canvas, [left, down]: Place) {
        let em = canvas.em;
        let (title, size) = font::fit(&self.title, TITLE * em, room(canvas));
        let start = |wide: f64| left.min(canvas.size[0] - em - wide).max(em);
        let top = down + if title.is_empty() { 0.4 } else { 0.6 + 1.3 * TITLE } * em;
        let at = [start(font::width(&title, size)), top - 0.45 * TITLE * em];
        let entries = self.entries(canvas);
        let ends = entries.iter().map(|entry| {
            let mark = if entry.mark.is_some() { MARK * em } else { 0.0 };
            entry.at + mark + font::width(entry.text, BELOW * em)
        });
        let below = start(ends.fold(0.0, f64::max));
        let ink = canvas.inks.ink;
        canvas.text(&title, at, size / em, Align::Start, ink);
        for entry in entries {
            let base = top + (ROW * entry.row as f64 + 1.0) * em;
            draw_entry(canvas, &entry, [below + entry.at, base]);
        }
    }
}

fn room(canvas: &Canvas) -> f64 {
    canvas.size[0] - 2.0 * canvas.em
}

fn draw_entry(canvas: &mut Canvas, entry: &Entry, [left, base]: Place) {
    let (em, inks) = (canvas.em, canvas.inks);
    let at = [left + 0.5 * em, base - 0.35 * em];
    let mut dot = |fill, rim| {
        let dots = vec![Dot { at: at.map(|along| along as f32), fill, rim }];
        canvas.shapes.push(Shape::Dots { dots, radius: 0.3 * em, rim: (em / 10.0).max(1.0) });
    };
    match entry.mark {
        Some(Mark::Ring) => dot(inks.paper, inks.muted),
        Some(Mark::Disc) => dot(inks.muted, inks.muted),
        Some(Mark::Square(color)) => {
            let half = 0.4 * em;
            canvas.rectangle([at.map(|along| along - half), at.map(|along| along + half)], color);
        }
        Some(Mark::Line(color)) => {
            let ends = [[left, at[1]], [left + em, at[1]]];
            canvas.lines(&[ends], (em / 7.0).max(1.5), color);
        }
        None => {}
    }
    let start = if entry.mark.is_some() { left + MARK * em } else { left };
    let (text, size) = font::fit(entry.text, BELOW * em, canvas.size[0] - em - start);
    canvas.text(&text, [start, base], size / em, Align::Start, inks.muted);
}

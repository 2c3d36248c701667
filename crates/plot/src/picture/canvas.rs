//! What a picture consists of, before it is pixels or SVG.

use super::style::{Background, Style};
use crate::color::Rgb;

/// A place in pixels: to the right and down from the top left corner.
pub(crate) type Place = [f64; 2];

/// Something that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Straight lines, in the order in which they cover each other.
    Segments { segments: Vec<Segment>, width: f64, opacity: f64 },
    /// Discs.
    Dots { dots: Vec<Dot>, radius: f64, rim: f64 },
    /// A filled convex polygon.
    Polygon { points: Vec<Place>, color: Rgb },
    /// An image, its rows from the top to the bottom, between two corners.
    Image { corners: [Place; 2], counts: [usize; 2], pixels: Vec<Rgb> },
    /// A line of text.
    Text(Text),
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Segment {
    pub from: [f32; 2],
    pub to: [f32; 2],
    pub color: Rgb,
}

/// A disc with a rim of another colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dot {
    pub at: [f32; 2],
    pub fill: Rgb,
    pub rim: Rgb,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub text: String,
    /// Its place on the base line.
    pub at: Place,
    /// Size of the letters (an em) in pixels.
    pub size: f64,
    pub align: Align,
    /// Whether it goes upwards.
    pub upwards: bool,
    pub color: Rgb,
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// The colours of all that has no value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Inks {
    pub paper: Rgb,
    pub ink: Rgb,
    /// Text beside the matter.
    pub muted: Rgb,
    /// Lines behind the data.
    pub faint: Rgb,
    /// Where there is no value.
    pub missing: Rgb,
}

impl Inks {
    pub(crate) fn of(background: Background) -> Self {
        match background {
            Background::Light => Self {
                paper: [255, 255, 255],
                ink: [32, 33, 38],
                muted: [98, 100, 110],
                faint: [226, 227, 232],
                missing: [178, 178, 182],
            },
            Background::Dark => Self {
                paper: [17, 18, 23],
                ink: [228, 229, 234],
                muted: [158, 160, 170],
                faint: [50, 52, 60],
                missing: [82, 82, 88],
            },
        }
    }
}

/// Colours of things that are counted rather than measured, told apart also by the colour-blind:
/// those of Masataka Okabe and Kei Ito (2008), without black.
pub(crate) const SERIES: [Rgb; 7] = [
    [0, 114, 178],
    [230, 159, 0],
    [0, 158, 115],
    [213, 94, 0],
    [204, 121, 167],
    [86, 180, 233],
    [240, 228, 66],
];

/// Where shapes are put, one on top of the other.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    pub size: [f64; 2],
    pub inks: Inks,
    /// Size of the text, the measure of all that is not data.
    pub em: f64,
    pub shapes: Vec<Shape>,
}

impl Canvas {
    pub(crate) fn new(style: &Style) -> Self {
        let size = style.size.map(f64::from);
        let em = ((size[0] * size[1]).sqrt() / 60.0).max(11.0).min(size[0].min(size[1]) / 16.0);
        Self { size, inks: Inks::of(style.background), em, shapes: Vec::new() }
    }

    /// The width of lines that are no data.
    pub(crate) fn hairline(&self) -> f64 {
        (self.em / 16.0).max(1.0)
    }

    /// Adds lines of one width and colour.
    pub(crate) fn lines(&mut self, lines: &[[Place; 2]], width: f64, color: Rgb) {
        let place = |at: Place| at.map(|along| along as f32);
        let segments = lines
            .iter()
            .map(|&[from, to]| Segment { from: place(from), to: place(to), color })
            .collect();
        self.shapes.push(Shape::Segments { segments, width, opacity: 1.0 });
    }

    /// Adds a filled rectangle between two corners.
    pub(crate) fn rectangle(&mut self, [a, b]: [Place; 2], color: Rgb) {
        let points = vec![a, [b[0], a[1]], b, [a[0], b[1]]];
        self.shapes.push(Shape::Polygon { points, color });
    }

    /// Adds the outline of a rectangle between two corners.
    pub(crate) fn outline(&mut self, [a, b]: [Place; 2], color: Rgb) {
        let corners = [a, [b[0], a[1]], b, [a[0], b[1]]];
        let sides: Vec<_> = (0..4).map(|i| [corners[i], corners[(i + 1) % 4]]).collect();
        self.lines(&sides, self.hairline(), color);
    }

    /// Adds text of the size of `ems`.
    pub(crate) fn text(&mut self, text: &str, at: Place, ems: f64, align: Align, color: Rgb) {
        if !text.is_empty() {
            let (text, size) = (text.to_string(), ems * self.em);
            self.shapes.push(Shape::Text(Text { text, at, size, align, upwards: false, color }));
        }
    }
}

//! The shapes of a picture, before they are rasterized or written as SVG.

use super::style::{Background, Style};
use crate::color::Rgb;

/// A point in pixels, to the right and down from the top left corner.
pub(crate) type Point = [f64; 2];

/// A shape to draw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Shape {
    /// Straight lines; later ones cover earlier ones.
    Segments { segments: Vec<Segment>, width: f64, opacity: f64 },
    /// Discs.
    Dots { dots: Vec<Dot>, radius: f64, edge_width: f64 },
    /// A filled convex polygon.
    Polygon { points: Vec<Point>, color: Rgb },
    /// An image between two corners, row by row from the top.
    Image { corners: [Point; 2], counts: [usize; 2], pixels: Vec<Rgb> },
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

/// A disc with an edge of another colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dot {
    pub center: [f32; 2],
    pub fill: Rgb,
    pub edge: Rgb,
}

/// A line of text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Text {
    pub text: String,
    /// The anchor on the base line.
    pub anchor: Point,
    /// Font size (an em) in pixels.
    pub size: f64,
    pub align: Align,
    /// Whether the text is rotated by 90 degrees, to be read upwards.
    pub vertical: bool,
    pub color: Rgb,
}

/// The part of a text that is at its anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// The colours of everything but the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Palette {
    pub background: Rgb,
    pub foreground: Rgb,
    /// Secondary text and lines.
    pub muted: Rgb,
    /// Grid lines behind the data.
    pub grid: Rgb,
    /// Missing values.
    pub missing: Rgb,
}

impl Palette {
    pub(crate) fn of(background: Background) -> Self {
        match background {
            Background::Light => Self {
                background: [255, 255, 255],
                foreground: [32, 33, 38],
                muted: [98, 100, 110],
                grid: [226, 227, 232],
                missing: [178, 178, 182],
            },
            Background::Dark => Self {
                background: [17, 18, 23],
                foreground: [228, 229, 234],
                muted: [158, 160, 170],
                grid: [50, 52, 60],
                missing: [82, 82, 88],
            },
        }
    }
}

/// Qualitative colours for categories, distinguishable with colour vision deficiency: the palette of
/// Masataka Okabe and Kei Ito (2008), without black.
pub(crate) const SERIES: [Rgb; 7] = [
    [0, 114, 178],
    [230, 159, 0],
    [0, 158, 115],
    [213, 94, 0],
    [204, 121, 167],
    [86, 180, 233],
    [240, 228, 66],
];

/// The drawing area: shapes, each on top of the ones before.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    pub size: [f64; 2],
    pub palette: Palette,
    /// Font size in pixels, the unit of all lengths that are not data.
    pub em: f64,
    pub shapes: Vec<Shape>,
}

impl Canvas {
    pub(crate) fn new(style: &Style) -> Self {
        let (size, palette) = (style.size.map(f64::from), Palette::of(style.background));
        Self { size, palette, em: style.em(), shapes: Vec::new() }
    }

    /// The width of lines that are not data.
    pub(crate) fn hairline(&self) -> f64 {
        (self.em / 16.0).max(1.0)
    }

    /// Adds lines of one width and colour.
    pub(crate) fn lines(&mut self, lines: &[[Point; 2]], width: f64, color: Rgb) {
        let to_f32 = |point: Point| point.map(|x| x as f32);
        let segments = lines
            .iter()
            .map(|&[from, to]| Segment { from: to_f32(from), to: to_f32(to), color })
            .collect();
        self.shapes.push(Shape::Segments { segments, width, opacity: 1.0 });
    }

    /// Adds a filled rectangle between two corners.
    pub(crate) fn rectangle(&mut self, [a, b]: [Point; 2], color: Rgb) {
        let points = vec![a, [b[0], a[1]], b, [a[0], b[1]]];
        self.shapes.push(Shape::Polygon { points, color });
    }

    /// Adds the outline of a rectangle between two corners.
    pub(crate) fn outline(&mut self, [a, b]: [Point; 2], color: Rgb) {
        let corners = [a, [b[0], a[1]], b, [a[0], b[1]]];
        let sides: Vec<_> = (0..4).map(|i| [corners[i], corners[(i + 1) % 4]]).collect();
        self.lines(&sides, self.hairline(), color);
    }

    /// Adds horizontal text of a size in ems.
    pub(crate) fn text(&mut self, text: &str, anchor: Point, ems: f64, align: Align, color: Rgb) {
        if !text.is_empty() {
            let (text, size) = (text.to_string(), ems * self.em);
            let text = Text { text, anchor, size, align, vertical: false, color };
            self.shapes.push(Shape::Text(text));
        }
    }
}

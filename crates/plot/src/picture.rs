//! Pictures: tracks, fields on a plane, histograms and curves, as PNG or SVG.
//!
//! ```no_run
//! use burntrace_plot::Ways;
//! use burntrace_plot::picture::{self, Plane, Style, View};
//!
//! # fn main() -> burntrace_plot::Result<()> {
//! # let ways = Ways::default();
//! let style = Style { color_by: Some("speed".into()), ..Style::default() };
//! let picture = picture::tracks(&ways, &View::Plane(Plane::Xy), &style)?;
//! picture.write_png("tracks.png")?;
//! picture.write_svg("tracks.svg")?;
//! # Ok(())
//! # }
//! ```

mod bar;
mod bars;
mod canvas;
mod coding;
mod curves;
mod field;
mod font;
mod frame;
mod head;
mod pixels;
mod png;
mod projection;
mod room;
mod stage;
mod style;
mod svg;
mod ticks;
mod tracks;
mod view;

pub use bars::histogram;
pub use curves::curves;
pub use field::raster;
pub use style::{Background, Range, Scale, Style};
pub use tracks::tracks;
pub use view::{Plane, View};

/// What animations are made of, too.
pub(crate) mod parts {
    pub(crate) use super::canvas::{Dot, Inks, Segment, Shape, Text};
    pub(crate) use super::head::Head;
    pub(crate) use super::pixels::Pixels;
    pub(crate) use super::stage::{Stage, is_place};
    pub(crate) use super::ticks::said;
    pub(crate) use super::tracks::{radius, stroke, title};
}

use crate::color::Rgb;
use crate::error::{Error, Result};
use canvas::{Canvas, Shape};
use pixels::Pixels;
use std::path::Path;

/// A picture: lines, areas and text, which become pixels or an SVG file.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    size: [u32; 2],
    paper: Rgb,
    shapes: Vec<Shape>,
}

impl Picture {
    fn new(size: [u32; 2], canvas: Canvas) -> Self {
        Self { size, paper: canvas.inks.paper, shapes: canvas.shapes }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Red, green and blue of each pixel, from the left to the right and from the top to the bottom:
    /// 3 x width x height bytes.
    pub fn rgb(&self) -> Vec<u8> {
        let mut pixels = Pixels::new(self.size, self.paper);
        self.shapes.iter().for_each(|shape| pixels.draw(shape));
        pixels.rgb
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let file = png::encode(self.size, &self.rgb()).map_err(Error::write(path))?;
        std::fs::write(path, file).map_err(Error::write(path))
    }

    /// The text of an SVG file. Its font is the viewer's `sans-serif`.
    pub fn svg(&self) -> String {
        svg::document(self.size, self.paper, &self.shapes)
    }

    /// Writes an SVG file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        std::fs::write(path, self.svg()).map_err(Error::write(path))
    }
}

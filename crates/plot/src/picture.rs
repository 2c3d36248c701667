//! Plots of tracks, fields on a plane, histograms and curves, as PNG, SVG or PDF.
//!
//! ```no_run
//! use burntrace_plot::Trajectories;
//! use burntrace_plot::picture::{self, Plane, Style, View};
//!
//! # fn main() -> burntrace_plot::Result<()> {
//! # let trajectories = Trajectories::default();
//! let style = Style { color_by: Some("speed".into()), ..Style::default() };
//! let picture = picture::tracks(&trajectories, &View::Plane(Plane::Xy), &style)?;
//! picture.write_png("tracks.png")?;
//! picture.write_svg("tracks.svg")?;
//! picture.write_pdf("tracks.pdf")?;
//! # Ok(())
//! # }
//! ```

mod axes;
mod axis;
mod behind;
mod box_axes;
mod canvas;
mod color_scale;
mod colorbar;
mod coloring;
mod curves;
mod font;
mod heading;
mod histogram;
mod land;
mod panels;
mod pdf;
mod pixels;
mod png;
mod projection;
mod raster;
mod scene;
mod style;
mod surfaces;
mod svg;
mod ticks;
mod tracks;
mod view;

pub use curves::curves;
pub use histogram::histogram;
pub use panels::{Panel, panels};
pub use raster::raster;
pub use style::{Background, Range, Scale, Style};
pub use ticks::count;
pub use tracks::{points, tracks};
pub use view::{Plane, View};

/// The parts that animations use as well.
pub(crate) mod shared {
    pub(crate) use super::canvas::{Dot, Palette, Segment, Shape, Text};
    pub(crate) use super::color_scale::ColorScale;
    pub(crate) use super::heading::Heading;
    pub(crate) use super::pixels::Pixels;
    pub(crate) use super::scene::{Scene, clipped, is_finite};
    pub(crate) use super::surfaces::bodies;
    pub(crate) use super::ticks::format_number;
    pub(crate) use super::tracks::{dot_radius, stroke, title};
}

use crate::color::Rgb;
use crate::error::{Error, Result};
use canvas::{Canvas, Shape};
use pixels::Pixels;
use std::path::Path;

/// A picture: lines, areas and text, to be rasterized or written as SVG.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    size: [u32; 2],
    dpi: f64,
    background: Rgb,
    shapes: Vec<Shape>,
}

impl Picture {
    fn new(style: &Style, canvas: Canvas) -> Self {
        let Canvas { palette, shapes, .. } = canvas;
        Self { size: style.size, dpi: style.dpi, background: palette.background, shapes }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// The pixels as red, green and blue, row by row from the top: 3 x width x height bytes.
    pub fn rgb(&self) -> Vec<u8> {
        let mut pixels = Pixels::new(self.size, self.background);
        self.shapes.iter().for_each(|shape| pixels.draw(shape));
        pixels.rgb
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if the file cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let file =
            png::encode(self.size, &self.rgb(), Some(self.dpi)).map_err(Error::write(path))?;
        std::fs::write(path, file).map_err(Error::write(path))
    }

    /// The text of an SVG file. Its font is the viewer's `sans-serif`.
    pub fn svg(&self) -> String {
        svg::document((self.size, self.dpi), self.background, &self.shapes)
    }

    /// A PDF file of one page. Texts are text in an embedded font, lines are lines; fields are images.
    pub fn pdf(&self) -> Vec<u8> {
        pdf::document((self.size, self.dpi), self.background, &self.shapes)
    }

    /// Writes an SVG file.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if the file cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        std::fs::write(path, self.svg()).map_err(Error::write(path))
    }

    /// Writes a PDF file.
    ///
    /// # Errors
    ///
    /// [`Error::Write`] if the file cannot be written.
    pub fn write_pdf(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        std::fs::write(path, self.pdf()).map_err(Error::write(path))
    }
}

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

mod style;
mod view;

pub use style::{Background, Range, Scale, Style};
pub use view::{Plane, View};

use crate::data::{Curves, Histogram, Raster, Ways};
use crate::error::Result;
use std::path::Path;

/// A picture: lines, areas and text, which become pixels or an SVG file.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    size: [u32; 2],
}

impl Picture {
    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Red, green and blue of each pixel, from the left to the right and from the top to the bottom:
    /// 3 x width x height bytes.
    pub fn rgb(&self) -> Vec<u8> {
        todo!()
    }

    /// Writes a PNG file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_png(&self, path: impl AsRef<Path>) -> Result<()> {
        let _ = path;
        todo!()
    }

    /// The text of an SVG file. Its font is the viewer's `sans-serif`.
    pub fn svg(&self) -> String {
        todo!()
    }

    /// Writes an SVG file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write_svg(&self, path: impl AsRef<Path>) -> Result<()> {
        let _ = path;
        todo!()
    }
}

/// The tracks of particles: lines from save to save, coloured by an attribute, with dots where they
/// start (hollow) and where they end (filled). The picture shows the whole domain.
///
/// # Errors
///
/// If the parts of `ways` do not fit together, if there is no attribute of the name in the style, or
/// if the style or the view has numbers that cannot be used. Ways without a particle give a picture
/// that says so.
pub fn tracks(ways: &Ways, view: &View, style: &Style) -> Result<Picture> {
    let _ = (ways, view, style);
    todo!()
}

/// A field on a plane, in colours, and `particles` on it as dots; grey where there is no value.
///
/// `particles` are places along the two axes of the raster; those outside of it are left out.
///
/// # Errors
///
/// If the counts and the values of the raster do not fit together, or if the style has numbers that
/// cannot be used.
pub fn raster(raster: &Raster, particles: &[[f64; 2]], style: &Style) -> Result<Picture> {
    let _ = (raster, particles, style);
    todo!()
}

/// Counts as stacked bars.
///
/// # Errors
///
/// If the numbers of edges and counts do not fit together, or edges do not rise, or if the style has
/// numbers that cannot be used.
pub fn histogram(histogram: &Histogram, style: &Style) -> Result<Picture> {
    let _ = (histogram, style);
    todo!()
}

/// Numbers over time, or over something else, as lines.
///
/// # Errors
///
/// If the style has numbers that cannot be used.
pub fn curves(curves: &Curves, style: &Style) -> Result<Picture> {
    let _ = (curves, style);
    todo!()
}

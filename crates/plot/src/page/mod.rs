//! One HTML file with the tracks of a run: to turn, to play, and to ask.
//!
//! A [`Page`] is all that is shown. [`Page::fit`] leaves out particles until the file is small
//! enough, and [`Page::write`] writes it. The file needs no network and may not use it: a content
//! security policy in it forbids that. It draws with WebGL 2, and says so where there is none; the
//! numbers beside the picture are there in any case.
//!
//! Positions, attributes and rasters are kept in 16 bits: see [`Page::html`].
//!
//! ```
//! use burntrace_plot::{Ways, page};
//!
//! let ways = Ways {
//!     times: vec![0.0, 1.0],
//!     particles: vec![0],
//!     position: vec![[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]],
//!     joined: vec![false, true],
//!     active: vec![true, true],
//!     domain: [[0.0; 3], [1.0; 3]],
//!     of: [1, 2],
//!     ..Ways::default()
//! };
//! let page = page::Page { title: "One particle".into(), ways, ..page::Page::default() };
//! let html = page.fit(page::BUDGET)?.html()?;
//! assert!(html.contains("1 particle, all 2 saves"));
//! # Ok::<(), page::Error>(())
//! ```

mod encode;
mod error;
mod fit;
mod header;
mod html;
mod valid;

pub use error::{Error, Result};
pub use fit::stride;

use crate::{Histogram, Raster, Trajectories};
use std::path::Path;

/// The most bytes of a page, unless another number is asked for: what browsers load within seconds.
pub const BUDGET: usize = 40_000_000;

/// What a page shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The title of the run; any text.
    pub title: String,
    /// The tracks. The page says of how many particles and saves they are ([`Ways::of`]).
    pub ways: Trajectories,
    /// What the particles were doing, where that is known in more detail than [`Ways::active`].
    pub statuses: Option<Statuses>,
    /// Slices through the box, which can be switched on.
    pub slices: Vec<Slice>,
    /// Numbers that stand beside the picture.
    pub sections: Vec<Section>,
    /// Charts that stand below these.
    pub histograms: Vec<Histogram>,
}

/// What each particle was doing at each save.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statuses {
    /// What the codes mean: code `c` is `names[c]`, e.g. `active`, `exited x-low`; 256 at most.
    pub names: Vec<String>,
    /// A code for each position, in the order of [`Ways::position`].
    pub codes: Vec<u8>,
}

/// A raster in a plane across the box.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slice {
    /// The values. Its axes are those of the box other than the normal one, in their order: x and y
    /// of a plane across z, x and z of one across y, y and z of one across x; in the unit of length
    /// of the ways.
    pub raster: Raster,
    /// The axis across the plane: 0, 1 or 2 for x, y or z.
    pub normal_axis: usize,
    /// Where on that axis the plane lies.
    pub position: f64,
}

/// Numbers under a heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Names and values, as they are shown.
    pub rows: Vec<(String, String)>,
}

impl Page {
    /// Leaves out particles until the page has at most `max_bytes`: of `n` particles, number 0, `k`,
    /// `2k`, ... stay, with the least `k` that does. All saves stay, and one particle at least; a
    /// page that is too large with one particle stays so.
    ///
    /// [`BUDGET`] is a good `max_bytes`. [`stride`] tells `k` beforehand, so that particles which
    /// will not be shown need not be read.
    ///
    /// # Errors
    /// If something of the page does not fit together: [`Error::Parts`].
    pub fn fit(self, max_bytes: usize) -> Result<Page> {
        fit::fit(self, max_bytes)
    }

    /// The page as HTML in UTF-8.
    ///
    /// Each coordinate is kept in 16 bits: it is one of 65,535 equally spaced values from the least
    /// to the greatest of the ways, so that it is wrong by 1/131,068 of that extent at most. So are
    /// attributes, and values of slices. The page takes `s * n * (8 + 2 a)` bytes for `s` saves, `n`
    /// particles and `a` attributes, a third more as base64, and 80 kB for itself.
    ///
    /// # Errors
    /// If something of the page does not fit together ([`Error::Parts`]), is not in the order that
    /// it has to be in ([`Error::Times`]), or is no finite number where one is needed
    /// ([`Error::Number`]).
    pub fn html(&self) -> Result<String> {
        valid::check(self)?;
        html::html(self)
    }

    /// Writes the page to a file, in place of what is there.
    ///
    /// # Errors
    /// As [`Page::html`], and [`Error::Write`].
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let html = self.html()?;
        std::fs::write(path, html).map_err(|source| Error::Write { path: path.into(), source })
    }
}

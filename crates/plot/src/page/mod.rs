//! One HTML file with the tracks of a run, to rotate, play and query.
//!
//! A [`Page`] holds the content. [`Page::fit`] lowers the precision and thins out the particles until the file
//! is small enough, and [`Page::write`] writes it. The file needs no network access, and its content security
//! policy forbids it. The page draws with WebGL 2; without it, the page shows a message, and the
//! tables and charts are available nevertheless.
//!
//! Positions, attributes and rasters are stored in at most 16 bits: see [`Page::html`].
//!
//! ```
//! use burntrace_plot::{Trajectories, page};
//!
//! let trajectories = Trajectories {
//!     times: vec![0.0, 1.0],
//!     particles: vec![0],
//!     position: vec![[0.0, 0.5, 0.5], [1.0, 0.5, 0.5]],
//!     joined: vec![false, true],
//!     active: vec![true, true],
//!     domain: [[0.0; 3], [1.0; 3]],
//!     run_size: [1, 2],
//!     ..Trajectories::default()
//! };
//! let page = page::Page { title: "One particle".into(), trajectories, ..page::Page::default() };
//! let html = page.fit(page::BUDGET)?.html()?;
//! assert!(html.contains("1 particle, all 2 saves"));
//! # Ok::<(), page::Error>(())
//! ```

mod arrays;
mod codec;
mod content;
mod error;
mod fit;
mod header;
mod html;
mod precision;
mod quantize;
mod validate;

pub use content::{Page, Section, Slice, Sources, Statuses};
pub use error::{Error, Result};
pub use fit::stride;
pub use precision::Precision;

use std::path::Path;

/// The default maximum size of a page in bytes, which browsers load within seconds.
pub const BUDGET: usize = 20_000_000;

impl Page {
    /// Limits the size of the page to `max_bytes`: first by a lower precision ([`Precision::STEPS`]), then by thinning
    /// out the particles. Of `n` particles, numbers 0, `k`, `2k`, ... remain, with the smallest sufficient `k` as
    /// estimated from a sample. All saves remain, and at least one particle, even if the page is then too large.
    ///
    /// [`BUDGET`] is a reasonable `max_bytes`. [`stride`] gives a lower limit of `k` in advance, so that particles that
    /// are certainly not shown need not be read.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if lengths do not match.
    pub fn fit(self, max_bytes: usize) -> Result<Page> {
        Ok(fit::fit(self, max_bytes)?.0)
    }

    /// [`Page::fit`] and [`Page::html`] in one, in half the time.
    ///
    /// # Errors
    ///
    /// As [`Page::html`].
    pub fn fitted_html(self, max_bytes: usize) -> Result<(Page, String)> {
        fit::fit(self, max_bytes)
    }

    /// The page as HTML in UTF-8.
    ///
    /// Each coordinate is quantized to the bits of [`Page::precision`]: with 16 bits, 65,535 equally spaced values from
    /// its minimum to its maximum, with an error of at most 1/131,068 of this range. The same holds for attributes and
    /// slices. Codes are predicted along the track, and the errors of the predictions are compressed by deflate, without
    /// loss. Base64 makes them a third longer; program and markup have 110 kB.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if lengths do not match, [`Error::Times`] if the times are not ordered,
    /// [`Error::Number`] if a number is out of range or not finite.
    pub fn html(&self) -> Result<String> {
        validate::check(self)?;
        html::html(self)
    }

    /// Writes the page to a file, and replaces an existing one.
    ///
    /// # Errors
    ///
    /// As [`Page::html`], and [`Error::Write`] if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let html = self.html()?;
        std::fs::write(path, html).map_err(|source| Error::Write { path: path.into(), source })
    }
}

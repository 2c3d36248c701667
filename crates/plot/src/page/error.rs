//! What is wrong with a page.

use std::path::PathBuf;

/// The result of an operation on a page.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a page cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two parts of what is shown have different lengths.
    #[error("{what} has {given} {of}, and must have {wanted}: {reason}")]
    Parts {
        /// What it is, e.g. ``the attribute `speed` ``.
        what: String,
        /// How many it has.
        given: usize,
        /// Of what: `values`.
        of: &'static str,
        /// How many it should have.
        wanted: usize,
        /// Why: `one for each position`.
        reason: &'static str,
    },

    /// Times of saves are not in order.
    #[error(
        "save {save} is at the time {time}, the one before at {before}: times must be finite, and all \
         increase or all decrease"
    )]
    Times {
        /// Number of the save.
        save: usize,
        /// Its time.
        time: f64,
        /// The time of the save before; NaN if there is none.
        before: f64,
    },

    /// A number cannot be used.
    #[error("{what} is {given}; it must be {wanted}")]
    Number {
        /// What it is: `the low x corner of the domain`.
        what: String,
        /// Its value.
        given: f64,
        /// What would be right: `finite`.
        wanted: &'static str,
    },

    /// What is shown cannot be put into words for the browser.
    #[error("the page cannot be put together: {0}")]
    Json(#[from] serde_json::Error),

    /// The file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

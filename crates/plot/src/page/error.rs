//! The error type of pages.

use std::path::PathBuf;

/// The result of an operation on a page.
pub type Result<T> = std::result::Result<T, Error>;

/// Invalid content of a page, or a file that cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list has the wrong length.
    #[error("{what} has {given} {of}, and must have {expected}: {reason}")]
    Length {
        /// The list, e.g. ``the attribute `speed` ``.
        what: String,
        /// The given length.
        given: usize,
        /// The kind of entries: `values`.
        of: &'static str,
        /// The required length.
        expected: usize,
        /// The rule: `one for each position`.
        reason: &'static str,
    },

    /// The times of the saves are not ordered.
    #[error(
        "save {save} is at the time {time}, the one before at {before}: times must be finite, and all \
         increase or all decrease"
    )]
    Times {
        /// The index of the save.
        save: usize,
        /// Its time.
        time: f64,
        /// The time of the previous save; NaN if there is none.
        before: f64,
    },

    /// A number is out of range or not finite.
    #[error("{what} is {given}; it must be {expected}")]
    Number {
        /// The number: `the low x corner of the domain`.
        what: String,
        /// Its value.
        given: f64,
        /// The allowed values: `finite`.
        expected: &'static str,
    },

    /// The content cannot be serialized as JSON.
    #[error("cannot write the content of the page as JSON: {0}")]
    Json(#[from] serde_json::Error),

    /// The file cannot be written.
    #[error("cannot write `{}`: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
}

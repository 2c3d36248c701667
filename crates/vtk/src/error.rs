//! The error type of the crate.

use std::fmt;
use std::path::PathBuf;

use crate::geometry::Kind;

/// A file that cannot be opened, or an array that cannot be read.
///
/// Messages name the file and, if applicable, the location in it, what was found and what was
/// expected.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("cannot open `{}`: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A read operation failed.
    #[error("{location}: cannot read: {source}")]
    Read {
        /// The location in the file.
        location: Box<Location>,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is neither a legacy nor an XML VTK file.
    #[error(
        "`{}` {found}, expected `# vtk DataFile Version` or `<VTKFile`; \
         pass a legacy .vtk or a .vti, .vtr, .vts, .vtu, .vtp, .pvti, .pvtr, .pvts, .pvtu, .pvtp or \
         .vtm file", path.display()
    )]
    NotVtk {
        /// The file.
        path: PathBuf,
        /// Its kind, if that is known, or its first bytes.
        found: String,
    },
    /// The content violates the format or is inconsistent.
    #[error("{location}: found {found}, expected {expected}")]
    Malformed {
        /// The location in the file.
        location: Box<Location>,
        /// The content of the file.
        found: String,
        /// The requirement of the format.
        expected: String,
    },
    /// The file ends too early.
    #[error(
        "{location}: the data ends (the file has {file_bytes} bytes), expected {expected}; \
         the file was cut off or is still being written"
    )]
    Truncated {
        /// The location in the file.
        location: Box<Location>,
        /// Length of the file in bytes.
        file_bytes: u64,
        /// The missing content.
        expected: String,
    },
    /// The file uses a part of the format that this crate does not support.
    #[error("{location}: {what} cannot be read; {remedy}")]
    Unsupported {
        /// The location in the file.
        location: Box<Location>,
        /// The unsupported part of the format.
        what: String,
        /// A remedy.
        remedy: &'static str,
    },
    /// An array does not fit into memory.
    #[error(
        "{location}: cannot allocate memory for {values} values; use a machine with more memory"
    )]
    OutOfMemory {
        /// The location in the file.
        location: Box<Location>,
        /// Number of values of the array.
        values: usize,
    },
    /// The data set does not have the requested data, because of its kind or its layout.
    #[error("`{}` ({kind}) has no {what}; {remedy}", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// The kind of its data set.
        kind: Kind,
        /// The requested data.
        what: &'static str,
        /// A remedy or an alternative.
        remedy: &'static str,
    },
    /// The array does not belong to the file.
    #[error("`{}` does not list the array `{array}`; pass an entry of its `arrays()`", path.display())]
    ForeignArray {
        /// The file.
        path: PathBuf,
        /// Name of the array.
        array: String,
    },
}

/// A location in a file, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub path: PathBuf,
    /// Byte offset.
    pub offset: u64,
    /// Line number, from 1, if the file is text up to this location.
    pub line: Option<u64>,
    /// The element, keyword or array, e.g. ``array `velocity` ``.
    pub element: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, ", self.path.display())?;
        match self.line {
            Some(line) => write!(f, "line {line} (byte {})", self.offset)?,
            None => write!(f, "byte {}", self.offset)?,
        }
        write!(f, ", {}", self.element)
    }
}

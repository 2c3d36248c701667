//! The one error type of the crate.

use std::fmt;
use std::path::PathBuf;

use crate::geometry::Kind;

/// Why a file could not be opened, or an array of it not read.
///
/// Every message names the file and, where there is one, the place in it, what was found there and
/// what was expected.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused to open the file.
    #[error("cannot open `{}`: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The operating system failed while the file was read.
    #[error("{place}: cannot read: {source}")]
    Read {
        /// Where in the file.
        place: Box<Place>,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file is neither a legacy nor an XML file of VTK.
    #[error(
        "`{}` starts with `{found}`, expected `# vtk DataFile Version` or `<VTKFile`; \
         pass a legacy .vtk or a .vti, .vtr, .vts, .vtu, .vtp, .pvtu or .pvtp file", path.display()
    )]
    NotVtk {
        /// The file.
        path: PathBuf,
        /// Its first bytes.
        found: String,
    },
    /// The file says something that the format does not allow, or contradicts itself.
    #[error("{place}: found {found}, expected {expected}")]
    Malformed {
        /// Where in the file.
        place: Box<Place>,
        /// What stands there.
        found: String,
        /// What the format asks for.
        expected: String,
    },
    /// The data ends too early.
    #[error(
        "{place}: the data ends (the file has {file_bytes} bytes), expected {expected}; \
         the file was cut off or is still being written"
    )]
    Truncated {
        /// Where in the file.
        place: Box<Place>,
        /// Length of the file in bytes.
        file_bytes: u64,
        /// What is missing.
        expected: String,
    },
    /// The file uses a part of the format that this crate does not read.
    #[error("{place}: {what} cannot be read; {remedy}")]
    Unsupported {
        /// Where in the file.
        place: Box<Place>,
        /// The part of the format.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// An array does not fit into memory.
    #[error("{place}: no memory for {values} values; read it on a larger machine")]
    OutOfMemory {
        /// Where in the file.
        place: Box<Place>,
        /// Number of values the array holds.
        values: usize,
    },
    /// The data set has no such thing, because of its kind or its layout.
    #[error("`{}` holds {kind} without {what}; {remedy}", path.display())]
    Absent {
        /// The file.
        path: PathBuf,
        /// The kind of its data set.
        kind: Kind,
        /// What was asked for.
        what: &'static str,
        /// What to ask for instead.
        remedy: &'static str,
    },
    /// The array was not listed by the file that is asked to read it.
    #[error("`{}` does not list the array `{array}`; pass an entry of its `arrays()`", path.display())]
    ForeignArray {
        /// The file.
        path: PathBuf,
        /// Name of the array.
        array: String,
    },
}

/// A place in a file, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Bytes before the place.
    pub offset: u64,
    /// Line number from 1, where the file is text up to the place.
    pub line: Option<u64>,
    /// The element, keyword or array, e.g. ``array `velocity` ``.
    pub element: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, ", self.path.display())?;
        match self.line {
            Some(line) => write!(f, "line {line} (byte {})", self.offset)?,
            None => write!(f, "byte {}", self.offset)?,
        }
        write!(f, ", {}", self.element)
    }
}

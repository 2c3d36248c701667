//! Positional reads of an open file, and errors with their location.
//!
//! Reads do not use the cursor of the file, so that threads can share one handle. Files are not
//! memory-mapped: a file that is truncated while it is read gives an error, not a signal.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::{Error, Location};
use crate::hdf::data::HdfData;

/// Locations beyond this offset have no line number, since counting lines requires reading
/// everything before.
const MAX_LINE_OFFSET: u64 = 1 << 20;

/// Number of bytes at the start of a file that identify its format.
const START_BYTES: u64 = 64;

/// Maximum length of a quotation from the file in a message, in characters.
const MAX_QUOTATION: usize = 60;

/// One open file.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    file: File,
    len: u64,
    /// The datasets of an HDF5 file.
    hdf: Option<HdfData>,
}

impl Source {
    /// Opens the file and gets its length.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { path: path.to_path_buf(), file, len: metadata.len(), hdf: None })
    }

    /// The file with its datasets, if it is an HDF5 file.
    pub(crate) fn with_hdf(self, data: HdfData) -> Self {
        Self { hdf: Some(data), ..self }
    }

    /// The datasets of an HDF5 file.
    pub(crate) fn hdf(&self) -> Option<&HdfData> {
        self.hdf.as_ref()
    }

    /// Positional reads of the file by the reader of HDF5.
    pub(crate) fn hdf_storage(&self) -> io::Result<hdf5_reader::FileStorage> {
        let storage = hdf5_reader::FileStorage::from_file(self.file.try_clone()?);
        storage.map_err(|error| io::Error::other(error.to_string()))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file when it was opened, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The first bytes of the file, which identify its format.
    pub(crate) fn start_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut start = Vec::new();
        let read = self.reader(0..START_BYTES).read_to_end(&mut start);
        read.map_err(|e| self.context(0, "the first line").failed(e, "bytes"))?;
        Ok(start)
    }

    /// A reader of the bytes in `range`.
    pub(crate) fn reader(&self, range: Range<u64>) -> RangeReader<'_> {
        RangeReader { source: self, position: range.start, end: range.end.min(self.len) }
    }

    /// The context of errors at an offset.
    pub(crate) fn context<'a>(&'a self, offset: u64, element: &'a str) -> ErrorContext<'a> {
        ErrorContext { source: self, offset, element }
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }

    /// Line number of a byte, if everything before it is text and not too long.
    fn line_at(&self, offset: u64) -> Option<u64> {
        if offset > MAX_LINE_OFFSET {
            return None;
        }
        let mut before = Vec::new();
        self.reader(0..offset).read_to_end(&mut before).ok()?;
        let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
        let newlines = before.iter().filter(|byte| **byte == b'\n').count() as u64;
        before.iter().all(is_text).then_some(newlines + 1)
    }
}

/// A reader of a range of a [`Source`].
#[derive(Debug)]
pub(crate) struct RangeReader<'a> {
    source: &'a Source,
    position: u64,
    end: u64,
}

impl RangeReader<'_> {
    /// Skips bytes without reading them.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.position = self.position.saturating_add(bytes);
    }
}

impl Read for RangeReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end.saturating_sub(self.position)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let (buffer, _) = buffer.split_at_mut(wanted);
        let read = self.source.read_at(buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

/// The context of errors: an offset in a [`Source`], and the element that is read there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ErrorContext<'a> {
    source: &'a Source,
    offset: u64,
    element: &'a str,
}

impl<'a> ErrorContext<'a> {
    pub(crate) fn source(self) -> &'a Source {
        self.source
    }

    /// The same element at another offset.
    pub(crate) fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    fn location(self) -> Box<Location> {
        Box::new(Location {
            path: self.source.path.clone(),
            offset: self.offset,
            line: self.source.line_at(self.offset),
            element: self.element.to_owned(),
        })
    }

    pub(crate) fn malformed(self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Malformed {
            location: self.location(),
            found: found.into(),
            expected: expected.into(),
        }
    }

    pub(crate) fn truncated(self, expected: impl Into<String>) -> Error {
        Error::Truncated {
            location: self.location(),
            file_bytes: self.source.len,
            expected: expected.into(),
        }
    }

    pub(crate) fn unsupported(self, what: impl Into<String>, remedy: &'static str) -> Error {
        Error::Unsupported { location: self.location(), what: what.into(), remedy }
    }

    pub(crate) fn out_of_memory(self, values: usize) -> Error {
        Error::OutOfMemory { location: self.location(), values }
    }

    /// Converts a failed read to an error: truncated, malformed, or an error of the operating
    /// system.
    pub(crate) fn failed(self, error: io::Error, expected: &str) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.truncated(expected),
            io::ErrorKind::InvalidData => self.malformed(error.to_string(), expected),
            _ => Error::Read { location: self.location(), source: error },
        }
    }
}

/// A quotation from the file in backticks, printable and shortened.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    format!("`{}`", shortened(bytes))
}

/// A quotation from the file, printable and shortened.
pub(crate) fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let start: String = text.chars().take(MAX_QUOTATION).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_QUOTATION).is_some() { start + "…" } else { start }
}

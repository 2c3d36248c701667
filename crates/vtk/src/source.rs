//! Ranged reads of one open file.
//!
//! Every read names its own position, so that one handle serves many threads. Nothing is mapped
//! into memory: a file that is cut off while it is read gives an error, not a signal.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::array::Part;
use crate::error::{Error, Place};

/// Places further into the file than this are named by their byte only: to count lines means to
/// read everything before the place.
const COUNT_LINES_UP_TO: u64 = 1 << 20;

/// Bytes at the start of a file that are looked at to tell its format.
const START_BYTES: u64 = 64;

/// Longest piece of the file that a message repeats, in characters.
const QUOTED_CHARACTERS: usize = 60;

/// One open file.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    file: File,
    len: u64,
}

impl Source {
    /// Opens the file and asks for its length.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_path_buf(), source };
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        Ok(Self { path: path.to_path_buf(), file, len: metadata.len() })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Length of the file when it was opened, in bytes.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The first bytes of the file, enough to tell its format.
    pub(crate) fn start_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut start = Vec::new();
        let read = self.reader(0..START_BYTES).read_to_end(&mut start);
        read.map_err(|e| self.spot(0, "the first line").failed(e, "bytes"))?;
        Ok(start)
    }

    /// Reads bytes `range` and no others, in order.
    pub(crate) fn reader(&self, range: Range<u64>) -> RangeReader<'_> {
        RangeReader { source: self, position: range.start, end: range.end.min(self.len) }
    }

    /// Names a place for messages.
    pub(crate) fn spot<'a>(&'a self, offset: u64, element: &'a str) -> Spot<'a> {
        Spot { source: self, offset, element }
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)
    }

    /// Line number of a byte, if everything before it is text and short enough to count.
    fn line_at(&self, offset: u64) -> Option<u64> {
        if offset > COUNT_LINES_UP_TO {
            return None;
        }
        let mut before = Vec::new();
        self.reader(0..offset).read_to_end(&mut before).ok()?;
        let is_text = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
        let newlines = before.iter().filter(|byte| **byte == b'\n').count() as u64;
        before.iter().all(is_text).then_some(newlines + 1)
    }
}

/// The file that was opened and, where it is an index, the files that it lists.
#[derive(Debug)]
pub(crate) struct Sources {
    main: Source,
    listed: Vec<Source>,
}

impl Sources {
    pub(crate) fn new(main: Source, listed: Vec<Source>) -> Self {
        Self { main, listed }
    }

    /// The file that was opened.
    pub(crate) fn main(&self) -> &Source {
        &self.main
    }

    /// The file of a part of an array.
    pub(crate) fn of(&self, part: &Part) -> &Source {
        let listed = part.file.checked_sub(1).and_then(|number| self.listed.get(number));
        listed.unwrap_or(&self.main)
    }
}

/// Reads a range of a [`Source`] in order.
#[derive(Debug)]
pub(crate) struct RangeReader<'a> {
    source: &'a Source,
    position: u64,
    end: u64,
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

/// A place in a [`Source`] and the element that is being read there; makes the errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spot<'a> {
    source: &'a Source,
    offset: u64,
    element: &'a str,
}

impl<'a> Spot<'a> {
    pub(crate) fn source(self) -> &'a Source {
        self.source
    }

    /// The same element, further on in the file.
    pub(crate) fn at(self, offset: u64) -> Self {
        Self { offset, ..self }
    }

    fn place(self) -> Box<Place> {
        Box::new(Place {
            path: self.source.path.clone(),
            offset: self.offset,
            line: self.source.line_at(self.offset),
            element: self.element.to_owned(),
        })
    }

    pub(crate) fn malformed(self, found: impl Into<String>, expected: impl Into<String>) -> Error {
        Error::Malformed { place: self.place(), found: found.into(), expected: expected.into() }
    }

    pub(crate) fn truncated(self, expected: impl Into<String>) -> Error {
        Error::Truncated {
            place: self.place(),
            file_bytes: self.source.len,
            expected: expected.into(),
        }
    }

    pub(crate) fn unsupported(self, what: impl Into<String>, remedy: &'static str) -> Error {
        Error::Unsupported { place: self.place(), what: what.into(), remedy }
    }

    pub(crate) fn out_of_memory(self, values: usize) -> Error {
        Error::OutOfMemory { place: self.place(), values }
    }

    /// Turns a failed read into an error: the end of the data, bad data, or the system's fault.
    pub(crate) fn failed(self, error: io::Error, expected: &str) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.truncated(expected),
            io::ErrorKind::InvalidData => self.malformed(error.to_string(), expected),
            _ => Error::Read { place: self.place(), source: error },
        }
    }
}

/// A piece of the file in backticks: printable and short.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    format!("`{}`", shortened(bytes))
}

/// A piece of the file, printable and short.
pub(crate) fn shortened(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown: String = text.chars().take(QUOTED_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED_CHARACTERS).is_some() { shown + "…" } else { shown }
}

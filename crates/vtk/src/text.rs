//! Words and lines of the text parts of a file.

use std::io::{self, BufRead, BufReader};
use std::ops::Range;

use crate::source::{RangeReader, Source};

/// Longest word or line that is kept; the rest of a longer one is passed over.
const KEPT_BYTES: usize = 4096;

/// Bytes read from the file at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Reads a range of a file word by word or line by line and always knows where it stands.
#[derive(Debug)]
pub(crate) struct TextReader<'a> {
    source: &'a Source,
    reader: BufReader<RangeReader<'a>>,
    position: u64,
    kept: Vec<u8>,
}

impl<'a> TextReader<'a> {
    pub(crate) fn new(source: &'a Source, range: Range<u64>) -> Self {
        let position = range.start;
        let reader = BufReader::with_capacity(BUFFER_BYTES, source.reader(range));
        Self { source, reader, position, kept: Vec::new() }
    }

    /// Position of the next byte in the file.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Goes on at `position`.
    pub(crate) fn jump(&mut self, position: u64) {
        *self = Self::new(self.source, position..self.source.len());
    }

    /// Passes over whitespace and gives the byte after it, not yet consumed.
    pub(crate) fn skip_space(&mut self) -> io::Result<Option<u8>> {
        self.skip_while(|byte| byte.is_ascii_whitespace())?;
        self.peek()
    }

    /// The next word, without the whitespace around it; `None` at the end.
    pub(crate) fn word(&mut self) -> io::Result<Option<&[u8]>> {
        if self.skip_space()?.is_none() {
            return Ok(None);
        }
        self.keep_while(|byte| !byte.is_ascii_whitespace())?;
        Ok(Some(&self.kept))
    }

    /// The rest of the line, without its end; `None` at the end.
    pub(crate) fn line(&mut self) -> io::Result<Option<&[u8]>> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        self.keep_while(|byte| byte != b'\n')?;
        if self.peek()?.is_some() {
            self.consume(1);
        }
        Ok(Some(self.kept.trim_ascii()))
    }

    /// Passes over at most `count` words that can be numbers, and gives how many there were. Stops
    /// before a word that starts with a letter, unless it is `nan` or `inf`.
    pub(crate) fn skip_numbers(&mut self, count: u64) -> io::Result<u64> {
        for found in 0..count {
            match self.skip_space()? {
                None => return Ok(found),
                Some(b'n' | b'N' | b'i' | b'I') => {}
                Some(byte) if byte.is_ascii_alphabetic() => return Ok(found),
                Some(_) => {}
            }
            self.skip_while(|byte| !byte.is_ascii_whitespace())?;
        }
        Ok(count)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.reader.fill_buf()?.first().copied())
    }

    fn consume(&mut self, bytes: usize) {
        self.reader.consume(bytes);
        self.position += bytes as u64;
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) -> io::Result<()> {
        self.run(belongs, |_, _| ())
    }

    fn keep_while(&mut self, belongs: impl Fn(u8) -> bool) -> io::Result<()> {
        self.kept.clear();
        self.run(belongs, |kept, bytes| {
            let room = KEPT_BYTES - kept.len();
            kept.extend(bytes.iter().take(room));
        })
    }

    /// Consumes the bytes up to the first that does not belong, and shows them to `take`.
    fn run(
        &mut self,
        belongs: impl Fn(u8) -> bool,
        take: impl Fn(&mut Vec<u8>, &[u8]),
    ) -> io::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| !belongs(*byte));
            let bytes = end.unwrap_or(buffer.len());
            take(&mut self.kept, buffer.get(..bytes).unwrap_or_default());
            self.consume(bytes);
            if end.is_some() || bytes == 0 {
                return Ok(());
            }
        }
    }
}

//! A reader of words and lines in the text of a file.

use std::io::{self, BufRead, BufReader};
use std::ops::Range;

use crate::source::{RangeReader, Source};

/// Maximum length of a word or line; the rest of a longer one is skipped.
const MAX_WORD_BYTES: usize = 4096;

/// Size of the read buffer, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Reads a range of a file by words or lines, and tracks its position.
#[derive(Debug)]
pub(crate) struct TextReader<'a> {
    source: &'a Source,
    reader: BufReader<RangeReader<'a>>,
    position: u64,
    word: Vec<u8>,
}

impl<'a> TextReader<'a> {
    pub(crate) fn new(source: &'a Source, range: Range<u64>) -> Self {
        let position = range.start;
        let reader = BufReader::with_capacity(BUFFER_BYTES, source.reader(range));
        Self { source, reader, position, word: Vec::new() }
    }

    /// Position of the next byte in the file.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Continues at `position`.
    pub(crate) fn jump(&mut self, position: u64) {
        *self = Self::new(self.source, position..self.source.len());
    }

    /// Skips whitespace and peeks at the byte after it.
    pub(crate) fn skip_space(&mut self) -> io::Result<Option<u8>> {
        self.skip_while(|byte| byte.is_ascii_whitespace())?;
        self.peek()
    }

    /// The next word, without surrounding whitespace; `None` at the end.
    pub(crate) fn word(&mut self) -> io::Result<Option<&[u8]>> {
        if self.skip_space()?.is_none() {
            return Ok(None);
        }
        self.take_while(|byte| !byte.is_ascii_whitespace())?;
        Ok(Some(&self.word))
    }

    /// The rest of the line, trimmed; `None` at the end.
    pub(crate) fn line(&mut self) -> io::Result<Option<&[u8]>> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        self.take_while(|byte| byte != b'\n')?;
        if self.peek()?.is_some() {
            self.consume(1);
        }
        Ok(Some(self.word.trim_ascii()))
    }

    /// Skips up to `count` words that can be numbers, and gives the number skipped. Stops before a
    /// word that starts with a letter other than `n` or `i` (`nan`, `inf`).
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
        self.consume_while(belongs, |_, _| ())
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> io::Result<()> {
        self.word.clear();
        self.consume_while(belongs, |word, bytes| {
            let left = MAX_WORD_BYTES - word.len();
            word.extend(bytes.iter().take(left));
        })
    }

    /// Consumes the bytes up to the first that does not belong, and passes them to `take`.
    fn consume_while(
        &mut self,
        belongs: impl Fn(u8) -> bool,
        take: impl Fn(&mut Vec<u8>, &[u8]),
    ) -> io::Result<()> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| !belongs(*byte));
            let bytes = end.unwrap_or(buffer.len());
            take(&mut self.word, buffer.get(..bytes).unwrap_or_default());
            self.consume(bytes);
            if end.is_some() || bytes == 0 {
                return Ok(());
            }
        }
    }
}

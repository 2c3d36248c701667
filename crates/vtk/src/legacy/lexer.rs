//! The lexer of legacy files: words, numbers and blocks of values.

use std::io::{BufReader, Read};
use std::str::FromStr;

use crate::array::ArrayInfo;
use crate::block::{Block, Encoding};
use crate::error::Error;
use crate::scalar::ScalarType;
use crate::source::{ErrorContext, Source, quoted};
use crate::text::TextReader;

/// Reads a legacy file sequentially.
pub(super) struct Lexer<'a> {
    source: &'a Source,
    text: TextReader<'a>,
    binary: bool,
    /// The major and the minor version.
    version: [u32; 2],
    /// Start of the last word, for messages.
    word_start: u64,
}

impl<'a> Lexer<'a> {
    /// Reads the header: version, title and encoding.
    pub(super) fn open(source: &'a Source) -> Result<Self, Error> {
        let text = TextReader::new(source, 0..source.len());
        let mut lexer = Self { source, text, binary: false, version: [0; 2], word_start: 0 };
        let first = lexer.rest_of_line("the first line")?;
        lexer.version = version(&first).ok_or_else(|| {
            lexer
                .context("the first line")
                .malformed(quoted(first.as_bytes()), "a version, e.g. `# vtk DataFile Version 3.0`")
        })?;
        lexer.rest_of_line("the title")?;
        let encoding = lexer.word("the encoding")?;
        lexer.binary = match encoding.to_ascii_lowercase().as_str() {
            "ascii" => false,
            "binary" => true,
            _ => return Err(lexer.unexpected("the encoding", "`ASCII` or `BINARY`")),
        };
        Ok(lexer)
    }

    pub(super) fn encoding(&self) -> String {
        if self.binary { "legacy, binary".to_owned() } else { "legacy, ASCII".to_owned() }
    }

    pub(super) fn is_binary(&self) -> bool {
        self.binary
    }

    /// The major and the minor version.
    pub(super) fn version(&self) -> [u32; 2] {
        self.version
    }

    /// The error context of the last word.
    pub(super) fn context<'b>(&'b self, element: &'b str) -> ErrorContext<'b> {
        self.source.context(self.word_start, element)
    }

    /// Start of the last word.
    pub(super) fn word_start(&self) -> u64 {
        self.word_start
    }

    /// The error for an unexpected last word.
    pub(super) fn unexpected(&self, element: &str, expected: &str) -> Error {
        let mut word = TextReader::new(self.source, self.word_start..self.source.len());
        let found = match word.word() {
            Ok(Some(word)) => quoted(word),
            _ => "the end of the file".to_owned(),
        };
        self.context(element).malformed(found, expected)
    }

    /// The next keyword in lower case; `None` at the end of the file.
    pub(super) fn keyword(&mut self) -> Result<Option<String>, Error> {
        Ok(self.word_after_metadata()?.map(|word| word.to_ascii_lowercase()))
    }

    /// The name of the next array of a `FIELD`.
    pub(super) fn field_name(&mut self) -> Result<String, Error> {
        let element = "keyword `FIELD`";
        self.word_after_metadata()?
            .ok_or_else(|| self.context(element).truncated("the name of an array"))
    }

    /// The next word. Skips `METADATA`, which may follow any array, up to a blank line.
    fn word_after_metadata(&mut self) -> Result<Option<String>, Error> {
        loop {
            let word = self.next_word("the file")?;
            if !word.as_ref().is_some_and(|word| word.eq_ignore_ascii_case("metadata")) {
                return Ok(word);
            }
            self.rest_of_line("METADATA")?;
            while !self.rest_of_line("METADATA")?.is_empty() {}
        }
    }

    /// The next word.
    pub(super) fn word(&mut self, element: &str) -> Result<String, Error> {
        match self.next_word(element)? {
            Some(word) => Ok(word),
            None => Err(self.context(element).truncated("a word")),
        }
    }

    fn next_word(&mut self, element: &str) -> Result<Option<String>, Error> {
        let context = self.source.context(self.word_start, element);
        self.text.skip_space().map_err(|e| context.failed(e, "a word"))?;
        self.word_start = self.text.position();
        let word = self.text.word().map_err(|e| context.failed(e, "a word"))?;
        Ok(word.map(|word| String::from_utf8_lossy(word).into_owned()))
    }

    /// The next word as a number.
    pub(super) fn number<T: FromStr>(&mut self, element: &str) -> Result<T, Error> {
        let word = self.word(element)?;
        word.parse().map_err(|_| self.unexpected(element, "a valid number"))
    }

    /// The next three words as numbers.
    pub(super) fn three<T: FromStr>(&mut self, element: &str) -> Result<[T; 3], Error> {
        Ok([self.number(element)?, self.number(element)?, self.number(element)?])
    }

    /// The next word as a scalar type.
    pub(super) fn scalar_type(&mut self, element: &str) -> Result<ScalarType, Error> {
        let word = self.word(element)?;
        self.known_type(element, &word)
    }

    /// The scalar type with the name of the last word.
    pub(super) fn known_type(&self, element: &str, word: &str) -> Result<ScalarType, Error> {
        ScalarType::from_legacy(word).ok_or_else(|| {
            self.context(element)
                .unsupported(format!("the type `{word}`"), "write the array as `float` or `double`")
        })
    }

    /// The rest of the line; empty at the end of the file.
    pub(super) fn rest_of_line(&mut self, element: &str) -> Result<String, Error> {
        let context = self.source.context(self.text.position(), element);
        let line = self.text.line().map_err(|e| context.failed(e, "a line"))?;
        Ok(line.map(|line| String::from_utf8_lossy(line).into_owned()).unwrap_or_default())
    }

    /// Whether `keyword` (lower case) comes next.
    pub(super) fn next_is(&self, keyword: &str) -> bool {
        let mut start = Vec::new();
        let here = self.text.position();
        let ahead = here.saturating_add(keyword.len() as u64 + 16);
        let read = self.source.reader(here..ahead).read_to_end(&mut start);
        read.is_ok()
            && start.trim_ascii_start().to_ascii_lowercase().starts_with(keyword.as_bytes())
    }

    /// Skips the values of an array after the arguments of its keyword: in a binary file they start
    /// on the next line, in a text file directly.
    pub(super) fn array(&mut self, array: ArrayInfo) -> Result<ArrayInfo, Error> {
        if self.binary {
            self.rest_of_line(&array.element())?;
        }
        self.array_here(array)
    }

    /// Skips the values of an array that start at the current position.
    pub(super) fn array_here(&mut self, array: ArrayInfo) -> Result<ArrayInfo, Error> {
        let element = array.element();
        let start = self.text.position();
        let context = self.source.context(start, &element);
        let count = array.count().ok_or_else(|| context.out_of_memory(usize::MAX))?;
        let encoding = if self.binary {
            let end = array.scalar.bytes_for(count).and_then(|bytes| start.checked_add(bytes));
            let end = end.filter(|end| *end <= self.source.len());
            self.text.jump(end.ok_or_else(|| {
                context.truncated(format!("`{count}` numbers of type {}", array.scalar))
            })?);
            Encoding::BigEndian
        } else {
            self.skip_numbers(context, count)?;
            Encoding::Ascii
        };
        Ok(array.in_block(Block { start, end: self.text.position(), encoding }))
    }

    fn skip_numbers(&mut self, context: ErrorContext<'_>, count: usize) -> Result<(), Error> {
        let failed = |e| context.failed(e, "numbers");
        let found = self.text.skip_numbers(count as u64).map_err(failed)?;
        if found == count as u64 {
            return Ok(());
        }
        match self.text.skip_space().map_err(failed)? {
            None => Err(context.truncated(format!("`{count}` numbers, found `{found}`"))),
            Some(_) => Err(context.malformed(format!("`{found}` numbers"), format!("`{count}`"))),
        }
    }

    /// Skips `count` strings: one per line, or in a binary file their length and their bytes.
    pub(super) fn skip_strings(&mut self, element: &str, count: usize) -> Result<(), Error> {
        self.rest_of_line(element)?;
        if self.binary {
            return self.skip_binary_strings(element, count);
        }
        for _ in 0..count {
            let context = self.source.context(self.text.position(), element);
            let line = self.text.line().map_err(|e| context.failed(e, "a line"))?;
            line.ok_or_else(|| context.truncated(format!("`{count}` strings")))?;
        }
        Ok(())
    }

    fn skip_binary_strings(&mut self, element: &str, count: usize) -> Result<(), Error> {
        let mut position = self.text.position();
        let context = self.source.context(position, element);
        let mut reader = BufReader::new(self.source.reader(position..self.source.len()));
        for _ in 0..count {
            let skipped = skip_binary_string(&mut reader)
                .map_err(|e| context.failed(e, &format!("`{count}` strings")))?;
            position = position.saturating_add(skipped);
        }
        self.text.jump(position);
        Ok(())
    }
}

/// Skips a string and gives the number of bytes. The two highest bits of the first byte encode the
/// size of the length: 3 for one byte, 2 for two, 1 for four and 0 for eight.
fn skip_binary_string(reader: &mut dyn Read) -> std::io::Result<u64> {
    let mut first = [0];
    reader.read_exact(&mut first)?;
    let [first] = first;
    let mut buffer = [0; 7];
    let more = match first >> 6 {
        0 => &mut buffer[..],
        1 => &mut buffer[..3],
        2 => &mut buffer[..1],
        _ => &mut buffer[..0],
    };
    reader.read_exact(more)?;
    let length =
        more.iter().fold(u64::from(first & 0x3f), |length, byte| (length << 8) | u64::from(*byte));
    let header = 1 + more.len() as u64;
    let skipped = std::io::copy(&mut reader.take(length), &mut std::io::sink())?;
    if skipped < length {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(header + length)
}

/// The major and the minor version, e.g. 3 and 0 for `# vtk DataFile Version 3.0`.
fn version(line: &str) -> Option<[u32; 2]> {
    let mut numbers = line.split_whitespace().nth(4)?.split('.');
    let major = numbers.next()?.parse().ok()?;
    Some([major, numbers.next().and_then(|minor| minor.parse().ok()).unwrap_or(0)])
}

//! A streaming reader of XML elements that skips text.

use std::io::{self, BufRead, BufReader};
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::tag::Tag;
use crate::error::Error;
use crate::source::{RangeReader, Source, quoted};

/// Size of the read buffer, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// The next item of the file.
pub(super) enum Item<'a> {
    Open(Tag<'a>),
    Close(String),
    /// Text that is not blank: from its first byte that is not whitespace to the next element.
    Text(Range<u64>),
    End,
}

/// Reads an XML file sequentially. Text is skipped, not stored: it may be an array of many
/// gigabytes.
pub(super) struct Elements<'a> {
    source: &'a Source,
    reader: Reader<BufReader<RangeReader<'a>>>,
    buffer: Vec<u8>,
    /// The pending end of an empty element, e.g. `<Points/>`.
    pending_close: Option<String>,
}

impl<'a> Elements<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let bytes = BufReader::with_capacity(BUFFER_BYTES, source.reader(0..source.len()));
        let reader = Reader::from_reader(bytes);
        Self { source, reader, buffer: Vec::new(), pending_close: None }
    }

    pub(super) fn next(&mut self) -> Result<Item<'a>, Error> {
        if let Some(name) = self.pending_close.take() {
            return Ok(Item::Close(name));
        }
        if let Some(text) = self.skip_text().map_err(|e| self.failed(e))? {
            return Ok(Item::Text(text));
        }
        loop {
            let offset = self.reader.buffer_position();
            self.buffer.clear();
            let event = self.reader.read_event_into(&mut self.buffer);
            match event.map_err(|e| not_xml(self.source, self.reader.error_position(), &e))? {
                Event::Start(start) => {
                    return Ok(Item::Open(read_tag(self.source, offset, &start)?));
                }
                Event::Empty(start) => {
                    let tag = read_tag(self.source, offset, &start)?;
                    self.pending_close = Some(tag.name.clone());
                    return Ok(Item::Open(tag));
                }
                Event::End(end) => return Ok(Item::Close(end.name().as_ref().to_owned())),
                Event::Eof => return Ok(Item::End),
                _ => {}
            }
        }
    }

    /// Skips the `_` before the appended data and gives the position after it.
    pub(super) fn start_of_appended_data(&mut self, tag: &Tag<'_>) -> Result<u64, Error> {
        let failed = |e| tag.context().failed(e, "`_` before the data");
        loop {
            let mut stream = self.reader.stream();
            let byte = stream.fill_buf().map_err(failed)?.first().copied();
            stream.consume(1);
            match byte {
                Some(b'_') => return Ok(self.reader.buffer_position()),
                Some(byte) if byte.is_ascii_whitespace() => {}
                Some(byte) => {
                    return Err(tag.context().malformed(quoted(&[byte]), "`_` before the data"));
                }
                None => return Err(tag.context().truncated("`_` before the data")),
            }
        }
    }

    fn skip_text(&mut self) -> io::Result<Option<Range<u64>>> {
        let mut start = None;
        loop {
            let position = self.reader.buffer_position();
            let mut stream = self.reader.stream();
            let buffer = stream.fill_buf()?;
            let end = buffer.iter().position(|byte| *byte == b'<');
            let bytes = end.unwrap_or(buffer.len());
            if start.is_none() {
                let mut text = buffer.iter().take(bytes);
                start =
                    text.position(|byte| !byte.is_ascii_whitespace()).map(|i| position + i as u64);
            }
            stream.consume(bytes);
            if end.is_some() || bytes == 0 {
                return Ok(start.map(|start| start..self.reader.buffer_position()));
            }
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        self.source
            .context(self.reader.buffer_position(), "the elements")
            .failed(error, "an element")
    }
}

fn read_tag<'a>(source: &'a Source, offset: u64, start: &BytesStart<'_>) -> Result<Tag<'a>, Error> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|e| not_xml(source, offset, &e))?;
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .map_err(|e| not_xml(source, offset, &e))?;
        attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
    }
    Ok(Tag::new(source, offset, start.name().as_ref().to_owned(), attributes))
}

fn not_xml(source: &Source, offset: u64, error: &dyn std::fmt::Display) -> Error {
    source
        .context(offset, "the elements")
        .malformed(format!("broken XML ({error})"), "well-formed XML")
}

//! A streaming reader of XML elements that skips text.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::tag::Tag;
use crate::binary::{BinaryArray, BinaryFormat};
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

/// Number of bytes before the end of an array within which its element must end.
const END_BYTES: u64 = 256;

/// Reads an XML file sequentially. Text is skipped, not stored: it may be an array of many
/// gigabytes.
pub(super) struct Elements<'a> {
    source: &'a Source,
    reader: Reader<Bytes<'a>>,
    buffer: Vec<u8>,
    /// The format of the array whose element is open, if it is binary.
    pub(super) array: Option<BinaryFormat>,
    /// The pending end of an empty element, e.g. `<Points/>`.
    pending_close: Option<String>,
}

impl<'a> Elements<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        let bytes = BufReader::with_capacity(BUFFER_BYTES, source.reader(0..source.len()));
        let reader = Reader::from_reader(Bytes(bytes));
        Self { source, reader, buffer: Vec::new(), array: None, pending_close: None }
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
            if let (Some(start), Some(format)) = (start, self.array.take()) {
                let here = self.reader.buffer_position();
                let end = self.near_end(start, format)?.unwrap_or(here);
                self.reader.stream().consume(end.saturating_sub(here) as usize);
            }
        }
    }

    /// A position shortly before the end of the text of a binary array, by the sizes at its start; `None` if its
    /// element does not end there.
    fn near_end(&self, start: u64, format: BinaryFormat) -> io::Result<Option<u64>> {
        let context = self.source.context(start, "an array");
        let Ok(array) = BinaryArray::open(context, start..self.source.len(), format) else {
            return Ok(None);
        };
        // Padding or whitespace between its streams makes the text longer.
        let near = start.saturating_add(array.stored_bytes() / 3 * 4);
        let mut end = Vec::new();
        self.source.reader(near..near.saturating_add(END_BYTES)).read_to_end(&mut end)?;
        let text = end.iter().position(|byte| !is_base64(*byte)).unwrap_or(end.len());
        let is_end = end.get(text..).is_some_and(|end| end.starts_with(b"</DataArray"));
        Ok(is_end.then_some(near))
    }

    fn failed(&self, error: io::Error) -> Error {
        self.source
            .context(self.reader.buffer_position(), "the elements")
            .failed(error, "an element")
    }
}

/// Whether a byte can be in the text of an array.
fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=".contains(&byte)
}

/// A buffered reader that can skip more bytes than it holds, without reading them.
struct Bytes<'a>(BufReader<RangeReader<'a>>);

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl BufRead for Bytes<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let held = amount.min(self.0.buffer().len());
        self.0.consume(held);
        if amount > held {
            self.0.get_mut().skip((amount - held) as u64);
        }
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

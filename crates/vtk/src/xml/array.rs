//! The element `DataArray`: type, size and block of values.

use super::document::{Appended, RawArray};
use super::file_format::read_binary_format;
use super::tag::Tag;
use crate::binary::BinaryFormat;
use crate::block::{Block, Encoding};
use crate::error::Error;
use crate::scalar::ScalarType;
use crate::source::Source;

/// The format of the arrays of a file.
pub(super) struct Format {
    binary: BinaryFormat,
    appended: Option<Appended>,
    /// The end of the file, which bounds the appended data.
    file_end: u64,
}

impl Format {
    /// The format of the arrays of a file whose first element is `file`.
    pub(super) fn read(
        source: &Source,
        file: &Tag<'_>,
        appended: Option<Appended>,
    ) -> Result<Self, Error> {
        Ok(Self { binary: read_binary_format(file)?, appended, file_end: source.len() })
    }

    /// The block with the values of an array.
    pub(super) fn block(&self, array: &RawArray<'_>) -> Result<Block, Error> {
        let tag = &array.tag;
        let inline = |encoding| {
            let text = array.text.clone().unwrap_or(tag.offset()..tag.offset());
            Block { start: text.start, end: text.end, encoding }
        };
        let default = if tag.text("offset").is_some() { "appended" } else { "ascii" };
        match tag.text("format").unwrap_or(default) {
            "ascii" => Ok(inline(Encoding::Ascii)),
            "binary" => Ok(inline(Encoding::Binary(self.binary))),
            "appended" => self.appended_block(tag),
            other => Err(tag.bad_value("format", other, "`ascii`, `binary` or `appended`")),
        }
    }

    fn appended_block(&self, tag: &Tag<'_>) -> Result<Block, Error> {
        let missing = || tag.context().truncated("the element `AppendedData` after it");
        let Appended { start, base64 } = self.appended.ok_or_else(missing)?;
        let offset: u64 = tag.required("offset", tag.number("offset")?)?;
        let start = start.saturating_add(offset);
        let encoding = Encoding::Binary(BinaryFormat { base64, ..self.binary });
        Ok(Block { start, end: self.file_end.max(start), encoding })
    }

    /// A description of the encoding of an array.
    pub(super) fn describe(&self, array: &RawArray<'_>) -> Result<String, Error> {
        let Encoding::Binary(format) = self.block(array)?.encoding else {
            return Ok("ASCII".to_owned());
        };
        let appended = array.tag.text("format") != Some("binary");
        let mut words = String::from(if appended { "appended " } else { "" });
        words += if format.base64 { "base64" } else { "raw" };
        if let Some(compressor) = format.compressor {
            words = words + ", " + compressor.name();
        }
        Ok(words)
    }
}

/// Type of the values; `None` for strings, which are not supported.
pub(super) fn scalar_type(tag: &Tag<'_>) -> Result<Option<ScalarType>, Error> {
    match tag.required("type", tag.text("type"))? {
        "String" => Ok(None),
        name => match ScalarType::from_xml(name) {
            Some(scalar) => Ok(Some(scalar)),
            None => Err(tag.bad_value("type", name, "a VTK type, e.g. `Float32`")),
        },
    }
}

/// Number of components of a tuple.
pub(super) fn components(tag: &Tag<'_>) -> Result<usize, Error> {
    Ok(tag.number("NumberOfComponents")?.unwrap_or(1))
}

/// Number of tuples: the attribute of the element or, if missing, the count in the data.
pub(super) fn tuples(
    array: &RawArray<'_>,
    block: &Block,
    scalar: ScalarType,
    components: usize,
) -> Result<usize, Error> {
    if let Some(tuples) = array.tag.number("NumberOfTuples")? {
        return Ok(tuples);
    }
    let values = block.count_values(array.tag.context(), scalar)?;
    if values.is_multiple_of(components) {
        return Ok(values / components);
    }
    let expected = format!("a multiple of `{components}`, the number of components");
    Err(array.tag.context().malformed(format!("`{values}` numbers"), expected))
}

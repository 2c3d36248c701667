//! One `DataArray`: its type, its size, and where its numbers lie.

use super::document::{Appended, RawArray};
use super::tag::Tag;
use crate::block::{Block, Encoding};
use crate::error::Error;
use crate::packed::{Compressor, Packing, SizeWord};
use crate::scalar::{ByteOrder, ScalarType};
use crate::source::Source;

/// How all arrays of a file are written.
pub(super) struct Format {
    packing: Packing,
    appended: Option<Appended>,
    /// End of the appended data at the latest.
    file_end: u64,
}

impl Format {
    /// Reads the attributes of `VTKFile`.
    pub(super) fn read(
        source: &Source,
        file: &Tag<'_>,
        appended: Option<Appended>,
    ) -> Result<Self, Error> {
        let order = match file.text("byte_order") {
            Some("LittleEndian") | None => ByteOrder::Little,
            Some("BigEndian") => ByteOrder::Big,
            Some(other) => {
                return Err(file.bad_value("byte_order", other, "`LittleEndian` or `BigEndian`"));
            }
        };
        let word = match file.text("header_type") {
            Some("UInt32") | None => SizeWord::U32,
            Some("UInt64") => SizeWord::U64,
            Some(other) => {
                return Err(file.bad_value("header_type", other, "`UInt32` or `UInt64`"));
            }
        };
        let packing = Packing { base64: true, order, word, compressor: read_compressor(file)? };
        Ok(Self { packing, appended, file_end: source.len() })
    }

    /// Where the numbers of an array lie.
    pub(super) fn block(&self, array: &RawArray<'_>) -> Result<Block, Error> {
        let tag = &array.tag;
        let inline = |encoding| {
            let text = array.text.clone().unwrap_or(tag.offset()..tag.offset());
            Block { start: text.start, end: text.end, encoding }
        };
        let default = if tag.text("offset").is_some() { "appended" } else { "ascii" };
        match tag.text("format").unwrap_or(default) {
            "ascii" => Ok(inline(Encoding::Ascii)),
            "binary" => Ok(inline(Encoding::Packed(self.packing))),
            "appended" => self.appended_block(tag),
            other => Err(tag.bad_value("format", other, "`ascii`, `binary` or `appended`")),
        }
    }

    fn appended_block(&self, tag: &Tag<'_>) -> Result<Block, Error> {
        let missing = || tag.spot().truncated("the element `AppendedData` after it");
        let Appended { start, base64 } = self.appended.ok_or_else(missing)?;
        let offset: u64 = tag.required("offset", tag.number("offset")?)?;
        let start = start.saturating_add(offset);
        let encoding = Encoding::Packed(Packing { base64, ..self.packing });
        Ok(Block { start, end: self.file_end.max(start), encoding })
    }

    /// How an array is written, in words.
    pub(super) fn describe(&self, array: &RawArray<'_>) -> Result<String, Error> {
        let Encoding::Packed(packing) = self.block(array)?.encoding else {
            return Ok("ASCII".to_owned());
        };
        let appended = array.tag.text("format") != Some("binary");
        let mut words = String::from(if appended { "appended " } else { "" });
        words += if packing.base64 { "base64" } else { "raw" };
        if let Some(compressor) = packing.compressor {
            words = words + ", " + compressor.name();
        }
        Ok(words)
    }
}

fn read_compressor(file: &Tag<'_>) -> Result<Option<Compressor>, Error> {
    match file.text("compressor") {
        None | Some("") => Ok(None),
        Some("vtkZLibDataCompressor") => Ok(Some(Compressor::ZLib)),
        Some("vtkLZ4DataCompressor") => Ok(Some(Compressor::Lz4)),
        Some(other) => Err(file.spot().unsupported(
            format!("data compressed by `{other}`"),
            "write the file with vtkZLibDataCompressor, vtkLZ4DataCompressor or no compressor",
        )),
    }
}

/// Type of the numbers; `None` for strings, which are not read.
pub(super) fn scalar_type(tag: &Tag<'_>) -> Result<Option<ScalarType>, Error> {
    match tag.required("type", tag.text("type"))? {
        "String" => Ok(None),
        name => match ScalarType::from_xml(name) {
            Some(scalar) => Ok(Some(scalar)),
            None => Err(tag.bad_value("type", name, "a type of VTK, e.g. `Float32`")),
        },
    }
}

/// Numbers in a tuple.
pub(super) fn components(tag: &Tag<'_>) -> Result<usize, Error> {
    Ok(tag.number("NumberOfComponents")?.unwrap_or(1))
}

/// Number of tuples as the element gives it, or else as the data does.
pub(super) fn tuples(
    array: &RawArray<'_>,
    block: &Block,
    scalar: ScalarType,
    components: usize,
) -> Result<usize, Error> {
    if let Some(tuples) = array.tag.number("NumberOfTuples")? {
        return Ok(tuples);
    }
    let values = block.measure(array.tag.spot(), scalar)?;
    if values.is_multiple_of(components) {
        return Ok(values / components);
    }
    let expected = format!("whole tuples of `{components}`");
    Err(array.tag.spot().malformed(format!("`{values}` numbers"), expected))
}

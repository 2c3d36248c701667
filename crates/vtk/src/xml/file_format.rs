//! The attributes of `VTKFile`: the format of binary arrays.

use super::tag::Tag;
use crate::binary::{BinaryFormat, Compressor, HeaderType};
use crate::error::Error;
use crate::scalar::ByteOrder;

/// The format of the binary arrays inside elements.
pub(super) fn read_binary_format(file: &Tag<'_>) -> Result<BinaryFormat, Error> {
    let order = match file.text("byte_order") {
        Some("LittleEndian") | None => ByteOrder::Little,
        Some("BigEndian") => ByteOrder::Big,
        Some(other) => {
            return Err(file.bad_value("byte_order", other, "`LittleEndian` or `BigEndian`"));
        }
    };
    let header_type = match file.text("header_type") {
        Some("UInt32") | None => HeaderType::U32,
        Some("UInt64") => HeaderType::U64,
        Some(other) => return Err(file.bad_value("header_type", other, "`UInt32` or `UInt64`")),
    };
    Ok(BinaryFormat { base64: true, order, header_type, compressor: read_compressor(file)? })
}

fn read_compressor(file: &Tag<'_>) -> Result<Option<Compressor>, Error> {
    match file.text("compressor") {
        None | Some("") => Ok(None),
        Some("vtkZLibDataCompressor") => Ok(Some(Compressor::ZLib)),
        Some("vtkLZ4DataCompressor") => Ok(Some(Compressor::Lz4)),
        Some("vtkLZMADataCompressor") => Ok(Some(Compressor::Lzma)),
        Some(other) => Err(file.context().unsupported(
            format!("data compressed by `{other}`"),
            "write the file with vtkZLibDataCompressor, vtkLZ4DataCompressor, vtkLZMADataCompressor or no \
             compressor",
        )),
    }
}

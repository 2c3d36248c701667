//! Decompression, of chunks and of the streams of Blosc containers.

use std::io::Read;

/// A reason why bytes cannot be decoded.
pub(super) type Reason = String;

/// Reads at most `size` bytes and one more, by which too many are noticed.
pub(super) fn read_all(reader: impl Read, size: usize) -> Result<Vec<u8>, Reason> {
    let mut bytes = Vec::new();
    let reserved = bytes.try_reserve_exact(size);
    reserved.map_err(|_| format!("{size} bytes do not fit into memory"))?;
    let limit = size as u64 + 1;
    reader.take(limit).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

pub(super) fn zlib(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    read_all(flate2::read::ZlibDecoder::new(bytes), size)
}

pub(super) fn zstd(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    let decoder = ruzstd::decoding::StreamingDecoder::new(bytes);
    read_all(decoder.map_err(|error| error.to_string())?, size)
}

pub(super) fn lz4_block(block: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    let mut bytes = vec![0; size];
    let written = lz4_flex::block::decompress_into(block, &mut bytes);
    bytes.truncate(written.map_err(|error| error.to_string())?);
    Ok(bytes)
}

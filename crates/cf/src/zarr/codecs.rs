//! Codecs of the bytes of chunks.

use super::blosc;
use super::compressors::{Reason, lz4_block, read_all, zlib, zstd};
use super::shuffle::unshuffle;
use serde_json::Value;

/// One step from the numbers of a chunk to the bytes of its file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Codec {
    Gzip,
    Zlib,
    Zstd,
    /// A block of LZ4 after its length.
    Lz4,
    Blosc,
    /// Bytes grouped by their position in a number of this size.
    Shuffle(usize),
    /// The checksum CRC-32C at the end.
    Crc32c,
}

/// The encoding of the chunks of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Codecs {
    /// In the order of encoding.
    pub steps: Vec<Codec>,
    /// Order of the dimensions in version 3.
    pub order: Vec<usize>,
    /// Byte order in version 3.
    pub is_big_endian: bool,
}

impl Codec {
    /// A codec by its name; `None` if decoding changes nothing.
    pub fn of(name: &str, configuration: &Value) -> Result<Option<Codec>, Reason> {
        let size = || configuration.get("elementsize").and_then(Value::as_u64).unwrap_or(4);
        Ok(Some(match name.strip_prefix("numcodecs.").unwrap_or(name) {
            "gzip" => Codec::Gzip,
            "zlib" => Codec::Zlib,
            "zstd" => Codec::Zstd,
            "lz4" => Codec::Lz4,
            "blosc" => Codec::Blosc,
            "shuffle" => Codec::Shuffle(usize::try_from(size()).unwrap_or(0)),
            "crc32c" => Codec::Crc32c,
            // It rounds before it stores.
            "bitround" => return Ok(None),
            "sharding_indexed" => {
                return Err("its shards are in shards, which is not supported; write it without \
                            nested `shards`"
                    .into());
            }
            other => {
                return Err(format!(
                    "its codec `{other}` is not supported; write it with blosc, zstd, gzip, zlib, lz4, \
                     or without compression"
                ));
            }
        }))
    }
}

impl Codecs {
    /// Decodes the bytes of a chunk, `size` bytes when decoded.
    pub fn decode(&self, mut bytes: Vec<u8>, size: usize) -> Result<Vec<u8>, Reason> {
        for (i, step) in self.steps.iter().enumerate().rev() {
            // A checksum precedes the compression where it is listed before it.
            let checksums = self.steps[..i].iter().filter(|step| **step == Codec::Crc32c).count();
            bytes = step.decode(&bytes, size + 4 * checksums)?;
        }
        if bytes.len() != size {
            return Err(format!("it has {} bytes instead of {size}", bytes.len()));
        }
        Ok(bytes)
    }
}

impl Codec {
    fn decode(&self, bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
        match self {
            Codec::Gzip => read_all(flate2::read::MultiGzDecoder::new(bytes), size),
            Codec::Zlib => zlib(bytes, size),
            Codec::Zstd => zstd(bytes, size),
            Codec::Lz4 => lz4(bytes, size),
            Codec::Blosc => blosc::decode(bytes, size),
            Codec::Shuffle(width) => Ok(unshuffle(bytes, *width)),
            Codec::Crc32c => without_checksum(bytes),
        }
    }
}

/// A block of LZ4 with the length of its decoded bytes before it.
fn lz4(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    match bytes.split_first_chunk() {
        Some((length, block)) if u32::from_le_bytes(*length) as usize == size => {
            lz4_block(block, size)
        }
        _ => Err(format!("its length is not that of {size} bytes")),
    }
}

pub(super) fn without_checksum(bytes: &[u8]) -> Result<Vec<u8>, Reason> {
    let (data, checksum) = bytes.split_last_chunk().ok_or("it has no checksum")?;
    if crc32c(data) != u32::from_le_bytes(*checksum) {
        return Err("its checksum does not match its data".into());
    }
    Ok(data.to_vec())
}

/// The checksum CRC-32C (Castagnoli).
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut i = 0;
        while i < 256 {
            let (mut crc, mut bit) = (i as u32, 0);
            while bit < 8 {
                crc = if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
                bit += 1;
            }
            table[i] = crc;
            i += 1;
        }
        table
    };
    !bytes.iter().fold(!0, |crc: u32, byte| crc >> 8 ^ TABLE[usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_castagnolis() {
        // RFC 3720, B.4.
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
    }
}

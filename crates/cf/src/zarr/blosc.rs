//! Blosc containers (format 1 and 2 of c-blosc 1.x, which numcodecs writes and reads).
//!
//! A header of 16 bytes, the offsets of the blocks, and the blocks. A block is one stream, or one for each
//! byte of a number; each stream is compressed, unless that would not be shorter.

use super::compressors::{Reason, lz4_block, zlib, zstd};
use super::lz::{blosclz, snappy};
use super::shuffle::{bits_unshuffled, shuffle, unshuffle};

const SHUFFLED: u8 = 0x1;
const STORED: u8 = 0x2;
const BIT_SHUFFLED: u8 = 0x4;
const NOT_SPLIT: u8 = 0x10;

/// The format that is written, and the version of its compressors.
const WRITTEN: [u8; 2] = [2, 1];

/// The compressor LZ4, in the upper three bits of the flags.
const LZ4: u8 = 1 << 5;

/// Bytes of a block that is written: a multiple of the bytes of each number.
pub const BLOCK: usize = 1 << 18;

/// Bytes of the header.
const HEADER: usize = 16;

/// Maximum number of bytes of a number for which a block is split.
const MAX_SPLITS: usize = 16;

/// Minimum number of numbers in a block that is split.
const MIN_SPLIT: usize = 128;

/// Encodes numbers of `width` bytes: their bytes grouped by position, and compressed by LZ4. Bytes that do not
/// become fewer are stored as they are. The container is the same on all machines.
///
/// # Panics
///
/// If there are 2 GiB or more, which a container cannot have.
pub fn encode(bytes: &[u8], width: u8) -> Vec<u8> {
    assert!(bytes.len() < 1 << 31, "a Blosc container has less than 2 GiB");
    let shuffled = if width > 1 { SHUFFLED } else { 0 };
    let mut encoded = vec![0; HEADER + 4 * bytes.len().div_ceil(BLOCK)];
    for (i, block) in bytes.chunks(BLOCK).enumerate() {
        let start = encoded.len() as u32;
        encoded[HEADER + 4 * i..][..4].copy_from_slice(&start.to_le_bytes());
        let block = shuffle(block, usize::from(width));
        let compressed = lz4_flex::block::compress(&block);
        let stream = if compressed.len() < block.len() { &compressed } else { &block };
        encoded.extend((stream.len() as u32).to_le_bytes());
        encoded.extend(stream);
    }
    let mut flags = shuffled | NOT_SPLIT | LZ4;
    if encoded.len() >= HEADER + bytes.len() {
        flags |= STORED;
        encoded.truncate(HEADER);
        encoded.extend(bytes);
    }
    let [version, compressor] = WRITTEN;
    let sizes = [bytes.len(), BLOCK.min(bytes.len()), encoded.len()];
    encoded[..4].copy_from_slice(&[version, compressor, flags, width]);
    for (field, size) in encoded[4..HEADER].chunks_exact_mut(4).zip(sizes) {
        field.copy_from_slice(&(size as u32).to_le_bytes());
    }
    encoded
}

/// Decodes a container of `size` bytes when decoded.
///
/// # Errors
///
/// The reason, if it is damaged, has another size, or a compressor that is not supported.
pub fn decode(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    let header = Header::read(bytes, size)?;
    if header.flags & STORED != 0 {
        let stored = bytes.get(HEADER..).and_then(|bytes| bytes.get(..size));
        return stored.map(<[u8]>::to_vec).ok_or_else(|| cut_off(bytes.len()));
    }
    let mut decoded = Vec::new();
    let reserved = decoded.try_reserve_exact(size);
    reserved.map_err(|_| format!("{size} bytes do not fit into memory"))?;
    for block in 0..size.div_ceil(header.block) {
        let start = bytes.get(HEADER + 4 * block..).and_then(|offsets| offsets.first_chunk());
        let start = u32::from_le_bytes(*start.ok_or_else(|| cut_off(bytes.len()))?) as usize;
        let streams = bytes.get(start..).ok_or_else(|| cut_off(bytes.len()))?;
        let length = header.block.min(size - decoded.len());
        decoded.extend(header.block(streams, length)?);
    }
    Ok(decoded)
}

fn cut_off(length: usize) -> Reason {
    format!("its {length} bytes of Blosc are cut off or damaged")
}

struct Header {
    flags: u8,
    /// Bytes of a number.
    width: usize,
    /// Bytes of a decoded block, at least 1.
    block: usize,
}

impl Header {
    fn read(bytes: &[u8], size: usize) -> Result<Header, Reason> {
        let Some([version, _, flags, width, sizes @ ..]) = bytes.first_chunk::<HEADER>() else {
            return Err(cut_off(bytes.len()));
        };
        let number = |at: usize| {
            let bytes = sizes.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
        };
        let (decoded, block) = (number(0), number(4));
        if !(1..=2).contains(version) {
            return Err(format!(
                "version {version} of Blosc is not supported; write it with numcodecs"
            ));
        }
        if decoded != size {
            return Err(format!("it has {decoded} bytes instead of {size}"));
        }
        if block == 0 && size > 0 {
            return Err(cut_off(bytes.len()));
        }
        Ok(Header { flags: *flags, width: usize::from(*width), block: block.max(1) })
    }

    /// Decodes a block of `length` bytes when decoded, at the start of `bytes`.
    fn block(&self, bytes: &[u8], length: usize) -> Result<Vec<u8>, Reason> {
        let is_whole = length == self.block;
        let can_split = self.width >= 1
            && self.width <= MAX_SPLITS
            && self.block / self.width >= MIN_SPLIT
            && length.is_multiple_of(self.width);
        let streams = match self.flags & NOT_SPLIT == 0 && is_whole && can_split {
            true => self.width,
            false => 1,
        };
        let (mut block, mut rest) = (Vec::with_capacity(length.min(bytes.len() * 255)), bytes);
        for _ in 0..streams {
            let (size, after) = rest.split_first_chunk().ok_or_else(|| cut_off(bytes.len()))?;
            let size = u32::from_le_bytes(*size) as usize;
            let stream = after.get(..size).ok_or_else(|| cut_off(bytes.len()))?;
            block.extend(self.stream(stream, length / streams)?);
            rest = &after[size..];
        }
        if block.len() != length {
            return Err(cut_off(bytes.len()));
        }
        Ok(self.unshuffled(block))
    }

    fn stream(&self, bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
        if bytes.len() == size {
            return Ok(bytes.to_vec());
        }
        match self.flags >> 5 {
            0 => blosclz(bytes, size),
            1 => lz4_block(bytes, size),
            2 => snappy(bytes, size),
            3 => zlib(bytes, size),
            4 => zstd(bytes, size),
            other => Err(format!(
                "the compressor {other} of Blosc is unknown; write it with cname \"lz4\", \"zstd\" or \
                 \"zlib\""
            )),
        }
    }

    fn unshuffled(&self, block: Vec<u8>) -> Vec<u8> {
        if self.flags & SHUFFLED != 0 && self.width > 1 {
            return unshuffle(&block, self.width);
        }
        match self.flags & BIT_SHUFFLED != 0 {
            true => bits_unshuffled(&block, self.width),
            false => block,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_bytes_are_decoded() {
        let numbers: Vec<u8> =
            (0..100_000_u32).flat_map(|i| (i as f32).sqrt().to_le_bytes()).collect();
        let noise: Vec<u8> =
            (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_769) >> 13) as u8).collect();
        for (bytes, width) in
            [(&numbers[..], 4), (&numbers[..399_996], 4), (&numbers, 1), (&noise, 8), (&[], 4)]
        {
            let encoded = encode(bytes, width);
            assert_eq!(
                decode(&encoded, bytes.len()).unwrap(),
                bytes,
                "{} bytes of {width}",
                bytes.len()
            );
            assert!(encoded.len() <= bytes.len() + HEADER);
        }
        assert!(encode(&numbers, 4).len() < numbers.len() / 2);
        let encoded = encode(&numbers, 4);
        assert!(decode(&encoded, 7).unwrap_err().contains("400000 bytes instead of 7"));
        assert!(decode(&encoded[..1000], numbers.len()).unwrap_err().contains("cut off"));
    }
}

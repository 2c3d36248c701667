//! Blosc containers (format 1 and 2 of c-blosc 1.x, which numcodecs writes).
//!
//! A header of 16 bytes, the offsets of the blocks, and the blocks. A block is one stream, or one for each
//! byte of a number; each stream is compressed, unless that would not be shorter.

use super::codecs::{Reason, lz4_block, unshuffle, zlib, zstd};

const SHUFFLED: u8 = 0x1;
const STORED: u8 = 0x2;
const BIT_SHUFFLED: u8 = 0x4;
const NOT_SPLIT: u8 = 0x10;

/// Maximum number of bytes of a number for which a block is split.
const MAX_SPLITS: usize = 16;

/// Minimum number of numbers in a block that is split.
const MIN_SPLIT: usize = 128;

/// Decodes a container of `size` bytes when decoded.
pub(super) fn decode(bytes: &[u8], size: usize) -> Result<Vec<u8>, Reason> {
    let header = Header::read(bytes, size)?;
    if header.flags & STORED != 0 {
        let stored = bytes.get(16..16 + size).ok_or_else(|| cut_off(bytes.len()))?;
        return Ok(stored.to_vec());
    }
    let mut decoded = Vec::new();
    let reserved = decoded.try_reserve_exact(size);
    reserved.map_err(|_| format!("{size} bytes do not fit into memory"))?;
    for block in 0..size.div_ceil(header.block) {
        let start = bytes.get(16 + 4 * block..).and_then(|offsets| offsets.first_chunk());
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
        let Some([version, _, flags, width, sizes @ ..]) = bytes.first_chunk::<16>() else {
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
            1 => lz4_block(bytes, size),
            3 => zlib(bytes, size),
            4 => zstd(bytes, size),
            other => {
                let name = match other {
                    0 => "blosclz",
                    2 => "snappy",
                    _ => "unknown",
                };
                Err(format!(
                    "the compressor {name} of Blosc is not supported; write it with cname \"lz4\", \
                     \"zstd\" or \"zlib\""
                ))
            }
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

/// Reverses the grouping of bits by their position in numbers of `width` bytes. c-blosc groups the bits of a
/// multiple of eight numbers, and leaves other blocks as they are.
fn bits_unshuffled(block: &[u8], width: usize) -> Vec<u8> {
    let count = block.len().checked_div(width).unwrap_or(0);
    let mut numbers = block.to_vec();
    if !count.is_multiple_of(8) {
        return numbers;
    }
    numbers[..count * width].fill(0);
    let row = count / 8;
    for bit in 0..8 * width {
        let bits = &block[bit * row..(bit + 1) * row];
        for (eight, bits) in bits.iter().enumerate() {
            for i in 0..8 {
                let to = (8 * eight + i) * width + bit / 8;
                numbers[to] |= (bits >> i & 1) << (bit % 8);
            }
        }
    }
    numbers
}

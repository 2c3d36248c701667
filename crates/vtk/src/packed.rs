//! Binary arrays of XML files: sizes first, then the bytes, plain or in compressed blocks.

use std::io::{BufReader, Read};
use std::ops::Range;

use crate::base64::Base64Reader;
use crate::scalar::ByteOrder;
use crate::source::Spot;
use crate::values::Decoder;

/// Bytes of a plain array that are read and decoded at once.
const CHUNK_BYTES: usize = 1 << 18;

/// How the binary arrays of an XML file are written; the same for a whole file, but for `base64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Packing {
    /// Whether the bytes are written as base64 text.
    pub(crate) base64: bool,
    pub(crate) order: ByteOrder,
    pub(crate) word: SizeWord,
    pub(crate) compressor: Option<Compressor>,
}

/// Width of the sizes before an array: the attribute `header_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeWord {
    U32,
    U64,
}

/// The compressors of VTK that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compressor {
    ZLib,
    Lz4,
}

impl Compressor {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ZLib => "zlib",
            Self::Lz4 => "lz4",
        }
    }

    /// Most bytes that `packed` bytes can stand for. Deflate spends at least two bits on 258
    /// bytes; LZ4 at least one byte on 255, after a constant.
    fn most_unpacked(self, packed: u64) -> u64 {
        match self {
            Self::ZLib => packed.saturating_mul(1032),
            Self::Lz4 => packed.saturating_mul(255).saturating_add(64),
        }
    }

    /// Fills `out` to its end; otherwise says what is wrong.
    fn unpack(self, packed: &[u8], out: &mut [u8]) -> Result<(), String> {
        let filled = match self {
            Self::ZLib => {
                let mut state = flate2::Decompress::new(true);
                state
                    .decompress(packed, out, flate2::FlushDecompress::Finish)
                    .map_err(|e| e.to_string())?;
                state.total_out()
            }
            Self::Lz4 => {
                lz4_flex::block::decompress_into(packed, out).map_err(|e| e.to_string())? as u64
            }
        };
        if filled == out.len() as u64 { Ok(()) } else { Err(format!("{filled} bytes in it")) }
    }
}

/// One compressed block.
#[derive(Debug, Clone, Copy)]
struct PackedBlock {
    packed: u64,
    unpacked: u64,
}

enum Layout {
    Plain(u64),
    Blocks(Vec<PackedBlock>),
}

/// An array whose sizes have been read and checked, but none of its data.
pub(crate) struct PackedArray<'a> {
    stream: Box<dyn Read + 'a>,
    spot: Spot<'a>,
    /// Most bytes that the array can take in the file.
    room: u64,
    packing: Packing,
    layout: Layout,
}

impl<'a> PackedArray<'a> {
    /// Reads the sizes at the start of `range`, which may reach beyond the array.
    pub(crate) fn open(
        spot: Spot<'a>,
        range: Range<u64>,
        packing: Packing,
    ) -> Result<Self, crate::Error> {
        let room = range.end.min(spot.source().len()).saturating_sub(range.start);
        let bytes = BufReader::with_capacity(CHUNK_BYTES, spot.source().reader(range));
        let stream: Box<dyn Read + 'a> =
            if packing.base64 { Box::new(Base64Reader::new(bytes)) } else { Box::new(bytes) };
        let mut array = Self { stream, spot, room, packing, layout: Layout::Plain(0) };
        array.layout = match packing.compressor {
            None => Layout::Plain(array.plain_size()?),
            Some(compressor) => Layout::Blocks(array.block_sizes(compressor)?),
        };
        Ok(array)
    }

    /// Number of bytes after unpacking. It is bounded by the size of the file.
    pub(crate) fn unpacked_bytes(&self) -> u64 {
        match &self.layout {
            Layout::Plain(bytes) => *bytes,
            Layout::Blocks(blocks) => blocks.iter().map(|block| block.unpacked).sum(),
        }
    }

    /// Reads all data into the decoder.
    pub(crate) fn decode(mut self, decoder: &mut Decoder) -> Result<(), crate::Error> {
        match std::mem::replace(&mut self.layout, Layout::Plain(0)) {
            Layout::Plain(bytes) => read_plain(&mut self.stream, bytes, self.spot, decoder),
            Layout::Blocks(blocks) => self.decode_blocks(&blocks, decoder),
        }
    }

    fn plain_size(&mut self) -> Result<u64, crate::Error> {
        let size = self.size()?;
        if size > self.room {
            let left = self.room;
            return Err(self
                .spot
                .truncated(format!("`{size}` bytes of data where `{left}` are left")));
        }
        Ok(size)
    }

    /// Reads the sizes of the compressed blocks: their number, the unpacked size of all but the
    /// last and of the last (0: it is a full one), then the packed size of each.
    fn block_sizes(&mut self, compressor: Compressor) -> Result<Vec<PackedBlock>, crate::Error> {
        let count = self.size()?;
        let full = self.size()?;
        let partial = self.size()?;
        if count > self.room / self.packing.word.bytes() {
            let left = self.room;
            return Err(self
                .spot
                .truncated(format!("`{count}` compressed blocks where `{left}` bytes are left")));
        }
        let mut blocks = Vec::new();
        let mut room = self.room;
        for index in 0..count {
            let is_partial = index + 1 == count && partial > 0;
            let block = PackedBlock {
                packed: self.size()?,
                unpacked: if is_partial { partial } else { full },
            };
            room = self.check_block(block, compressor, room)?;
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// Checks the sizes of one block against each other and against the `room` left in the file;
    /// gives the room after it.
    fn check_block(
        &self,
        block: PackedBlock,
        compressor: Compressor,
        room: u64,
    ) -> Result<u64, crate::Error> {
        let PackedBlock { packed, unpacked } = block;
        if unpacked > compressor.most_unpacked(packed) {
            let name = compressor.name();
            let found = format!("a {name} block of `{packed}` bytes for `{unpacked}` bytes");
            return Err(self.spot.malformed(found, "sizes that belong together"));
        }
        room.checked_sub(packed).ok_or_else(|| {
            self.spot.truncated(format!(
                "a compressed block of `{packed}` bytes where `{room}` are left"
            ))
        })
    }

    fn decode_blocks(
        &mut self,
        blocks: &[PackedBlock],
        decoder: &mut Decoder,
    ) -> Result<(), crate::Error> {
        let Some(compressor) = self.packing.compressor else {
            return Ok(());
        };
        let (mut packed, mut unpacked) = (Vec::new(), Vec::new());
        for (index, block) in blocks.iter().enumerate() {
            packed.resize(block.packed as usize, 0);
            self.stream
                .read_exact(&mut packed)
                .map_err(|e| self.spot.failed(e, "a compressed block"))?;
            unpacked.resize(block.unpacked as usize, 0);
            compressor.unpack(&packed, &mut unpacked).map_err(|reason| {
                let name = compressor.name();
                let found = format!("a broken {name} block (number {index}: {reason})");
                self.spot.malformed(found, format!("`{}` bytes of data in it", block.unpacked))
            })?;
            decoder.push_bytes(&unpacked);
        }
        Ok(())
    }

    /// Reads one size.
    fn size(&mut self) -> Result<u64, crate::Error> {
        let size = match self.packing.word {
            SizeWord::U32 => {
                read_word(&mut self.stream).map(|bytes: [u8; 4]| match self.packing.order {
                    ByteOrder::Little => u64::from(u32::from_le_bytes(bytes)),
                    ByteOrder::Big => u64::from(u32::from_be_bytes(bytes)),
                })
            }
            SizeWord::U64 => {
                read_word(&mut self.stream).map(|bytes: [u8; 8]| match self.packing.order {
                    ByteOrder::Little => u64::from_le_bytes(bytes),
                    ByteOrder::Big => u64::from_be_bytes(bytes),
                })
            }
        };
        size.map_err(|e| self.spot.failed(e, "the size of the array before its data"))
    }
}

impl SizeWord {
    fn bytes(self) -> u64 {
        match self {
            Self::U32 => 4,
            Self::U64 => 8,
        }
    }
}

fn read_word<const N: usize>(stream: &mut dyn Read) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads `bytes` bytes into the decoder, a chunk at a time.
pub(crate) fn read_plain(
    stream: &mut dyn Read,
    bytes: u64,
    spot: Spot<'_>,
    decoder: &mut Decoder,
) -> Result<(), crate::Error> {
    let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(bytes).unwrap_or(CHUNK_BYTES))];
    let mut left = bytes;
    while left > 0 {
        chunk.truncate(usize::try_from(left).unwrap_or(CHUNK_BYTES));
        stream
            .read_exact(&mut chunk)
            .map_err(|e| spot.failed(e, &format!("`{left}` more bytes of data")))?;
        decoder.push_bytes(&chunk);
        left -= chunk.len() as u64;
    }
    Ok(())
}

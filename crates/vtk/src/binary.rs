//! Binary arrays of XML files: a header with sizes, then the bytes, plain or in compressed blocks.

use std::io::{BufReader, Read};
use std::ops::Range;

use crate::base64::Base64Reader;
use crate::scalar::ByteOrder;
use crate::source::ErrorContext;
use crate::values::Decoder;

/// Chunk size for reading uncompressed arrays, in bytes.
const CHUNK_BYTES: usize = 1 << 18;

/// The format of binary arrays in an XML file; within a file only `base64` varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BinaryFormat {
    /// Whether the bytes are encoded as base64.
    pub(crate) base64: bool,
    pub(crate) order: ByteOrder,
    pub(crate) header_type: HeaderType,
    pub(crate) compressor: Option<Compressor>,
}

/// Type of the sizes in the header of an array: the attribute `header_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeaderType {
    U32,
    U64,
}

/// The supported compressors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compressor {
    ZLib,
    Lz4,
    /// Streams of the format XZ.
    Lzma,
}

/// Maximum memory for the dictionary of an LZMA block, in KiB: that of the highest compression level.
const LZMA_MEMORY_KB: u32 = 65 * 1024;

impl Compressor {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ZLib => "zlib",
            Self::Lz4 => "lz4",
            Self::Lzma => "LZMA",
        }
    }

    /// The maximum number of bytes that `compressed` bytes can decompress to. Deflate needs at
    /// least two bits for 258 bytes, LZ4 at least one byte for 255, after a constant, and LZMA at
    /// least 0.3 bits for 273 bytes.
    fn max_uncompressed(self, compressed: u64) -> u64 {
        match self {
            Self::ZLib => compressed.saturating_mul(1032),
            Self::Lz4 => compressed.saturating_mul(255).saturating_add(64),
            Self::Lzma => compressed.saturating_mul(8192),
        }
    }

    /// Decompresses a block of exactly the size of `out`; the error is the reason of the failure.
    fn decompress(self, compressed: &[u8], out: &mut [u8]) -> Result<(), String> {
        let filled = match self {
            Self::ZLib => {
                let mut state = flate2::Decompress::new(true);
                state
                    .decompress(compressed, out, flate2::FlushDecompress::Finish)
                    .map_err(|e| e.to_string())?;
                state.total_out()
            }
            Self::Lz4 => {
                lz4_flex::block::decompress_into(compressed, out).map_err(|e| e.to_string())? as u64
            }
            Self::Lzma => {
                let mut stream =
                    lzma_rust2::XzReader::new_mem_limit(compressed, false, LZMA_MEMORY_KB);
                stream.read_exact(out).map_err(|e| e.to_string())?;
                // Reading to the end verifies the checksum.
                match stream.read(&mut [0]).map_err(|e| e.to_string())? {
                    0 => out.len() as u64,
                    _ => return Err("more bytes after decompression".to_owned()),
                }
            }
        };
        match filled == out.len() as u64 {
            true => Ok(()),
            false => Err(format!("{filled} bytes after decompression")),
        }
    }
}

/// The sizes of a compressed block, in bytes.
#[derive(Debug, Clone, Copy)]
struct CompressedBlock {
    compressed: u64,
    uncompressed: u64,
}

/// The sizes of an array.
enum Layout {
    Plain(u64),
    Blocks(Vec<CompressedBlock>),
}

/// An array whose header has been read and validated, but not its data.
pub(crate) struct BinaryArray<'a> {
    stream: Box<dyn Read + 'a>,
    context: ErrorContext<'a>,
    /// Maximum number of bytes of the array in the file.
    max_bytes: u64,
    format: BinaryFormat,
    layout: Layout,
}

impl<'a> BinaryArray<'a> {
    /// Reads the header at the start of `range`, which may extend beyond the array.
    pub(crate) fn open(
        context: ErrorContext<'a>,
        range: Range<u64>,
        format: BinaryFormat,
    ) -> Result<Self, crate::Error> {
        let max_bytes = range.end.min(context.source().len()).saturating_sub(range.start);
        let bytes = BufReader::with_capacity(CHUNK_BYTES, context.source().reader(range));
        let stream: Box<dyn Read + 'a> =
            if format.base64 { Box::new(Base64Reader::new(bytes)) } else { Box::new(bytes) };
        let mut array = Self { stream, context, max_bytes, format, layout: Layout::Plain(0) };
        array.layout = match format.compressor {
            None => Layout::Plain(array.plain_size()?),
            Some(compressor) => Layout::Blocks(array.block_sizes(compressor)?),
        };
        Ok(array)
    }

    /// Number of bytes after decompression. It is bounded by the size of the file.
    pub(crate) fn uncompressed_bytes(&self) -> u64 {
        match &self.layout {
            Layout::Plain(bytes) => *bytes,
            Layout::Blocks(blocks) => blocks.iter().map(|block| block.uncompressed).sum(),
        }
    }

    /// Number of bytes in the file, before their encoding as text, with the sizes before the data.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let (sizes, data) = match &self.layout {
            Layout::Plain(bytes) => (1, *bytes),
            Layout::Blocks(blocks) => {
                (3 + blocks.len() as u64, blocks.iter().map(|block| block.compressed).sum())
            }
        };
        data.saturating_add(sizes * self.format.header_type.bytes())
    }

    /// Reads all data into the decoder.
    pub(crate) fn decode(mut self, decoder: &mut Decoder) -> Result<(), crate::Error> {
        match std::mem::replace(&mut self.layout, Layout::Plain(0)) {
            Layout::Plain(bytes) => read_plain(&mut self.stream, bytes, self.context, decoder),
            Layout::Blocks(blocks) => self.decode_blocks(&blocks, decoder),
        }
    }

    fn plain_size(&mut self) -> Result<u64, crate::Error> {
        let size = self.size()?;
        if size > self.max_bytes {
            let left = self.max_bytes;
            return Err(self
                .context
                .truncated(format!("`{size}` bytes of data where `{left}` are left")));
        }
        Ok(size)
    }

    /// Reads the sizes of the compressed blocks: their number, the uncompressed size of all but the
    /// last one and of the last one (0 if it is a full block), then the compressed size of each.
    fn block_sizes(
        &mut self,
        compressor: Compressor,
    ) -> Result<Vec<CompressedBlock>, crate::Error> {
        let count = self.size()?;
        let full = self.size()?;
        let partial = self.size()?;
        if count > self.max_bytes / self.format.header_type.bytes() {
            let left = self.max_bytes;
            return Err(self
                .context
                .truncated(format!("`{count}` compressed blocks where `{left}` bytes are left")));
        }
        let mut blocks = Vec::new();
        let mut left = self.max_bytes;
        for index in 0..count {
            let is_partial = index + 1 == count && partial > 0;
            let block = CompressedBlock {
                compressed: self.size()?,
                uncompressed: if is_partial { partial } else { full },
            };
            left = self.check_block(block, compressor, left)?;
            blocks.push(block);
        }
        Ok(blocks)
    }

    /// Checks that the sizes of a block are consistent, and that it fits into the `left` bytes of
    /// the file; gives the bytes left after it.
    fn check_block(
        &self,
        block: CompressedBlock,
        compressor: Compressor,
        left: u64,
    ) -> Result<u64, crate::Error> {
        let CompressedBlock { compressed, uncompressed } = block;
        if uncompressed > compressor.max_uncompressed(compressed) {
            let name = compressor.name();
            let found =
                format!("a {name} block of `{compressed}` bytes for `{uncompressed}` bytes");
            return Err(self.context.malformed(found, "consistent sizes"));
        }
        left.checked_sub(compressed).ok_or_else(|| {
            self.context.truncated(format!(
                "a compressed block of `{compressed}` bytes where `{left}` are left"
            ))
        })
    }

    fn decode_blocks(
        &mut self,
        blocks: &[CompressedBlock],
        decoder: &mut Decoder,
    ) -> Result<(), crate::Error> {
        let Some(compressor) = self.format.compressor else {
            return Ok(());
        };
        let (mut compressed, mut uncompressed) = (Vec::new(), Vec::new());
        for (index, block) in blocks.iter().enumerate() {
            self.resize(&mut compressed, block.compressed)?;
            self.stream
                .read_exact(&mut compressed)
                .map_err(|e| self.context.failed(e, "a compressed block"))?;
            self.resize(&mut uncompressed, block.uncompressed)?;
            compressor.decompress(&compressed, &mut uncompressed).map_err(|reason| {
                let name = compressor.name();
                let found = format!("a broken {name} block (number {index}: {reason})");
                self.context
                    .malformed(found, format!("`{}` bytes of data in it", block.uncompressed))
            })?;
            decoder.push_bytes(&uncompressed);
        }
        Ok(())
    }

    /// Changes the length of a buffer.
    fn resize(&self, buffer: &mut Vec<u8>, bytes: u64) -> Result<(), crate::Error> {
        let len = usize::try_from(bytes).unwrap_or(usize::MAX);
        let more = len.saturating_sub(buffer.len());
        buffer.try_reserve(more).map_err(|_| self.context.out_of_memory(len))?;
        buffer.resize(len, 0);
        Ok(())
    }

    /// Reads one size.
    fn size(&mut self) -> Result<u64, crate::Error> {
        let size = match self.format.header_type {
            HeaderType::U32 => {
                read_array(&mut self.stream).map(|bytes: [u8; 4]| match self.format.order {
                    ByteOrder::Little => u64::from(u32::from_le_bytes(bytes)),
                    ByteOrder::Big => u64::from(u32::from_be_bytes(bytes)),
                })
            }
            HeaderType::U64 => {
                read_array(&mut self.stream).map(|bytes: [u8; 8]| match self.format.order {
                    ByteOrder::Little => u64::from_le_bytes(bytes),
                    ByteOrder::Big => u64::from_be_bytes(bytes),
                })
            }
        };
        size.map_err(|e| self.context.failed(e, "the size of the array before its data"))
    }
}

impl HeaderType {
    fn bytes(self) -> u64 {
        match self {
            Self::U32 => 4,
            Self::U64 => 8,
        }
    }
}

fn read_array<const N: usize>(stream: &mut dyn Read) -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Reads `bytes` bytes into the decoder, in chunks.
pub(crate) fn read_plain(
    stream: &mut dyn Read,
    bytes: u64,
    context: ErrorContext<'_>,
    decoder: &mut Decoder,
) -> Result<(), crate::Error> {
    let mut chunk = vec![0; CHUNK_BYTES.min(usize::try_from(bytes).unwrap_or(CHUNK_BYTES))];
    let mut left = bytes;
    while left > 0 {
        chunk.truncate(usize::try_from(left).unwrap_or(CHUNK_BYTES));
        stream
            .read_exact(&mut chunk)
            .map_err(|e| context.failed(e, &format!("`{left}` more bytes of data")))?;
        decoder.push_bytes(&chunk);
        left -= chunk.len() as u64;
    }
    Ok(())
}

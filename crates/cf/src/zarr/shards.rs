//! Shards: files of several chunks, with an index of their positions.

use super::codecs::{Codec, without_checksum};
use super::compressors::Reason;
use super::json::{integers, named};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Position and length of a chunk that is not in the file.
const ABSENT: u64 = u64::MAX;

/// Bytes of the index for each chunk: the position and the length.
const ENTRY: usize = 16;

/// The layout of the shards of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shards {
    /// Number of chunks of a shard along each dimension.
    pub chunks: Vec<usize>,
    /// Whether the index is at the start of a file, not at its end.
    is_first: bool,
    is_big_endian: bool,
    has_checksum: bool,
}

/// The shards of an array, the shape of their chunks, and the configuration that has the codecs of chunks.
pub(super) type Sharding<'a> = (Shards, Vec<usize>, &'a Value);

impl Shards {
    /// Reads the codec `sharding_indexed` from the metadata of an array with shards of this shape; `None` if it
    /// has none.
    pub fn of<'a>(json: &'a Value, shard: &[usize]) -> Result<Option<Sharding<'a>>, Reason> {
        let mut codecs = named(json.get("codecs"));
        let Some((_, codec)) = codecs.find(|(name, _)| *name == "sharding_indexed") else {
            return Ok(None);
        };
        if named(json.get("codecs")).count() > 1 {
            return Err(
                "its shards are encoded as a whole, which is not supported; give the codecs to \
                        the chunks in them"
                    .into(),
            );
        }
        let configuration = codec.get("configuration").unwrap_or(&Value::Null);
        let chunk = integers(configuration, "chunk_shape")?;
        let is_part = |(shard, chunk): (&usize, &usize)| *chunk > 0 && shard.is_multiple_of(*chunk);
        if chunk.len() != shard.len() || !shard.iter().zip(&chunk).all(is_part) {
            return Err(format!("its chunks of {chunk:?} do not divide its shards of {shard:?}"));
        }
        let mut shards = Shards {
            chunks: shard.iter().zip(&chunk).map(|(shard, chunk)| shard / chunk).collect(),
            is_first: configuration.get("index_location").and_then(Value::as_str) == Some("start"),
            is_big_endian: false,
            has_checksum: false,
        };
        for (name, codec) in named(configuration.get("index_codecs")) {
            shards.add_index_codec(name, codec.get("configuration").unwrap_or(&Value::Null))?;
        }
        Ok(Some((shards, chunk, configuration)))
    }

    fn add_index_codec(&mut self, name: &str, configuration: &Value) -> Result<(), Reason> {
        match name {
            "bytes" => {
                let endian = configuration.get("endian").and_then(Value::as_str);
                self.is_big_endian = endian == Some("big");
                Ok(())
            }
            _ if Codec::of(name, configuration)? == Some(Codec::Crc32c) => {
                self.has_checksum = true;
                Ok(())
            }
            _ => Err(format!(
                "the index of its shards has the codec `{name}`, which is not supported; write it with \
                 `bytes` and `crc32c`"
            )),
        }
    }

    /// The shard of a chunk, and the number of the chunk in it.
    pub fn locate(&self, chunk: &[usize]) -> (Vec<usize>, usize) {
        let both = || chunk.iter().zip(&self.chunks);
        let number = both().fold(0, |number, (at, count)| number * count + at % count);
        (both().map(|(at, count)| at / count).collect(), number)
    }

    /// Reads the index of a file: the position and the length of each chunk.
    pub fn index(&self, file: &mut File) -> Result<Vec<[u64; 2]>, Reason> {
        let fail = |error: std::io::Error| error.to_string();
        let length = file.metadata().map_err(fail)?.len();
        let count = self.chunks.iter().try_fold(ENTRY, |all, count| all.checked_mul(*count));
        let bytes = count.and_then(|count| count.checked_add(4 * usize::from(self.has_checksum)));
        let Some(bytes) = bytes.filter(|bytes| *bytes as u64 <= length) else {
            return Err(format!("its {length} bytes are too short for the index of its chunks"));
        };
        let start = if self.is_first { 0 } else { length - bytes as u64 };
        let mut index = part(file, [start, bytes as u64])?;
        if self.has_checksum {
            index = without_checksum(&index)?;
        }
        let number = |bytes: &[u8; 8]| match self.is_big_endian {
            true => u64::from_be_bytes(*bytes),
            false => u64::from_le_bytes(*bytes),
        };
        let (numbers, _) = index.as_chunks();
        let numbers: Vec<u64> = numbers.iter().map(number).collect();
        let entries: Vec<[u64; 2]> = numbers.as_chunks().0.to_vec();
        let is_inside = |[start, bytes]: &[u64; 2]| {
            [*start, *bytes] == [ABSENT; 2]
                || start.checked_add(*bytes).is_some_and(|end| end <= length)
        };
        match entries.iter().find(|entry| !is_inside(entry)) {
            None => Ok(entries),
            Some([start, bytes]) => Err(format!(
                "its index has a chunk of {bytes} bytes at {start}, beyond its {length} bytes"
            )),
        }
    }
}

/// The part of a file with a chunk; `None` if the index has none.
pub(super) fn present(entry: Option<&[u64; 2]>) -> Option<[u64; 2]> {
    entry.copied().filter(|entry| *entry != [ABSENT; 2])
}

/// Reads a part of a file: a position and a number of bytes, which are inside it.
pub(super) fn part(file: &mut File, [start, bytes]: [u64; 2]) -> Result<Vec<u8>, Reason> {
    let mut read = Vec::new();
    let result = file
        .seek(SeekFrom::Start(start))
        .and_then(|_| Read::by_ref(file).take(bytes).read_to_end(&mut read));
    result.map_err(|error| error.to_string())?;
    Ok(read)
}

//! Hyperslabs of arrays from their chunks.

use super::metadata::ArrayMetadata;
use super::shards::{Shards, part, present};
use crate::parallel::{is_large, read_each};
use crate::store::{ScalarType, Span, Variable, check_slab};
use crate::strided::{Run, copy, strides};
use crate::values::Values;
use crate::{Error, Result};
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum bytes of a decoded chunk.
const MAX_CHUNK: usize = 1 << 30;

/// Maximum ratio of decoded to stored bytes of a chunk.
const MAX_RATIO: u64 = 32_768;

/// Maximum number of chunks of a hyperslab.
const MAX_CHUNKS: usize = 10_000_000;

/// Maximum bytes, and number, of chunks that are decoded together.
const MAX_TOGETHER: usize = 32 << 20;
const MAX_CHUNKS_TOGETHER: usize = 4096;

/// Reads a hyperslab of an array; the chunks of a large one in parallel.
pub(super) fn read(
    group: &Path,
    array: &ArrayMetadata,
    variable: &Variable,
    slab: &[Span],
) -> Result<Values> {
    let fail = |reason: String| Error::variable(group, &variable.name, reason);
    let reader = Reader::new(group, array, variable, slab)?;
    let (scalar, count) = check_slab(group, variable, slab, reader.held_bytes()?)?;
    let values = Values::filled(scalar.fits_f32(), count, array.fill);
    let mut values =
        values.map_err(|bytes| fail(format!("{bytes} bytes do not fit into memory")))?;
    let is_large = is_large(count * scalar.size());
    let bytes = array.chunk.iter().product::<usize>() * if scalar.fits_f32() { 4 } else { 8 };
    let together = match is_large {
        true => (MAX_TOGETHER / bytes.max(1)).clamp(1, MAX_CHUNKS_TOGETHER),
        false => 1,
    };
    let numbers = |chunk: &Vec<usize>| {
        let bytes = reader.bytes(chunk)?;
        Ok(bytes.map(|bytes| decoded(&bytes, scalar, array.is_big_endian)))
    };
    let mut chunks = reader.chunks();
    loop {
        let next: Vec<_> = chunks.by_ref().take(together).collect();
        if next.is_empty() {
            return Ok(values);
        }
        for (chunk, found) in next.iter().zip(read_each(&next, is_large, numbers)?) {
            let copied = found.map_or(Some(()), |found| reader.copy(chunk, &found, &mut values));
            copied.ok_or_else(|| fail(format!("its chunk {chunk:?} has another shape")))?;
        }
    }
}

struct Reader<'a> {
    group: &'a Path,
    array: &'a ArrayMetadata,
    variable: &'a Variable,
    slab: &'a [Span],
    /// The first and last chunk along each dimension.
    range: Vec<[usize; 2]>,
    /// Bytes of a decoded chunk.
    size: usize,
    /// The indices of shards that were read.
    indices: Mutex<HashMap<PathBuf, ShardIndex>>,
}

/// The position and the length of each chunk of a shard; `None` if it has no file.
type ShardIndex = Option<Arc<[[u64; 2]]>>;

impl<'a> Reader<'a> {
    fn new(
        group: &'a Path,
        array: &'a ArrayMetadata,
        variable: &'a Variable,
        slab: &'a [Span],
    ) -> Result<Self> {
        let fail = |reason: String| Error::variable(group, &variable.name, reason);
        let width = variable.scalar.map_or(8, ScalarType::size);
        let size = array.chunk.iter().try_fold(width, |all, len| all.checked_mul(*len));
        let size = size.filter(|size| *size <= MAX_CHUNK).ok_or_else(|| {
            let shape = &array.chunk;
            fail(format!("a chunk of {shape:?} takes more than 1 GiB; write it in smaller chunks"))
        })?;
        let of = |(span, len): (&Span, &usize)| {
            Some([span.start / len, span.last()? / len]).filter(|[first, last]| first <= last)
        };
        let range = slab.iter().zip(&array.chunk).map(of).collect::<Option<Vec<_>>>();
        let range = range.ok_or_else(|| fail("a range of indices is empty".into()))?;
        let chunks = range.iter().try_fold(1_usize, |all, [first, last]| {
            all.checked_mul(last - first + 1).filter(|chunks| *chunks <= MAX_CHUNKS)
        });
        if chunks.is_none() {
            let shape = &array.chunk;
            return Err(fail(format!(
                "its chunks of {shape:?} are too small; write it in larger ones"
            )));
        }
        let indices = Mutex::default();
        Ok(Reader { group, array, variable, slab, range, size, indices })
    }

    /// The chunks of the hyperslab, the last dimension varies fastest.
    fn chunks(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let first: Vec<usize> = self.range.iter().map(|[first, _]| *first).collect();
        std::iter::successors(Some(first), |chunk| {
            let mut next = chunk.clone();
            for (d, [first, last]) in self.range.iter().enumerate().rev() {
                if next[d] < *last {
                    next[d] += 1;
                    return Some(next);
                }
                next[d] = *first;
            }
            None
        })
    }

    /// Maximum number of bytes that the chunks of the hyperslab can hold when decoded.
    fn held_bytes(&self) -> Result<u64> {
        let mut held = 0_u64;
        for chunk in self.chunks() {
            let stored = match &self.array.shards {
                None => std::fs::metadata(self.path(&chunk)).map_or(0, |metadata| metadata.len()),
                Some(shards) => self.part(shards, &chunk)?.map_or(0, |(_, [_, bytes])| bytes),
            };
            // Numbers of fewer bytes in the file are held in up to eight.
            let decoded = stored.saturating_mul(MAX_RATIO).min(8 * self.size as u64);
            held = held.saturating_add(decoded);
        }
        Ok(held)
    }

    /// The file of a shard with a chunk, and the position and length of the chunk in it; `None` if it has
    /// no bytes.
    fn part(&self, shards: &Shards, chunk: &[usize]) -> Result<Option<(PathBuf, [u64; 2])>> {
        let (shard, number) = shards.locate(chunk);
        let path = self.path(&shard);
        let mut indices = self.indices.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match indices.get(&path) {
            Some(index) => index.clone(),
            None => {
                let index = self.index(shards, &path)?;
                indices.insert(path.clone(), index.clone());
                index
            }
        };
        let entry = index.and_then(|index| present(index.get(number)));
        Ok(entry.map(|entry| (path, entry)))
    }

    fn index(&self, shards: &Shards, path: &Path) -> Result<ShardIndex> {
        match self.open(path)? {
            None => Ok(None),
            Some(mut file) => {
                let index = shards.index(&mut file);
                Ok(Some(index.map_err(|reason| self.failed(path, reason))?.into()))
            }
        }
    }

    /// Opens a file; `None` if there is none.
    fn open(&self, path: &Path) -> Result<Option<File>> {
        match File::open(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            file => file.map(Some).map_err(Error::read(path)),
        }
    }

    /// The error for a file that cannot be decoded.
    fn failed(&self, path: &Path, reason: String) -> Error {
        let kind = if self.array.shards.is_some() { "shard" } else { "chunk" };
        let name = path.strip_prefix(&self.array.folder).unwrap_or(path).display();
        let reason = format!("its {kind} `{name}` cannot be decoded: {reason}");
        Error::variable(self.group, &self.variable.name, reason)
    }

    /// The file of a chunk, or of a shard.
    fn path(&self, chunk: &[usize]) -> PathBuf {
        self.array.folder.join(self.array.keys.name(chunk))
    }

    /// The decoded bytes of a chunk; `None` if it has none, and all values are the fill value.
    fn bytes(&self, chunk: &[usize]) -> Result<Option<Vec<u8>>> {
        let found = match &self.array.shards {
            None => Some((self.path(chunk), [0, u64::MAX])),
            Some(shards) => self.part(shards, chunk)?,
        };
        let Some((path, [start, bytes])) = found else { return Ok(None) };
        let Some(mut file) = self.open(&path)? else { return Ok(None) };
        // A chunk is hardly longer than its numbers; this bounds the memory for a file of another kind.
        let limit = 2 * self.size as u64 + (1 << 20);
        let stored = part(&mut file, [start, bytes.min(limit)]);
        let fail = |reason: &String| Error::variable(self.group, &self.variable.name, reason);
        let codecs = self.array.codecs.as_ref().map_err(fail)?;
        let decoded = stored.and_then(|stored| codecs.decode(stored, self.size));
        Ok(Some(decoded.map_err(|reason| self.failed(&path, reason))?))
    }

    /// Copies the part of a chunk that is in the hyperslab.
    fn copy(&self, chunk: &[usize], found: &Values, values: &mut Values) -> Option<()> {
        let (mut to, mut from) = (0, 0);
        let mut runs = Vec::with_capacity(chunk.len());
        let shape: Vec<usize> = self.slab.iter().map(|span| span.count).collect();
        let outer = strides(&shape);
        let inner = self.strides_in_chunk();
        for (d, span) in self.slab.iter().enumerate() {
            let len = self.array.chunk[d];
            let low = chunk[d] * len;
            // The indices of the span in the chunk.
            let first = low.saturating_sub(span.start).div_ceil(span.step);
            let end = (low + len).saturating_sub(span.start).div_ceil(span.step).min(span.count);
            if first >= end {
                return Some(());
            }
            to += first * outer[d];
            from += (span.start + first * span.step - low) * inner[d];
            runs.push(Run { count: end - first, to: outer[d], from: span.step * inner[d] });
        }
        match (values, found) {
            (Values::F32(values), Values::F32(found)) => {
                copy(values.get_mut(to..)?, found.get(from..)?, &runs)
            }
            (Values::F64(values), Values::F64(found)) => {
                copy(values.get_mut(to..)?, found.get(from..)?, &runs)
            }
            _ => None,
        }
    }

    /// The distances of neighbours along the dimensions in a chunk, which may be transposed.
    fn strides_in_chunk(&self) -> Vec<usize> {
        let stored: Vec<usize> = self.array.order.iter().map(|d| self.array.chunk[*d]).collect();
        let mut inner = vec![1; stored.len()];
        for (d, stride) in self.array.order.iter().zip(strides(&stored)) {
            inner[*d] = stride;
        }
        inner
    }
}

/// The numbers of a chunk.
fn decoded(bytes: &[u8], scalar: ScalarType, is_big_endian: bool) -> Values {
    macro_rules! numbers {
        ($from:ty, $to:ident, $convert:expr) => {{
            let (numbers, _) = bytes.as_chunks();
            let of = |bytes: &[u8; size_of::<$from>()]| match is_big_endian {
                true => <$from>::from_be_bytes(*bytes),
                false => <$from>::from_le_bytes(*bytes),
            };
            Values::$to(numbers.iter().map(of).map($convert).collect())
        }};
    }
    match scalar {
        ScalarType::I8 => numbers!(i8, F32, f32::from),
        ScalarType::U8 => numbers!(u8, F32, f32::from),
        ScalarType::I16 => numbers!(i16, F32, f32::from),
        ScalarType::U16 => numbers!(u16, F32, f32::from),
        ScalarType::F32 => numbers!(f32, F32, |x| x),
        ScalarType::I32 => numbers!(i32, F64, f64::from),
        ScalarType::U32 => numbers!(u32, F64, f64::from),
        ScalarType::I64 => numbers!(i64, F64, |x| x as f64),
        ScalarType::U64 => numbers!(u64, F64, |x| x as f64),
        ScalarType::F64 => numbers!(f64, F64, |x| x),
    }
}

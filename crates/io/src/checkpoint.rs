//! Checkpoint files for resuming a stopped run: metadata of the caller, and named arrays.
//!
//! The file is written under a temporary name, synced to the disk and renamed: a previous checkpoint
//! remains usable until the new one is complete. Reading verifies the checksum.
//!
//! All numbers are little-endian:
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `BURNTRCP` |
//! | 4 | format version, 2 |
//! | 4 | reserved, 0 |
//! | 8 | length of the file in bytes |
//! | 8 | length of the header in bytes |
//! | | JSON header: `meta`, the metadata; `arrays`, a list of `name`, `type` and `length` |
//! | | values of the arrays, one array after the other |
//! | 4 | CRC-32 (as in zlib) of all preceding bytes |
//!
//! ```
//! use burntrace_io::checkpoint::{Checkpoint, CheckpointWriter};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("checkpoint.bin");
//! let mut writer = CheckpointWriter::new(&serde_json::json!({ "step": 17 }))?;
//! writer.add("position", &[0.5_f32, 0.25, 0.0]);
//! writer.write(&path)?;
//!
//! let checkpoint = Checkpoint::read(&path)?;
//! assert_eq!(checkpoint.meta::<serde_json::Value>()?["step"], 17);
//! assert_eq!(checkpoint.array::<f32>("position")?, [0.5, 0.25, 0.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::number::Number;

use crate::disk::write_atomic;
use crate::number::{bytes_of, read_into};
use crate::{Error, Result};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"BURNTRCP";
const VERSION: u32 = 2;

/// Bytes before the header.
const START: usize = 32;

/// Bytes of the checksum.
const END: usize = 4;

/// The header of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    meta: Value,
    arrays: Vec<Entry>,
}

/// An array in the header.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    name: String,
    r#type: String,
    length: usize,
}

/// Writes a checkpoint. Arrays are borrowed, not copied.
#[derive(Debug)]
pub struct CheckpointWriter<'a> {
    header: Header,
    arrays: Vec<Cow<'a, [u8]>>,
}

impl<'a> CheckpointWriter<'a> {
    /// Creates a checkpoint with metadata, stored as JSON. JSON has no NaN or infinity: store such
    /// numbers in an array.
    ///
    /// # Errors
    ///
    /// If the metadata cannot be serialised as JSON.
    pub fn new(meta: &impl Serialize) -> Result<CheckpointWriter<'a>> {
        let meta = serde_json::to_value(meta).map_err(|e| Error::Checkpoint {
            path: PathBuf::new(),
            reason: format!("its metadata cannot be serialised as JSON: {e}"),
        })?;
        Ok(CheckpointWriter { header: Header { meta, arrays: Vec::new() }, arrays: Vec::new() })
    }

    /// Adds an array. If several have the same name, [`Checkpoint::array`] returns the first.
    pub fn add<T: Number>(&mut self, name: &str, numbers: &'a [T]) -> &mut Self {
        let (name, length) = (name.into(), numbers.len());
        self.header.arrays.push(Entry { name, r#type: T::NAME.into(), length });
        self.arrays.push(bytes_of(numbers));
        self
    }

    /// Writes the file, and returns its length in bytes once it is durable under its name. Until then
    /// a previous file is unchanged.
    ///
    /// # Errors
    ///
    /// If a file system operation fails; a previous file is then unchanged.
    pub fn write(&self, path: &Path) -> Result<u64> {
        let header = serde_json::to_vec(&self.header)
            .map_err(|e| Error::Checkpoint { path: path.into(), reason: e.to_string() })?;
        let numbers: usize = self.arrays.iter().map(|bytes| bytes.len()).sum();
        let length = (START + header.len() + numbers + END) as u64;
        let mut start = MAGIC.to_vec();
        start.extend(VERSION.to_le_bytes());
        start.extend([0; 4]);
        start.extend(length.to_le_bytes());
        start.extend((header.len() as u64).to_le_bytes());
        write_atomic(path, Some(length), |file| {
            let mut sum = crc32fast::Hasher::new();
            let parts = [start.as_slice(), &header].into_iter();
            for part in parts.chain(self.arrays.iter().map(|bytes| bytes.as_ref())) {
                // In blocks, so that the checksum and the write share the CPU cache.
                for block in part.chunks(1 << 18) {
                    sum.update(block);
                    file.write_all(block)?;
                }
            }
            file.write_all(&sum.finalize().to_le_bytes())
        })?;
        Ok(length)
    }
}

/// A checkpoint read from a file, with a verified checksum.
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    header: Header,
    /// The bytes of the file.
    bytes: Vec<u8>,
    /// Offset of the arrays.
    start: usize,
}

impl Checkpoint {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a checkpoint, has another format version, or was truncated
    /// or changed.
    pub fn read(path: impl Into<PathBuf>) -> Result<Checkpoint> {
        let path = path.into();
        let bytes = std::fs::read(&path).map_err(Error::system("read", &path))?;
        match parse(&bytes) {
            Ok((header, start)) => Ok(Checkpoint { path, header, bytes, start }),
            Err(reason) => Err(Error::Checkpoint { path, reason }),
        }
    }

    /// The metadata.
    ///
    /// # Errors
    ///
    /// If they do not deserialize to `T`.
    pub fn meta<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(&self.header.meta)
            .map_err(|e| self.error(format!("its metadata have an unexpected form: {e}")))
    }

    /// Names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.header.arrays.iter().map(|array| array.name.as_str())
    }

    /// The values of an array.
    ///
    /// # Errors
    ///
    /// If the array does not exist, or has another type.
    pub fn array<T: Number>(&self, name: &str) -> Result<Vec<T>> {
        let mut start = self.start;
        for array in &self.header.arrays {
            let size = size_of_type(&array.r#type).unwrap_or(0) * array.length;
            if array.name != name {
                start += size;
                continue;
            }
            if array.r#type != T::NAME {
                return Err(self.error(format!(
                    "its array `{name}` has numbers of type {}, not {}",
                    array.r#type,
                    T::NAME
                )));
            }
            let mut numbers = Vec::new();
            let mut bytes = &self.bytes[start..start + size];
            read_into(&mut bytes, array.length, &mut numbers)
                .map_err(Error::system("read", &self.path))?;
            return Ok(numbers);
        }
        let names: Vec<&str> = self.names().collect();
        Err(self.error(format!("it has no array `{name}`; it has {}", names.join(", "))))
    }

    fn error(&self, reason: String) -> Error {
        Error::Checkpoint { path: self.path.clone(), reason }
    }
}

/// Parses the header. Returns it with the offset of the array values; the error is the reason.
fn parse(bytes: &[u8]) -> std::result::Result<(Header, usize), String> {
    if !bytes.starts_with(&MAGIC[..bytes.len().min(MAGIC.len())]) {
        return Err("it is not a burntrace checkpoint".into());
    }
    let Some((start, rest)) = bytes.split_first_chunk::<START>() else {
        return Err(truncated(bytes.len(), format!("at least {}", START + END)));
    };
    let int = |offset: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&start[offset..offset + 8]);
        u64::from_le_bytes(number)
    };
    let version = int(8);
    if version != u64::from(VERSION) {
        return Err(format!(
            "it has format version {version}; this program reads version {VERSION}"
        ));
    }
    let (length, found) = (int(16), bytes.len() as u64);
    if found < length {
        return Err(truncated(bytes.len(), length.to_string()));
    }
    let Some((sum, body)) = rest.split_last_chunk::<END>().map(|(body, sum)| (sum, body)) else {
        return Err(truncated(bytes.len(), format!("at least {}", START + END)));
    };
    let expected = u32::from_le_bytes(*sum);
    let sum = crc32fast::hash(&bytes[..bytes.len() - END]);
    if found > length || sum != expected {
        return Err(format!(
            "it was changed: it has {found} bytes with the checksum {sum:08x}, expected {length} \
             bytes with the checksum {expected:08x}"
        ));
    }
    // The checksum matches: the following errors are those of the program that wrote the file.
    let header = usize::try_from(int(24)).ok().and_then(|length| body.get(..length));
    let Some(text) = header else { return Err("its header is longer than the file".into()) };
    let header: Header =
        serde_json::from_slice(text).map_err(|e| format!("its header is not valid: {e}"))?;
    let size = |array: &Entry| size_of_type(&array.r#type)?.checked_mul(array.length);
    let sizes: Option<Vec<usize>> = header.arrays.iter().map(size).collect();
    let numbers = sizes.and_then(|sizes| sizes.into_iter().try_fold(0_usize, usize::checked_add));
    match numbers == Some(body.len() - text.len()) {
        true => Ok((header, START + text.len())),
        false => Err("the arrays in its header do not match its length".into()),
    }
}

fn truncated(found: usize, expected: String) -> String {
    format!("it is truncated: it has {found} bytes of {expected}")
}

/// Size in bytes of a number type.
fn size_of_type(name: &str) -> Option<usize> {
    match name {
        "uint8" => Some(1),
        "float32" | "int32" | "uint32" => Some(4),
        "float64" | "int64" | "uint64" => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const POSITION: [f32; 6] = [0.5, -0.0, f32::NAN, 1e-40, f32::INFINITY, 3.0];

    fn written(folder: &Path) -> PathBuf {
        let path = folder.join("checkpoint.bin");
        let mut writer = CheckpointWriter::new(&json!({ "step": 17, "times": [0.1] })).unwrap();
        writer.add("position", &POSITION).add("none", &[0_u64; 0]).add("rng", &[u64::MAX, 7]);
        writer.add("status", &[1_u8, 255]).add("image", &[-3_i32]).add("cell", &[-1_i64]);
        let length = writer.write(&path).unwrap();
        assert_eq!(length, std::fs::metadata(&path).unwrap().len());
        path
    }

    fn error(path: &Path) -> String {
        Checkpoint::read(path).unwrap_err().to_string()
    }

    #[test]
    fn arrays_and_metadata_are_read_as_written() {
        let folder = tempfile::tempdir().unwrap();
        let read = Checkpoint::read(written(folder.path())).unwrap();
        assert_eq!(read.meta::<Value>().unwrap(), json!({ "step": 17, "times": [0.1] }));
        let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read.array("position").unwrap()), bits(&POSITION));
        assert!(read.array::<u64>("none").unwrap().is_empty());
        assert_eq!(read.array::<u64>("rng").unwrap(), [u64::MAX, 7]);
        assert_eq!(read.array::<u8>("status").unwrap(), [1, 255]);
        assert_eq!(read.array::<i32>("image").unwrap(), [-3]);
        assert_eq!(read.array::<i64>("cell").unwrap(), [-1]);
        let other = read.array::<f64>("position").unwrap_err().to_string();
        assert!(other.contains("`position` has numbers of type float32, not float64"), "{other}");
        let none = read.array::<f64>("velocity").unwrap_err().to_string();
        assert!(none.contains("it has no array `velocity`; it has position, none, rng"), "{none}");
        let meta = read.meta::<Vec<f64>>().unwrap_err().to_string();
        assert!(meta.contains("its metadata have an unexpected form"), "{meta}");
    }

    #[test]
    fn a_truncated_file_is_refused_at_every_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let complete = std::fs::read(&path).unwrap();
        for length in 0..complete.len() {
            std::fs::write(&path, &complete[..length]).unwrap();
            let message = error(&path);
            assert!(
                message.contains(&format!("it is truncated: it has {length} bytes")),
                "{message}"
            );
        }
        std::fs::write(&path, [complete.as_slice(), b"0"].concat()).unwrap();
        assert!(error(&path).contains("it was changed"));
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        let complete = std::fs::read(&path).unwrap();
        for bit in 0..8 * complete.len() {
            let mut bytes = complete.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&bytes).is_err(), "bit {bit}");
        }
        let mut older = complete.clone();
        older[8] = 1;
        let message = parse(&older).unwrap_err();
        assert!(message.contains("version 1; this program reads version 2"), "{message}");
        let mut changed = complete.clone();
        changed[START + 5] ^= 4;
        assert!(parse(&changed).unwrap_err().contains(" bytes with the checksum "));
        assert!(parse(b"PK").unwrap_err().contains("not a burntrace checkpoint"));
        assert!(error(&folder.path().join("none")).starts_with("cannot read `"));
    }

    /// Wrong headers in files with a correct checksum.
    #[test]
    fn wrong_lengths_in_a_header_are_refused() {
        let arrays = |kind: &str, length: &str| {
            format!(r#"{{"meta":0,"arrays":[{{"name":"a","type":"{kind}","length":{length}}}]}}"#)
        };
        let file = |header: &str, claimed: u64| {
            let mut bytes = MAGIC.to_vec();
            bytes.extend(u64::from(VERSION).to_le_bytes());
            bytes.extend(((START + header.len() + 8 + END) as u64).to_le_bytes());
            bytes.extend(claimed.to_le_bytes());
            bytes.extend(header.as_bytes());
            bytes.extend([0; 8]);
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            bytes
        };
        let right = arrays("float64", "1");
        assert!(parse(&file(&right, right.len() as u64)).is_ok());
        for claimed in [u64::MAX, 1 << 40, right.len() as u64 + 9] {
            assert!(parse(&file(&right, claimed)).unwrap_err().contains("longer than the file"));
        }
        for (kind, length) in [("float64", "2"), ("float64", "4611686018427387904"), ("f16", "4")] {
            let header = arrays(kind, length);
            let message = parse(&file(&header, header.len() as u64)).unwrap_err();
            assert!(message.contains("do not match its length"), "{message}");
        }
        assert!(parse(&file("{", 1)).unwrap_err().contains("its header is not valid"));
    }

    #[test]
    fn a_checkpoint_is_kept_until_the_next_one_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = written(folder.path());
        // The remains of a killed program.
        let part = folder.path().join("checkpoint.bin.part");
        std::fs::write(&part, b"BURNTRC").unwrap();
        assert!(Checkpoint::read(&path).is_ok());
        let mut writer = CheckpointWriter::new(&18).unwrap();
        writer.add("a", &[1.0_f64]);
        writer.write(&path).unwrap();
        assert_eq!(Checkpoint::read(&path).unwrap().meta::<u32>().unwrap(), 18);
        assert!(!part.exists());
        // A folder in place of the temporary file.
        std::fs::create_dir(&part).unwrap();
        let failed = CheckpointWriter::new(&19).unwrap().write(&path).unwrap_err().to_string();
        assert!(failed.starts_with("cannot create `"), "{failed}");
        assert_eq!(Checkpoint::read(&path).unwrap().meta::<u32>().unwrap(), 18);
    }
}

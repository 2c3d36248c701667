//! Compression of complete chunks, by a codec that readers of Zarr have: Blosc with LZ4.
//!
//! A chunk that is not complete grows uncompressed in a file of its own, under a name that Zarr ignores.

use super::array::ArrayWriter;
use super::checksums::Entry;
use super::layout::bytes_of_number;
use crate::disk::{partial, refused, remove_file};
use crate::{Error, Result};
use burntrace_cf::blosc;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

/// The end of the name of a chunk that is not complete.
const GROWING: &str = ".raw";

/// The Zarr codec of numbers of a type.
pub(super) fn codec(data_type: &str) -> Value {
    let width = bytes_of_number(data_type);
    json!({
        "name": "blosc",
        "configuration": {
            "typesize": width,
            "cname": "lz4",
            "clevel": 5,
            "shuffle": if width > 1 { "shuffle" } else { "noshuffle" },
            "blocksize": blosc::BLOCK,
        },
    })
}

/// The name of a chunk while it is not complete.
pub(super) fn growing(name: &str) -> String {
    format!("{name}{GROWING}")
}

/// The name of a chunk, and whether it is not complete.
pub(super) fn chunk_of(name: &str) -> (&str, bool) {
    match name.strip_suffix(GROWING) {
        Some(chunk) => (chunk, true),
        None => (name, false),
    }
}

impl ArrayWriter {
    /// Compresses a chunk that has grown to this number of items.
    pub(super) fn compress_growing(
        &self,
        chunk: usize,
        items: usize,
        mut file: File,
    ) -> Result<Entry> {
        let growing = self.growing_path(chunk);
        let mut numbers = Vec::new();
        let read = file.rewind().and_then(|()| file.read_to_end(&mut numbers));
        read.map_err(Error::system("read", &growing))?;
        let entry = self.compress(chunk, items, numbers)?;
        // A run may resume within the first chunk that is not synced.
        if chunk != self.unsynced {
            remove_file(&growing)?;
        }
        Ok(entry)
    }

    /// Writes a complete chunk with the bytes of this number of items, and padding.
    pub(super) fn compress(
        &self,
        chunk: usize,
        items: usize,
        mut numbers: Vec<u8>,
    ) -> Result<Entry> {
        let Ok(()) = self.pad(items, |fill| -> std::result::Result<(), std::convert::Infallible> {
            numbers.extend(fill);
            Ok(())
        });
        // At most 8 bytes.
        let compressed = blosc::encode(&numbers, bytes_of_number(self.data_type()) as u8);
        let (path, wanted) = (self.path(chunk), Some(compressed.len() as u64));
        let part = partial(&path);
        let written =
            std::fs::write(&part, &compressed).and_then(|()| std::fs::rename(&part, &path));
        written.map_err(refused("write", &path, wanted))?;
        Ok(Entry::of(&compressed))
    }
}

/// The numbers of a complete chunk of `size` bytes.
///
/// # Errors
///
/// If the file cannot be read, or is damaged.
pub(super) fn read(path: PathBuf, size: usize) -> Result<Vec<u8>> {
    let bytes = std::fs::read(&path).map_err(Error::system("open", &path))?;
    blosc::decode(&bytes, size).map_err(|reason| damaged(&path, &reason))
}

fn damaged(path: &Path, reason: &str) -> Error {
    Error::Store {
        path: path.into(),
        found: format!("found a damaged chunk: {reason}"),
        expected: "the one that the run wrote: restore it from a copy".into(),
    }
}

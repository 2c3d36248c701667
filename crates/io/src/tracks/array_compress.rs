//! Writes compressed chunks.

use super::array::ArrayWriter;
use super::checksums::Entry;
use crate::disk::{partial, refused, remove_file};
use crate::{Error, Result};
use burntrace_cf::zarr::blosc;
use std::fs::File;
use std::io::{Read, Seek};

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
        let compressed = blosc::encode(&numbers, self.scalar().size() as u8);
        let (path, wanted) = (self.path(chunk), Some(compressed.len() as u64));
        let part = partial(&path);
        let written =
            std::fs::write(&part, &compressed).and_then(|()| std::fs::rename(&part, &path));
        written.map_err(refused("write", &path, wanted))?;
        Ok(Entry::of(&compressed))
    }
}

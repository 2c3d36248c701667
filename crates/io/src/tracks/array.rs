//! Writes the chunks of an array.
//!
//! A chunk is a file. It is created with its first items, at its full size: missing items have the
//! fill value, so that Zarr reads the store of an unfinished run. Later items replace them. Chunks
//! of the table of particle instances, whose length is not known in advance, grow instead: Zarr's
//! metadata give the table no rows until the run ends.

use super::cf::Cf;
use super::checksums::{Checksums, Entry};
use super::chunk_grid::{ChunkGrid, ItemRun};
use super::compression;
use super::layout::{ArraySpec, Counts, Encoding, METADATA};
use super::manifest::Manifest;
use crate::Result;
use crate::disk::{partial, refused, remove_file, write_text_beside};
use crate::number::{Number, bytes_of};
use burntrace_cf::{ScalarType, zarr};
use crc32fast::Hasher;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Appends items to an array.
#[derive(Debug)]
pub(super) struct ArrayWriter {
    pub(super) folder: PathBuf,
    pub(super) spec: ArraySpec,
    pub(super) grid: ChunkGrid,
    encoding: Encoding,
    planned: Counts,
    cf: Cf,
    /// Whether chunks are compressed when they are complete.
    pub(super) compresses: bool,
    /// Bytes of an item.
    item_bytes: usize,
    /// Number of items written so far.
    pub(super) items: usize,
    /// The file of the incomplete chunk, positioned after its items.
    pub(super) file: Option<File>,
    /// The first chunk that is not synced to the disk.
    pub(super) unsynced: usize,
    /// Checksums of the complete chunks.
    pub(super) sums: Vec<Entry>,
    /// Checksum of the items in the incomplete chunk.
    pub(super) sum: Hasher,
    /// The items of the incomplete chunk, if its file is to be made again.
    pub(super) restored: Option<Vec<u8>>,
    /// Checksum of the final metadata.
    metadata: Option<Entry>,
    /// Bytes written by all arrays of the store.
    written: Arc<AtomicU64>,
}

impl ArrayWriter {
    /// A writer of an array after its first `items`. Nothing is read or written before
    /// [`verify`](ArrayWriter::verify) and [`prepare`](ArrayWriter::prepare).
    pub fn new(
        store: &Path,
        spec: &ArraySpec,
        manifest: &Manifest,
        items: usize,
        written: Arc<AtomicU64>,
    ) -> ArrayWriter {
        let (encoding, planned) = (manifest.encoding(), manifest.planned());
        ArrayWriter {
            folder: spec.folder(store),
            spec: spec.clone(),
            grid: spec.grid(planned),
            encoding,
            planned,
            cf: manifest.cf(),
            compresses: spec.is_compressed(encoding),
            item_bytes: spec.item_bytes(encoding),
            items,
            file: None,
            unsynced: 0,
            sums: Vec::new(),
            sum: Hasher::new(),
            restored: None,
            metadata: None,
            written,
        }
    }

    /// Creates the array, or removes everything after the items of an existing one.
    ///
    /// # Errors
    ///
    /// If an operation of the file system fails.
    pub fn prepare(&mut self) -> Result<()> {
        std::fs::create_dir_all(&self.folder).map_err(refused("create", &self.folder, None))?;
        self.truncate()?;
        // Not synced: completing the store writes it again.
        let metadata = self.metadata(self.planned);
        write_text_beside(&self.folder.join(METADATA), zarr::text(&metadata))
    }

    /// What the array holds.
    pub fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    /// The type of its numbers.
    pub fn scalar(&self) -> ScalarType {
        self.spec.scalar(self.encoding)
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Adds the checksums of all items so far.
    pub fn list(&self, checksums: &mut Checksums) {
        for (chunk, entry) in self.sums.iter().enumerate() {
            checksums.add(self.listed(chunk), *entry);
        }
        let (chunk, rest) = self.grid.filled(self.items);
        if chunk == self.sums.len() && rest > 0 {
            let entry =
                Entry { bytes: self.bytes_of_items(rest), crc: self.sum.clone().finalize() };
            checksums.add(self.listed_growing(chunk), entry);
        }
        if let Some(entry) = self.metadata {
            checksums.add(format!("{}/{METADATA}", self.spec.name), entry);
        }
    }

    /// Whether chunks have their full size from the start.
    pub(super) fn is_padded(&self) -> bool {
        !self.spec.dims.is_table() && !self.compresses
    }

    pub(super) fn bytes_of_items(&self, items: usize) -> u64 {
        (items * self.item_bytes) as u64
    }

    pub(super) fn path(&self, chunk: usize) -> PathBuf {
        self.folder.join(self.spec.chunk_name(&self.grid, chunk))
    }

    /// The file of a chunk while it is not complete.
    pub(super) fn growing_path(&self, chunk: usize) -> PathBuf {
        self.folder.join(self.growing_name(chunk))
    }

    fn growing_name(&self, chunk: usize) -> String {
        let name = self.spec.chunk_name(&self.grid, chunk);
        if self.compresses { compression::growing(&name) } else { name }
    }

    /// Name of a chunk in the list of checksums.
    pub(super) fn listed(&self, chunk: usize) -> String {
        format!("{}/{}", self.spec.name, self.spec.chunk_name(&self.grid, chunk))
    }

    /// Name in the list of checksums of a chunk that is not complete.
    pub(super) fn listed_growing(&self, chunk: usize) -> String {
        format!("{}/{}", self.spec.name, self.growing_name(chunk))
    }

    /// Appends complete items.
    pub fn append<T: Number>(&mut self, mut numbers: &[T]) -> Result<()> {
        debug_assert!(T::NAME == self.scalar().to_string());
        debug_assert!(numbers.len().is_multiple_of(self.spec.width));
        while !numbers.is_empty() {
            let run = self.grid.locate(self.items);
            let count = run.length.min(numbers.len() / self.spec.width);
            let (head, tail) = numbers.split_at(count * self.spec.width);
            let bytes = bytes_of(head);
            if self.compresses && (run.offset, count) == (0, run.length) {
                self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                let entry = self.compress(run.chunk, count, bytes.into_owned())?;
                self.sums.push(entry);
            } else {
                self.write(run, count, &bytes)?;
                if count == run.length {
                    self.complete(run.chunk, run.offset + count)?;
                }
            }
            self.items += count;
            numbers = tail;
        }
        Ok(())
    }

    /// Writes `count` items into a chunk.
    fn write(&mut self, run: ItemRun, count: usize, bytes: &[u8]) -> Result<()> {
        let path = self.growing_path(run.chunk);
        match &mut self.file {
            Some(file) => {
                let wanted = Some(bytes.len() as u64);
                file.write_all(bytes).map_err(refused("write", &path, wanted))?;
            }
            None => self.file = Some(self.create(&path, count, bytes)?),
        }
        self.sum.update(bytes);
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Creates a chunk with its first items. It appears under its name once it is complete.
    fn create(&self, path: &Path, count: usize, bytes: &[u8]) -> Result<File> {
        let part = partial(path);
        let wanted = Some(self.bytes_of_items(self.grid.chunk_items()));
        let open =
            OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&part);
        let mut file = open.map_err(refused("create", &part, wanted))?;
        let mut fill = || {
            file.write_all(bytes)?;
            if self.is_padded() && count < self.grid.chunk_items() {
                self.pad(count, |fill| file.write_all(fill))?;
                file.seek(SeekFrom::Start(bytes.len() as u64))?;
            }
            std::fs::rename(&part, path)
        };
        fill().map_err(refused("write", &part, wanted))?;
        Ok(file)
    }

    /// Passes the padding of a chunk that has this number of items to a function, block by block.
    pub(super) fn pad<E>(
        &self,
        items: usize,
        mut write: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let fill = fill_value(self.scalar());
        let missing = (self.grid.chunk_items() - items) * self.spec.width;
        let block = fill.repeat(missing.min(1 << 16));
        let mut left = missing * fill.len();
        while left > 0 {
            let count = left.min(block.len());
            write(&block[..count])?;
            left -= count;
        }
        Ok(())
    }

    /// Appends row `row` of a store whose rows are chunks of this array, by a link to its file: nothing is read or
    /// written. Returns whether this was possible.
    pub fn link(&mut self, store: &Path, row: usize, listed: &Checksums) -> bool {
        let columns = self.grid.chunk_items();
        let run = self.grid.locate(self.items);
        if self.grid.chunk_rows > 1 || (run.offset, run.length) != (0, columns) {
            return false;
        }
        let of_store = ChunkGrid { columns, ..self.grid };
        let name = self.spec.chunk_name(&of_store, row);
        let entry = listed.get(&format!("{}/{name}", self.spec.name));
        let is_whole = |entry: &Entry| entry.bytes == self.bytes_of_items(columns);
        let Some(entry) = entry.filter(|entry| self.compresses || is_whole(entry)) else {
            return false;
        };
        let from = self.spec.folder(store).join(name);
        if std::fs::hard_link(from, self.path(run.chunk)).is_err() {
            return false;
        }
        self.sums.push(entry);
        self.items += columns;
        true
    }

    /// Completes a chunk that has this number of items, and its padding.
    fn complete(&mut self, chunk: usize, items: usize) -> Result<()> {
        let mut sum = std::mem::take(&mut self.sum);
        let Ok(()) = self.pad(items, |fill| -> std::result::Result<(), std::convert::Infallible> {
            sum.update(fill);
            self.written.fetch_add(fill.len() as u64, Ordering::Relaxed);
            Ok(())
        });
        let file = self.file.take();
        let entry = match file.filter(|_| self.compresses) {
            Some(file) => self.compress_growing(chunk, items, file)?,
            None => {
                let bytes = self.bytes_of_items(self.grid.chunk_items());
                Entry { bytes, crc: sum.finalize() }
            }
        };
        self.sums.push(entry);
        Ok(())
    }

    /// The first chunk that is not durable once all items so far are, and the growing chunk.
    fn durable_end(&self) -> (usize, Option<usize>) {
        let (complete, rest) = self.grid.filled(self.items);
        // The last chunk of a finished array is complete with fewer items.
        let is_growing = rest > 0 && self.file.is_some();
        (complete + usize::from(rest > 0 && !is_growing), is_growing.then_some(complete))
    }

    /// The files and the folder that must be synced for all items to be durable.
    pub fn unsynced(&self) -> Vec<PathBuf> {
        let (end, growing) = self.durable_end();
        let chunks = (self.unsynced..end).map(|chunk| self.path(chunk));
        let growing = growing.map(|chunk| self.growing_path(chunk));
        chunks.chain(growing).chain([self.folder.clone()]).collect()
    }

    /// Notes that [`unsynced`](ArrayWriter::unsynced) files were synced.
    pub fn synced(&mut self) -> Result<()> {
        let (end, _) = self.durable_end();
        if self.compresses && self.unsynced < end {
            let growing = self.growing_path(self.unsynced);
            if growing.exists() {
                remove_file(&growing)?;
            }
        }
        self.unsynced = end;
        Ok(())
    }

    /// Completes the last chunk.
    pub fn finish(&mut self) -> Result<()> {
        if let Some(mut file) = self.file.take() {
            let (chunk, rest) = self.grid.filled(self.items);
            if !self.is_padded() && !self.compresses {
                let path = self.path(chunk);
                let padded = self.pad(rest, |fill| file.write_all(fill));
                padded.map_err(refused("write", &path, None))?;
            }
            self.file = Some(file);
            self.complete(chunk, rest)?;
        }
        Ok(())
    }

    fn metadata(&self, counts: Counts) -> Value {
        self.spec.metadata(self.encoding, counts, &self.grid, self.cf.attributes(&self.spec))
    }

    /// Writes the final shape of the array, which is not synced to the disk yet.
    pub fn describe(&mut self, counts: Counts) -> Result<()> {
        let metadata = zarr::text(&self.metadata(counts));
        self.metadata = Some(Entry::of(metadata.as_bytes()));
        write_text_beside(&self.metadata_path(), &metadata)
    }

    /// The file of the final shape.
    pub fn metadata_path(&self) -> PathBuf {
        self.folder.join(METADATA)
    }
}

/// The bytes of the fill value of a type.
fn fill_value(scalar: ScalarType) -> Vec<u8> {
    match scalar {
        ScalarType::F32 => bytes_of(&[f32::FILL]).into_owned(),
        ScalarType::F64 => bytes_of(&[f64::FILL]).into_owned(),
        // Zero.
        other => vec![0; other.size()],
    }
}

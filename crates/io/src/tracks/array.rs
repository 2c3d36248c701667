//! Writes and reads the chunks of an array.
//!
//! A chunk is an append-only file. It has its full size once it or the store is complete; missing
//! items then have the fill value.

use super::chunk_grid::ChunkGrid;
use super::layout::{ArraySpec, Counts, METADATA, Precisions};
use crate::disk::{refused, remove_file, sync_files, sync_folder, write_atomic, write_unsynced};
use crate::number::{Number, bytes_of, read_into};
use crate::{Error, Result};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Appends items to an array.
#[derive(Debug)]
pub(super) struct ArrayWriter {
    folder: PathBuf,
    spec: ArraySpec,
    grid: ChunkGrid,
    precisions: Precisions,
    /// Bytes of an item.
    item_bytes: usize,
    /// Number of items written so far.
    items: usize,
    /// The file of the incomplete chunk.
    file: Option<File>,
    /// The first chunk that is not synced to the disk.
    unsynced: usize,
    /// Bytes written by all arrays of the store.
    written: Arc<AtomicU64>,
}

impl ArrayWriter {
    /// Opens an array after its first `items`; items beyond them are removed.
    ///
    /// # Errors
    ///
    /// If the array has fewer items, or an operation of the file system fails.
    pub fn open(
        store: &Path,
        spec: ArraySpec,
        (precisions, planned): (Precisions, Counts),
        items: usize,
        written: Arc<AtomicU64>,
    ) -> Result<ArrayWriter> {
        let folder = spec.folder(store);
        std::fs::create_dir_all(&folder).map_err(refused("create", &folder, None))?;
        let item_bytes = spec.width * bytes_of_number(spec.data_type(precisions));
        let mut array = ArrayWriter {
            folder,
            spec,
            grid: spec.grid(planned),
            precisions,
            item_bytes,
            items,
            file: None,
            unsynced: 0,
            written,
        };
        array.truncate()?;
        // Not synced: completing the store writes it again.
        let metadata = array.spec.metadata(precisions, planned, &array.grid);
        write_unsynced(&array.folder.join(METADATA), &format!("{metadata:#}\n"))?;
        Ok(array)
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Removes data beyond the items, and opens the incomplete chunk.
    fn truncate(&mut self) -> Result<()> {
        let full = self.grid.chunk_items() * self.item_bytes;
        let (chunk, rest) = match self.items {
            0 => (0, 0),
            items => {
                let last = self.grid.locate(items - 1);
                let rest = if last.length == 1 { 0 } else { last.offset + 1 };
                (last.chunk + usize::from(last.length == 1), rest * self.item_bytes)
            }
        };
        let mut lengths = vec![None; chunk + usize::from(rest > 0)];
        for (name, length) in self.files()? {
            match self.spec.chunk_number(&self.grid, &name) {
                Some(number) if number < lengths.len() => lengths[number] = Some(length),
                _ if name == METADATA => {}
                _ => remove_file(&self.folder.join(name))?,
            }
        }
        for (number, length) in lengths.iter().enumerate() {
            let expected = if number == chunk { rest } else { full } as u64;
            self.truncate_chunk(number, *length, expected)?;
        }
        self.unsynced = chunk;
        if rest > 0 {
            let path = self.path(chunk);
            let file = OpenOptions::new().append(true).open(&path);
            self.file = Some(file.map_err(refused("open", &path, None))?);
        }
        Ok(())
    }

    /// Truncates a chunk to its expected length in bytes; a shorter chunk is an error.
    fn truncate_chunk(&self, chunk: usize, length: Option<u64>, expected: u64) -> Result<()> {
        let path = self.path(chunk);
        match length {
            Some(length) if length == expected => Ok(()),
            Some(length) if length > expected => {
                let file = OpenOptions::new().write(true).open(&path);
                let truncated = file.and_then(|file| file.set_len(expected));
                truncated.map_err(refused("truncate", &path, None))
            }
            _ => Err(Error::Store {
                path,
                found: length.map_or("found nothing".into(), |n| format!("found {n} bytes")),
                expected: format!("{expected} bytes, which the run had synced to the disk"),
            }),
        }
    }

    /// Names and lengths of the files in the folder.
    fn files(&self) -> Result<Vec<(String, u64)>> {
        let failed = |e| Error::system("read", &self.folder)(e);
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let length = entry.metadata().map_err(failed)?.len();
            files.push((entry.file_name().to_string_lossy().into_owned(), length));
        }
        Ok(files)
    }

    fn path(&self, chunk: usize) -> PathBuf {
        self.folder.join(self.spec.chunk_name(&self.grid, chunk))
    }

    /// Appends complete items.
    pub fn append<T: Number>(&mut self, mut numbers: &[T]) -> Result<()> {
        debug_assert!(T::NAME == self.spec.data_type(self.precisions));
        debug_assert!(numbers.len().is_multiple_of(self.spec.width));
        while !numbers.is_empty() {
            let run = self.grid.locate(self.items);
            let count = run.length.min(numbers.len() / self.spec.width);
            let (head, tail) = numbers.split_at(count * self.spec.width);
            self.write(run.chunk, head)?;
            self.items += count;
            if count == run.length {
                self.pad::<T>(run.chunk, run.offset + count)?;
            }
            numbers = tail;
        }
        Ok(())
    }

    /// Pads a chunk that has this number of items with the fill value.
    fn pad<T: Number>(&mut self, chunk: usize, items: usize) -> Result<()> {
        let missing = (self.grid.chunk_items() - items) * self.spec.width;
        let block = vec![T::FILL; missing.min(1 << 16)];
        let mut left = missing;
        while left > 0 {
            let count = left.min(block.len());
            self.write(chunk, &block[..count])?;
            left -= count;
        }
        self.file = None;
        Ok(())
    }

    fn write<T: Number>(&mut self, chunk: usize, numbers: &[T]) -> Result<()> {
        let path = self.path(chunk);
        let bytes = bytes_of(numbers);
        let wanted = Some(bytes.len() as u64);
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                let file = File::create(&path).map_err(refused("create", &path, wanted))?;
                none.insert(file)
            }
        };
        file.write_all(&bytes).map_err(refused("write", &path, wanted))?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Syncs all items to the disk.
    pub fn sync(&mut self) -> Result<()> {
        let next = match self.items {
            0 => 0,
            items => self.grid.locate(items - 1).chunk + 1,
        };
        let paths: Vec<PathBuf> = (self.unsynced..next).map(|chunk| self.path(chunk)).collect();
        sync_files(&paths)?;
        self.unsynced = next - usize::from(self.file.is_some());
        sync_folder(&self.folder)
    }

    /// Pads the last chunk, writes the final shape of the array, and syncs it to the disk.
    pub fn finish(&mut self, counts: Counts) -> Result<()> {
        if self.file.is_some() {
            let last = self.grid.locate(self.items - 1);
            match self.spec.data_type(self.precisions) {
                "float32" => self.pad::<f32>(last.chunk, last.offset + 1),
                "float64" => self.pad::<f64>(last.chunk, last.offset + 1),
                "int32" => self.pad::<i32>(last.chunk, last.offset + 1),
                "int64" => self.pad::<i64>(last.chunk, last.offset + 1),
                _ => self.pad::<u8>(last.chunk, last.offset + 1),
            }?;
        }
        let metadata = self.spec.metadata(self.precisions, counts, &self.grid);
        write_json(&self.folder.join(METADATA), &metadata)?;
        self.sync()
    }
}

/// Bytes of a number of one of Zarr's types.
fn bytes_of_number(data_type: &str) -> usize {
    match data_type {
        "float32" | "int32" => 4,
        "float64" | "int64" => 8,
        _ => 1,
    }
}

/// Writes a JSON file atomically.
pub(super) fn write_json(path: &Path, value: &Value) -> Result<()> {
    let text = format!("{value:#}\n");
    write_atomic(path, Some(text.len() as u64), |file| file.write_all(text.as_bytes()))
}

/// Reads a JSON file.
pub(super) fn read_json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    serde_json::from_str(&text).map_err(|e| Error::Store {
        path: path.into(),
        found: format!("found something else ({e})"),
        expected: "JSON that describes an array or a group of Zarr".into(),
    })
}

/// An array, read on demand.
#[derive(Debug, Clone)]
pub(super) struct ArrayReader {
    folder: PathBuf,
    spec: ArraySpec,
    grid: ChunkGrid,
    /// Bytes of an item.
    item_bytes: usize,
    /// Whether all chunks have their full size.
    is_complete: bool,
}

impl ArrayReader {
    /// Opens an array; only its metadata are read.
    ///
    /// # Errors
    ///
    /// If the metadata cannot be read, or describe another array.
    pub fn open(
        store: &Path,
        spec: ArraySpec,
        of: (Precisions, Counts),
        is_complete: bool,
    ) -> Result<ArrayReader> {
        let folder = spec.folder(store);
        let path = folder.join(METADATA);
        let grid = spec.grid_of(&path, &read_json(&path)?, of, is_complete)?;
        let item_bytes = spec.width * bytes_of_number(spec.data_type(of.0));
        Ok(ArrayReader { folder, spec, grid, item_bytes, is_complete })
    }

    /// Number of complete rows in an array that is being written.
    pub fn rows(&self) -> Result<usize> {
        let failed = |e| Error::system("read", &self.folder)(e);
        let mut last = None;
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let chunk = self.spec.chunk_number(&self.grid, &name);
            if let Some(chunk) = chunk.filter(|chunk| last.as_ref().is_none_or(|(n, _)| n < chunk))
            {
                last = Some((chunk, entry));
            }
        }
        let Some((chunk, entry)) = last else { return Ok(0) };
        let length = entry.metadata().map_err(failed)?.len();
        Ok(self.grid.complete_rows(chunk, length as usize / self.item_bytes))
    }

    /// The values in a range of rows and columns, row by row.
    pub fn read<T: Number>(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Vec<T>> {
        let mut numbers = Vec::new();
        let mut open: Option<(usize, File)> = None;
        // Rows that span the width of a chunk are read together.
        let width = self.grid.chunk_columns;
        let spans_chunk = columns.len() == width && columns.start.is_multiple_of(width);
        let mut row = rows.start;
        while row < rows.end {
            let next = match spans_chunk {
                true => ((row / self.grid.chunk_rows + 1) * self.grid.chunk_rows).min(rows.end),
                false => row + 1,
            };
            for run in self.grid.runs(row, columns.clone()) {
                let file = match &mut open {
                    Some((chunk, file)) if *chunk == run.chunk => file,
                    other => &mut other.insert((run.chunk, self.chunk(run.chunk)?)).1,
                };
                let items = run.length * (next - row);
                self.read_items(file, run.chunk, run.offset, items, &mut numbers)?;
            }
            row = next;
        }
        Ok(numbers)
    }

    fn read_items<T: Number>(
        &self,
        file: &mut File,
        chunk: usize,
        offset: usize,
        items: usize,
        numbers: &mut Vec<T>,
    ) -> Result<()> {
        let found = file.seek(SeekFrom::Start((offset * self.item_bytes) as u64));
        let read = found.and_then(|_| read_into(file, items * self.spec.width, numbers));
        read.map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.wrong_length(chunk, (offset + items) * self.item_bytes, file)
            }
            _ => Error::system("read", &self.path(chunk))(e),
        })
    }

    /// Opens the file of a chunk, which must have its full size in a complete store.
    fn chunk(&self, chunk: usize) -> Result<File> {
        let path = self.path(chunk);
        let file = File::open(&path).map_err(Error::system("open", &path))?;
        let length = file.metadata().map_err(Error::system("read", &path))?.len();
        let full = self.grid.chunk_items() * self.item_bytes;
        match self.is_complete && length != full as u64 {
            true => Err(self.wrong_length(chunk, full, &file)),
            false => Ok(file),
        }
    }

    fn wrong_length(&self, chunk: usize, expected: usize, file: &File) -> Error {
        let length = file.metadata().map_or(0, |of| of.len());
        Error::Store {
            path: self.path(chunk),
            found: format!("found {length} bytes"),
            expected: format!("{expected} in this chunk; the file was truncated or changed"),
        }
    }

    fn path(&self, chunk: usize) -> PathBuf {
        self.folder.join(self.spec.chunk_name(&self.grid, chunk))
    }
}

//! The chunks of an array: written in order, read piece by piece.
//!
//! A chunk is a file, to which numbers are only ever added. It has its full size when it is
//! complete, or the store is: what is left over is filled up.

use super::grid::Grid;
use super::layout::{Counts, METADATA, Spec};
use crate::disk::{refused, remove_file, sync_files, sync_folder, write_soon, write_whole};
use crate::number::{Number, bytes_of, read_into};
use crate::{Error, Result};
use burntrace_core::Precision;
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An array that grows, item by item.
#[derive(Debug)]
pub(super) struct ArrayWriter {
    folder: PathBuf,
    spec: Spec,
    grid: Grid,
    precision: Precision,
    /// Bytes of an item.
    size: usize,
    /// Items that have been written.
    items: usize,
    /// The chunk that is being filled.
    open: Option<File>,
    /// The first chunk that may not be on the disk yet.
    unsynced: usize,
    /// Bytes that all arrays of the store have written.
    written: Arc<AtomicU64>,
}

impl ArrayWriter {
    /// An array of a store that already has so many items; further ones are removed.
    ///
    /// # Errors
    ///
    /// If the array has fewer items, or the system refuses.
    pub fn begin(
        store: &Path,
        spec: Spec,
        (precision, planned): (Precision, Counts),
        items: usize,
        written: Arc<AtomicU64>,
    ) -> Result<ArrayWriter> {
        let folder = spec.folder(store);
        std::fs::create_dir_all(&folder).map_err(refused("create", &folder, None))?;
        let size = spec.width * bytes_of_number(spec.data_type(precision));
        let grid = spec.grid(planned);
        let unsynced = 0;
        let mut array = ArrayWriter {
            folder,
            spec,
            grid,
            precision,
            size,
            items,
            open: None,
            unsynced,
            written,
        };
        array.cut()?;
        // Nothing depends on it until the store is complete, and it is written again then.
        let metadata = array.spec.metadata(precision, planned, &array.grid);
        write_soon(&array.folder.join(METADATA), &format!("{metadata:#}\n"))?;
        Ok(array)
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Removes what lies beyond the items, and opens the chunk that is not complete.
    fn cut(&mut self) -> Result<()> {
        let whole = self.grid.items_each() * self.size;
        let (chunk, rest) = match self.items {
            0 => (0, 0),
            items => {
                let last = self.grid.place(items - 1);
                let rest = if last.room == 1 { 0 } else { last.at + 1 };
                (last.chunk + usize::from(last.room == 1), rest * self.size)
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
            let expected = if number == chunk { rest } else { whole } as u64;
            self.shorten(number, *length, expected)?;
        }
        self.unsynced = chunk;
        if rest > 0 {
            let path = self.path(chunk);
            let file = OpenOptions::new().append(true).open(&path);
            self.open = Some(file.map_err(refused("open", &path, None))?);
        }
        Ok(())
    }

    /// Takes from a chunk what is not to be there; what is to be there must be.
    fn shorten(&self, chunk: usize, length: Option<u64>, expected: u64) -> Result<()> {
        let path = self.path(chunk);
        match length {
            Some(length) if length == expected => Ok(()),
            Some(length) if length > expected => {
                let cut = OpenOptions::new().write(true).open(&path);
                let cut = cut.and_then(|file| file.set_len(expected));
                cut.map_err(refused("shorten", &path, None))
            }
            _ => Err(Error::Store {
                path,
                found: length.map_or("found nothing".into(), |n| format!("found {n} bytes")),
                expected: format!("{expected}, of what the run had secured"),
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

    /// Adds whole items.
    pub fn append<T: Number>(&mut self, mut numbers: &[T]) -> Result<()> {
        debug_assert!(T::NAME == self.spec.data_type(self.precision));
        debug_assert!(numbers.len().is_multiple_of(self.spec.width));
        while !numbers.is_empty() {
            let place = self.grid.place(self.items);
            let count = place.room.min(numbers.len() / self.spec.width);
            let (now, later) = numbers.split_at(count * self.spec.width);
            self.write(place.chunk, now)?;
            self.items += count;
            if count == place.room {
                self.fill_up::<T>(place.chunk, place.at + count)?;
            }
            numbers = later;
        }
        Ok(())
    }

    /// Completes a chunk that has so many items.
    fn fill_up<T: Number>(&mut self, chunk: usize, items: usize) -> Result<()> {
        let lacking = (self.grid.items_each() - items) * self.spec.width;
        let block = vec![T::FILL; lacking.min(1 << 16)];
        let mut left = lacking;
        while left > 0 {
            let count = left.min(block.len());
            self.write(chunk, &block[..count])?;
            left -= count;
        }
        self.open = None;
        Ok(())
    }

    fn write<T: Number>(&mut self, chunk: usize, numbers: &[T]) -> Result<()> {
        let path = self.path(chunk);
        let bytes = bytes_of(numbers);
        let wanted = Some(bytes.len() as u64);
        let file = match &mut self.open {
            Some(file) => file,
            closed => {
                let file = File::create(&path).map_err(refused("create", &path, wanted))?;
                closed.insert(file)
            }
        };
        file.write_all(&bytes).map_err(refused("write", &path, wanted))?;
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Makes sure that all items are on the disk.
    pub fn sync(&mut self) -> Result<()> {
        let next = match self.items {
            0 => 0,
            items => self.grid.place(items - 1).chunk + 1,
        };
        let paths: Vec<PathBuf> = (self.unsynced..next).map(|chunk| self.path(chunk)).collect();
        sync_files(&paths)?;
        self.unsynced = next - usize::from(self.open.is_some());
        sync_folder(&self.folder)
    }

    /// Fills the last chunk up, says how long the array is, and makes sure that it is on the disk.
    pub fn finish(&mut self, counts: Counts) -> Result<()> {
        if self.open.is_some() {
            let last = self.grid.place(self.items - 1);
            match self.spec.data_type(self.precision) {
                "float32" => self.fill_up::<f32>(last.chunk, last.at + 1),
                "float64" => self.fill_up::<f64>(last.chunk, last.at + 1),
                "int32" => self.fill_up::<i32>(last.chunk, last.at + 1),
                "int64" => self.fill_up::<i64>(last.chunk, last.at + 1),
                _ => self.fill_up::<u8>(last.chunk, last.at + 1),
            }?;
        }
        let metadata = self.spec.metadata(self.precision, counts, &self.grid);
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

/// Writes JSON into a file that is whole or not there.
pub(super) fn write_json(path: &Path, value: &Value) -> Result<()> {
    let text = format!("{value:#}\n");
    write_whole(path, Some(text.len() as u64), |file| file.write_all(text.as_bytes()))
}

/// Reads JSON.
pub(super) fn read_json(path: &Path) -> Result<Value> {
    let text = std::fs::read_to_string(path).map_err(Error::system("read", path))?;
    serde_json::from_str(&text).map_err(|e| Error::Store {
        path: path.into(),
        found: format!("found something else ({e})"),
        expected: "JSON that describes an array or a group of Zarr".into(),
    })
}

/// An array in a folder. Its numbers are read when they are asked for.
#[derive(Debug, Clone)]
pub(super) struct ArrayFolder {
    folder: PathBuf,
    spec: Spec,
    grid: Grid,
    /// Bytes of an item.
    size: usize,
    /// Whether all chunks have their full size.
    is_complete: bool,
}

impl ArrayFolder {
    /// Opens an array, of which only the metadata are looked at.
    ///
    /// # Errors
    ///
    /// If these cannot be read, or are not those of this array.
    pub fn open(
        store: &Path,
        spec: Spec,
        of: (Precision, Counts),
        is_complete: bool,
    ) -> Result<ArrayFolder> {
        let folder = spec.folder(store);
        let path = folder.join(METADATA);
        let grid = spec.grid_of(&path, &read_json(&path)?, of, is_complete)?;
        let size = spec.width * bytes_of_number(spec.data_type(of.0));
        Ok(ArrayFolder { folder, spec, grid, size, is_complete })
    }

    /// How many whole rows there are in an array that is being written.
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
        Ok(self.grid.whole_rows(chunk, length as usize / self.size))
    }

    /// The numbers of some columns in some rows, row by row.
    pub fn read<T: Number>(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Vec<T>> {
        let mut numbers = Vec::new();
        let mut open: Option<(usize, File)> = None;
        // Rows that fill a chunk's width are read together.
        let each = self.grid.columns_each;
        let is_whole = columns.len() == each && columns.start.is_multiple_of(each);
        let mut row = rows.start;
        while row < rows.end {
            let next = match is_whole {
                true => ((row / self.grid.rows_each + 1) * self.grid.rows_each).min(rows.end),
                false => row + 1,
            };
            for piece in self.grid.pieces(row, columns.clone()) {
                let file = match &mut open {
                    Some((chunk, file)) if *chunk == piece.chunk => file,
                    other => &mut other.insert((piece.chunk, self.chunk(piece.chunk)?)).1,
                };
                let items = piece.room * (next - row);
                self.read_items(file, piece.chunk, piece.at, items, &mut numbers)?;
            }
            row = next;
        }
        Ok(numbers)
    }

    fn read_items<T: Number>(
        &self,
        file: &mut File,
        chunk: usize,
        at: usize,
        items: usize,
        numbers: &mut Vec<T>,
    ) -> Result<()> {
        let found = file.seek(SeekFrom::Start((at * self.size) as u64));
        let read = found.and_then(|_| read_into(file, items * self.spec.width, numbers));
        read.map_err(|e| match e.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                self.cut_off(chunk, (at + items) * self.size, file)
            }
            _ => Error::system("read", &self.path(chunk))(e),
        })
    }

    /// Opens the file of a chunk, which has its full size in a complete store.
    fn chunk(&self, chunk: usize) -> Result<File> {
        let path = self.path(chunk);
        let file = File::open(&path).map_err(Error::system("open", &path))?;
        let length = file.metadata().map_err(Error::system("read", &path))?.len();
        let whole = self.grid.items_each() * self.size;
        match self.is_complete && length != whole as u64 {
            true => Err(self.cut_off(chunk, whole, &file)),
            false => Ok(file),
        }
    }

    fn cut_off(&self, chunk: usize, expected: usize, file: &File) -> Error {
        let length = file.metadata().map_or(0, |of| of.len());
        Error::Store {
            path: self.path(chunk),
            found: format!("found {length} bytes"),
            expected: format!("{expected} in this chunk; it was cut off or changed"),
        }
    }

    fn path(&self, chunk: usize) -> PathBuf {
        self.folder.join(self.spec.chunk_name(&self.grid, chunk))
    }
}

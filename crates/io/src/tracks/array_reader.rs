//! Reads the chunks of an array.

use super::chunk_grid::ChunkGrid;
use super::compression;
use super::layout::{ArraySpec, Counts, Encoding, METADATA};
use crate::number::{Number, read_into};
use crate::{Error, Result};
use burntrace_cf::zarr::read_json;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Whether complete chunks are compressed.
    is_compressed: bool,
    /// The compressed chunk that was read last. Saves are read one after another, and a chunk may have many.
    last: Arc<Mutex<Option<(usize, Bytes)>>>,
}

/// The bytes of a chunk.
type Bytes = Arc<[u8]>;

/// A chunk that is open for reading.
enum Chunk {
    File(File),
    Decoded(Cursor<Bytes>),
}

impl Chunk {
    fn len(&self) -> std::io::Result<u64> {
        match self {
            Chunk::File(file) => Ok(file.metadata()?.len()),
            Chunk::Decoded(bytes) => Ok(bytes.get_ref().len() as u64),
        }
    }
}

impl Read for Chunk {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Chunk::File(file) => file.read(to),
            Chunk::Decoded(bytes) => bytes.read(to),
        }
    }
}

impl Seek for Chunk {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match self {
            Chunk::File(file) => file.seek(to),
            Chunk::Decoded(bytes) => bytes.seek(to),
        }
    }
}

impl ArrayReader {
    /// Opens an array; only its metadata are read.
    ///
    /// # Errors
    ///
    /// If the metadata cannot be read, or describe another array.
    pub fn open(
        store: &Path,
        spec: &ArraySpec,
        of: (Encoding, Counts),
        is_complete: bool,
    ) -> Result<ArrayReader> {
        let folder = spec.folder(store);
        let path = folder.join(METADATA);
        let grid = spec.grid_of(&path, &read_json(&path)?, of, is_complete)?;
        let item_bytes = spec.item_bytes(of.0);
        let (is_compressed, spec) = (spec.is_compressed(of.0), spec.clone());
        let last = Arc::default();
        Ok(ArrayReader { folder, spec, grid, item_bytes, is_complete, is_compressed, last })
    }

    /// Number of rows for which an array that is being written has space: no more than these are
    /// complete.
    pub fn rows(&self) -> Result<usize> {
        let failed = |e| Error::system("read", &self.folder)(e);
        let mut last = None;
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let (of_chunk, is_growing) = compression::chunk_of(&name);
            let Some(chunk) = self.spec.chunk_number(&self.grid, of_chunk) else { continue };
            // A chunk has both files for a while after it is complete.
            let place = (chunk, !is_growing);
            if last.as_ref().is_none_or(|(known, _)| *known < place) {
                last = Some((place, entry));
            }
        }
        let Some(((chunk, is_complete), entry)) = last else { return Ok(0) };
        let items = match self.is_compressed && is_complete {
            true => self.grid.chunk_items(),
            false => entry.metadata().map_err(failed)?.len() as usize / self.item_bytes,
        };
        Ok(self.grid.complete_rows(chunk, items))
    }

    /// The values in a range of rows and columns, row by row.
    pub fn read<T: Number>(&self, rows: Range<usize>, columns: Range<usize>) -> Result<Vec<T>> {
        let mut numbers = Vec::new();
        let mut open: Option<(usize, Chunk)> = None;
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
        file: &mut Chunk,
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

    /// Opens a chunk, which must have its full size in a complete store.
    fn chunk(&self, chunk: usize) -> Result<Chunk> {
        let path = self.path(chunk);
        let full = self.grid.chunk_items() * self.item_bytes;
        if self.is_compressed && (self.is_complete || path.exists()) {
            return Ok(Chunk::Decoded(Cursor::new(self.decoded(chunk, full)?)));
        }
        let path = if self.is_compressed { self.growing_path(chunk) } else { path };
        let file = File::open(&path).map_err(Error::system("open", &path))?;
        let file = Chunk::File(file);
        let length = file.len().map_err(Error::system("read", &path))?;
        match self.is_complete && length != full as u64 {
            true => Err(self.wrong_length(chunk, full, &file)),
            false => Ok(file),
        }
    }

    /// The bytes of a compressed chunk.
    fn decoded(&self, chunk: usize, full: usize) -> Result<Bytes> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, bytes)) = last.as_ref().filter(|(known, _)| *known == chunk) {
            return Ok(Arc::clone(bytes));
        }
        let bytes: Bytes = compression::read(self.path(chunk), full)?.into();
        *last = Some((chunk, Arc::clone(&bytes)));
        Ok(bytes)
    }

    fn wrong_length(&self, chunk: usize, expected: usize, file: &Chunk) -> Error {
        let length = file.len().unwrap_or(0);
        Error::Store {
            path: self.path(chunk),
            found: format!("found {length} bytes"),
            expected: format!("{expected} in this chunk; the file was truncated or changed"),
        }
    }

    fn growing_path(&self, chunk: usize) -> PathBuf {
        self.folder.join(compression::growing(&self.spec.chunk_name(&self.grid, chunk)))
    }

    fn path(&self, chunk: usize) -> PathBuf {
        self.folder.join(self.spec.chunk_name(&self.grid, chunk))
    }
}

//! Reads the chunks of an array.

use super::array::{bytes_of_number, read_json};
use super::chunk_grid::ChunkGrid;
use super::layout::{ArraySpec, Counts, METADATA, Precisions};
use crate::number::{Number, read_into};
use crate::{Error, Result};
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

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
        spec: &ArraySpec,
        of: (Precisions, Counts),
        is_complete: bool,
    ) -> Result<ArrayReader> {
        let folder = spec.folder(store);
        let path = folder.join(METADATA);
        let grid = spec.grid_of(&path, &read_json(&path)?, of, is_complete)?;
        let item_bytes = spec.width * bytes_of_number(spec.data_type(of.0));
        Ok(ArrayReader { folder, spec: spec.clone(), grid, item_bytes, is_complete })
    }

    /// Number of rows for which an array that is being written has space: no more than these are
    /// complete.
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

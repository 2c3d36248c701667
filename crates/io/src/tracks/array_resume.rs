//! Continues an array of a stopped run: keeps its first items, and removes what follows them.

use super::array::ArrayWriter;
use super::checksums::{self, Checksums, Entry};
use super::compression;
use super::folder::is_chunk_or_partial;
use crate::disk::{refused, remove_file};
use crate::{Error, Result};
use crc32fast::Hasher;
use rayon::prelude::*;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};

impl ArrayWriter {
    /// Reads the items that an existing array keeps, and compares them with their checksums.
    ///
    /// # Errors
    ///
    /// If the array has fewer items, or others; nothing has been changed then.
    pub fn verify(&mut self, listed: &Checksums) -> Result<()> {
        let (complete, rest) = self.grid.filled(self.items);
        let verify = |chunk: usize| {
            let entry = listed.get(&self.listed(chunk)).unwrap_or_default();
            let bytes = match self.compresses {
                // At least the header of a container.
                true => entry.bytes.max(1),
                false => self.bytes_of_items(self.grid.chunk_items()),
            };
            let crc = checksums::verify_start(&self.path(chunk), bytes, entry)?.finalize();
            Ok(Entry { bytes, crc })
        };
        let sums: Vec<Result<Entry>> = (0..complete).into_par_iter().map(verify).collect();
        self.sums = sums.into_iter().collect::<Result<_>>()?;
        if rest > 0 {
            self.sum = self.verify_growing(complete, rest, listed)?;
        }
        Ok(())
    }

    /// As [`verify`](ArrayWriter::verify), of the first `items` of a chunk that is not complete there.
    fn verify_growing(&mut self, chunk: usize, items: usize, listed: &Checksums) -> Result<Hasher> {
        let (path, kept) = (self.growing_path(chunk), self.bytes_of_items(items));
        let growing = listed.get(&self.listed_growing(chunk));
        if path.exists() || !self.compresses {
            return checksums::verify_start(&path, kept, growing.unwrap_or_default());
        }
        // It was completed after the position.
        if let Some(complete) = listed.get(&self.listed(chunk)) {
            checksums::verify_start(&self.path(chunk), 1, complete)?;
        }
        let size = self.bytes_of_items(self.grid.chunk_items()) as usize;
        let mut numbers = compression::read(self.path(chunk), size)?;
        if let Some(entry) = growing {
            let start = numbers.get(..entry.bytes as usize).unwrap_or_default();
            if Entry::of(start) != entry {
                return Err(Error::Store {
                    path: self.path(chunk),
                    found: "found other numbers".into(),
                    expected: "those that the run wrote: restore it from a copy".into(),
                });
            }
        }
        numbers.truncate(kept as usize);
        let mut sum = Hasher::new();
        sum.update(&numbers);
        self.restored = Some(numbers);
        Ok(sum)
    }

    /// Removes data beyond the items, and opens the incomplete chunk.
    pub(super) fn truncate(&mut self) -> Result<()> {
        let (complete, rest) = self.grid.filled(self.items);
        let full = self.bytes_of_items(self.grid.chunk_items());
        if let Some(numbers) = self.restored.take() {
            let path = self.growing_path(complete);
            let restored = std::fs::write(&path, numbers);
            restored.map_err(refused("write", &path, Some(full)))?;
        }
        for (name, length) in self.files()? {
            let (of_chunk, is_growing) = compression::chunk_of(&name);
            let chunk = self.spec.chunk_number(&self.grid, of_chunk);
            match chunk.filter(|_| is_growing == (self.compresses && chunk >= Some(complete))) {
                Some(chunk) if self.sums.get(chunk).is_some_and(|sum| sum.bytes != length) => {
                    let file = OpenOptions::new().write(true).open(self.path(chunk));
                    let truncated = file.and_then(|file| file.set_len(self.sums[chunk].bytes));
                    truncated.map_err(refused("truncate", &self.path(chunk), None))?;
                }
                Some(chunk) if chunk < complete + usize::from(rest > 0) => {}
                // Other files are not of the store.
                _ if is_chunk_or_partial(&name) => remove_file(&self.folder.join(name))?,
                _ => {}
            }
        }
        self.unsynced = complete;
        if rest > 0 {
            let path = self.growing_path(complete);
            let open = OpenOptions::new().read(true).write(true).open(&path);
            let mut file = open.map_err(refused("open", &path, None))?;
            self.clear(&mut file, rest).map_err(refused("write", &path, Some(full)))?;
            self.file = Some(file);
        }
        Ok(())
    }

    /// Removes what follows the first `items` in a chunk, and sets the position in the file there.
    fn clear(&self, file: &mut File, items: usize) -> std::io::Result<()> {
        let start = self.bytes_of_items(items);
        if !self.is_padded() {
            file.set_len(start)?;
        }
        file.seek(SeekFrom::Start(start))?;
        if self.is_padded() {
            self.pad(items, |fill| file.write_all(fill))?;
            file.set_len(self.bytes_of_items(self.grid.chunk_items()))?;
            file.seek(SeekFrom::Start(start))?;
        }
        Ok(())
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
}

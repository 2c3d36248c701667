//! Checksums of the files of a store.
//!
//! `time/checksums.txt` lists for each file of the store a CRC-32 (as in zlib), a number of bytes,
//! and the name of the file. The checksum is that of this number of bytes from the start of the file:
//! in a complete store of the whole file, in the store of an unfinished run of the items that were
//! durable when the list was written. Whatever follows these items, padding or later items, is not
//! listed. The last line has the checksum of the list itself.
//!
//! The list is written after the data that it describes are synced to the disk, and before the
//! checkpoint of the run. So a killed run finds the items of its checkpoint in the list, even if the
//! list is newer. On resume, the items up to the checkpoint are compared, and the list is written
//! again without the later ones, before anything is removed. At the end of a run, the list depends
//! only on the content of the files, so it is the same with and without interruptions.
//!
//! The list is in the folder of an array because Zarr ignores it there; in the folder of the group,
//! the Python package `zarr` warns of it.

use super::layout::TIME;
use crate::disk::write_content;
use crate::{Error, Result};
use crc32fast::Hasher;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// Name of the list, in the folder of the array `time`.
pub(super) const FILE: &str = "checksums.txt";

const FIRST_LINE: &str = "# CRC-32, length in bytes and name of each file";
const LAST_LINE: &str = "# CRC-32 of the lines above: ";

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// The checksum of the start of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// Number of bytes from the start of the file.
    pub bytes: u64,
    pub crc: u32,
}

impl Entry {
    /// The entry of a file with this content.
    pub fn of(content: &[u8]) -> Entry {
        Entry { bytes: content.len() as u64, crc: crc32fast::hash(content) }
    }
}

/// The checksums of a store, by the names of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Checksums(BTreeMap<String, Entry>);

impl Checksums {
    pub fn add(&mut self, name: String, entry: Entry) {
        self.0.insert(name, entry);
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub fn get(&self, name: &str) -> Option<Entry> {
        self.0.get(name).copied()
    }

    /// Names and entries, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Entry)> {
        self.0.iter().map(|(name, entry)| (name.as_str(), *entry))
    }

    /// Writes the list of the store in a folder.
    pub fn write(&self, store: &Path) -> Result<()> {
        let mut text = format!("{FIRST_LINE}\n");
        for (name, Entry { bytes, crc }) in self.iter() {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{crc:08x} {bytes} {name}");
        }
        let crc = crc32fast::hash(text.as_bytes());
        let _ = writeln!(text, "{LAST_LINE}{crc:08x}");
        write_content(&path(store), text)
    }

    /// Reads the list of the store in a folder.
    ///
    /// # Errors
    ///
    /// If there is no list, it cannot be read, or is damaged.
    pub fn read(store: &Path) -> Result<Checksums> {
        let path = path(store);
        let text = match std::fs::read(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                return Err(Error::NotStored {
                    path: store.into(),
                    what: "checksums",
                    remedy: "their list, `time/checksums.txt`, was removed; restore it from a copy, \
                             or run the case again",
                });
            }
            text => text.map_err(Error::system("read", &path))?,
        };
        let list = std::str::from_utf8(&text).ok().and_then(parse);
        list.ok_or_else(|| Error::damaged(&path, "found a damaged list of checksums"))
    }
}

/// The list of the store in a folder.
fn path(store: &Path) -> PathBuf {
    TIME.folder(store).join(FILE)
}

/// The entries of a list, unless it is damaged.
fn parse(text: &str) -> Option<Checksums> {
    let (lines, crc) = text.strip_suffix('\n')?.rsplit_once(LAST_LINE)?;
    if u32::from_str_radix(crc, 16).ok()? != crc32fast::hash(lines.as_bytes()) {
        return None;
    }
    let entry = |line: &str| {
        let (crc, rest) = line.split_once(' ')?;
        let (bytes, name) = rest.split_once(' ')?;
        let crc = u32::from_str_radix(crc, 16).ok()?;
        Some((name.to_string(), Entry { bytes: bytes.parse().ok()?, crc }))
    };
    lines.lines().skip(1).map(entry).collect::<Option<_>>().map(Checksums)
}

/// Reads a file, and compares it with its entry. Returns the checksum of its first
/// `kept` bytes, which may be fewer than those of the entry.
///
/// # Errors
///
/// If the file cannot be read, is shorter than it was, or has other bytes.
pub(super) fn verify_start(path: &Path, kept: u64, entry: Entry) -> Result<Hasher> {
    let too_short = |found: u64, expected: u64| Error::Store {
        path: path.into(),
        found: format!("found {found} bytes"),
        expected: format!("{expected} bytes, which the run had synced to the disk"),
    };
    if entry.bytes < kept {
        return Err(too_short(entry.bytes, kept));
    }
    let mut file = match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            return Err(Error::damaged(path, "found no such file"));
        }
        file => file.map_err(Error::system("open", path))?,
    };
    let length = file.metadata().map_err(Error::system("read", path))?.len();
    if length < entry.bytes {
        return Err(too_short(length, entry.bytes));
    }
    let mut start = Hasher::new();
    hash(&mut file, kept, &mut start).map_err(Error::system("read", path))?;
    let mut all = start.clone();
    hash(&mut file, entry.bytes - kept, &mut all).map_err(Error::system("read", path))?;
    match entry.crc == all.finalize() {
        true => Ok(start),
        false => Err(Error::Store {
            path: path.into(),
            found: "found other bytes than its checksum says".into(),
            expected:
                "those that the run wrote: the file was damaged or changed; restore it from a \
                       copy, or run the case again"
                    .into(),
        }),
    }
}

/// Adds the next bytes of a file to a checksum.
fn hash(file: &mut File, mut bytes: u64, sum: &mut Hasher) -> std::io::Result<()> {
    let mut block = vec![0; BLOCK.min(bytes as usize)];
    while bytes > 0 {
        let part = &mut block[..BLOCK.min(bytes as usize)];
        file.read_exact(part)?;
        sum.update(part);
        bytes -= part.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(folder: &Path) -> Checksums {
        std::fs::create_dir_all(folder.join("time")).unwrap();
        let mut list = Checksums::default();
        list.add("time/c.0".into(), Entry::of(b"durable"));
        list.add("position/c.0.0.0".into(), Entry { bytes: 0, crc: 0 });
        list.write(folder).unwrap();
        list
    }

    #[test]
    fn lists_are_read_as_written_and_damage_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            Checksums::read(folder.path()).is_err_and(|e| e.to_string().contains("was removed"))
        );
        let list = list(folder.path());
        assert_eq!(Checksums::read(folder.path()).unwrap(), list);
        let path = path(folder.path());
        let text = std::fs::read(&path).unwrap();
        for byte in 0..text.len() {
            let mut damaged = text.clone();
            damaged[byte] ^= 1;
            std::fs::write(&path, &damaged).unwrap();
            let read = Checksums::read(folder.path());
            assert!(read.is_err_and(|e| e.to_string().contains("checksums.txt")), "byte {byte}");
            std::fs::write(&path, &text[..byte]).unwrap();
            assert!(Checksums::read(folder.path()).is_err(), "{byte} bytes");
        }
    }

    #[test]
    fn the_start_of_a_file_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let entry = list(folder.path()).get("time/c.0").unwrap();
        let path = folder.path().join("time/c.0");
        let error = |kept| verify_start(&path, kept, entry).unwrap_err().to_string();
        assert!(error(7).contains("found no such file"));
        std::fs::write(&path, b"durable, and later").unwrap();
        let start = verify_start(&path, 3, entry).unwrap();
        assert_eq!(start.finalize(), crc32fast::hash(b"dur"));
        assert!(error(8).contains("found 7 bytes, expected 8 bytes"));
        std::fs::write(&path, b"durabel").unwrap();
        // The damage is beyond the kept bytes, but the file is not trusted.
        assert!(error(3).contains("found other bytes than its checksum says"));
        std::fs::write(&path, b"du").unwrap();
        assert!(error(3).contains("found 2 bytes, expected 7 bytes"));
    }
}

//! Compression of complete chunks, by a codec that readers of Zarr have: Blosc with LZ4.
//!
//! A chunk that is not complete grows uncompressed in a file of its own, under a name that Zarr ignores.

use crate::{Error, Result};
use burntrace_cf::zarr::blosc;
use std::path::PathBuf;

/// The end of the name of a chunk that is not complete.
const GROWING: &str = ".raw";

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

/// The numbers of a complete chunk of `size` bytes.
///
/// # Errors
///
/// If the file cannot be read, or is damaged.
pub(super) fn read(path: PathBuf, size: usize) -> Result<Vec<u8>> {
    let bytes = std::fs::read(&path).map_err(Error::system("open", &path))?;
    blosc::decode(&bytes, size)
        .map_err(|reason| Error::damaged(&path, format!("found a damaged chunk: {reason}")))
}

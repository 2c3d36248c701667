//! The folder of a store: which files in it are its own.

use super::layout::{self, COMPONENT, METADATA};
use super::names::DENSITY;
use super::{cf, checksums, compression};
use crate::disk::{remove_file, remove_folder};
use crate::{Error, Result};
use burntrace_cf::zarr::{KEYS, read_json};
use std::path::Path;

/// Files that file managers write into each folder that they show.
const OF_FILE_MANAGERS: [&str; 3] = [".DS_Store", "Thumbs.db", "desktop.ini"];

/// Whether a folder has a store, complete or not.
pub fn is_store(folder: &Path) -> bool {
    folder.join(METADATA).exists()
}

/// Removes a previous store, the file that identifies it first.
pub(super) fn remove_previous(folder: &Path) -> Result<()> {
    remove_file(&folder.join(METADATA))?;
    let others = DENSITY.into_iter().chain([COMPONENT]);
    let known = layout::ALL.into_iter().map(|spec| &*spec.name).chain(others);
    known.into_iter().try_for_each(|name| remove_folder(&folder.join(name)))?;
    for name in names(folder)? {
        let folder = folder.join(name);
        if is_sampled(&folder) {
            remove_folder(&folder)?;
        }
    }
    Ok(())
}

/// Whether a folder has an array that a run sampled along its tracks.
fn is_sampled(folder: &Path) -> bool {
    read_json(&folder.join(METADATA)).is_ok_and(|found| cf::is_sampled(&found))
}

/// The names in a folder, and in those of its arrays, that no store writes, in order; none if there
/// is no folder. Files that file managers leave in each folder do not count. The arrays of
/// [densities](super::Tracks::put_density) are part of a store.
///
/// # Errors
///
/// If a folder cannot be read.
pub fn foreign_names(folder: &Path) -> Result<Vec<String>> {
    let mut foreign = Vec::new();
    for name in names(folder)? {
        let is_known = DENSITY.contains(&name.as_str())
            || name == COMPONENT
            || layout::ALL.iter().any(|spec| spec.name == name);
        if is_known || is_sampled(&folder.join(&name)) {
            let others = names(&folder.join(&name))?.into_iter().filter(|name| !is_of_array(name));
            foreign.extend(others.map(|other| format!("{name}/{other}")));
        } else if !name.starts_with(METADATA) {
            foreign.push(name);
        }
    }
    foreign.sort();
    Ok(foreign)
}

/// Whether a name in the folder of an array is one of the store.
fn is_of_array(name: &str) -> bool {
    name == METADATA || name == checksums::FILE || is_chunk_or_partial(name)
}

/// The names in a folder, except those of file managers; none if it is missing, or a file.
fn names(folder: &Path) -> Result<Vec<String>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let entries = match std::fs::read_dir(folder) {
        Err(e) if [NotADirectory, NotFound].contains(&e.kind()) => return Ok(Vec::new()),
        entries => entries.and_then(|all| all.collect::<std::io::Result<Vec<_>>>()),
    };
    let entries = entries.map_err(Error::system("read", folder))?;
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    Ok(names.filter(|name| !OF_FILE_MANAGERS.contains(&name.as_str())).collect())
}

/// Whether a name in the folder of an array is one of a chunk, or of a file that is being written.
pub(super) fn is_chunk_or_partial(name: &str) -> bool {
    let full = name.strip_suffix(".part");
    let (chunk, _) = compression::chunk_of(full.unwrap_or(name));
    KEYS.chunk(chunk).is_some_and(|index| !index.is_empty())
        || full.is_some_and(|full| full == METADATA || full == checksums::FILE)
}

//! Compares the files of a store with their checksums.

use super::arrays::StoreArrays;
use super::checksums::{self, Checksums, Entry};
use super::layout::{METADATA, TIME};
use super::manifest::Manifest;
use crate::{Error, Result};
use rayon::prelude::*;
use std::path::Path;

/// The result of [`verify`].
#[derive(Debug)]
pub struct Verification {
    /// Number of files that are listed.
    pub files: usize,
    /// Number of bytes that are listed.
    pub bytes: u64,
    /// Number of saves that are listed: all saves, or those that are durable in an unfinished run.
    pub saves: usize,
    /// Number of planned saves.
    pub planned_saves: usize,
    /// Whether the run has ended.
    pub is_complete: bool,
    /// What is wrong, one error for each damaged, missing or truncated file, in the order of their
    /// names. Empty if the store is intact.
    pub damage: Vec<Error>,
}

/// Reads all files of a store and compares them with the checksums that its run wrote. Of an
/// unfinished run, only what was durable at its last [sync](burntrace_core::TrackSink::sync) is
/// compared. [Densities](super::Tracks::put_density) have no checksums.
///
/// # Errors
///
/// If there is no store, or its list of checksums cannot be read. Damaged files are not errors, see [`Verification::damage`].
pub fn verify(folder: impl AsRef<Path>) -> Result<Verification> {
    verify_some(folder.as_ref(), |_| true)
}

/// As [`verify`], of the files for which a function of their name is true.
pub(super) fn verify_some(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Verification> {
    // Before the list: a run that ends now writes the final list first.
    let manifest = Manifest::read(folder)?;
    let listed = Checksums::read(folder)?;
    let is_compared =
        |name: &str| is_wanted(name) && (manifest.complete || !name.ends_with(METADATA));
    let entries: Vec<(&str, Entry)> = listed.iter().filter(|(name, _)| is_compared(name)).collect();
    let verify =
        |(name, entry): &(&str, Entry)| file(&folder.join(name), *entry, manifest.complete);
    let results: Vec<Result<()>> = entries.par_iter().map(verify).collect();
    let mut damage: Vec<Error> = results.into_iter().filter_map(Result::err).collect();
    if !manifest.complete && damage.is_empty() {
        // The metadata of an unfinished run are not listed.
        damage.extend(StoreArrays::open(folder, &manifest).err());
    }
    let of_time = entries.iter().filter(|(name, _)| name.starts_with(&format!("{}/c.", TIME.name)));
    let durable = of_time.map(|(_, entry)| entry.bytes as usize / size_of::<f64>()).sum();
    Ok(Verification {
        files: entries.len(),
        bytes: entries.iter().map(|(_, entry)| entry.bytes).sum(),
        saves: if manifest.complete { manifest.saves } else { durable },
        planned_saves: manifest.planned_saves,
        is_complete: manifest.complete,
        damage,
    })
}

/// Compares a file with its entry; in a complete store it must not be longer.
fn file(path: &Path, entry: Entry, is_complete: bool) -> Result<()> {
    checksums::verify_start(path, entry.bytes, entry)?;
    let length = std::fs::metadata(path).map_err(Error::system("read", path))?.len();
    match is_complete && length != entry.bytes {
        false => Ok(()),
        true => Err(Error::Store {
            path: path.into(),
            found: format!("found {length} bytes"),
            expected: format!("{} bytes: something was appended to the file", entry.bytes),
        }),
    }
}

//! Locked files: who holds one is at work in its folder.

use crate::file::Misuse;
use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;

/// Opens a file to append to it, and locks it until it is closed.
///
/// # Errors
///
/// If another process has locked it.
pub fn locked(path: &Path) -> Result<File> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    // On Windows a locked file cannot be read, and some file systems have no locks.
    if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(Misuse::error(format!(
            "another process is writing {}: its run is still in progress; wait until it ends, or \
             stop it",
            path.display()
        )));
    }
    Ok(file)
}

/// Locks the log of an earlier run, if there is one, while its files are replaced.
///
/// # Errors
///
/// If its run is in progress.
pub fn of_earlier(path: &Path) -> Result<Option<File>> {
    path.is_file().then(|| locked(path)).transpose()
}

/// Whether another process has locked a file. False where files have no locks.
pub fn is_taken(path: &Path) -> bool {
    // A shared lock, so that two such questions do not meet.
    let is_taken = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    cfg!(unix) && File::open(path).is_ok_and(is_taken)
}

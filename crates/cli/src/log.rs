//! The log file of a run.

use crate::case::Misuse;
use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Mutex;

/// Appends the library's log to a file. The file stays locked until the process ends, which marks
/// the run as in progress.
pub fn to_file(path: &Path) -> Result<()> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    lock(&file, path)?;
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(Mutex::new(file))
        .finish();
    // A second run in the same process keeps the log of the first.
    tracing::subscriber::set_global_default(subscriber).ok();
    Ok(())
}

/// Locks the log of an earlier run, if there is one, while its files are replaced.
pub fn lock_earlier(path: &Path) -> Result<Option<File>> {
    if !path.is_file() {
        return Ok(None);
    }
    let file = File::options().append(true).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    lock(&file, path)?;
    Ok(Some(file))
}

/// Whether another process writes a log: its run is in progress. False where files have no locks.
pub fn is_locked(path: &Path) -> bool {
    state(path) == LockState::Locked
}

/// Whether a process has locked a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockState {
    Locked,
    /// Not locked, or gone.
    Free,
    /// The file system has no locks, or the file cannot be opened.
    Unknown,
}

/// Whether another process has locked a log.
pub fn state(path: &Path) -> LockState {
    let file = match File::open(path) {
        Ok(file) if cfg!(unix) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return LockState::Free,
        _ => return LockState::Unknown,
    };
    // A shared lock, so that two such questions do not meet.
    match file.try_lock_shared() {
        Ok(()) => LockState::Free,
        Err(TryLockError::WouldBlock) => LockState::Locked,
        Err(TryLockError::Error(_)) => LockState::Unknown,
    }
}

/// Locks a log, or refuses if its run is in progress.
fn lock(file: &File, path: &Path) -> Result<()> {
    // On Windows a locked file cannot be read, and some file systems have no locks.
    if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(Misuse::error(format!(
            "another process is writing {}: its run is still in progress; wait until it ends, or \
             stop it",
            path.display()
        )));
    }
    Ok(())
}

/// Writes warnings to standard error and to the log.
pub fn warn<'a>(warnings: impl IntoIterator<Item = &'a String>) {
    for warning in warnings {
        eprintln!("warning: {warning}");
        tracing::warn!("{warning}");
    }
}

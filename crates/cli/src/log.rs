//! The log file of a run.

use crate::{case::Misuse, notes, profile};
use anyhow::{Context, Result};
use std::collections::HashSet;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tracing_subscriber::{
    Layer,
    filter::{LevelFilter, filter_fn},
    layer::SubscriberExt,
};

/// The log of the run in progress.
static LOG: Mutex<Option<File>> = Mutex::new(None);

/// Appends the library's log to a file from now on. The file stays locked until the process ends, or logs
/// to another file, which marks the run as in progress.
pub fn to_file(path: &Path) -> Result<()> {
    *LOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(locked(path)?);
    install();
    Ok(())
}

/// Opens a file, which stays locked while it is open. An error if another process has locked it.
pub fn locked(path: &Path) -> Result<File> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    lock(&file, path)?;
    Ok(file)
}

/// Installs the subscriber of the process: the log, and the profile if one has been started.
pub fn install() {
    let log = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| LogWriter);
    let registry = tracing_subscriber::registry().with(log.with_filter(LevelFilter::DEBUG));
    // A second run in the same process has one already.
    match profile::is_started() {
        true => {
            let phases = profile::PhaseLayer.with_filter(filter_fn(profile::is_phase));
            tracing::subscriber::set_global_default(registry.with(phases)).ok();
        }
        false => drop(tracing::subscriber::set_global_default(registry)),
    }
}

/// Closes the log, whose run has ended.
pub fn close() {
    *LOG.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Writes to the log of the run in progress; without one, nowhere.
struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
        log.as_mut().map_or(Ok(bytes.len()), |file| file.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Locks the log of an earlier run, if there is one, while its files are replaced.
pub fn lock_earlier(path: &Path) -> Result<Option<File>> {
    if !path.is_file() {
        return Ok(None);
    }
    locked(path).map(Some)
}

/// Whether another process writes a log: its run is in progress. False where files have no locks.
pub fn is_locked(path: &Path) -> bool {
    // A shared lock, so that two such questions do not meet.
    let is_locked = |file: File| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    cfg!(unix) && File::open(path).is_ok_and(is_locked)
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
        notes::warning(warning);
        tracing::warn!("{warning}");
    }
}

/// As [`warn`], but prints no warning again that has been printed.
pub fn warn_once<'a>(
    warnings: impl IntoIterator<Item = &'a String>,
    printed: &mut HashSet<String>,
) {
    for warning in warnings {
        if printed.insert(warning.clone()) {
            notes::warning(warning);
        }
        tracing::warn!("{warning}");
    }
}

//! The log of a run.

use crate::case::Misuse;
use anyhow::{Context, Result};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::sync::Mutex;

/// Sends what the library logs to the end of a file, which says that the run is going on until this
/// program has ended.
pub fn to_file(path: &Path) -> Result<()> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    // On Windows nobody could read it then, and elsewhere a file system may have no locks.
    if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err(Misuse::error(format!(
            "another program is writing {}: its run is still going on; wait for its end, or stop it",
            path.display()
        )));
    }
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(Mutex::new(file))
        .finish();
    // A second run in one process goes on with the first one's log.
    tracing::subscriber::set_global_default(subscriber).ok();
    Ok(())
}

/// Writes warnings to standard error and to the log.
pub fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
        tracing::warn!("{warning}");
    }
}

//! The log of a run.

use anyhow::{Context, Result};
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;

/// Sends what the library logs to the end of a file.
pub fn to_file(path: &Path) -> Result<()> {
    let file = File::options().create(true).append(true).open(path);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(Mutex::new(file))
        .finish();
    // A second run in one process goes on with the first one's log.
    tracing::subscriber::set_global_default(subscriber).ok();
    Ok(())
}

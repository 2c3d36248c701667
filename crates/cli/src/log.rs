//! The log file of a run.

use crate::notes;
use burntrace_case::profile;
use std::fs::File;
use std::io::Write;
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
pub fn to(file: File) {
    *LOG.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    install();
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

/// Writes warnings to standard error and to the log.
pub fn warn<'a>(warnings: impl IntoIterator<Item = &'a String>) {
    for warning in warnings {
        notes::warning(warning);
        tracing::warn!("{warning}");
    }
}

//! What accompanies a run: it shows notes and progress, and may stop it.

use crate::{file::Misuse, run::IoStats};
use anyhow::Result;
use burntrace_core::{
    Progress,
    device::{self, OpenDevice},
    mesh::Mesh,
};
use burntrace_io::tracks::TimeOrigin;
use serde_json::Value;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What accompanies a run. The defaults show nothing, and never stop it.
pub trait Console: Sync {
    /// A line about a run that is prepared: a name, and its value.
    fn say(&self, _name: &str, _value: &str) {}

    /// A remark on the input.
    fn note(&self, _text: &str) {}

    /// A warning, which the summary has, too.
    fn warn(&self, _text: &str) {}

    /// The start of the steps, with the date of time 0 if the times of the run have dates.
    fn begin_steps(&self, _origin: Option<&TimeOrigin>) {}

    /// How far the run is. `stats` are its input and output so far.
    fn progress(&self, _progress: Progress, _stats: &dyn Fn() -> IoStats) {}

    /// The end of the steps.
    fn end_steps(&self) {}

    /// What asks the run to stop from now on. `hint` says what a program leaves that ends within a segment; `None` if it
    /// must not.
    ///
    /// # Errors
    ///
    /// If signals cannot be received.
    fn interrupts(&self, _hint: Option<Hint>) -> Result<Box<dyn Interrupts + '_>> {
        Ok(Box::new(Never))
    }

    /// Takes the log of the run, which is locked until it is closed.
    fn log(&self, file: File);

    /// Opens the device of a run.
    ///
    /// # Errors
    ///
    /// If no device has this name, or it cannot be used.
    fn open_device(&self, name: &str) -> Result<OpenDevice> {
        device::open(name).map_err(Misuse::of)
    }

    /// The kind of device that stands for `auto` in one of several processes.
    fn auto_kind(&self) -> String {
        "auto".into()
    }

    /// The phases of the run so far, if they are measured.
    fn profile(&self) -> Option<Value> {
        crate::profile::table()
    }

    /// The number of kernels that were compiled, if they are counted.
    fn compilations(&self) -> Option<u64> {
        None
    }

    /// Makes the report of a completed run, and returns lines about it. `mesh` is the mesh of the field, if it has one.
    ///
    /// # Errors
    ///
    /// If its files cannot be written.
    fn report(&self, _folder: &Path, _mesh: Option<&Arc<Mesh>>) -> Result<String> {
        Ok(String::new())
    }
}

/// What a program leaves that ends within a segment.
pub type Hint = Box<dyn Fn() -> String + Send>;

/// What may ask a run to stop.
pub trait Interrupts: Sync {
    /// The exit code of a program that was asked to stop its run.
    fn code(&self) -> Option<u8>;
}

struct Never;

impl Interrupts for Never {
    fn code(&self) -> Option<u8> {
        None
    }
}

/// Shows nothing, and holds the lock of the log.
#[derive(Default)]
pub struct Silent(Mutex<Option<File>>);

impl Console for Silent {
    fn log(&self, file: File) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }
}

/// Shows warnings, and logs them.
pub fn warn<'a>(console: &dyn Console, warnings: impl IntoIterator<Item = &'a String>) {
    for warning in warnings {
        console.warn(warning);
        tracing::warn!("{warning}");
    }
}

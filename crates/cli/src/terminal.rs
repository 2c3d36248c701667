//! What the program shows of a run: notes and progress on standard error, its log, and its report.

use crate::{compilations, devices, log, notes, progress::Display, report, signals::Signals};
use anyhow::Result;
use burntrace::{Progress, device::OpenDevice, io::tracks::TimeOrigin, mesh::Mesh};
use burntrace_case::{
    console::{Console, Hint, Interrupts},
    run::IoStats,
};
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The console of the program.
pub struct Terminal {
    /// Whether to show nothing but warnings and notes on the input.
    pub quiet: bool,
    shows_progress: bool,
    display: Mutex<Option<Display>>,
    /// Warnings that have been shown, and are not shown again.
    warned: Mutex<HashSet<String>>,
}

impl Terminal {
    pub fn new(quiet: bool) -> Self {
        let (display, warned) = Default::default();
        Terminal { quiet, shows_progress: !quiet, display, warned }
    }

    pub fn without_progress(self) -> Self {
        Terminal { shows_progress: false, ..self }
    }
}

impl Console for Terminal {
    fn say(&self, name: &str, value: &str) {
        if !self.quiet {
            eprintln!("{name:<10} {value}");
        }
    }

    fn note(&self, text: &str) {
        notes::note(text);
    }

    fn warn(&self, text: &str) {
        if locked(&self.warned).insert(text.into()) {
            notes::warning(text);
        }
    }

    fn begin_steps(&self, origin: Option<&TimeOrigin>) {
        *locked(&self.display) = self.shows_progress.then(|| Display::new(origin.cloned()));
    }

    fn progress(&self, progress: Progress, stats: &dyn Fn() -> IoStats) {
        if let Some(display) = &mut *locked(&self.display) {
            display.observe(progress, stats);
        }
    }

    fn end_steps(&self) {
        if let Some(display) = locked(&self.display).take() {
            display.finish();
        }
    }

    fn interrupts(&self, hint: Option<Hint>) -> Result<Box<dyn Interrupts + '_>> {
        Ok(Box::new(Signals::watch(hint)?))
    }

    fn log(&self, file: File) {
        log::to(file);
    }

    fn open_device(&self, name: &str) -> Result<OpenDevice> {
        devices::open(name, self)
    }

    fn auto_kind(&self) -> String {
        devices::auto::kept_kind()
    }

    fn compilations(&self) -> Option<u64> {
        compilations::count()
    }

    fn report(&self, folder: &Path, mesh: Option<&Arc<Mesh>>) -> Result<String> {
        let [report, picture] = report::of_folder(folder, mesh)?;
        Ok(format!("report     {}\npicture    {}\n", report.display(), picture.display()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! What accompanies a run: warnings, a call with the progress, and Ctrl-C.

use burntrace::{
    Progress,
    case::{Console, Hint, Interrupts, IoStats, Silent},
};
use pyo3::prelude::*;
use std::{
    fs::File,
    sync::{Mutex, PoisonError},
};

/// Keeps warnings and the exception that stops a run, and calls a function with the progress.
#[derive(Default)]
pub struct PythonConsole {
    /// Called with the fraction that is done, the time in the run, and the number of steps of particles.
    progress: Option<Py<PyAny>>,
    warnings: Mutex<Vec<String>>,
    exception: Mutex<Option<PyErr>>,
    log: Silent,
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PythonConsole {
    /// With a function that is called after each segment.
    pub fn new(progress: Option<Py<PyAny>>) -> Self {
        PythonConsole { progress, ..PythonConsole::default() }
    }

    /// Stops the run with an exception. The first one counts.
    pub fn stop(&self, exception: PyErr) {
        locked(&self.exception).get_or_insert(exception);
    }

    /// The exception that stopped the run.
    pub fn take_exception(&self) -> Option<PyErr> {
        locked(&self.exception).take()
    }

    /// The warnings so far.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.warnings))
    }

    fn called(&self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        py.check_signals()?;
        let Progress { fraction, time, particle_steps, .. } = progress;
        match &self.progress {
            Some(call) => call.call1(py, (fraction, time, particle_steps)).map(drop),
            None => Ok(()),
        }
    }
}

impl Console for PythonConsole {
    fn note(&self, text: &str) {
        self.warn(text);
    }

    fn warn(&self, text: &str) {
        locked(&self.warnings).push(text.into());
    }

    fn progress(&self, progress: Progress, _: &dyn Fn() -> IoStats) {
        if let Err(error) = Python::attach(|py| self.called(py, progress)) {
            self.stop(error);
        }
    }

    fn interrupts(&self, _: Option<Hint>) -> anyhow::Result<Box<dyn Interrupts + '_>> {
        Ok(Box::new(Stopping(self)))
    }

    fn log(&self, file: File) {
        self.log.log(file);
    }
}

struct Stopping<'a>(&'a PythonConsole);

impl Interrupts for Stopping<'_> {
    fn code(&self) -> Option<u8> {
        locked(&self.0.exception).is_some().then_some(130)
    }
}

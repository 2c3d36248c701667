//! Errors of burntrace as exceptions, with the same texts.

use burntrace::case::Error;
use pyo3::{exceptions::PyException, prelude::*};
use std::sync::{Arc, Mutex, PoisonError};

/// The exception of `burntrace._errors` for an error.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    let name = match error {
        Error::Invalid(_) => "InvalidCase",
        Error::Stopped(_) => "RunStopped",
        _ => "RunFailed",
    };
    let exception = || py.import("burntrace._errors")?.getattr(name)?.call1((error.to_string(),));
    exception().map_or_else(|error| error, PyErr::from_value)
}

/// The exception that ended the reading of arrays of a field, until it is raised.
pub type Slot = Arc<Mutex<Option<PyErr>>>;

/// Keeps an exception of a read, and returns its text.
pub fn keep(slot: &Slot, py: Python<'_>, error: PyErr) -> String {
    let text = error.to_string();
    let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
    slot.get_or_insert_with(|| error.clone_ref(py));
    text
}

/// The exception for an error of a run: that of a read, if it is Ctrl-C or the like, or as the cause.
pub fn raised_after(py: Python<'_>, error: Error, slot: &Slot) -> PyErr {
    let of_read = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    match of_read {
        None => raised(py, error),
        Some(of_read) if !of_read.is_instance_of::<PyException>(py) => of_read,
        Some(of_read) => {
            let error = raised(py, Error::Failed(error.to_string()));
            error.set_cause(py, Some(of_read));
            error
        }
    }
}

/// The exception for input that is invalid.
pub fn invalid(py: Python<'_>, text: impl Into<String>) -> PyErr {
    raised(py, Error::Invalid(text.into()))
}

//! Errors of burntrace as exceptions, with the same texts.

use burntrace::case::Error;
use pyo3::prelude::*;

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

/// The exception for input that is invalid.
pub fn invalid(py: Python<'_>, text: impl Into<String>) -> PyErr {
    raised(py, Error::Invalid(text.into()))
}

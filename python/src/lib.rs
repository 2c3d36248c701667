//! The compiled part of the Python package `burntrace`, which the Python files around it call.
//!
//! A call of Python is a case: the sections and keys of `docs/guide/case-file.md` as dictionaries. What cannot be written in a file,
//! data sets, positions and functions in memory, is passed beside it.

mod case;
mod console;
mod data;
mod errors;
mod field;
mod fit;
mod frames;
mod function;
mod gradients;
mod tracks;

use pyo3::prelude::*;

/// The module `burntrace._burntrace`.
#[pymodule]
mod _burntrace {
    #[pymodule_export]
    use super::{
        case::{check, run},
        devices,
        field::Field,
        fit::fit,
        gradients::Pullback,
        nearest,
    };
}

/// The known name that another one stands for, if any is similar.
#[pyfunction]
fn nearest(given: &str, names: Vec<String>) -> Option<String> {
    burntrace::case::nearest(given, names.iter().map(String::as_str)).map(String::from)
}

/// The devices that can be opened, with their descriptions.
#[pyfunction]
fn devices() -> Vec<(String, String)> {
    let (all, _) = burntrace::device::list();
    all.into_iter().map(|device| (device.name, device.description)).collect()
}

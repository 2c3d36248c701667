//! Notes and warnings on standard error, which `--quiet` turns off.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether `--quiet` is given.
static QUIET: AtomicBool = AtomicBool::new(false);
/// The notes and warnings so far, for `--json`.
static GIVEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Prints no notes and warnings from now on.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether `--quiet` is given.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a note.
pub fn note(text: impl Into<String>) {
    print("note", text.into());
}

/// Prints a warning.
pub fn warning(text: impl Into<String>) {
    print("warning", text.into());
}

fn print(kind: &str, text: String) {
    if !is_quiet() {
        eprintln!("{kind}: {text}");
    }
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// The notes and warnings since the last call.
pub fn take() -> Vec<String> {
    std::mem::take(&mut GIVEN.lock().unwrap_or_else(PoisonError::into_inner))
}

//! Ctrl-C and requests to end: the first one lets the run come to the end of a segment, the second
//! one ends the program at once.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a shell adds to a signal's number, for the exit code of a program that it has ended.
const BASE: i32 = 128;

/// The signals that have come.
pub struct Signals {
    /// The number of the last one; 0 for none.
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Begins to watch for them. Until then, the first one ends the program.
    pub fn watch() -> Result<Signals> {
        let (number, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the second signal finds the flag that the first one has set.
            flag::register_conditional_shutdown(signal, BASE + signal, Arc::clone(&again))
                .and_then(|_| flag::register(signal, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&number), signal as usize))
                .context("the program cannot watch for signals")?;
        }
        Ok(Signals { number })
    }

    /// The exit code that goes with the signal that has come, if one has.
    pub fn code(&self) -> Option<u8> {
        match self.number.load(Ordering::Relaxed) {
            0 => None,
            number => Some((BASE as usize + number) as u8),
        }
    }
}

/// A run that a signal has stopped, with what there is to say about it.
#[derive(Debug)]
pub struct Stopped {
    pub code: u8,
    pub text: String,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Stopped {}

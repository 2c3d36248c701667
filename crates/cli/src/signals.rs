//! SIGINT (Ctrl-C) and SIGTERM: the first signal stops the run after the current segment, the
//! second ends the program immediately.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Added to the number of a signal, this is the exit code of a program that the signal ended.
const BASE: i32 = 128;

/// The signals received so far.
pub struct Signals {
    /// The number of the last signal, or 0.
    number: Arc<AtomicUsize>,
}

impl Signals {
    /// Installs the handlers. Before this, the first signal ends the program.
    pub fn watch() -> Result<Signals> {
        let (number, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the second signal finds the flag that the first one set.
            flag::register_conditional_shutdown(signal, BASE + signal, Arc::clone(&again))
                .and_then(|_| flag::register(signal, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&number), signal as usize))
                .context("cannot install signal handlers")?;
        }
        Ok(Signals { number })
    }

    /// The exit code for the last signal. `None` before the first one.
    pub fn code(&self) -> Option<u8> {
        match self.number.load(Ordering::Relaxed) {
            0 => None,
            number => Some((BASE as usize + number) as u8),
        }
    }
}

/// The error of a run that a signal stopped.
#[derive(Debug)]
pub struct Stopped {
    /// Exit code.
    pub code: u8,
    /// Message.
    pub text: String,
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Stopped {}

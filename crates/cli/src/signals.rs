//! SIGINT (Ctrl-C) and SIGTERM: the first signal stops the run after the current segment, or ends the
//! program if that takes longer than a second; the second ends it immediately.
//!
//! A run that is ended within a segment is resumed from its last checkpoint, as after a crash. A run without
//! checkpoints would be lost, and is therefore not ended within a segment by the first signal.

use anyhow::{Context, Result};
use burntrace_case::console::{Hint, Interrupts};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Interval at which a thread looks for a signal.
const POLL: Duration = Duration::from_millis(50);

/// How long the run may take to notice a signal.
const PATIENCE: Duration = Duration::from_millis(800);

/// Added to the number of a signal, this is the exit code of a program that the signal ended.
const BASE: i32 = 128;

/// The signals received so far.
pub struct Signals {
    /// The number of the last signal, or 0.
    number: Arc<AtomicUsize>,
    /// Whether the run has noticed the signal, or has ended.
    noticed: Arc<AtomicBool>,
}

impl Signals {
    /// Installs the handlers. Before this, the first signal ends the program. `hint` says how to
    /// continue a run that the signal ends before it notices; without one, the run is not ended.
    pub fn watch(hint: Option<Hint>) -> Result<Signals> {
        let number = installed()?;
        let signals = Signals { number, noticed: Arc::default() };
        let Some(hint) = hint else { return Ok(signals) };
        let (number, noticed) = (Arc::clone(&signals.number), Arc::clone(&signals.noticed));
        let guard = move || end_if_unnoticed(&number, &noticed, hint);
        let thread = std::thread::Builder::new().name("burntrace signals".into()).spawn(guard);
        thread.context("cannot start a thread for signals")?;
        Ok(signals)
    }
}

impl Interrupts for Signals {
    /// The exit code for the last signal, which is then noticed. `None` before the first one.
    fn code(&self) -> Option<u8> {
        let code = exit_code(&self.number)?;
        self.noticed.store(true, Ordering::Relaxed);
        Some(code)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.noticed.store(true, Ordering::Relaxed);
    }
}

/// Installs the handlers once for the process. Returns the number of the last signal, or 0.
fn installed() -> Result<Arc<AtomicUsize>> {
    static INSTALLED: Mutex<Option<Arc<AtomicUsize>>> = Mutex::new(None);
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(number) = &*installed {
        return Ok(Arc::clone(number));
    }
    let (number, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        // The order matters: the second signal finds the flag that the first one set.
        flag::register_conditional_shutdown(signal, BASE + signal, Arc::clone(&again))
            .and_then(|_| flag::register(signal, Arc::clone(&again)))
            .and_then(|_| flag::register_usize(signal, Arc::clone(&number), signal as usize))
            .context("cannot install signal handlers")?;
    }
    *installed = Some(Arc::clone(&number));
    Ok(number)
}

fn exit_code(number: &AtomicUsize) -> Option<u8> {
    match number.load(Ordering::Relaxed) {
        0 => None,
        number => Some((BASE as usize + number) as u8),
    }
}

/// Ends the program if the run does not notice a signal in time.
fn end_if_unnoticed(number: &AtomicUsize, noticed: &AtomicBool, hint: impl Fn() -> String) {
    while !noticed.load(Ordering::Relaxed) {
        std::thread::sleep(POLL);
        let Some(code) = exit_code(number) else { continue };
        std::thread::sleep(PATIENCE);
        if !noticed.load(Ordering::Relaxed) {
            eprintln!("{}", hint());
            std::process::exit(code.into());
        }
    }
}

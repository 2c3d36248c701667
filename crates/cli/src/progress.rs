//! The progress of a run: a bar on a terminal, lines where output is piped.

use crate::traffic::Flow;
use burntrace::Progress;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;

/// Says on standard error what goes on before a run.
#[derive(Clone, Copy)]
pub struct Notes {
    pub quiet: bool,
}

impl Notes {
    /// Prints a line, unless nothing is to be printed.
    pub fn say(self, name: &str, value: String) {
        if !self.quiet {
            eprintln!("{name:<10} {value}");
        }
    }
}

/// Shows a run's progress on standard error.
pub enum Display {
    /// Nothing.
    Quiet,
    /// A bar that is drawn anew.
    Bar(ProgressBar, Instant),
    /// A line at each tenth of the run.
    Lines { next: f64, begin: Instant },
}

/// Parts of the bar.
const PARTS: u64 = 1000;

impl Display {
    /// The display that suits where standard error goes.
    pub fn new(quiet: bool) -> Self {
        let begin = Instant::now();
        if quiet {
            return Display::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Display::Lines { next: 0.1, begin };
        }
        let bar = ProgressBar::new(PARTS);
        let form = "tracing [{bar:40}] {percent:>3}%  {msg}  {elapsed} of about {duration}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.progress_chars("=> "));
        }
        Display::Bar(bar, begin)
    }

    /// Shows how far a run has come, and what it has read and written by then.
    pub fn observe(&mut self, progress: Progress, flow: impl FnOnce() -> Flow) {
        match self {
            Display::Quiet => {}
            Display::Bar(bar, begin) => {
                bar.set_message(rate(progress, *begin, flow()));
                bar.set_position((progress.fraction * PARTS as f64) as u64);
            }
            Display::Lines { next, begin } => {
                if progress.fraction + 1e-12 >= *next {
                    let percent = progress.fraction * 100.0;
                    let rate = rate(progress, *begin, flow());
                    eprintln!("{percent:3.0}%  t = {}  {rate}", progress.time);
                    *next = (progress.fraction * 10.0).floor() / 10.0 + 0.1;
                }
            }
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Display::Bar(bar, _) = self {
            bar.finish_and_clear();
        }
    }
}

fn rate(progress: Progress, begin: Instant, flow: Flow) -> String {
    let seconds = begin.elapsed().as_secs_f64().max(1e-9);
    let rate = in_words(progress.particle_steps as f64 / seconds);
    format!("{rate} particle-steps/s, {flow}")
}

/// A large number in short: `12.4 M`.
pub fn in_words(x: f64) -> String {
    match x {
        x if x >= 1e9 => format!("{:.2} G", x / 1e9),
        x if x >= 1e6 => format!("{:.2} M", x / 1e6),
        x if x >= 1e3 => format!("{:.1} k", x / 1e3),
        x => format!("{x:.0}"),
    }
}

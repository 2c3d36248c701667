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
pub struct Display {
    form: Form,
    begin: Instant,
    /// Steps of all particles that had been taken before.
    before: u64,
}

enum Form {
    /// Nothing.
    Quiet,
    /// A bar that is drawn anew.
    Bar(ProgressBar),
    /// A line at each tenth of the run.
    Lines { next: f64 },
}

/// Parts of the bar.
const PARTS: u64 = 1000;

impl Display {
    /// The display that suits where standard error goes, of a run that so many steps of particles
    /// have been taken of before.
    pub fn new(quiet: bool, before: u64) -> Self {
        Display { form: Form::new(quiet), begin: Instant::now(), before }
    }

    /// Shows how far a run has come, and what it has read and written by then.
    pub fn observe(&mut self, progress: Progress, flow: impl FnOnce() -> Flow) {
        let seconds = self.begin.elapsed().as_secs_f64().max(1e-9);
        let steps = progress.particle_steps.saturating_sub(self.before);
        let rate = format!("{} particle-steps/s", in_words(steps as f64 / seconds));
        match &mut self.form {
            Form::Quiet => {}
            Form::Bar(bar) => {
                let position = (progress.fraction * PARTS as f64) as u64;
                if position != bar.position() {
                    bar.set_message(format!("{rate}, {}", flow()));
                    bar.set_position(position);
                }
            }
            Form::Lines { next } => {
                if progress.fraction + 1e-12 >= *next {
                    let percent = progress.fraction * 100.0;
                    eprintln!("{percent:3.0}%  t = {}  {rate}, {}", progress.time, flow());
                    *next = (progress.fraction * 10.0).floor() / 10.0 + 0.1;
                }
            }
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Form::Bar(bar) = &self.form {
            bar.finish_and_clear();
        }
    }
}

impl Form {
    fn new(quiet: bool) -> Self {
        if quiet {
            return Form::Quiet;
        }
        if !std::io::stderr().is_terminal() {
            return Form::Lines { next: 0.1 };
        }
        let bar = ProgressBar::new(PARTS);
        let form = "tracing [{bar:40}] {percent:>3}%  {msg}  {elapsed} of about {duration}";
        if let Ok(style) = ProgressStyle::with_template(form) {
            bar.set_style(style.progress_chars("=> "));
        }
        Form::Bar(bar)
    }
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

//! Progress on standard error: a bar on a terminal, lines elsewhere.

use crate::format::{with_date, with_prefix};
use burntrace::{Progress, io::tracks::TimeOrigin};
use burntrace_case::run::IoStats;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;

/// Shows the progress of a run on standard error.
pub struct Display {
    form: Form,
    start: Instant,
    /// The date of time 0.
    origin: Option<TimeOrigin>,
}

enum Form {
    /// No output.
    /// A redrawn progress bar.
    Bar(ProgressBar),
    /// One line per tenth of the run.
    Lines { next: f64 },
}

/// Positions of the bar.
const BAR_LENGTH: u64 = 1000;

impl Display {
    /// Chooses a form for standard error.
    pub fn new(origin: Option<TimeOrigin>) -> Self {
        Display { form: Form::new(), start: Instant::now(), origin }
    }

    /// Updates the display.
    pub fn observe(&mut self, progress: Progress, stats: impl FnOnce() -> IoStats) {
        let seconds = self.start.elapsed().as_secs_f64().max(1e-9);
        let rate = progress.particle_steps as f64 / seconds;
        let rate = format!("{} particle-steps/s", with_prefix(rate));
        match &mut self.form {
            Form::Bar(bar) => {
                let position = (progress.fraction * BAR_LENGTH as f64) as u64;
                if position != bar.position() {
                    bar.set_message(format!("{rate}, {}", stats()));
                    bar.set_position(position);
                }
            }
            Form::Lines { next } => {
                if progress.fraction + 1e-12 >= *next {
                    let percent = progress.fraction * 100.0;
                    let time = with_date(progress.time, self.origin.as_ref());
                    eprintln!("{percent:3.0}%  t = {time}  {rate}, {}", stats());
                    *next = (progress.fraction * 10.0).floor() / 10.0 + 0.1;
                }
            }
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Form::Bar(bar) = &self.form {
            bar.finish_and_clear();
        }
    }
}

impl Form {
    fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Form::Lines { next: 0.1 };
        }
        let bar = ProgressBar::new(BAR_LENGTH);
        let template = "tracing [{bar:40}] {percent:>3}%  {msg}  {elapsed} of about {duration}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Form::Bar(bar)
    }
}

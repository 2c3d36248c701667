//! Whether figures fell since an earlier call.

use super::record::{Outcome, Record, Report, Speed};
use crate::{case::Misuse, progress::in_words};
use anyhow::Result;
use serde::{Deserialize, de::IgnoredAny};
use std::fmt::Write;
use std::path::Path;

/// What is read of an earlier report.
#[derive(Deserialize)]
pub struct Old {
    date: String,
    machine: super::machine::Machine,
    results: Vec<OldRecord>,
}

#[derive(Deserialize)]
struct OldRecord {
    device: String,
    workload: String,
    particles: usize,
    precision: String,
    steps: u64,
    data: String,
    first_seed: [f64; 3],
    batch: usize,
    batches_tried: Vec<IgnoredAny>,
    outcome: Outcome,
    speed: Option<Speed>,
}

/// What came of comparing.
pub struct Comparison {
    /// For people to read.
    pub text: String,
    /// How many figures fell by more than the spread then, or are wrong where they were right.
    pub fallen: usize,
    /// How many could be compared.
    pub compared: usize,
}

/// Reads an earlier report.
pub fn read(path: &Path) -> Result<Old> {
    let problem = |what: &dyn std::fmt::Display| {
        Misuse::error(format!(
            "{}: {what}; --compare needs a file that `burntrace bench --json` wrote",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error))?;
    serde_json::from_str(&text).map_err(|error| problem(&error))
}

impl Old {
    /// The earlier record of the same work on a device of the same name.
    fn matching(&self, new: &Record) -> Option<&OldRecord> {
        self.results.iter().find(|old| {
            old.device == new.device
                && old.workload == new.workload
                && old.particles == new.particles
                && old.precision == new.precision
                && old.steps == new.steps
                && old.data == new.data
                && old.first_seed == new.first_seed
                && old.has_batches_of(new)
        })
    }

    /// Compares what was measured now with this.
    pub fn against(&self, report: &Report) -> Comparison {
        let mut text = format!("compared with {}\n", self.date);
        if self.machine != report.machine {
            // Writing to a string does not fail.
            writeln!(text, "that was another machine: {}", self.machine).ok();
        }
        let (mut fallen, mut compared) = (0, 0);
        for new in &report.results {
            let name = format!("{} on {}, {} particles", new.workload, new.device, new.particles);
            let Some(old) = self.matching(new) else {
                writeln!(text, "{name}: not measured then").ok();
                continue;
            };
            let (line, has_fallen) = verdict(old, new);
            writeln!(text, "{name}: {line}").ok();
            fallen += usize::from(has_fallen);
            compared += 1;
        }
        Comparison { text, fallen, compared }
    }
}

impl OldRecord {
    /// Whether the batches were of the same size, or the fastest both times.
    fn has_batches_of(&self, new: &Record) -> bool {
        let chosen = [self.batches_tried.is_empty(), new.batches_tried.is_empty()];
        chosen == [false, false] || chosen == [true, true] && self.batch == new.batch
    }
}

/// A line on two records, and whether the second is worse.
fn verdict(old: &OldRecord, new: &Record) -> (String, bool) {
    let was_right = old.outcome == Outcome::Right;
    match (&old.speed, &new.speed) {
        (Some(old), Some(new)) => {
            let has_fallen = has_fallen(old, new);
            let line = format!(
                "{} then, {} now, ratio {:.3}{}",
                in_words(old.per_second),
                in_words(new.per_second),
                new.per_second / old.per_second,
                if has_fallen { ", which is more than the spread: fallen" } else { "" }
            );
            (line, has_fallen)
        }
        (_, None) if was_right => ("right then, not right now: fallen".into(), true),
        (_, None) => ("not right, neither then nor now".into(), false),
        (None, Some(_)) => ("not right then, right now".into(), false),
    }
}

/// Whether a speed is lower by more than the spread that was recorded. That of the new calls does
/// not count: one that was disturbed would hide what it should show.
fn has_fallen(old: &Speed, new: &Speed) -> bool {
    new.per_second < old.per_second - old.spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fall_is_more_than_the_spread_then() {
        let speed = |per_second, spread| Speed {
            particle_steps: 1,
            median_seconds: 1.0,
            per_second,
            spread,
        };
        assert!(has_fallen(&speed(100.0, 5.0), &speed(90.0, 15.0)));
        assert!(!has_fallen(&speed(100.0, 10.0), &speed(90.0, 5.0)));
        assert!(!has_fallen(&speed(100.0, 5.0), &speed(96.0, 1.0)));
        assert!(!has_fallen(&speed(100.0, 0.0), &speed(120.0, 0.0)));
    }
}

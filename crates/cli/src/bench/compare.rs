//! Comparison with an earlier measurement.

use super::report::BenchReport;
use crate::{file::Misuse, format::with_prefix, machine::Machine};
use anyhow::Result;
use burntrace_bench::record::{Outcome, Record, Speed};
use serde::{Deserialize, de::IgnoredAny};
use std::fmt::Write;
use std::path::Path;

/// The part of an earlier report that is compared.
#[derive(Deserialize)]
pub struct OldReport {
    date: String,
    machine: Machine,
    results: Vec<OldRecord>,
}

#[derive(Deserialize)]
struct OldRecord {
    device: String,
    workload: String,
    particles: usize,
    precision: String,
    steps: u64,
    first_seed: [f64; 3],
    batch: usize,
    batches_tried: Vec<IgnoredAny>,
    outcome: Outcome,
    speed: Option<Speed>,
}

/// The result of a comparison.
pub struct Comparison {
    /// One line per measurement.
    pub text: String,
    /// Number of speeds that fell by more than the earlier spread, or whose results are now wrong.
    pub fallen: usize,
    /// Number of measurements compared.
    pub compared: usize,
}

/// Reads an earlier report.
pub fn read(path: &Path) -> Result<OldReport> {
    let problem = |what: &dyn std::fmt::Display| {
        Misuse::error(format!(
            "{}: {what}; --compare needs a file that `burntrace bench --json` wrote",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error))?;
    serde_json::from_str(&text).map_err(|error| problem(&error))
}

impl OldReport {
    /// The earlier record of the same work on a device of the same name.
    fn matching(&self, new: &Record) -> Option<&OldRecord> {
        self.results.iter().find(|old| {
            old.device == new.device
                && old.workload == new.workload
                && old.particles == new.particles
                && old.precision == new.precision
                && old.steps == new.steps
                && old.first_seed == new.first_seed
                && old.has_batches_of(new)
        })
    }

    /// Compares a new report with this one.
    pub fn against(&self, report: &BenchReport) -> Comparison {
        let mut text = format!("compared with {}\n", self.date);
        if self.machine != report.machine {
            // Writing to a string does not fail.
            writeln!(text, "measured on another machine: {}", self.machine).ok();
        }
        let (mut fallen, mut compared) = (0, 0);
        for new in &report.results {
            let name = format!("{} on {}, {} particles", new.workload, new.device, new.particles);
            let Some(old) = self.matching(new) else {
                writeln!(text, "{name}: not in the earlier file").ok();
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
    /// Whether both have the same batch size, or both chose the fastest.
    fn has_batches_of(&self, new: &Record) -> bool {
        let chosen = [self.batches_tried.is_empty(), new.batches_tried.is_empty()];
        chosen == [false, false] || chosen == [true, true] && self.batch == new.batch
    }
}

/// Compares two records in one line, and returns whether the second is worse.
fn verdict(old: &OldRecord, new: &Record) -> (String, bool) {
    let was_right = old.outcome == Outcome::Right;
    match (&old.speed, &new.speed) {
        (Some(old), Some(new)) => {
            let has_fallen = has_fallen(old, new);
            let line = format!(
                "{} before, {} now, ratio {:.3}{}",
                with_prefix(old.per_second),
                with_prefix(new.per_second),
                new.per_second / old.per_second,
                if has_fallen { ", slower by more than the spread" } else { "" }
            );
            (line, has_fallen)
        }
        (_, None) if was_right => ("was right, now wrong or failed".into(), true),
        (_, None) => ("wrong or failed in both".into(), false),
        (None, Some(_)) => ("was wrong or failed, now right".into(), false),
    }
}

/// Whether a speed is lower by more than the earlier spread. The spread of the new calls does not
/// count, because a disturbed call would hide a slowdown.
fn has_fallen(old: &Speed, new: &Speed) -> bool {
    new.per_second < old.per_second - old.spread
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fall_exceeds_earlier_spread() {
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

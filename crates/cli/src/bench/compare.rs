//! Comparison with earlier measurements.

use super::report::BenchReport;
use crate::{args::BenchArgs, file::Misuse, format::with_prefix, machine::Machine};
use anyhow::{Result, bail};
use burntrace_bench::record::{Outcome, Record, Speed};
use serde::{Deserialize, de::IgnoredAny};
use std::fmt::Write;
use std::path::Path;

/// Earlier reports, and what counts as worse.
pub struct History<'a> {
    reports: Vec<OldReport>,
    /// A speed may be lower by this factor, and the memory higher; without it, a speed by its earlier spread.
    bound: Option<f64>,
    /// Speeds are divided by the first one of this workload on the same device in the same file.
    relative_to: Option<&'a str>,
}

/// The part of an earlier report that is compared.
#[derive(Deserialize)]
struct OldReport {
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
    host_peak_bytes: Option<u64>,
}

/// A speed that is compared, perhaps relative to another.
#[derive(Clone, Copy, Debug)]
struct Measured {
    per_second: f64,
    spread: f64,
}

/// The result of a comparison.
pub struct Comparison {
    /// One line per measurement.
    pub text: String,
    /// Number of measurements that are worse than before: slower, with more memory, or with wrong results now.
    pub fallen: usize,
    /// Number of measurements compared.
    pub compared: usize,
}

/// Reads the earlier reports of `--compare`; `None` if there are none.
pub fn read(args: &BenchArgs) -> Result<Option<History<'_>>> {
    if let Some(bound) = args.bound.filter(|bound| !(*bound > 1.0 && bound.is_finite())) {
        return Err(Misuse::error(format!("--bound {bound}: give a factor above 1, such as 1.5")));
    }
    let relative_to = args.relative_to.as_deref();
    let is_measured =
        |name: &str| args.workload.iter().any(|other| other == name || other == "all");
    if let Some(name) = relative_to.filter(|name| !is_measured(name)) {
        return Err(Misuse::error(format!(
            "--relative-to {name}: it is not measured; add it to --workload"
        )));
    }
    let reports = args.compare.iter().map(|path| read_report(path)).collect::<Result<Vec<_>>>()?;
    let history = History { reports, bound: args.bound, relative_to };
    Ok(Some(history).filter(|history| !history.reports.is_empty()))
}

fn read_report(path: &Path) -> Result<OldReport> {
    let problem = |what: &dyn std::fmt::Display| {
        Misuse::error(format!(
            "{}: {what}; --compare needs files that `burntrace bench --json` wrote",
            path.display()
        ))
    };
    let text = std::fs::read_to_string(path).map_err(|error| problem(&error))?;
    serde_json::from_str(&text).map_err(|error| problem(&error))
}

impl History<'_> {
    /// Compares a new report with these.
    pub fn against(&self, report: &BenchReport) -> Result<Comparison> {
        let mut text = String::new();
        for old in &self.reports {
            // Writing to a string does not fail.
            writeln!(text, "compared with {}", old.date).ok();
            if old.machine != report.machine {
                writeln!(text, "measured on another machine: {}", old.machine).ok();
            }
        }
        let (mut fallen, mut compared) = (0, 0);
        for new in &report.results {
            let name = name_of(new);
            let before = self.before(new)?;
            if before.is_empty() {
                writeln!(text, "{name}: not in the earlier files").ok();
                continue;
            }
            let now = self.now(new, report)?;
            let (line, has_fallen) = self.verdict(&before, (new, now));
            writeln!(text, "{name}: {line}").ok();
            fallen += usize::from(has_fallen);
            compared += 1;
        }
        Ok(Comparison { text, fallen, compared })
    }

    /// The earlier records of the same work on a device of the same name, with their speeds.
    fn before(&self, new: &Record) -> Result<Vec<(&OldRecord, Option<Measured>)>> {
        let mut before = Vec::new();
        for report in &self.reports {
            let Some(old) = report.results.iter().find(|old| old.is_same_work(new)) else {
                continue;
            };
            let unit = |name: &str| {
                let unit = report.results.iter().find(|old| old.is_unit(name, new));
                unit.and_then(|unit| unit.speed)
            };
            before.push((old, self.relative(new, old.speed, unit)?));
        }
        Ok(before)
    }

    fn now(&self, new: &Record, report: &BenchReport) -> Result<Option<Measured>> {
        let unit = |name: &str| {
            let is_unit = |other: &&Record| other.workload == name && other.device == new.device;
            report.results.iter().find(is_unit).and_then(|unit| unit.speed)
        };
        self.relative(new, new.speed, unit)
    }

    fn relative(
        &self,
        new: &Record,
        speed: Option<Speed>,
        unit: impl Fn(&str) -> Option<Speed>,
    ) -> Result<Option<Measured>> {
        let Some(Speed { per_second, spread, .. }) = speed else { return Ok(None) };
        let Some(name) = self.relative_to else { return Ok(Some(Measured { per_second, spread })) };
        let Some(unit) = unit(name) else {
            bail!(
                "--relative-to {name}: there is no speed of {name} on {} beside that of {}; measure both at once",
                new.device,
                new.workload
            )
        };
        let [per_second, spread] = [per_second, spread].map(|x| x / unit.per_second);
        Ok(Some(Measured { per_second, spread }))
    }

    /// Compares a record with earlier ones in one line, and returns whether it is worse.
    fn verdict(
        &self,
        before: &[(&OldRecord, Option<Measured>)],
        (new, now): (&Record, Option<Measured>),
    ) -> (String, bool) {
        let was_right = before.iter().any(|(old, _)| old.outcome == Outcome::Right);
        let speeds: Vec<Measured> = before.iter().filter_map(|(_, speed)| *speed).collect();
        match (Earlier::of(&speeds), now) {
            (Some(earlier), Some(now)) => {
                let is_slower = earlier.has_fallen(now, self.bound);
                let peaks = before.iter().filter_map(|(old, _)| old.host_peak_bytes);
                let grown = self.memory(peaks.collect(), new.host_peak_bytes);
                let (line, ratio) = (self.line(&earlier, now), now.per_second / earlier.median);
                let slower = match (is_slower, self.bound) {
                    (false, _) => String::new(),
                    (true, None) => ", slower by more than the spread".into(),
                    (true, Some(bound)) => format!(", slower by more than a factor of {bound}"),
                };
                let has_fallen = is_slower || grown.is_some();
                (
                    format!("{line}, ratio {ratio:.3}{slower}{}", grown.unwrap_or_default()),
                    has_fallen,
                )
            }
            (_, None) if was_right => ("was right, now wrong or failed".into(), true),
            (_, None) => ("wrong or failed in both".into(), false),
            (None, Some(_)) => ("was wrong or failed, now right".into(), false),
        }
    }

    /// Earlier speeds and the new one.
    fn line(&self, earlier: &Earlier, now: Measured) -> String {
        let speed = |speed: f64| match self.relative_to {
            Some(name) => format!("{speed:.3} of {name}"),
            None => with_prefix(speed),
        };
        let [low, median, high, now] =
            [earlier.low, earlier.median, earlier.high, now.per_second].map(speed);
        match earlier.count {
            1 => format!("{median} before, {now} now"),
            count => format!("{low} to {high} in {count} earlier runs, median {median}; {now} now"),
        }
    }

    /// What is said of a peak of memory above its bound.
    fn memory(&self, mut before: Vec<u64>, now: Option<u64>) -> Option<String> {
        before.sort_unstable();
        let (old, new) = (*before.get(before.len() / 2)? as f64, now? as f64);
        let grown = self.bound.is_some_and(|bound| new > bound * old);
        grown.then(|| format!(", {:.2} times the memory", new / old))
    }
}

/// The work that was measured, with the size of batches if not all particles are in one.
fn name_of(new: &Record) -> String {
    let name = format!("{} on {}, {} particles", new.workload, new.device, new.particles);
    match new.batch < new.particles {
        true => format!("{name} in batches of {}", new.batch),
        false => name,
    }
}

impl OldRecord {
    /// Whether the same work was measured on a device of the same name.
    fn is_same_work(&self, new: &Record) -> bool {
        self.device == new.device
            && self.workload == new.workload
            && self.particles == new.particles
            && self.precision == new.precision
            && self.steps == new.steps
            && self.first_seed == new.first_seed
            && self.has_batches_of(new)
    }

    /// Whether speeds of the device of a record are relative to this one.
    fn is_unit(&self, workload: &str, new: &Record) -> bool {
        self.workload == workload && self.device == new.device && self.precision == new.precision
    }

    /// Whether both have the same batch size, or both chose the fastest.
    fn has_batches_of(&self, new: &Record) -> bool {
        let chosen = [self.batches_tried.is_empty(), new.batches_tried.is_empty()];
        chosen == [false, false] || chosen == [true, true] && self.batch == new.batch
    }
}

/// Earlier speeds of the same work.
#[derive(Debug)]
struct Earlier {
    count: usize,
    low: f64,
    median: f64,
    high: f64,
    /// The largest spread of one of them, or of all.
    spread: f64,
}

impl Earlier {
    fn of(speeds: &[Measured]) -> Option<Self> {
        let mut sorted: Vec<f64> = speeds.iter().map(|speed| speed.per_second).collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high, count) = (*sorted.first()?, *sorted.last()?, sorted.len());
        let median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
        let spread = speeds.iter().fold(high - low, |spread, speed| spread.max(speed.spread));
        Some(Earlier { count, low, median, high, spread })
    }

    /// Whether a speed is lower by more than a factor, or by more than the earlier spread. The spread of the new calls does
    /// not count, because a disturbed call would hide a slowdown.
    fn has_fallen(&self, now: Measured, bound: Option<f64>) -> bool {
        let least = bound.map_or(self.median - self.spread, |bound| self.median / bound);
        now.per_second < least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fall_exceeds_earlier_spread_or_a_factor() {
        let speed = |per_second, spread| Measured { per_second, spread };
        let fell = |old: &[Measured], now: f64, bound| {
            Earlier::of(old).unwrap().has_fallen(speed(now, 15.0), bound)
        };
        assert!(fell(&[speed(100.0, 5.0)], 90.0, None));
        assert!(!fell(&[speed(100.0, 10.0)], 90.0, None));
        assert!(!fell(&[speed(100.0, 5.0)], 96.0, None));
        assert!(!fell(&[speed(100.0, 0.0)], 120.0, None));
        // Of several, the median, and the range of all.
        let three = [speed(100.0, 1.0), speed(80.0, 1.0), speed(90.0, 1.0)];
        assert!(!fell(&three, 70.0, None));
        assert!(fell(&three, 69.0, None));
        assert!(!fell(&three, 60.0, Some(1.5)));
        assert!(fell(&three, 59.9, Some(1.5)));
    }
}

//! Results as tables: aligned for a terminal, and in Markdown.

use super::report::BenchReport;
use crate::{devices::described, format::with_prefix, machine::Machine};
use burntrace_bench::{
    check::Errors,
    record::{Outcome, Record, Speed},
};
use std::fmt::Write;

const COLUMNS: [&str; 14] = [
    "device",
    "load",
    "compile",
    "first",
    "steady",
    "particle-steps/s",
    "spread",
    "ratio",
    "error median",
    "p99",
    "max",
    "device MB",
    "moved MB",
    "host MB",
];

type Row = [String; COLUMNS.len()];

/// Tables for a terminal.
pub fn text(report: &BenchReport) -> String {
    let mut text = format!("{}\n", head_of(report));
    for group in report.groups() {
        // Writing to a string does not fail.
        writeln!(text, "\n{}", title(&group[0])).ok();
        aligned(&mut text, COLUMNS, &rows(group));
        for note in notes(group) {
            writeln!(text, "{note}").ok();
        }
    }
    text
}

/// Tables for a document.
pub fn markdown(report: &BenchReport) -> String {
    let mut text = format!("# Benchmark\n\n{}\n", head_of(report));
    for device in &report.devices {
        writeln!(text, "* `{}`: {}", device.name, described(device)).ok();
    }
    for group in report.groups() {
        writeln!(text, "\n## {}\n", title(&group[0])).ok();
        writeln!(text, "| {} |\n|{}", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len())).ok();
        for row in rows(group) {
            writeln!(text, "| {} |", row.join(" | ")).ok();
        }
        for note in notes(group) {
            writeln!(text, "\n{note}").ok();
        }
    }
    text
}

fn head_of(report: &BenchReport) -> String {
    head(&report.date, &report.machine, &report.devices_left_out)
}

/// The first lines of a report.
pub fn head(date: &str, machine: &Machine, left_out: &[String]) -> String {
    let mut text = format!("burntrace {}, {date}, {machine}\n", env!("CARGO_PKG_VERSION"));
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        writeln!(text, "skipped, without support for the precision: {names}").ok();
    }
    text.trim_end().to_owned()
}

fn title(record: &Record) -> String {
    let Record { workload, particles, steps, precision, .. } = record;
    format!("{workload}: {particles} particles x {steps} steps, {precision}")
}

/// Notes below a table: error bounds, earlier errors, messages, batches.
fn notes(group: &[Record]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(errors) = group.iter().find_map(|record| record.errors.last()) {
        notes.push(format!(
            "errors: of {} particles, in edge lengths of the unit cube; {}",
            errors.compared,
            bounds(errors)
        ));
    }
    for record in group {
        let name = &record.device;
        let earlier = record.errors.iter().filter(|errors| errors.steps != record.steps);
        notes.extend(earlier.map(|errors| {
            format!(
                "{name}: errors after {} steps: median {:.1e}, p99 {:.1e}, max {:.1e}; {}",
                errors.steps,
                errors.median,
                errors.p99,
                errors.max,
                bounds(errors)
            )
        }));
        notes.extend(record.gradient.map(|gradient| {
            format!(
                "{name}: with its backward pass {:.1} times as long as without; error of the gradient {:.1e}",
                gradient.times_forward, gradient.error
            )
        }));
        notes.extend(record.message.as_ref().map(|message| format!("{name}: {message}")));
        if record.batch != record.particles || !record.batches_tried.is_empty() {
            notes.push(batches(record));
        }
    }
    notes
}

fn bounds(errors: &Errors) -> String {
    format!("bounds: median {:.0e}, p99 {:.0e}", errors.bounds.median, errors.bounds.p99)
}

fn batches(record: &Record) -> String {
    let tried = record.batches_tried.iter();
    let tried: Vec<_> =
        tried.map(|tried| format!("{} took {}", tried.batch, time(tried.seconds))).collect();
    let tried = if tried.is_empty() { String::new() } else { format!(" ({})", tried.join(", ")) };
    format!("{}: batches of {} particles{tried}", record.device, record.batch)
}

fn rows(group: &[Record]) -> Vec<Row> {
    group.iter().map(row).collect()
}

fn row(record: &Record) -> Row {
    let seconds = record.seconds.as_ref();
    let speed = record.speed.as_ref();
    let calls = seconds.map_or(0, |seconds| seconds.steady.len());
    let in_error = |pick: fn(&Errors) -> f64| {
        or_dash(record.errors.last().map(|errors| format!("{:.1e}", pick(errors))))
    };
    let size = |bytes: Option<u64>| or_dash(bytes.map(megabytes));
    [
        record.device.clone(),
        or_dash(seconds.map(|seconds| time(seconds.load))),
        or_dash(seconds.map(|seconds| time(seconds.compile))),
        or_dash(seconds.map(|seconds| time(seconds.first))),
        or_dash(speed.map(|speed| time(speed.median_seconds))),
        match (record.outcome, speed) {
            (Outcome::Right, Some(speed)) => with_prefix(speed.per_second),
            (Outcome::Failed, _) => "failed".into(),
            _ => "wrong".into(),
        },
        or_dash(speed.filter(|_| calls > 1).map(spread)),
        or_dash(record.ratio_to_first_device.map(|ratio| format!("{ratio:.2}"))),
        in_error(|errors| errors.median),
        in_error(|errors| errors.p99),
        in_error(|errors| errors.max),
        size(record.bytes.map(|bytes| bytes.on_device())),
        size(record.bytes.map(|bytes| bytes.moved())),
        size(record.host_peak_bytes),
    ]
}

/// A text, or a dash where there is none.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".into())
}

/// Appends a table with aligned columns: the first one to the left, the others to the right.
pub fn aligned<const N: usize>(text: &mut String, columns: [&str; N], rows: &[[String; N]]) {
    let all = || std::iter::once(columns.map(String::from)).chain(rows.iter().cloned());
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in all() {
        let cells = row.iter().zip(widths).enumerate();
        let cells: Vec<_> = cells
            .map(|(i, (cell, width))| match i {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            })
            .collect();
        writeln!(text, "{}", cells.join("  ")).ok();
    }
}

/// A time in milliseconds or seconds.
pub fn time(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", 1e3 * seconds) } else { format!("{seconds:.2} s") }
}

/// The spread of speeds as a share.
pub fn spread(speed: &Speed) -> String {
    format!("{:.1} %", 100.0 * speed.spread / speed.per_second)
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_bench::{check::Bounds, record::Seconds};

    fn record(device: &str) -> Record {
        let bounds = Bounds { median: 1e-6, p99: 1e-5 };
        let errors =
            Errors { steps: 200, compared: 100, median: 2e-7, p99: 3e-6, max: 4e-6, bounds };
        let steady = vec![0.5, 0.4, 0.5];
        let speed = Speed::of(2_000_000, &steady);
        let seconds = Seconds { load: 0.1, compile: 0.0, first: 1.5, steady };
        let mut record = Record { device: device.into(), workload: "w2", ..Record::default() };
        record.steps = 200;
        record.speed = Some(speed);
        record.seconds = Some(seconds);
        record.note(errors);
        record
    }

    #[test]
    fn only_right_results_have_speed() {
        let right = row(&record("flex"));
        assert_eq!((right[5].as_str(), right[6].as_str()), ("4.00 M", "25.0 %"));
        assert_eq!(right[8..11], ["2.0e-7", "3.0e-6", "4.0e-6"]);
        let mut wrong = record("vulkan:0");
        let errors = Errors { p99: 1e-4, ..wrong.errors[0] };
        wrong.note(errors);
        let wrong = row(&wrong);
        assert_eq!((wrong[5].as_str(), wrong[9].as_str()), ("wrong", "1.0e-4"));
    }

    #[test]
    fn columns_are_aligned() {
        let mut text = String::new();
        aligned(&mut text, COLUMNS, &rows(&[record("flex"), record("vulkan:0")]));
        let ends = text.lines().map(|line| line.chars().count());
        assert!(ends.collect::<Vec<_>>().windows(2).all(|pair| pair[0] == pair[1]), "{text}");
    }
}

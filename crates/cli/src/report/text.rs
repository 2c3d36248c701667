//! The report as Markdown.

use super::data::RunReport;
use crate::format::six_digits;
use burntrace::analysis::statistics::{GroupStatistics, SpeedFrom};
use serde_json::Value;
use std::fmt::Write;

/// The content of `report.md`: counts, pictures, residence times, dispersion, timings, case.
pub fn markdown(report: &RunReport) -> String {
    let mut text = format!("# {}\n", report.results.name());
    if let Some(note) = report.results.unfinished() {
        line(&mut text, &format!("\n**Unfinished:** {note}."));
    }
    counts(report, &mut text);
    figures(report, &mut text);
    ends(report, &mut text);
    dispersion(report, &mut text);
    arrays(report, &mut text);
    timings(report, &mut text);
    phases(report, &mut text);
    case(report, &mut text);
    text
}

/// Counts of all particles and of each group, with a check of their balance.
fn counts(report: &RunReport, text: &mut String) {
    let statistics = &report.statistics;
    heading(text, "Particles");
    let what = if statistics.reuses_slots { "particle instances in" } else { "particles in" };
    let (released, slots, saves) =
        (statistics.all.released, statistics.slots, statistics.times.len());
    line(text, &format!("{released} {what} {slots} slots, {saves} saves.\n"));
    row(text, &["", "released", "= active", "+ ended", "waiting or empty slots", "not located"]);
    row(text, &["---", "---:", "---:", "---:", "---:", "---:"]);
    let names = report.groups.iter().map(|group| group.name.as_str());
    let all = [("all", &statistics.all)].into_iter().chain(names.zip(&statistics.groups));
    for (name, group) in all {
        let counts = [group.released, group.active, group.ended, group.waiting, group.not_located];
        let [released, active, ended, waiting, not_located] = &counts.map(|n| n.to_string());
        row(text, &[name, released, active, ended, waiting, not_located]);
    }
    if statistics.all.released != statistics.all.active + statistics.all.ended {
        line(text, "**These counts do not add up.** Please report this as a bug.");
    }
}

fn figures(report: &RunReport, text: &mut String) {
    heading(text, "Pictures");
    for figure in &report.figures {
        let file = figure.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (file, caption) = (file.unwrap_or_default(), &figure.caption);
        line(text, &format!("![{caption}](pictures/{file})\n\n*{caption}*\n"));
    }
    for missing in &report.missing {
        line(text, &format!("Not shown: {missing}.\n"));
    }
}

/// Counts and residence times of ended particles, by status.
fn ends(report: &RunReport, text: &mut String) {
    let all = &report.statistics.all;
    if all.ends.is_empty() {
        return;
    }
    let unit = in_parentheses(&report.results.units().time);
    heading(text, &format!("Ends and residence times{unit}"));
    row(text, &["", "count", "mean", "minimum", "median", "maximum"]);
    row(text, &["---", "---:", "---:", "---:", "---:", "---:"]);
    let by_status = all.ends.iter().map(|end| (end.status.to_string(), end.count, &end.residence));
    for (name, count, times) in by_status.chain([("all".into(), all.ended, &all.residence)]) {
        let median = times.quantiles.iter().find(|quantile| quantile.probability == 0.5);
        let median = median.map(|quantile| quantile.time);
        let [mean, min, median, max] = &[times.mean, times.min, median, times.max].map(number);
        row(text, &[&name, &count.to_string(), mean, min, median, max]);
    }
}

/// Dispersion at five evenly spaced saves.
fn dispersion(report: &RunReport, text: &mut String) {
    let statistics = &report.statistics;
    let last = statistics.times.len().saturating_sub(1);
    let mut saves = vec![0, last / 4, last / 2, 3 * last / 4, last];
    saves.dedup();
    heading(text, "Dispersion of the active particles");
    row(
        text,
        &[
            "save",
            "time",
            "active",
            "mean speed",
            "mean-square displacement",
            "variance",
            "pair dispersion",
        ],
    );
    row(text, &["---:", "---:", "---:", "---:", "---:", "---:", "---:"]);
    for save in saves.into_iter().filter(|save| *save < statistics.times.len()) {
        dispersion_row(text, save, statistics.times[save], &statistics.all);
    }
    let length = report.results.units().length;
    let unit = if length.is_empty() { String::new() } else { format!(" in {length}²") };
    let source = match statistics.speed_from {
        SpeedFrom::Velocities => "the saved velocities",
        SpeedFrom::Displacements => "the displacements between saves",
    };
    line(
        text,
        &format!(
            "\nMean squares, summed over the axes{unit}: of the displacement since release, of the \
             distance from the centroid (variance), and of the distance within pairs of neighbouring \
             slots. Speeds are computed from {source}.\n"
        ),
    );
}

/// Values of sampled arrays over the active particles, at the first and the last save.
fn arrays(report: &RunReport, text: &mut String) {
    let statistics = &report.statistics;
    let saves = &statistics.all.saves;
    let Some(last) = saves.len().checked_sub(1).filter(|_| !saves[0].arrays.is_empty()) else {
        return;
    };
    heading(text, "Sampled arrays over the active particles");
    row(
        text,
        &["save", "time", "array", "values", "mean", "standard deviation", "minimum", "maximum"],
    );
    row(text, &["---:", "---:", "---", "---:", "---:", "---:", "---:", "---:"]);
    for save in [0, last].into_iter().take(saves.len()) {
        let (index, time) = (save.to_string(), number(Some(statistics.times[save])));
        for array in &saves[save].arrays {
            let name = match array.component {
                Some(component) => format!("{}:{component}", array.name),
                None => array.name.clone(),
            };
            let deviation = array.variance.map(f64::sqrt);
            let [mean, deviation, min, max] =
                &[array.mean, deviation, array.min, array.max].map(number);
            row(text, &[&index, &time, &name, &array.count.to_string(), mean, deviation, min, max]);
        }
    }
}

/// Device, settings and timings, from the summary of the run.
fn timings(report: &RunReport, text: &mut String) {
    heading(text, "Run");
    let summary = &report.results.summary;
    if summary.is_null() {
        line(text, "The folder has no `summary.json`.\n");
        return;
    }
    row(text, &["", ""]);
    row(text, &["---", "---"]);
    for (name, path) in SUMMARY {
        if let Some(value) = summary.pointer(path).filter(|value| !value.is_null()) {
            row(text, &[name, &cell(value)]);
        }
    }
}

/// The phases of a profiled run.
fn phases(report: &RunReport, text: &mut String) {
    let profile = &report.results.summary["profile"];
    let Some(phases) = profile["phases"].as_array() else { return };
    heading(text, "Profile");
    row(text, &["thread", "phase", "count", "seconds"]);
    row(text, &["---", "---", "---:", "---:"]);
    for phase in phases {
        let cells = ["thread", "phase", "count", "seconds"].map(|key| cell(&phase[key]));
        row(text, &cells.each_ref().map(String::as_str));
    }
    let [file, seconds] = ["file", "seconds"].map(|key| cell(&profile[key]));
    line(
        text,
        &format!(
            "\nSeconds without the phases within a phase. Those of the first thread add up to {seconds} s, the \
             time up to this report. The trace is in {file}.\n"
        ),
    );
}

fn case(report: &RunReport, text: &mut String) {
    heading(text, "Case");
    match report.results.case.as_ref().map(toml::to_string) {
        Some(Ok(case)) => line(text, &format!("```toml\n{}\n```", case.trim_end())),
        _ => line(text, "The folder has no `case.toml` that this version can read."),
    }
}

/// The rows of the report from `summary.json`: names, and JSON pointers to the values.
pub const SUMMARY: [(&str, &str); 21] = [
    ("field", "/field"),
    ("device", "/device/description"),
    ("precision", "/precision"),
    ("threads", "/threads"),
    ("engine", "/path"),
    ("memory strategy", "/strategy"),
    ("batches", "/batches/count"),
    ("peak memory on the host (bytes)", "/memory/host"),
    ("planned peak memory on the device (bytes)", "/memory/device"),
    ("steps", "/steps"),
    ("particle-steps", "/particle_steps"),
    ("particle-steps per second", "/particle_steps_per_second"),
    ("reading (s)", "/seconds/read"),
    ("upload (s)", "/seconds/upload"),
    ("tracing (s)", "/seconds/trace"),
    ("writing (s)", "/seconds/write"),
    ("total (s)", "/seconds/total"),
    ("read (bytes)", "/bytes/read"),
    ("written (bytes)", "/bytes/written"),
    ("checkpoints", "/checkpoints/count"),
    ("resumed", "/resumed"),
];

fn dispersion_row(text: &mut String, save: usize, time: f64, all: &GroupStatistics) {
    let statistics = &all.saves[save];
    let total = |xyz: Option<[f64; 3]>| number(xyz.map(|xyz| xyz.iter().sum()));
    row(
        text,
        &[
            &save.to_string(),
            &number(Some(time)),
            &statistics.active.to_string(),
            &number(statistics.mean_speed),
            &total(statistics.mean_square_displacement),
            &total(statistics.variance),
            &total(statistics.pair_dispersion),
        ],
    );
}

fn heading(text: &mut String, title: &str) {
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    line(text, &format!("## {title}\n"));
}

fn line(text: &mut String, line: &str) {
    // Writing to a string does not fail.
    writeln!(text, "{line}").ok();
}

fn row(text: &mut String, cells: &[&str]) {
    line(text, &format!("| {} |", cells.join(" | ")));
}

fn in_parentheses(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" ({unit})") }
}

/// A number in six significant digits, or a dash.
fn number(x: Option<f64>) -> String {
    match x {
        None => "–".into(),
        Some(x) => six_digits(x).to_string(),
    }
}

/// A value of the summary as a table cell.
pub fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('|', "\\|"),
        Value::Number(n) if n.is_f64() => number(n.as_f64()),
        Value::Object(_) | Value::Array(_) => {
            format!("`{}`", value.to_string().replace('|', "\\|"))
        }
        other => other.to_string(),
    }
}

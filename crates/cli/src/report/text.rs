//! The report as Markdown.

use super::{data::RunReport, run_rows};
use crate::format::{count, four_digits, twelve_digits};
use burntrace::analysis::statistics::{GroupStatistics, SpeedFrom};
use serde_json::Value;
use std::fmt::Write;

/// The content of `report.md`: what was traced, counts, ends, pictures, dispersion, cost, case.
pub fn markdown(report: &RunReport) -> String {
    let mut text = format!("# {}\n", report.results.name());
    if let Some(note) = report.results.unfinished() {
        line(&mut text, &format!("\n**Unfinished:** {note}."));
    }
    overview(report, &mut text);
    counts(report, &mut text);
    ends(report, &mut text);
    figures(report, &mut text);
    dispersion(report, &mut text);
    arrays(report, &mut text);
    cost(report, &mut text);
    phases(report, &mut text);
    case(report, &mut text);
    text
}

/// What was traced and what became of it, in sentences.
fn overview(report: &RunReport, text: &mut String) {
    let (results, statistics) = (report.results, &report.statistics);
    let all = &statistics.all;
    let [released, active, ended, not_located] =
        [all.released, all.active, all.ended, all.not_located].map(|n| count(n as usize));
    let what = if statistics.reuses_slots { "particle instances" } else { "particles" };
    let unit = results.units().time;
    let span = match (statistics.times.first(), statistics.times.last()) {
        (Some(first), Some(last)) if first != last => {
            format!(" from t = {} to {}", twelve_digits(*first), twelve_digits(*last))
        }
        (Some(only), _) => format!(" at t = {}", twelve_digits(*only)),
        _ => String::new(),
    };
    let span = if span.is_empty() { span } else { format!("{span} {unit}").trim_end().to_string() };
    let field = run_rows::field(&results.summary["field"]);
    let through = field.map(|field| format!(", through {field}")).unwrap_or_default();
    let saves = statistics.times.len();
    let plural = if saves == 1 { "" } else { "s" };
    line(
        text,
        &format!(
            "\n{released} {what} were traced{span}{through}. There are {} save{plural}.",
            count(saves)
        ),
    );
    let fates = match (all.active, all.ended) {
        (0, 0) => "None has been released.".into(),
        (_, 0) => "All of them are active at the end.".into(),
        (0, _) => "All of them have ended.".into(),
        _ => format!("At the end {active} are active, and {ended} have ended."),
    };
    line(text, &format!("\n{fates}"));
    if all.not_located > 0 {
        let seeds = count((all.not_located + all.released) as usize);
        line(
            text,
            &format!(
                "\n**{not_located} of {seeds} seeds were not located**, as they are outside the domain or the \
                 mesh; they are in no picture and no average."
            ),
        );
    }
    for warning in results.summary["warnings"].as_array().into_iter().flatten() {
        line(text, &format!("\n**Warning:** {}", warning.as_str().unwrap_or_default()));
    }
    let page = if results.folder.path("page.html").is_file() { PAGE } else { NO_PAGE };
    line(text, &format!("\n{page}"));
}

/// The sentences about the page of a run: with a link, and without a page.
const PAGE: &str = "[The interactive page](page.html) shows the tracks.";
const NO_PAGE: &str =
    "`burntrace view` with the folder of this run makes an interactive page of the tracks.";

/// A report in Markdown with a link to the page, if it has none; `None` otherwise.
pub fn with_page(markdown: &str) -> Option<String> {
    markdown.contains(NO_PAGE).then(|| markdown.replacen(NO_PAGE, PAGE, 1))
}

/// Counts of all particles and of each group, with a check of their balance.
fn counts(report: &RunReport, text: &mut String) {
    let statistics = &report.statistics;
    heading(text, "Particles");
    let what = if statistics.reuses_slots { "particle instances in" } else { "particles in" };
    let (released, slots, saves) =
        (statistics.all.released, statistics.slots, statistics.times.len());
    let [released, slots, saves] = [released as usize, slots, saves].map(count);
    line(text, &format!("{released} {what} {slots} slots, {saves} saves.\n"));
    row(text, &["", "Released", "Active", "Ended", "Waiting or empty slots", "Not located"]);
    row(text, &["---", "---:", "---:", "---:", "---:", "---:"]);
    let names = report.groups.iter().map(|group| group.name.as_str());
    let all = [("all", &statistics.all)].into_iter().chain(names.zip(&statistics.groups));
    for (name, group) in all {
        let counts = [group.released, group.active, group.ended, group.waiting, group.not_located];
        let [released, active, ended, waiting, not_located] = &counts.map(|n| count(n as usize));
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

/// Where particles ended, by status, with the faces of the domain, and by patch; and their residence times.
fn ends(report: &RunReport, text: &mut String) {
    let all = &report.statistics.all;
    if all.ends.is_empty() {
        return;
    }
    let unit = in_parentheses(&report.results.units().time);
    heading(text, "What ended where");
    row(text, &["End", "Count", "Share", "Mean time", "Minimum", "Median", "Maximum"]);
    row(text, &["---", "---:", "---:", "---:", "---:", "---:", "---:"]);
    let by_status = all.ends.iter().map(|end| (end.status.to_string(), end.count, &end.residence));
    for (name, ended, times) in by_status.chain([("all".into(), all.ended, &all.residence)]) {
        let median = times.quantiles.iter().find(|quantile| quantile.probability == 0.5);
        let median = median.map(|quantile| quantile.time);
        let [mean, min, median, max] = &[times.mean, times.min, median, times.max].map(number);
        let share = format!("{:.1} %", 100.0 * ended as f64 / (all.released as f64).max(1.0));
        row(text, &[&name, &count(ended as usize), &share, mean, min, median, max]);
    }
    line(
        text,
        &format!(
            "\nTimes are residence times{unit}, from the release to the end; shares are of the released particles.\n"
        ),
    );
    let Some(patches) = report.results.summary["patches"].as_object() else { return };
    row(text, &["Patch of the boundary", "Count"]);
    row(text, &["---", "---:"]);
    for (name, ended) in patches {
        row(text, &[name, &count(ended.as_u64().unwrap_or(0) as usize)]);
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
            "Save",
            "Time",
            "Active",
            "Mean speed",
            "Displacement",
            "From the centroid",
            "Within pairs",
        ],
    );
    row(text, &["---:", "---:", "---:", "---:", "---:", "---:", "---:"]);
    for save in saves.into_iter().filter(|save| *save < statistics.times.len()) {
        dispersion_row(text, save, statistics.times[save], &statistics.all);
    }
    let length = report.results.units().length;
    let unit = if length.is_empty() { String::new() } else { format!(" in {length}²") };
    let speed = in_parentheses(&report.results.units().speed());
    let source = match statistics.speed_from {
        SpeedFrom::Velocities => "the saved velocities",
        SpeedFrom::Displacements => "the displacements between saves",
    };
    line(
        text,
        &format!(
            "\nThe last three columns are mean squares, summed over the axes{unit}: of the displacement since \
             the release, of the distance from the centroid, and of the distance within pairs of \
             neighbouring slots. Speeds{speed} are computed from {source}.\n"
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
        &["Save", "Time", "Array", "Values", "Mean", "Standard deviation", "Minimum", "Maximum"],
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
            row(
                text,
                &[&index, &time, &name, &count(array.count as usize), mean, deviation, min, max],
            );
        }
    }
}

/// Device, settings and cost, from the summary of the run.
fn cost(report: &RunReport, text: &mut String) {
    heading(text, "What the run cost");
    let summary = &report.results.summary;
    if summary.is_null() {
        line(text, "The folder has no `summary.json`.\n");
        return;
    }
    row(text, &["", ""]);
    row(text, &["---", "---"]);
    for (name, value) in run_rows::of(summary) {
        row(text, &[&name, &value.replace('|', "\\|")]);
    }
}

/// The phases of a profiled run.
fn phases(report: &RunReport, text: &mut String) {
    let profile = &report.results.summary["profile"];
    let Some(phases) = profile["phases"].as_array() else { return };
    heading(text, "Profile");
    row(text, &["Thread", "Phase", "Count", "Seconds"]);
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

fn dispersion_row(text: &mut String, save: usize, time: f64, all: &GroupStatistics) {
    let statistics = &all.saves[save];
    let sum = |xyz: Option<[f64; 3]>| xyz.map(|xyz| xyz.iter().sum::<f64>());
    // A square below the rounding error of positions is 0.
    let error = f64::EPSILON * sum(statistics.variance).unwrap_or(0.0);
    let total = |xyz| number(sum(xyz).map(|x| if x < error { 0.0 } else { x }));
    row(
        text,
        &[
            &save.to_string(),
            &number(Some(time)),
            &count(statistics.active as usize),
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

/// A number in four significant digits, or a dash.
fn number(x: Option<f64>) -> String {
    x.map_or_else(|| "–".into(), four_digits)
}

/// A value of the summary as a table cell.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('|', "\\|"),
        Value::Number(n) if n.is_f64() => number(n.as_f64()),
        other => other.to_string(),
    }
}

//! The content of the report of a run.

use super::{
    data::RunReport,
    document::{Block, Document},
    run_rows,
};
use crate::{
    format::{count, four_digits, time_range},
    gates::COLUMNS,
    job,
};
use burntrace::analysis::statistics::{EndStatistics, GroupStatistics, SpeedFrom};
use serde_json::Value;

/// The answer, what to know about it, pictures, tables, and the case.
pub fn document(report: &RunReport) -> Document {
    let mut document = Document::new(report.results.name());
    document.text(&report.answer.text);
    overview(report, &mut document);
    remarks(report, &mut document);
    document.figures(&report.figures, &report.missing);
    counts(report, &mut document);
    ends(report, &mut document);
    gates(report, &mut document);
    dispersion(report, &mut document);
    arrays(report, &mut document);
    cost(report, &mut document);
    phases(report, &mut document);
    document.heading("Case");
    match report.results.case.as_ref().map(toml::to_string) {
        Some(Ok(case)) => document.add(Block::Toml(case.trim_end().into())),
        _ => document.text("The folder has no `case.toml` that this version can read."),
    }
    document
}

/// The field and the saves.
fn overview(report: &RunReport, document: &mut Document) {
    let (results, statistics) = (report.results, &report.statistics);
    let saves = statistics.times.len();
    let plural = if saves == 1 { "" } else { "s" };
    let range =
        time_range(&statistics.times, &results.units().time, results.time_origin().as_ref());
    let range = if range.is_empty() { range } else { format!(", {range}") };
    let field = job::field_in_words(&results.summary["field"]);
    let field = field.map(|field| format!("Field: {field}. ")).unwrap_or_default();
    document.text(format!("{field}Tracks: {} save{plural}{range}.", count(saves)));
}

/// What to know before trusting the answer: the state of the run, seeds that were not located, warnings, and the check of steps.
fn remarks(report: &RunReport, document: &mut Document) {
    let (results, all) = (report.results, &report.statistics.all);
    if let Some(note) = results.unfinished() {
        document.strong("Unfinished:", format!(" {note}."));
    }
    if all.not_located > 0 {
        let [not_located, seeds] =
            [all.not_located, all.not_located + all.released].map(|n| count(n as usize));
        document.strong(
            format!("{not_located} of {seeds} seeds were not located"),
            ", as they are outside the domain or the mesh, or on land; they are in no picture and no average.",
        );
    }
    if all.released != all.active + all.ended {
        document.strong("The counts do not add up.", " Please report this as a bug.");
    }
    for warning in results.summary["warnings"].as_array().into_iter().flatten() {
        document.strong("Warning:", format!(" {}", warning.as_str().unwrap_or_default()));
    }
    if results.case.is_some() {
        let case = results.folder.path("case.toml");
        let text = format!(
            " not checked by the run. `burntrace check {}` halves them for a sample of the particles and compares the ends.",
            case.display()
        );
        document.strong("Steps:", text);
    }
    let [without, with] = page();
    document.add(if results.folder.path("page.html").is_file() { with } else { without });
}

/// The sentences about the page of a run: without a page, and with one.
pub fn page() -> [Block; 2] {
    let text =
        "`burntrace view` with the folder of this run makes an interactive page of the tracks.";
    let link = ["The interactive page", "page.html", " shows the tracks."];
    [Block::Text(String::new(), text.into()), Block::Link(link)]
}

/// Counts of all particles and of each group, with a check of their balance.
fn counts(report: &RunReport, document: &mut Document) {
    let statistics = &report.statistics;
    document.heading("Particles");
    let what = if statistics.reuses_slots { "particle instances in" } else { "particles in" };
    let (released, slots, saves) =
        (statistics.all.released, statistics.slots, statistics.times.len());
    let [released, slots, saves] = [released as usize, slots, saves].map(count);
    document.text(format!("{released} {what} {slots} slots, {saves} saves."));
    let names = report.groups.iter().map(|group| group.name.as_str());
    let all = [("all", &statistics.all)].into_iter().chain(names.zip(&statistics.groups));
    let row = |(name, group): (&str, &GroupStatistics)| {
        let counts = [group.released, group.active, group.ended, group.waiting, group.not_located];
        let [released, active, ended, waiting, not_located] = counts.map(|n| count(n as usize));
        [name.into(), released, active, ended, waiting, not_located]
    };
    document.table(
        &["", "Released", "Active", "Ended", "Waiting or empty slots", "Not located"],
        all.map(row),
    );
}

/// Where particles ended, by status, with the faces of the domain, and by patch; and their residence times.
fn ends(report: &RunReport, document: &mut Document) {
    let all = &report.statistics.all;
    if all.ends.is_empty() {
        return;
    }
    let unit = in_parentheses(&report.results.units().time);
    document.heading("What ended where");
    let has_mass = all.ends.iter().any(|end| end.mass.is_some());
    let mass = all.ends.iter().map(|end| end.mass).sum::<Option<f64>>();
    let of_status = |end: &'_ EndStatistics| (end.status.to_string(), end.count, end.mass);
    let by_status = all.ends.iter().map(|end| (of_status(end), &end.residence));
    let rows = by_status.chain([(("all".into(), all.ended, mass), &all.residence)]).map(
        |((name, ended, mass), times)| {
            let median = times.quantiles.iter().find(|quantile| quantile.probability == 0.5);
            let median = median.map(|quantile| quantile.time);
            let [mean, min, median, max] = [times.mean, times.min, median, times.max].map(number);
            let share = format!("{:.1} %", 100.0 * ended as f64 / (all.released as f64).max(1.0));
            let mut row = vec![name, count(ended as usize), share, mean, min, median, max];
            row.extend(has_mass.then(|| number(mass)));
            row
        },
    );
    let mut columns = vec!["End", "Count", "Share", "Mean time", "Minimum", "Median", "Maximum"];
    columns.extend(has_mass.then_some("Mass"));
    document.table(&columns, rows);
    document.text(format!(
        "Times are residence times{unit}, from the release to the end; shares are of the released particles."
    ));
    for (key, title) in [("patches", "Patch of the boundary"), ("conditions", "Condition")] {
        let Some(counts) = report.results.summary[key].as_object() else { continue };
        let row = |(name, ended): (&String, &Value)| {
            [name.clone(), count(ended.as_u64().unwrap_or(0) as usize)]
        };
        document.table(&[title, "Count"], counts.iter().map(row));
    }
    for at in &report.at_ends {
        let name = format!("`{}` at the end", at.name);
        document.table(&[&name, "Count", "Mean", "Minimum", "Median", "Maximum"], at.rows());
    }
}

/// Who crossed the gates.
fn gates(report: &RunReport, document: &mut Document) {
    let Some(gates) = report.results.summary["gates"].as_object() else { return };
    let unit = in_parentheses(&report.results.units().time);
    document.heading("Who crossed what");
    let row = |(name, gate): (&String, &Value)| {
        let counts = ["forward", "backward", "particles"];
        let counts = counts.map(|key| count(gate[key].as_u64().unwrap_or(0) as usize));
        let times = [&gate["first_passage"]["median"], &gate["residence"]["mean"]];
        let cells = counts.into_iter().chain(times.map(|time| number(time.as_f64())));
        [name.clone()].into_iter().chain(cells).collect::<Vec<_>>()
    };
    document.table(&COLUMNS, gates.iter().map(row));
    document.text(format!(
        "First passages{unit} are from the release to the first crossing of a surface, or the first entry to a region of particles released \
         outside; times inside are over all visits of a particle."
    ));
}

/// Dispersion at five evenly spaced saves.
fn dispersion(report: &RunReport, document: &mut Document) {
    let statistics = &report.statistics;
    let last = statistics.times.len().saturating_sub(1);
    let mut saves = vec![0, last / 4, last / 2, 3 * last / 4, last];
    saves.dedup();
    document.heading("Dispersion of the active particles");
    let saves = saves.into_iter().filter(|save| *save < statistics.times.len());
    document.table(
        &[
            "Save",
            "Time",
            "Active",
            "Mean speed",
            "Displacement",
            "From the centroid",
            "Within pairs",
        ],
        saves.map(|save| dispersion_row(save, statistics.times[save], &statistics.all)),
    );
    let length = report.results.units().length;
    let unit = if length.is_empty() { String::new() } else { format!(" in {length}²") };
    let speed = in_parentheses(&report.results.units().speed());
    let source = match statistics.speed_from {
        SpeedFrom::Velocities => "the saved velocities",
        SpeedFrom::Displacements => "the displacements between saves",
    };
    document.text(format!(
        "The last three columns are mean squares, summed over the axes{unit}: of the displacement since \
         the release, of the distance from the centroid, and of the distance within pairs of \
         neighbouring slots. Speeds{speed} are computed from {source}."
    ));
}

fn dispersion_row(save: usize, time: f64, all: &GroupStatistics) -> [String; 7] {
    let statistics = &all.saves[save];
    let sum = |xyz: Option<[f64; 3]>| xyz.map(|xyz| xyz.iter().sum::<f64>());
    // A square below the rounding error of positions is 0.
    let error = f64::EPSILON * sum(statistics.variance).unwrap_or(0.0);
    let total = |xyz| number(sum(xyz).map(|x| if x < error { 0.0 } else { x }));
    [
        save.to_string(),
        number(Some(time)),
        count(statistics.active as usize),
        number(statistics.mean_speed),
        total(statistics.mean_square_displacement),
        total(statistics.variance),
        total(statistics.pair_dispersion),
    ]
}

/// Values of sampled arrays over the active particles, at the first and the last save.
fn arrays(report: &RunReport, document: &mut Document) {
    let statistics = &report.statistics;
    let saves = &statistics.all.saves;
    let Some(last) = saves.len().checked_sub(1).filter(|_| !saves[0].arrays.is_empty()) else {
        return;
    };
    document.heading("Sampled arrays over the active particles");
    let mut rows = Vec::new();
    for save in [0, last].into_iter().take(saves.len()) {
        for array in &saves[save].arrays {
            let name = match array.component {
                Some(component) => format!("{}:{component}", array.name),
                None => array.name.clone(),
            };
            let deviation = array.variance.map(f64::sqrt);
            let [mean, deviation, min, max] =
                [array.mean, deviation, array.min, array.max].map(number);
            let time = number(Some(statistics.times[save]));
            let values = count(array.count as usize);
            rows.push([save.to_string(), time, name, values, mean, deviation, min, max]);
        }
    }
    document.table(
        &["Save", "Time", "Array", "Values", "Mean", "Standard deviation", "Minimum", "Maximum"],
        rows,
    );
}

/// Device, settings and cost, from the summary of the run.
fn cost(report: &RunReport, document: &mut Document) {
    document.heading("What the run cost");
    let summary = &report.results.summary;
    match summary.is_null() {
        true => document.text("The folder has no `summary.json`."),
        false => {
            let rows = run_rows::of(summary).into_iter();
            document.table(&["", ""], rows.map(|(name, value)| [name, value]));
        }
    }
}

/// The phases of a profiled run.
fn phases(report: &RunReport, document: &mut Document) {
    let profile = &report.results.summary["profile"];
    let Some(phases) = profile["phases"].as_array() else { return };
    document.heading("Profile");
    let row = |phase: &Value| {
        let [thread, name, count, seconds] =
            ["thread", "phase", "count", "seconds"].map(|key| cell(&phase[key]));
        let growth = number(phase["growth"].as_f64().map(|bytes| bytes / 1e6));
        [thread, name, count, seconds, growth]
    };
    let head = ["Thread", "Phase", "Count", "Seconds", "Growth (MB)"];
    document.table(&head, phases.iter().map(row));
    let [file, seconds] = ["file", "seconds"].map(|key| cell(&profile[key]));
    document.text(format!(
        "Seconds and growth of the process's memory, without the phases within a phase. Seconds of the first thread add up to {seconds} s, \
         the time up to this report. The trace is in {file}."
    ));
    kernels(profile, document);
}

/// The kernels that a profiled run launched on graphics cards.
fn kernels(profile: &Value, document: &mut Document) {
    let Some(kernels) = profile["kernels"].as_array().filter(|all| !all.is_empty()) else { return };
    let row = |kernel: &Value| {
        ["kernel", "launches", "timed", "seconds", "clock"].map(|key| cell(&kernel[key]))
    };
    let head = ["Kernel", "Launches", "Of these timed", "Seconds", "Clock"];
    document.table(&head, kernels.iter().map(row));
    document.text(
        "Seconds by the clock of the host include the submission, and the first time the compilation.",
    );
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
        Value::String(text) => text.clone(),
        Value::Number(n) if n.is_f64() => number(n.as_f64()),
        other => other.to_string(),
    }
}

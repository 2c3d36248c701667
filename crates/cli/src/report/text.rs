//! A report in Markdown.

use super::{Report, name};
use burntrace::analysis::statistics::GroupStatistics;
use serde_json::Value;
use std::fmt::Write;

impl Report<'_> {
    /// The report: case, data, device, plan, timings, counts, statistics, pictures.
    pub fn text(&self) -> String {
        let mut text = format!("# {}\n", name(self.results));
        self.counts(&mut text);
        self.shown(&mut text);
        self.ends(&mut text);
        self.spread(&mut text);
        self.how_it_ran(&mut text);
        self.case(&mut text);
        text
    }

    /// What became of all particles, and of each group; the sum is checked here, too.
    fn counts(&self, text: &mut String) {
        let found = &self.statistics;
        heading(text, "Particles");
        let what = if found.lives { "lives, one after another in" } else { "particles in" };
        line(
            text,
            &format!(
                "{} {what} {} slots, {} saves.\n",
                found.all.released,
                found.slots,
                found.times.len()
            ),
        );
        row(text, &["", "released", "= active", "+ ended", "waiting or empty slots"]);
        row(text, &["---", "---:", "---:", "---:", "---:"]);
        let names = self.groups.iter().map(|group| group.name.as_str());
        let all = [("all", &found.all)].into_iter().chain(names.zip(&found.groups));
        for (name, of) in all {
            let numbers = [of.released, of.active, of.ended, of.waiting].map(|n| n.to_string());
            row(text, &[name, &numbers[0], &numbers[1], &numbers[2], &numbers[3]]);
        }
        if found.all.released != found.all.active + found.all.ended {
            line(text, "**These do not add up.** Please report this.");
        }
    }

    fn shown(&self, text: &mut String) {
        heading(text, "Pictures");
        for shown in &self.pictures {
            let file = shown.path.file_name().map(|name| name.to_string_lossy().into_owned());
            let file = file.unwrap_or_default();
            line(text, &format!("![{}](pictures/{file})\n\n*{}*\n", shown.caption, shown.caption));
        }
        for missing in &self.missing {
            line(text, &format!("Not shown: {missing}.\n"));
        }
    }

    /// How particles ended, and after which times.
    fn ends(&self, text: &mut String) {
        let all = &self.statistics.all;
        if all.ends.is_empty() {
            return;
        }
        heading(text, &format!("Ends and residence times{}", in_unit(&self.results.units().time)));
        row(text, &["", "count", "mean", "least", "median", "greatest"]);
        row(text, &["---", "---:", "---:", "---:", "---:", "---:"]);
        let ways = all.ends.iter().map(|end| (end.status.to_string(), end.count, &end.residence));
        for (name, count, times) in ways.chain([("all".into(), all.ended, &all.residence)]) {
            let median = times.quantiles.iter().find(|of| of.probability == 0.5);
            let numbers = [times.mean, times.min, median.map(|of| of.time), times.max].map(number);
            let [mean, least, median, greatest] = &numbers;
            row(text, &[&name, &count.to_string(), mean, least, median, greatest]);
        }
    }

    /// How far particles went, at the first, a middle and the last save.
    fn spread(&self, text: &mut String) {
        let found = &self.statistics;
        let last = found.times.len().saturating_sub(1);
        let mut saves = vec![0, last / 4, last / 2, 3 * last / 4, last];
        saves.dedup();
        heading(text, "Spread of the active particles");
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
        for save in saves.into_iter().filter(|save| *save < found.times.len()) {
            spread_row(text, save, found.times[save], &found.all);
        }
        let units = self.results.units();
        let squares =
            if units.length.is_empty() { String::new() } else { format!(" ({}²)", units.length) };
        line(
            text,
            &format!(
                "\nSums over the axes{squares}: of squares of displacements since the release, of distances \
             from the centroid, and of distances in pairs of neighbouring slots. Speeds come from {}.\n",
                match found.speed_from {
                    burntrace::analysis::statistics::SpeedFrom::Velocities =>
                        "the saved velocities",
                    burntrace::analysis::statistics::SpeedFrom::Displacements =>
                        "the displacements between saves",
                }
            ),
        );
    }

    /// What computed, and how long it took, from the summary of the run.
    fn how_it_ran(&self, text: &mut String) {
        heading(text, "Run");
        let summary = &self.results.summary;
        if summary.is_null() {
            line(text, "There is no `summary.json`.\n");
            return;
        }
        row(text, &["", ""]);
        row(text, &["---", "---"]);
        for (name, path) in SUMMARY {
            if let Some(value) = summary.pointer(path).filter(|value| !value.is_null()) {
                row(text, &[name, &plain(value)]);
            }
        }
    }

    fn case(&self, text: &mut String) {
        heading(text, "Case");
        match self.results.case.as_ref().map(toml::to_string) {
            Some(Ok(case)) => line(text, &format!("```toml\n{}\n```", case.trim_end())),
            _ => line(text, "There is no `case.toml` that this version reads."),
        }
    }
}

/// What is shown of `summary.json`: names and places in it.
pub const SUMMARY: [(&str, &str); 21] = [
    ("field", "/field"),
    ("device", "/device/description"),
    ("precision", "/precision"),
    ("threads", "/threads"),
    ("arithmetic", "/path"),
    ("strategy", "/strategy"),
    ("batches", "/batches/count"),
    ("most memory on the host (bytes)", "/memory/host"),
    ("most memory on the device, by the plan (bytes)", "/memory/device"),
    ("steps", "/steps"),
    ("particle-steps", "/particle_steps"),
    ("particle-steps a second", "/particle_steps_per_second"),
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

fn spread_row(text: &mut String, save: usize, time: f64, all: &GroupStatistics) {
    let of = &all.saves[save];
    let total = |xyz: Option<[f64; 3]>| number(xyz.map(|xyz| xyz.iter().sum()));
    row(
        text,
        &[
            &save.to_string(),
            &number(Some(time)),
            &of.active.to_string(),
            &number(of.mean_speed),
            &total(of.mean_square_displacement),
            &total(of.variance),
            &total(of.pair_dispersion),
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

fn in_unit(unit: &str) -> String {
    if unit.is_empty() { String::new() } else { format!(" ({unit})") }
}

/// A number in six digits; a dash where there is none.
fn number(x: Option<f64>) -> String {
    match x {
        None => "–".into(),
        Some(x) => crate::summary::in_six_digits(x).to_string(),
    }
}

/// A value of the summary in a cell of a table.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace('|', "\\|"),
        Value::Number(n) if n.is_f64() => number(n.as_f64()),
        Value::Object(_) | Value::Array(_) => {
            format!("`{}`", value.to_string().replace('|', "\\|"))
        }
        other => other.to_string(),
    }
}

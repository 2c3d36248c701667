//! The report of a sweep as Markdown and as JSON.

use super::{curves, ensemble::Ensemble, evaluation::Evaluation};
use crate::{
    figure_dir::FigureDir,
    folder::Folder,
    format::{six_digits, twelve_digits},
    pictures::Figure,
};
use anyhow::Result;
use burntrace::analysis::ensemble::Spread;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Maximum number of runs, and of ensembles, in tables of the report.
const ROWS: usize = 50;

/// A written report.
pub struct Report {
    /// The content of `report.json`.
    pub json: Value,
    /// The written files.
    pub files: Vec<PathBuf>,
}

/// Writes `report.md`, `report.json` and pictures.
pub fn make(evaluation: &Evaluation) -> Result<Report> {
    let folder = Folder::at(&evaluation.sweep.root);
    let figures = FigureDir::at(&folder.path("pictures"), false)?;
    let (figures, missing) = curves::make(evaluation, figures)?;
    let json = json!({
        "burntrace": env!("CARGO_PKG_VERSION"),
        "sweep": evaluation.sweep.definition,
        "confidence": evaluation.sweep.definition.confidence,
        "finished": evaluation.finished(),
        "ensembles": evaluation.ensembles,
        "not_shown": missing,
    });
    folder.write("report.json", &format!("{json:#}\n"))?;
    folder.write("report.md", &markdown(evaluation, &figures, &missing))?;
    let mut files = vec![folder.path("report.md"), folder.path("report.json")];
    files.extend(figures.into_iter().map(|figure| figure.path));
    Ok(Report { json, files })
}

fn markdown(evaluation: &Evaluation, figures: &[Figure], missing: &[String]) -> String {
    let sweep = evaluation.sweep;
    let root = std::path::absolute(&sweep.root).unwrap_or_else(|_| sweep.root.clone());
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut text = format!("# {}\n\n", name.unwrap_or_else(|| "Sweep".into()));
    let mut line = |line: String| {
        // Writing to a string does not fail.
        writeln!(text, "{line}").ok();
    };
    let (finished, all) = (evaluation.finished(), sweep.runs.len());
    if finished < all {
        line(format!(
            "**Unfinished:** {finished} of {all} runs are finished; this is a report of them.\n"
        ));
    }
    line(format!(
        "{all} runs of one case; `sweep.csv` has a row for each, `ensembles.csv` all numbers below.\n"
    ));
    line("| key | values |\n|---|---|".into());
    for vary in &sweep.definition.vary {
        line(format!("| `{}` | {} |", vary.key, values(&vary.values)));
    }
    line("\n## Mean over runs at the last common save\n".into());
    let percent = 100.0 * evaluation.sweep.definition.confidence;
    line(format!(
        "Runs that differ only in seeds of random numbers are independent samples: the mean of a quantity over \
         them, its standard deviation from run to run, and the {percent} % confidence interval of the mean by \
         Student's t distribution. Quantities that are 0 in all of them are left out.\n"
    ));
    line("| runs with | time | quantity | runs | mean | standard deviation | interval |".into());
    line("|---|---:|---|---:|---:|---:|---|".into());
    for ensemble in evaluation.ensembles.iter().take(ROWS) {
        ensemble_rows(ensemble, &mut line);
    }
    if evaluation.ensembles.len() > ROWS {
        line(format!("\n{ROWS} of {} sets of runs are shown.", evaluation.ensembles.len()));
    }
    line("\n## Pictures\n".into());
    for figure in figures {
        let file = figure.path.file_name().map(|name| name.to_string_lossy().into_owned());
        let caption = &figure.caption;
        line(format!("![{caption}](pictures/{})\n\n*{caption}*\n", file.unwrap_or_default()));
    }
    missing.iter().for_each(|missing| line(format!("Not shown: {missing}.\n")));
    run_table(evaluation, &mut line);
    line(format!("## Case\n\n```toml\n{}\n```", sweep.definition.case.trim_end()));
    text
}

/// The quantities of an ensemble at its last time.
fn ensemble_rows(ensemble: &Ensemble, line: &mut impl FnMut(String)) {
    let Some(time) = ensemble.times.last() else { return };
    let quantities = ensemble.quantities.iter().map(|of| (of.name.replace('_', " "), &of.spread));
    let exits = ensemble.exits.iter().map(|of| (of.status.clone(), &of.spread));
    let last = |(name, spread): (String, &Vec<Spread>)| Some((name, *spread.last()?));
    let is_shown = |(_, of): &(String, Spread)| [of.mean, of.deviation] != [Some(0.0); 2];
    let shown = quantities.chain(exits).filter_map(last).filter(|(_, of)| of.count > 0);
    for (name, spread) in shown.filter(is_shown) {
        let number = |x: Option<f64>| x.map_or_else(String::new, |x| six_digits(x).to_string());
        let interval = spread
            .interval
            .map(|[low, high]| format!("{} to {}", six_digits(low), six_digits(high)));
        line(format!(
            "| {} | {} | {name} | {} | {} | {} | {} |",
            ensemble.name(),
            twelve_digits(*time),
            spread.count,
            number(spread.mean),
            number(spread.deviation),
            interval.unwrap_or_default()
        ));
    }
}

fn run_table(evaluation: &Evaluation, line: &mut impl FnMut(String)) {
    line("## Runs\n".into());
    let keys: Vec<String> =
        evaluation.sweep.definition.vary.iter().map(|vary| format!("`{}`", vary.key)).collect();
    line(format!("| run | {} | state | traced (s) |", keys.join(" | ")));
    line(format!("|---|{}---|---:|", "---|".repeat(keys.len())));
    let runs = evaluation.sweep.runs.iter().zip(&evaluation.rows);
    for (run, row) in runs.clone().take(ROWS) {
        let seconds = row.seconds[0].map_or_else(String::new, |x| six_digits(x).to_string());
        let state = row.error.as_ref().map_or(row.state.into(), |error| format!("failed: {error}"));
        line(format!("| {} | {} | {state} | {seconds} |", run.name(), run.values.join(" | ")));
    }
    if evaluation.rows.len() > ROWS {
        line(format!("\n{ROWS} of {} runs are shown; `sweep.csv` has all.", evaluation.rows.len()));
    }
    line(String::new());
}

/// A list of values, abbreviated if it is long.
pub fn values(values: &[String]) -> String {
    const SHOWN: usize = 12;
    match values.len() > SHOWN {
        false => values.join(", "),
        true => {
            let (first, last) = (values[..SHOWN - 2].join(", "), &values[values.len() - 1]);
            format!("{first}, ..., {last} ({} values)", values.len())
        }
    }
}

//! The report of a sweep.

use super::{curves, ensemble::Ensemble, evaluation::Evaluation};
use crate::{
    figure_dir::{FigureDir, Formats},
    folder::Folder,
    format::{six_digits, twelve_digits},
    pictures::Figure,
    report::{Block, Document},
};
use anyhow::Result;
use burntrace::analysis::ensemble::Spread;
use serde_json::{Value, json};
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

/// Writes `report.md`, `report.html`, `report.json` and pictures.
pub fn make(evaluation: &Evaluation) -> Result<Report> {
    let folder = Folder::at(&evaluation.sweep.root);
    let figures = FigureDir::at(&folder.path("pictures"), Formats::default())?;
    let (figures, missing) = curves::make(evaluation, figures)?;
    let json = json!({
        "burntrace": env!("CARGO_PKG_VERSION"),
        "sweep": evaluation.sweep.definition,
        "confidence": evaluation.sweep.definition.confidence,
        "finished": evaluation.finished(),
        "ensembles": evaluation.ensembles,
        "not_shown": missing,
    });
    let mut files = document(evaluation, &figures, &missing).write(&folder, &json)?.to_vec();
    files.extend(figures.into_iter().map(|figure| figure.path));
    Ok(Report { json, files })
}

fn document(evaluation: &Evaluation, figures: &[Figure], missing: &[String]) -> Document {
    let sweep = evaluation.sweep;
    let root = std::path::absolute(&sweep.root).unwrap_or_else(|_| sweep.root.clone());
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut document = Document::new(name.unwrap_or_else(|| "Sweep".into()));
    let (finished, all) = (evaluation.finished(), sweep.runs.len());
    if finished < all {
        let note = format!(" {finished} of {all} runs are finished; this is a report of them.");
        document.strong("Unfinished:", note);
    }
    document.text(format!(
        "{all} runs of one case; `sweep.csv` has a row for each, `ensembles.csv` all numbers below."
    ));
    let keys = sweep.definition.vary.iter();
    document.table(
        &["key", "values"],
        keys.map(|vary| [format!("`{}`", vary.key), values(&vary.values)]),
    );
    document.figures(figures, missing);
    document.heading("Mean over runs at the last common save");
    let percent = 100.0 * evaluation.sweep.definition.confidence;
    document.text(format!(
        "Runs that differ only in seeds of random numbers are independent samples: the mean of a quantity over \
         them, its standard deviation from run to run, and the {percent} % confidence interval of the mean by \
         Student's t distribution. Quantities that are 0 in all of them are left out."
    ));
    document.table(
        &["runs with", "time", "quantity", "runs", "mean", "standard deviation", "interval"],
        evaluation.ensembles.iter().take(ROWS).flat_map(ensemble_rows),
    );
    if evaluation.ensembles.len() > ROWS {
        let all = evaluation.ensembles.len();
        document.text(format!("{ROWS} of {all} sets of runs are shown."));
    }
    run_table(evaluation, &mut document);
    document.heading("Case");
    document.add(Block::Toml(sweep.definition.case.trim_end().into()));
    document
}

/// The quantities of an ensemble at its last time.
fn ensemble_rows(ensemble: &Ensemble) -> impl Iterator<Item = [String; 7]> {
    let quantities = ensemble.quantities.iter().map(|of| (of.name.replace('_', " "), &of.spread));
    let exits = ensemble.exits.iter().map(|of| (of.status.clone(), &of.spread));
    let last = |(name, spread): (String, &Vec<Spread>)| {
        Some((name, *spread.last()?, ensemble.times.last()?))
    };
    let shown = quantities
        .chain(exits)
        .filter_map(last)
        .filter(|(_, of, _)| of.count > 0 && [of.mean, of.deviation] != [Some(0.0); 2]);
    shown.map(|(name, spread, time)| {
        let [mean, deviation] = [spread.mean, spread.deviation].map(number);
        let interval = spread
            .interval
            .map(|[low, high]| format!("{} to {}", six_digits(low), six_digits(high)));
        let (time, runs) = (twelve_digits(*time).to_string(), spread.count.to_string());
        [ensemble.name(), time, name, runs, mean, deviation, interval.unwrap_or_default()]
    })
}

fn run_table(evaluation: &Evaluation, document: &mut Document) {
    document.heading("Runs");
    let keys = evaluation.sweep.definition.vary.iter().map(|vary| format!("`{}`", vary.key));
    let names: Vec<String> = ["run".into()]
        .into_iter()
        .chain(keys)
        .chain(["state", "traced (s)"].map(String::from))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let runs = evaluation.sweep.runs.iter().zip(&evaluation.rows);
    let rows = runs.take(ROWS).map(|(run, row)| {
        let state = row.error.as_ref().map_or(row.state.into(), |error| format!("failed: {error}"));
        [&[run.name()], &run.values[..], &[state, number(row.seconds[0])]].concat()
    });
    document.table(&names, rows);
    if evaluation.rows.len() > ROWS {
        let all = evaluation.rows.len();
        document.text(format!("{ROWS} of {all} runs are shown; `sweep.csv` has all."));
    }
}

/// A number in six significant digits, if there is one.
fn number(x: Option<f64>) -> String {
    x.map_or_else(String::new, |x| six_digits(x).to_string())
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

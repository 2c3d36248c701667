//! What is written about a sweep: tables, and a report with pictures.

use super::{
    definition::Sweep,
    ensemble::{self, Ensemble, RunSeries},
    report::{self, Report},
    runs::Outcome,
    table::{self, Row},
};
use crate::{args::SweepArgs, format::Lines};
use anyhow::{Context, Result};
use rayon::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was written, as text and as JSON.
pub struct Written {
    pub text: String,
    pub json: Value,
}

/// A sweep with the statistics of its finished runs.
pub struct Evaluation<'a> {
    pub sweep: &'a Sweep,
    pub rows: Vec<Row>,
    pub ensembles: Vec<Ensemble>,
}

impl Evaluation<'_> {
    /// The unit of a quantity by its power, as in [`QUANTITIES`](super::ensemble::QUANTITIES).
    pub fn unit(&self, power: i32) -> String {
        let units = &self.sweep.runs[0].case.units;
        match (power, units.length.as_str()) {
            (1, length) => length.to_string(),
            (2, length) if !length.is_empty() => format!("{length}²"),
            (-1, _) => units.speed(),
            _ => String::new(),
        }
    }

    /// Number of finished runs.
    pub fn finished(&self) -> usize {
        self.rows.iter().filter(|row| row.state == "finished").count()
    }
}

/// Writes the tables, and the report unless other tasks have runs left or the case wants none.
pub fn write(sweep: &Sweep, outcome: &Outcome, args: &SweepArgs) -> Result<Written> {
    let _lock = sweep.lock()?;
    let (evaluation, mut written) = tables(sweep, &outcome.failed)?;
    let left = sweep.runs.len() - evaluation.finished();
    if sweep.wants_report && evaluation.finished() > 0 && (args.task.is_none() || left == 0) {
        written.extend(report::make(&evaluation)?.files);
    }
    let mut text = files_text(&written);
    if left > 0 {
        text += &format!("unfinished {left} runs\n");
    }
    let json = json!({
        "runs": sweep.runs.len(),
        "finished": evaluation.finished(),
        "failed": outcome.failed.iter().map(|(run, error)| json!({
            "run": sweep.runs[*run].name(), "error": error,
        })).collect::<Vec<_>>(),
        "seconds": { "fields": outcome.seconds[0], "trace": outcome.seconds[1] },
        "ensembles": evaluation.ensembles,
        "written": written,
    });
    Ok(Written { text, json })
}

/// Makes tables and report of the sweep in a folder again.
pub fn again(root: &Path) -> Result<Report> {
    let sweep = Sweep::in_folder(root)?;
    sweep.check_runs()?;
    let _lock = sweep.lock()?;
    let (evaluation, mut files) = tables(&sweep, &BTreeMap::new())?;
    if evaluation.finished() == 0 {
        anyhow::bail!("none of the {} runs in {} is finished", sweep.runs.len(), root.display());
    }
    let report = report::make(&evaluation)?;
    files.extend(report.files);
    Ok(Report { files, ..report })
}

/// Evaluates the finished runs, and writes the tables.
fn tables<'a>(
    sweep: &'a Sweep,
    failed: &BTreeMap<usize, String>,
) -> Result<(Evaluation<'a>, Vec<PathBuf>)> {
    let rows = table::rows(sweep, failed);
    let series: Result<Vec<Option<RunSeries>>> = sweep
        .runs
        .par_iter()
        .zip(&rows)
        .map(|(run, row)| {
            let series = (row.state == "finished").then(|| RunSeries::of(run));
            series.transpose().with_context(|| format!("cannot evaluate {}", run.name()))
        })
        .collect();
    let series = series?;
    let mut written = vec![table::write_runs(sweep, &rows, &series)?];
    let ensembles = ensemble::ensembles(sweep, &series, sweep.definition.confidence);
    written.push(table::write_ensembles(sweep, &ensembles)?);
    Ok((Evaluation { sweep, rows, ensembles }, written))
}

/// The written files in lines.
fn files_text(written: &[PathBuf]) -> String {
    let is_main = |path: &&PathBuf| path.extension().is_some_and(|end| end != "png");
    let mut lines = Lines::default();
    lines.list("written", written.iter().filter(is_main).map(|path| path.display()));
    lines.0
}

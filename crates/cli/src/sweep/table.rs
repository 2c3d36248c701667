//! The runs and the ensembles of a sweep as tables.

use super::{
    definition::Sweep,
    ensemble::{Ensemble, QUANTITIES, RunSeries},
    runs::RunState,
};
use crate::{
    folder::Folder,
    format::{csv_cell, csv_number as number},
};
use anyhow::Result;
use burntrace::{Status, analysis::ensemble::Spread};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A row of `sweep.csv`.
pub struct Row {
    pub state: &'static str,
    pub error: Option<String>,
    /// Seconds of tracing and in total.
    pub seconds: [Option<f64>; 2],
}

/// The states of all runs.
pub fn rows(sweep: &Sweep, failed: &BTreeMap<usize, String>) -> Vec<Row> {
    let row = |(i, run)| {
        let error = failed.get(&i).cloned();
        let (state, summary) = RunState::read(run);
        let state = match (state, &error) {
            (RunState::Finished, _) => "finished",
            (_, Some(_)) => "failed",
            (RunState::InProgress, _) => "in progress",
            (RunState::Stopped, _) => "stopped",
            (RunState::Open, _) => "open",
        };
        let seconds = ["trace", "total"].map(|name| summary["seconds"][name].as_f64());
        Row { state, error, seconds }
    };
    sweep.runs.iter().enumerate().map(row).collect()
}

/// Writes `sweep.csv`: a row for each run, with the quantities at its last save.
pub fn write_runs(sweep: &Sweep, rows: &[Row], series: &[Option<RunSeries>]) -> Result<PathBuf> {
    let ends = series.iter().flatten().flat_map(|run| run.ends.iter().map(|(status, _)| status));
    let statuses: BTreeSet<i32> = ends.map(|status| status.code()).collect();
    let statuses: Vec<Status> = statuses.into_iter().filter_map(Status::from_code).collect();
    let mut table = Table::default();
    let vary = sweep.definition.vary.iter().map(|vary| vary.key.clone());
    let counts = ["state", "seconds_trace", "seconds_total", "released", "active", "ended"];
    let own = ["run".to_string()].into_iter().chain(vary);
    let header = own
        .chain(counts.map(String::from))
        .chain(statuses.iter().map(ToString::to_string))
        .chain(["time".into()])
        .chain(QUANTITIES[2..].iter().map(|(name, _)| name.to_string()))
        .chain(["error".into()]);
    table.row(header);
    for ((run, row), series) in sweep.runs.iter().zip(rows).zip(series) {
        let mut cells = vec![run.name()];
        cells.extend(run.values.iter().cloned());
        cells.push(row.state.into());
        cells.extend(row.seconds.map(|seconds| number(seconds.unwrap_or(f64::NAN))));
        match series {
            Some(series) => cells.extend(of_series(series, &statuses)),
            None => {
                cells.extend(vec![String::new(); 3 + statuses.len() + 1 + QUANTITIES.len() - 2])
            }
        }
        cells.push(row.error.clone().unwrap_or_default());
        table.row(cells);
    }
    table.write(sweep, "sweep.csv")
}

/// The counts of a run, and its quantities at the last save.
fn of_series(series: &RunSeries, statuses: &[Status]) -> Vec<String> {
    let mut cells: Vec<String> = series.counts.iter().map(ToString::to_string).collect();
    cells.extend(statuses.iter().map(|status| {
        let own = series.ends.iter().find(|(other, _)| other == status);
        own.map_or(0, |(_, count)| *count).to_string()
    }));
    cells.push(number(series.times.last().copied().unwrap_or(f64::NAN)));
    let last = series.values.last().copied().unwrap_or([f64::NAN; QUANTITIES.len()]);
    cells.extend(last[2..].iter().copied().map(number));
    cells
}

/// Writes `ensembles.csv`: a row for each ensemble, time and quantity.
pub fn write_ensembles(sweep: &Sweep, ensembles: &[Ensemble]) -> Result<PathBuf> {
    let mut table = Table::default();
    let keys = ensembles.first().map_or(&[][..], |ensemble| &ensemble.values);
    let keys = keys.iter().map(|(key, _)| key.clone());
    let own = ["ensemble".to_string()].into_iter().chain(keys);
    let columns = ["time", "quantity", "runs", "mean", "standard_deviation", "low", "high"];
    table.row(own.chain(columns.map(String::from)));
    for (i, ensemble) in ensembles.iter().enumerate() {
        let quantities = ensemble.quantities.iter().map(|of| (of.name.to_string(), &of.spread));
        let exits = ensemble.exits.iter().map(|of| (of.status.clone(), &of.spread));
        for (name, spread) in quantities.chain(exits) {
            for (time, spread) in ensemble.times.iter().zip(spread).filter(|(_, of)| of.count > 0) {
                let mut cells = vec![i.to_string()];
                cells.extend(ensemble.values.iter().map(|(_, value)| value.clone()));
                cells.extend([number(*time), name.clone()]);
                cells.extend(of_spread(spread));
                table.row(cells);
            }
        }
    }
    table.write(sweep, "ensembles.csv")
}

/// The number of runs, mean, standard deviation and limits of the interval.
fn of_spread(spread: &Spread) -> [String; 5] {
    let Spread { count, mean, deviation, interval } = *spread;
    let [low, high] = interval.unwrap_or([f64::NAN; 2]);
    let [mean, deviation] = [mean, deviation].map(|x| x.unwrap_or(f64::NAN));
    [count.to_string(), number(mean), number(deviation), number(low), number(high)]
}

/// A table in the CSV format.
#[derive(Default)]
struct Table {
    text: String,
}

impl Table {
    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| csv_cell(&cell)).collect();
        self.text += &cells.join(",");
        self.text.push('\n');
    }

    fn write(&self, sweep: &Sweep, name: &str) -> Result<PathBuf> {
        let folder = Folder::at(&sweep.root);
        folder.write(name, &self.text)?;
        Ok(folder.path(name))
    }
}

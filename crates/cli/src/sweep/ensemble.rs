//! The runs of a sweep over time, and their spread over ensembles.

use super::definition::{Sweep, SweepRun};
use crate::{format::twelve_digits, results::Results};
use anyhow::Result;
use burntrace::{
    Status,
    analysis::{
        ensemble::Spread,
        statistics::{SaveStatistics, TrackStatistics},
    },
};
use serde::Serialize;

/// The quantities at each save: their names, and whether they are lengths (1), lengths squared (2) or
/// lengths per time (-1).
pub const QUANTITIES: [(&str, i32); 12] = [
    ("active", 0),
    ("ended", 0),
    ("mean_x", 1),
    ("mean_y", 1),
    ("mean_z", 1),
    ("variance_x", 2),
    ("variance_y", 2),
    ("variance_z", 2),
    ("mean_square_displacement_x", 2),
    ("mean_square_displacement_y", 2),
    ("mean_square_displacement_z", 2),
    ("mean_speed", -1),
];

/// The name of the ends with any status.
pub const ALL_ENDS: &str = "ended in any way";

/// A run over time.
pub struct RunSeries {
    pub times: Vec<f64>,
    /// The [`QUANTITIES`] at each save; NaN where undefined.
    pub values: Vec<[f64; QUANTITIES.len()]>,
    /// The number of particles that had ended with each status at each save.
    pub exits: Vec<(Status, Vec<f64>)>,
    /// Counts of all particles at the end: released, active and ended.
    pub counts: [u64; 3],
    /// Number of particles that ended with each status.
    pub ends: Vec<(Status, u64)>,
}

impl RunSeries {
    /// The statistics of a finished run.
    pub fn of(run: &SweepRun) -> Result<RunSeries> {
        let results = Results::open(&run.folder.root)?;
        let TrackStatistics { times, all, .. } = results.statistics(&[], false)?;
        let exits = all.ends.iter().map(|end| {
            let mut sum = 0;
            let counts = end.over_time.counts.iter().take(times.len());
            let sums = counts.map(|count| {
                sum += count;
                sum as f64
            });
            (end.status, sums.collect())
        });
        Ok(RunSeries {
            exits: exits.collect(),
            ends: all.ends.iter().map(|end| (end.status, end.count)).collect(),
            counts: [all.released, all.active, all.ended],
            values: all.saves.iter().map(quantities).collect(),
            times,
        })
    }
}

fn quantities(save: &SaveStatistics) -> [f64; QUANTITIES.len()] {
    let [a, b, c] = [save.centroid, save.variance, save.mean_square_displacement]
        .map(|xyz| xyz.unwrap_or([f64::NAN; 3]));
    let speed = save.mean_speed.unwrap_or(f64::NAN);
    let (active, ended) = (save.active as f64, save.ended as f64);
    [active, ended, a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], speed]
}

/// Keys of the case and their values.
type KeyValues = Vec<(String, String)>;

/// Runs that differ only in the seeds of random numbers.
#[derive(Serialize)]
pub struct Ensemble {
    /// The values of the other keys.
    pub values: KeyValues,
    /// The indices of its finished runs.
    pub runs: Vec<usize>,
    /// Times of the saves that all of its runs have.
    pub times: Vec<f64>,
    pub quantities: Vec<QuantitySpread>,
    /// The number of particles that have ended, by status.
    pub exits: Vec<ExitSpread>,
}

/// A quantity over the runs of an ensemble, at each time.
#[derive(Serialize)]
pub struct QuantitySpread {
    pub name: &'static str,
    pub spread: Vec<Spread>,
}

/// Ended particles over the runs of an ensemble, at each time.
#[derive(Serialize)]
pub struct ExitSpread {
    pub status: String,
    pub spread: Vec<Spread>,
}

impl Ensemble {
    /// The value of a varied key, as given.
    pub fn value_of(&self, key: &str) -> Option<&String> {
        self.values.iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// The number of particles that had ended with a status at the last save, which no run may have; `None` without saves.
    pub fn ended(&self, status: &str) -> Option<Spread> {
        let own = self.exits.iter().find(|of| of.status == status);
        let none = || Spread::of(&vec![0.0; self.runs.len()], 0.95);
        let last = |of: &ExitSpread| of.spread.last().copied();
        own.map_or_else(|| self.times.last().map(|_| none()), last)
    }

    /// Its values as text, as `trace.dt=0.1`; the number of its run if it has no other name.
    pub fn name(&self) -> String {
        let pairs = self.values.iter().map(|(key, value)| format!("{key}={value}"));
        match self.values.is_empty() {
            true => "all runs".into(),
            false => pairs.collect::<Vec<_>>().join(" "),
        }
    }
}

/// The ensembles of a sweep, in the order of their first runs. `series` has the finished runs.
pub fn ensembles(sweep: &Sweep, series: &[Option<RunSeries>], confidence: f64) -> Vec<Ensemble> {
    let vary = &sweep.definition.vary;
    let mut groups: Vec<(KeyValues, Vec<usize>)> = Vec::new();
    for (i, run) in sweep.runs.iter().enumerate().filter(|(i, _)| series[*i].is_some()) {
        let pairs = vary.iter().zip(&run.values).filter(|(vary, _)| !vary.is_seed());
        let values: Vec<_> = pairs.map(|(vary, value)| (vary.key.clone(), value.clone())).collect();
        match groups.iter_mut().find(|(own, _)| *own == values) {
            Some((_, runs)) => runs.push(i),
            None => groups.push((values, vec![i])),
        }
    }
    let ensemble = |(values, runs): (KeyValues, Vec<usize>)| {
        let own: Vec<&RunSeries> = runs.iter().filter_map(|run| series[*run].as_ref()).collect();
        spread((values, runs), &own, confidence)
    };
    groups.into_iter().map(ensemble).collect()
}

fn spread(
    (values, runs): (KeyValues, Vec<usize>),
    series: &[&RunSeries],
    confidence: f64,
) -> Ensemble {
    let saves = common_saves(series);
    let times = saves.iter().map(|rows| series[0].times[rows[0]]).collect();
    let over_runs = |value: &dyn Fn(&RunSeries, usize) -> f64| -> Vec<Spread> {
        let at = |rows: &Vec<usize>| {
            let numbers: Vec<f64> =
                series.iter().zip(rows).map(|(run, row)| value(run, *row)).collect();
            Spread::of(&numbers, confidence)
        };
        saves.iter().map(at).collect()
    };
    let quantities = QUANTITIES.iter().enumerate().map(|(i, (name, _))| QuantitySpread {
        name,
        spread: over_runs(&|run, row| run.values[row][i]),
    });
    let mut statuses: Vec<Status> =
        series.iter().flat_map(|run| run.exits.iter().map(|(status, _)| *status)).collect();
    statuses.sort_by_key(|status| status.code());
    statuses.dedup();
    let ended = |run: &RunSeries, row: usize, status: Status| {
        let own = run.exits.iter().find(|(other, _)| *other == status);
        own.map_or(0.0, |(_, counts)| counts.get(row).copied().unwrap_or(f64::NAN))
    };
    let exits = statuses.iter().map(|status| ExitSpread {
        status: status.to_string(),
        spread: over_runs(&|run, row| ended(run, row, *status)),
    });
    let all = (!statuses.is_empty()).then(|| ExitSpread {
        status: ALL_ENDS.into(),
        spread: over_runs(&|run, row| statuses.iter().map(|of| ended(run, row, *of)).sum()),
    });
    let exits = exits.chain(all).collect();
    Ensemble { quantities: quantities.collect(), exits, values, runs, times }
}

/// For each save that all runs have at the same time, its index in each run.
fn common_saves(series: &[&RunSeries]) -> Vec<Vec<usize>> {
    let Some((first, others)) = series.split_first() else { return Vec::new() };
    let is_same = |a: f64, b: f64| twelve_digits(a) == twelve_digits(b);
    let rows = first.times.iter().enumerate().filter_map(|(row, time)| {
        let other = |run: &&RunSeries| {
            // Nearly always, all runs have the same saves.
            let here = run.times.get(row).is_some_and(|other| is_same(*other, *time));
            let found = || run.times.iter().position(|other| is_same(*other, *time));
            if here { Some(row) } else { found() }
        };
        std::iter::once(Some(row)).chain(others.iter().map(other)).collect()
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(times: &[f64], active: f64) -> RunSeries {
        let mut values = vec![[f64::NAN; QUANTITIES.len()]; times.len()];
        values.iter_mut().for_each(|row| row[0] = active);
        let (exits, ends) = (Vec::new(), Vec::new());
        RunSeries { times: times.to_vec(), values, exits, counts: [0; 3], ends }
    }

    #[test]
    fn only_times_that_all_runs_have_are_compared() {
        let runs = [series(&[0.0, 0.1 + 0.2, 1.0], 1.0), series(&[0.0, 0.1, 0.3], 3.0)];
        let found = spread((Vec::new(), vec![0, 1]), &[&runs[0], &runs[1]], 0.95);
        assert_eq!(found.times, [0.0, 0.1 + 0.2]);
        let active = &found.quantities[0].spread;
        assert_eq!((active.len(), active[1].mean), (2, Some(2.0)));
        assert_eq!(found.quantities[2].spread[0].count, 0);
    }
}

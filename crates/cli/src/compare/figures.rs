//! Pictures of a comparison: distances over time, and the ends of particles that end differently.

use super::{
    Comparison,
    ends::{EndComparison, RunEnds},
    positions::{PositionComparison, SaveDistances},
};
use crate::{
    args::StyleArgs,
    figure_dir::{FigureDir, Formats, plot_error},
    format::count,
    results::Results,
};
use anyhow::Result;
use burntrace_plot::{Axis, Curves, picture};
use std::path::{Path, PathBuf};

/// Maximum number of pairs of statuses in a picture: that of the colours of curves.
const PAIRS: usize = 7;
/// Maximum number of particles of a pair in a picture.
const PARTICLES: usize = 2000;
/// From this ratio of distances on, their axis is logarithmic.
const LOG_RATIO: f64 = 100.0;

/// The written pictures, and why others are missing.
#[derive(Default)]
pub struct Figures {
    pub files: Vec<PathBuf>,
    pub missing: Vec<String>,
}

/// Writes `distances.png` and `ends.png` into a folder.
pub fn make(
    comparison: &Comparison,
    runs: &[Results; 2],
    ends: &[RunEnds; 2],
    folder: &Path,
) -> Result<Figures> {
    let mut figures = FigureDir::at(folder, Formats::default())?;
    let mut missing = Vec::new();
    let none = || Err("the runs have different numbers of slots".to_string());
    let distances = comparison.positions.as_ref().map_or_else(none, |of| distances(of, runs));
    let of_ends = match &comparison.ends {
        Some(of) => ends_picture(of, runs, ends)?,
        None => none(),
    };
    if of_ends.is_ok() {
        missing.extend(comparison.ends.iter().filter_map(not_all));
    }
    let style = StyleArgs::default().style();
    for (name, curves) in [("distances", distances), ("ends", of_ends)] {
        match curves {
            Ok(curves) => {
                figures.add(name, &picture::curves(&curves, &style).map_err(plot_error)?)?;
            }
            Err(reason) => missing.push(format!("{name}: {reason}")),
        }
    }
    Ok(Figures { files: figures.written, missing })
}

/// What a picture of ends does not show.
fn not_all(ends: &EndComparison) -> Option<String> {
    let shown = ends.changes.iter().take(PAIRS).map(|change| change.count.min(PARTICLES));
    let rest = ends.different - shown.sum::<usize>();
    (rest > 0).then(|| {
        let [pairs, most] = [PAIRS, PARTICLES].map(count);
        format!(
            "ends of {} particles: up to {most} are shown for each of the {pairs} most frequent pairs of statuses",
            count(rest)
        )
    })
}

/// The distances over time, or why there are none.
fn distances(positions: &PositionComparison, runs: &[Results; 2]) -> Result<Curves, String> {
    let saves = &positions.saves;
    if saves.len() < 2 {
        return Err(format!("the runs have {} saves at the same times", saves.len()));
    }
    let curve = |name: &str, of: fn(&SaveDistances) -> Option<f64>| {
        let points = saves.iter().map(|save| [save.time, of(save).unwrap_or(f64::NAN)]);
        (name.to_string(), points.collect::<Vec<[f64; 2]>>())
    };
    let series = vec![
        curve("median", |save| save.median),
        curve("90 % of the particles", |save| save.p90),
        curve("maximum", |save| save.max),
    ];
    let values = series.iter().flat_map(|(_, points)| points).map(|point| point[1]);
    let [low, high] = values
        .filter(|x| *x > 0.0)
        .fold([f64::INFINITY, 0.0], |[low, high], x: f64| [low.min(x), high.max(x)]);
    let units = runs[0].units();
    let length = if runs[0].radius().is_some() { "m".into() } else { units.length };
    let axis = |name: &str, unit: String| Axis { name: name.into(), unit, range: [0.0; 2] };
    Ok(Curves {
        axes: [axis("time", units.time), axis("distance", length)],
        log: [false, high >= LOG_RATIO * low],
        series,
        bands: Vec::new(),
        title: "distance between particles of the two runs".into(),
    })
}

/// The last positions in the first run of particles that end differently, by both statuses; or why there are none.
fn ends_picture(
    comparison: &EndComparison,
    runs: &[Results; 2],
    [a, b]: &[RunEnds; 2],
) -> Result<Result<Curves, String>> {
    let tracks = &runs[0].tracks;
    let axes = runs[0].axes();
    let (Some(last), &[x, y, ..]) = (tracks.num_saves().checked_sub(1), &axes[..]) else {
        return Ok(Err("the first run has no plane".into()));
    };
    if comparison.different == 0 {
        return Ok(Err("all particles end alike".into()));
    }
    let positions = tracks.position(last)?;
    let series = comparison.changes.iter().take(PAIRS).map(|change| {
        let is_of = |slot: &usize| {
            a.status[*slot].to_string() == change.statuses[0]
                && b.status[*slot].to_string() == change.statuses[1]
        };
        let slots = (0..positions.len()).filter(is_of).take(PARTICLES);
        // Points, not lines.
        let points =
            slots.flat_map(|slot| [[positions[slot][x], positions[slot][y]], [f64::NAN; 2]]);
        let [before, after] = &change.statuses;
        (format!("{before} and {after} ({})", count(change.count)), points.collect())
    });
    let names = tracks.units().axis_names();
    let axis = |d: usize| {
        let [name, unit] = names[d].clone();
        Axis { name, unit, range: runs[0].domain.map(|corner| corner[d]) }
    };
    Ok(Ok(Curves {
        axes: [axis(x), axis(y)],
        log: [false; 2],
        series: series.collect(),
        bands: Vec::new(),
        title:
            "last positions in the first run of particles that end differently, by both statuses"
                .into(),
    }))
}

//! Time series of a run.

use super::capitalized;
use crate::results::Results;
use burntrace::analysis::statistics::{EndStatistics, SaveStatistics, TrackStatistics};
use burntrace_plot::{Axis, Curves};

/// Curves with a file name and a caption.
pub struct NamedCurves {
    pub name: &'static str,
    pub caption: &'static str,
    pub curves: Curves,
}

/// Numbers of particles by status. `None` if all particles are active at all saves.
pub fn counts(results: &Results, statistics: &TrackStatistics) -> Option<NamedCurves> {
    let all_active = |save: &SaveStatistics| save.ended + save.waiting == 0;
    if statistics.times.len() < 2 || statistics.all.saves.iter().all(all_active) {
        return None;
    }
    let saves = &statistics.all.saves;
    let mut series = vec![curve("Active", statistics, |save| Some(save.active as f64))];
    if saves.iter().any(|save| save.ended > 0) {
        series.push(curve("Ended", statistics, |save| Some(save.ended as f64)));
    }
    if saves.iter().any(|save| save.waiting > 0) {
        // Slots of sources are empty before their first particle, and after one that is not followed.
        let is_of_slots = results.tracks.num_instances().is_some();
        let name = if is_of_slots { "Waiting or empty slots" } else { "Waiting" };
        series.push(curve(name, statistics, |save| Some(save.waiting as f64)));
    }
    let curves = Curves {
        axes: [time(results), axis("number of particles", String::new())],
        log: [false; 2],
        series,
        bands: Vec::new(),
        title: "particles by status".into(),
    };
    let caption = "Number of particles by status.";
    Some(NamedCurves { name: "particles", caption, curves })
}

/// Cumulative number of ended particles, by cause. `None` if none has ended, or for a single save.
pub fn ends(results: &Results, statistics: &TrackStatistics) -> Option<NamedCurves> {
    if statistics.times.len() < 2 || statistics.all.ends.is_empty() {
        return None;
    }
    let sum = |end: &EndStatistics| {
        let bins = end.over_time.edges.iter().zip(&end.over_time.counts);
        let points = bins.scan(0, |sum, (&edge, count)| {
            *sum += count;
            Some([edge, *sum as f64])
        });
        (capitalized(&end.status.to_string()), points.collect())
    };
    let curves = Curves {
        axes: [time(results), axis("number of particles", String::new())],
        log: [false; 2],
        series: statistics.all.ends.iter().map(sum).collect(),
        bands: Vec::new(),
        title: "ended particles".into(),
    };
    let caption = "Cumulative number of ended particles, by cause.";
    Some(NamedCurves { name: "ends", caption, curves })
}

/// Dispersion of the active particles. `None` for a single save, or if no save has particles.
pub fn dispersion(results: &Results, statistics: &TrackStatistics) -> Option<NamedCurves> {
    let is_empty = |save: &SaveStatistics| save.counted == 0;
    if statistics.times.len() < 2 || statistics.all.saves.iter().all(is_empty) {
        return None;
    }
    let square = match results.units().length.as_str() {
        "" => String::new(),
        length => format!("{length}²"),
    };
    let total = |xyz: Option<[f64; 3]>| xyz.map(|xyz| xyz.iter().sum());
    let displacement = |s: &SaveStatistics| total(s.mean_square_displacement);
    let mut series = vec![
        curve("Displacement since the release", statistics, displacement),
        curve("Distance from the centroid", statistics, |s| total(s.variance)),
    ];
    // Where slots are re-used, fewer and fewer pairs are left.
    let has_pairs = results.tracks.num_instances().is_none();
    if has_pairs {
        series.push(curve("Distance within pairs", statistics, |s| total(s.pair_dispersion)));
    }
    let curves = Curves {
        axes: [time(results), axis("mean square", square)],
        log: [false; 2],
        series,
        bands: Vec::new(),
        title: "dispersion".into(),
    };
    let caption = match has_pairs {
        true => {
            "Dispersion of the active particles: mean-square distance from the release position, from the \
             centroid, and within pairs of neighbouring slots."
        }
        false => {
            "Dispersion of the active particles: mean-square distance from the release position and from the \
             centroid."
        }
    };
    Some(NamedCurves { name: "dispersion", caption, curves })
}

fn time(results: &Results) -> Axis {
    axis("time", results.units().time)
}

/// An axis that takes its range from the data.
fn axis(name: &str, unit: String) -> Axis {
    Axis { name: name.into(), unit, range: [0.0; 2] }
}

/// A quantity at each save.
fn curve(
    name: &str,
    statistics: &TrackStatistics,
    value: impl Fn(&SaveStatistics) -> Option<f64>,
) -> (String, Vec<[f64; 2]>) {
    let points = statistics.times.iter().zip(&statistics.all.saves);
    (name.into(), points.map(|(&time, save)| [time, value(save).unwrap_or(f64::NAN)]).collect())
}

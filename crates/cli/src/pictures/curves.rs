//! What goes with time.

use crate::results::Results;
use burntrace::analysis::statistics::{EndStatistics, SaveStatistics, TrackStatistics};
use burntrace_plot::{Axis, Curves};

/// Curves, the name of their file, and what they show.
pub struct Named {
    pub name: &'static str,
    pub caption: &'static str,
    pub curves: Curves,
}

/// How many particles there are; none where all are active all the time.
pub fn counts(results: &Results, found: &TrackStatistics) -> Option<Named> {
    let is_plain = |save: &SaveStatistics| save.ended + save.waiting == 0;
    if found.times.len() < 2 || found.all.saves.iter().all(is_plain) {
        return None;
    }
    let curves = Curves {
        axes: [time(results), axis("particles", String::new())],
        log: [false; 2],
        series: vec![
            curve("active", found, |save| Some(save.active as f64)),
            curve("ended", found, |save| Some(save.ended as f64)),
            curve("waiting", found, |save| Some(save.waiting as f64)),
        ],
        title: "particles by status".into(),
    };
    let caption = "Slots with an active particle, with one that has ended, and without one.";
    Some(Named { name: "particles", caption, curves })
}

/// How many particles have ended until when, by way of ending; none where none has, or where there
/// is a single save.
pub fn ends(results: &Results, found: &TrackStatistics) -> Option<Named> {
    if found.times.len() < 2 || found.all.ends.is_empty() {
        return None;
    }
    let sum = |end: &EndStatistics| {
        let bins = end.over_time.edges.iter().zip(&end.over_time.counts);
        let points = bins.scan(0, |sum, (&edge, count)| {
            *sum += count;
            Some([edge, *sum as f64])
        });
        (end.status.to_string(), points.collect())
    };
    let curves = Curves {
        axes: [time(results), axis("particles", String::new())],
        log: [false; 2],
        series: found.all.ends.iter().map(sum).collect(),
        title: "particles that have ended".into(),
    };
    let caption = "How many particles have ended until when, by way of ending.";
    Some(Named { name: "ends", caption, curves })
}

/// How particles spread; none where there is a single save, or no particle in any.
pub fn spread(results: &Results, found: &TrackStatistics) -> Option<Named> {
    let is_empty = |save: &SaveStatistics| save.counted == 0;
    if found.times.len() < 2 || found.all.saves.iter().all(is_empty) {
        return None;
    }
    let square = match results.units().length.as_str() {
        "" => String::new(),
        length => format!("{length}²"),
    };
    let total = |xyz: Option<[f64; 3]>| xyz.map(|xyz| xyz.iter().sum());
    let curves = Curves {
        axes: [time(results), axis("length squared", square)],
        log: [false; 2],
        series: vec![
            curve("mean-square displacement", found, |s| total(s.mean_square_displacement)),
            curve("about the centroid", found, |s| total(s.variance)),
            curve("between pairs", found, |s| total(s.pair_dispersion)),
        ],
        title: "dispersion".into(),
    };
    let caption = "How far active particles are from their release, from their centroid, and in \
                   pairs of neighbouring slots from each other.";
    Some(Named { name: "dispersion", caption, curves })
}

fn time(results: &Results) -> Axis {
    axis("time", results.units().time)
}

/// An axis with the range of what is shown.
fn axis(name: &str, unit: String) -> Axis {
    Axis { name: name.into(), unit, range: [0.0; 2] }
}

/// A number at each save.
fn curve(
    name: &str,
    found: &TrackStatistics,
    of: impl Fn(&SaveStatistics) -> Option<f64>,
) -> (String, Vec<[f64; 2]>) {
    let points = found.times.iter().zip(&found.all.saves);
    (name.into(), points.map(|(&time, save)| [time, of(save).unwrap_or(f64::NAN)]).collect())
}

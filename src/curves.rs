//! Time series and residence times from the [statistics](crate::analysis::statistics) of a run, for
//! [pictures](crate::plot).

use burntrace_analysis::gates::{GatePassages, PassageStatistics};
use burntrace_analysis::separations::{PairClass, PairStatistics};
use burntrace_analysis::spectrum::{VelocityComponent, VelocityStatistics};
use burntrace_analysis::statistics::{EndStatistics, SaveStatistics, TrackStatistics};
use burntrace_io::tracks::Units;
use burntrace_plot::{Axis, Curves, Histogram};

/// Curves with a name and a caption.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCurves {
    /// A short name: `particles`, `ends`, `dispersion`.
    pub name: &'static str,
    /// What they show.
    pub caption: &'static str,
    /// The curves.
    pub curves: Curves,
}

/// Time series of a run: those of particles by status, of ended particles by cause, and of dispersion that have
/// something to show.
pub fn of(statistics: &TrackStatistics, units: &Units) -> Vec<NamedCurves> {
    [counts, ends, dispersion].iter().filter_map(|make| make(statistics, units)).collect()
}

/// Numbers of particles by status. `None` if all particles are active at all saves.
fn counts(statistics: &TrackStatistics, units: &Units) -> Option<NamedCurves> {
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
        let name = if statistics.reuses_slots { "Waiting or empty slots" } else { "Waiting" };
        series.push(curve(name, statistics, |save| Some(save.waiting as f64)));
    }
    let curves = Curves {
        axes: [time(units), axis("number of particles", String::new())],
        log: [false; 2],
        series,
        bands: Vec::new(),
        title: "particles by status".into(),
    };
    let caption = "Number of particles by status.";
    Some(NamedCurves { name: "particles", caption, curves })
}

/// Cumulative number of ended particles, by cause. `None` if none has ended, or for a single save.
fn ends(statistics: &TrackStatistics, units: &Units) -> Option<NamedCurves> {
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
        axes: [time(units), axis("number of particles", String::new())],
        log: [false; 2],
        series: statistics.all.ends.iter().map(sum).collect(),
        bands: Vec::new(),
        title: "ended particles".into(),
    };
    let caption = "Cumulative number of ended particles, by cause.";
    Some(NamedCurves { name: "ends", caption, curves })
}

/// Dispersion of the active particles. `None` for a single save, or if no save has particles.
fn dispersion(statistics: &TrackStatistics, units: &Units) -> Option<NamedCurves> {
    let is_empty = |save: &SaveStatistics| save.counted == 0;
    if statistics.times.len() < 2 || statistics.all.saves.iter().all(is_empty) {
        return None;
    }
    let square = match units.length.as_str() {
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
    let has_pairs = !statistics.reuses_slots;
    if has_pairs {
        series.push(curve("Distance within pairs", statistics, |s| total(s.pair_dispersion)));
    }
    let curves = Curves {
        axes: [time(units), axis("mean square", square)],
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

fn time(units: &Units) -> Axis {
    axis("time", units.time.clone())
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

/// Which part of the released particles has passed each gate, over the time since the release. `None` if none has.
pub fn first_passages(statistics: &PassageStatistics, units: &Units) -> Option<NamedCurves> {
    let all = statistics.particles as f64;
    let passed = |gate: &GatePassages| {
        let times = &gate.first_passage_times;
        // Enough points for a picture.
        let step = times.len().div_ceil(POINTS).max(1);
        let point = |(k, time): (usize, &f64)| [*time, (k + 1) as f64 / all];
        let all = times.iter().enumerate().map(point);
        let points: Vec<[f64; 2]> =
            all.enumerate().filter(|(k, _)| (k + 1) % step == 0).map(|(_, p)| p).collect();
        (gate.name.clone(), [vec![[0.0, 0.0]], points].concat())
    };
    let gates = statistics.gates.iter().filter(|gate| gate.first_passage.is_some());
    let series: Vec<_> = gates.map(passed).collect();
    let name = "time since the release";
    (!series.is_empty()).then(|| NamedCurves {
        name: "first_passages",
        caption: "The part of the released particles that has crossed each gate, or entered the region, for the first time.",
        curves: Curves {
            axes: [axis(name, units.time.clone()), axis("part of the particles", String::new())],
            log: [false; 2],
            series,
            bands: Vec::new(),
            title: "first passages".into(),
        },
    })
}

/// How [pairs](crate::analysis::separations) of particles separate: the root mean square distance by time for each class of initial
/// distances, and the exponent by distance.
pub fn of_pairs(statistics: &PairStatistics, units: &Units) -> Vec<NamedCurves> {
    let class = |class: &PairClass| {
        let points = statistics.times.iter().zip(&class.mean_square);
        let [from, to] = class.distances;
        (format!("{from} to {to}"), points.map(|(time, mean)| [*time, mean.sqrt()]).collect())
    };
    let classes = statistics.classes.iter().filter(|class| class.counts[0] > 0).map(class);
    let distance = |name: &str| axis(name, units.length.clone());
    let apart = Curves {
        axes: [
            axis("time since the first save", units.time.clone()),
            distance("root mean square distance"),
        ],
        log: [false, true],
        series: classes.collect(),
        bands: Vec::new(),
        title: "pairs by initial distance".into(),
    };
    let caption = "The root mean square distance of pairs, by their distance at the first save.";
    let mut all = vec![NamedCurves { name: "pair_distances", caption, curves: apart }];
    let known = statistics.exponents.iter().filter(|of| of.pairs >= FEW);
    let exponents: Vec<[f64; 2]> = known.map(|of| [of.distance, of.rate]).collect();
    if exponents.len() > 1 {
        let per = if units.time.is_empty() { String::new() } else { format!("1/{}", units.time) };
        let curves = Curves {
            axes: [distance("distance"), axis("finite-size Lyapunov exponent", per)],
            log: [true; 2],
            series: vec![("FSLE".into(), exponents)],
            bands: Vec::new(),
            title: "growth of distances".into(),
        };
        let caption = "The rate at which pairs at a distance grow apart, of 30 pairs or more.";
        all.push(NamedCurves { name: "exponents", caption, curves });
    }
    all
}

/// The autocorrelation of [velocities](crate::analysis::spectrum) along tracks by lag, and their spectrum if there is one: of the components that
/// vary, which have the first three names, and of their sum.
pub fn of_velocities(
    statistics: &VelocityStatistics,
    names: [&str; 4],
    units: &Units,
) -> Vec<NamedCurves> {
    let components = statistics.components.iter().chain([&statistics.total]);
    let all: Vec<_> =
        names.into_iter().zip(components).filter(|(_, of)| of.variance > 0.0).collect();
    let series = |at: &[f64], values: fn(&VelocityComponent) -> &Vec<f64>| {
        let points = |of| at.iter().zip(values(of)).map(|(x, y)| [*x, *y]).collect();
        all.iter().map(|(name, of)| (name.to_string(), points(of))).collect()
    };
    let correlation = Curves {
        axes: [axis("lag", units.time.clone()), axis("autocorrelation", String::new())],
        log: [false; 2],
        series: series(&statistics.lags, |of| &of.correlation),
        bands: Vec::new(),
        title: "autocorrelation of velocities".into(),
    };
    let caption =
        "The autocorrelation of the velocities along tracks, by component and of their sum.";
    let mut curves = vec![NamedCurves { name: "autocorrelation", caption, curves: correlation }];
    if statistics.whole > 0 {
        let [per, density] = match (units.length.as_str(), units.time.as_str()) {
            (_, "") => [String::new(), String::new()],
            ("", time) => [format!("1/{time}"), String::new()],
            (length, time) => [format!("1/{time}"), format!("{length}²/{time}")],
        };
        let spectrum = Curves {
            axes: [axis("frequency", per), axis("power spectral density", density)],
            log: [true; 2],
            series: series(&statistics.frequencies, |of| &of.spectrum),
            bands: Vec::new(),
            title: "spectrum of velocities".into(),
        };
        let caption = "The power spectral density of the velocities along tracks, by component and of their sum.";
        curves.push(NamedCurves { name: "spectrum", caption, curves: spectrum });
    }
    curves
}

/// Number of pairs below which an exponent is not drawn.
const FEW: u64 = 30;

/// Points of a curve of first passages.
const POINTS: usize = 500;

/// Histogram of residence times. `None` if no particle has ended.
pub fn residence(statistics: &TrackStatistics, units: &Units) -> Option<Histogram> {
    let times = &statistics.all.residence;
    let edges = times.histogram.edges.clone();
    let [first, .., last] = edges[..] else { return None };
    // Edges from above 0 have equal ratios.
    // The bins below the first edge and above the last one are added to their neighbours.
    let mut counts = times.histogram.counts[1..edges.len()].to_vec();
    *counts.first_mut()? += times.histogram.counts[0];
    *counts.last_mut()? += times.histogram.counts[edges.len()];
    (times.count > 0).then(|| Histogram {
        axis: Axis {
            name: "residence time".into(),
            unit: units.time.clone(),
            range: [first, last],
        },
        edges,
        series: vec![("ended".into(), counts)],
        title: "residence times".into(),
        log: first > 0.0,
    })
}

/// A title with a capital first letter.
pub fn capitalized(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

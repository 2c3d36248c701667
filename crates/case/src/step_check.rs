//! Whether the steps of a case are right: ends of a sample of its particles with other steps, precision and frames.

use crate::{
    Error,
    console::{Console, Silent},
    file::{Case, FieldSource, Misuse, Save, SeedShape, Seeds},
    in_memory::DeviceField,
    job,
};
use anyhow::Result;
use burntrace_analysis::{skill::straight, statistics::interpolate};
use burntrace_core::{Courant, Precision, Scheme, Span, Status, Tracks, sphere};
use serde::Serialize;

/// How far the ends of particles are from those of runs with other steps, precision and frames.
#[derive(Clone, Debug, Serialize)]
pub struct StepCheck {
    /// Number of particles that were traced, and of those of the case.
    pub particles: [usize; 2],
    /// The scheme of the steps.
    #[serde(with = "burntrace_core::names::Scheme")]
    pub scheme: Scheme,
    /// Median distance from the release to the end, as a length.
    pub travel: f64,
    /// How many cells a particle crosses in a step, in the frame at the start; `None` if the field has no cells, or does not move.
    pub cells_per_step: Option<Courant>,
    /// The comparisons.
    pub comparisons: Vec<Comparison>,
    /// The order that two halvings of the step show; `None` if the differences are those of rounding, or there are none.
    pub order: Option<f64>,
    /// The error of the case's own step that follows from them, as a length (median).
    pub error: Option<f64>,
    /// What was left out.
    pub notes: Vec<String>,
}

/// Distances between the ends of two runs, as lengths.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What differs: `dt`, `precision` or `frames`.
    pub key: &'static str,
    /// Its values in both runs.
    pub values: [String; 2],
    /// The median distance.
    pub median: f64,
    /// That of the ninetieth of a hundred particles.
    pub p90: f64,
    /// The largest one.
    pub max: f64,
    /// Number of particles that end otherwise in the other run.
    pub other_ends: usize,
}

/// Ends of particles.
#[derive(Default)]
struct Ends {
    position: Vec<[f64; 3]>,
    status: Vec<Status>,
    /// Distances from the release.
    travel: Vec<f64>,
    radius: Option<f64>,
}

impl Case {
    /// Traces a sample of the case's particles with its steps, half and a quarter of them, in both precisions, and with every second
    /// frame, and compares their ends. No file is written. A random walk is left out.
    ///
    /// # Errors
    ///
    /// If the case is invalid, has a tolerance or diameters by column, or a run fails.
    pub fn check_steps(&self, particles: usize, console: &dyn Console) -> Result<StepCheck, Error> {
        Ok(check(self, particles, console)?)
    }
}

fn check(case: &Case, particles: usize, console: &dyn Console) -> Result<StepCheck> {
    let (mut case, mut notes) = plain(case)?;
    case.check()?;
    let own = case.run.precision;
    let device = case.open_device(console)?;
    if device.has_f64 {
        case.run.precision = Precision::F64;
    }
    let field = case.load(console)?;
    let particles = sample(&mut case, &field, particles)?;
    let span = job::time_span(&case, field.loaded())?;
    let with_step = |parts: u32| {
        let dt = Some(span.dt / f64::from(parts));
        let span = Span { t0: Some(span.t0), t1: Some(span.t1), dt, steps: None };
        let mut case = case.clone();
        case.trace.span = span;
        case
    };
    let runs = [1, 2, 4].map(|parts| ends(&field, &with_step(parts)));
    let [first, second, third] = runs;
    let (first, second, third) = (first?, second?, third?);
    let dt = |parts: f64| format!("{}", crate::format::twelve_digits(span.dt / parts));
    let halved = first.compare(&second, "dt", [dt(1.0), dt(2.0)]);
    let quartered = second.compare(&third, "dt", [dt(2.0), dt(4.0)]);
    let travel = quantile(first.travel.clone(), 0.5);
    let order = order(&halved, &quartered, travel, case.run.precision);
    let error = order.map(|order| halved.median / (1.0 - 2_f64.powf(-order)));
    let mut comparisons = vec![halved, quartered];
    if device.has_f64 {
        let single = Case {
            run: crate::file::Run { precision: Precision::F32, ..case.run.clone() },
            ..with_step(1)
        };
        let single = ends(&single.load(&Silent::default())?, &single)?;
        comparisons.push(first.compare(&single, "precision", ["f64".into(), "f32".into()]));
        if own == Precision::F32 {
            notes.push("steps and frames are compared in f64; the case has f32".into());
        }
    } else {
        notes.push(format!(
            "`{}` has no f64, so that differences of steps include rounding",
            device.name
        ));
    }
    comparisons.extend(frames(&with_step(1), &field, &first, &mut notes));
    let scheme = case.trace.solver.scheme;
    let cells_per_step = Courant::of(&*field.loaded().field, span.t0, span.dt)?;
    Ok(StepCheck { particles, scheme, travel, cells_per_step, comparisons, order, error, notes })
}

/// The case without what has nothing to do with its steps, and what was left out.
fn plain(case: &Case) -> Result<(Case, Vec<String>)> {
    if case.trace.solver.tolerance.is_some() {
        return Err(Misuse::error(
            "the case has [trace.tolerance], by which steps are chosen; compare tolerances with `burntrace sweep`",
        ));
    }
    if let Some(column) = job::columns(case).first() {
        return Err(Misuse::error(format!(
            "the case has the column `{column}` of the seeds, of which a sample is taken; give a number instead of its name"
        )));
    }
    let mut case = Case { save: Save::default(), ..case.clone() };
    let mut notes = Vec::new();
    if case.walk.take().is_some() {
        case.field.options.diffusivity = None;
        notes.push(
            "the random walk is left out: with other steps it has other random numbers".into(),
        );
    }
    if case.motion.as_mut().is_some_and(|motion| motion.turbulence.take().is_some()) {
        notes.push(
            "motion.turbulence is left out: with other steps it has other random numbers".into(),
        );
    }
    Ok((case, notes))
}

/// Replaces the seeds by a sample at equal distances in their list. Returns its size, and their number.
fn sample(case: &mut Case, field: &DeviceField, particles: usize) -> Result<[usize; 2]> {
    let loaded = field.loaded();
    let (seeds, _) = job::seeds(case, job::domain(case, loaded)?, loaded)?;
    let (all, count) = (seeds.len(), seeds.len().min(particles.max(1)));
    if all == 0 {
        return Err(Misuse::error(
            "the case has no seeds, of which a sample is taken; add [seeds] for the check",
        ));
    }
    let places: Vec<usize> = (0..count).map(|i| (2 * i + 1) * all / (2 * count)).collect();
    let points = places.iter().map(|place| seeds.positions()[*place]).collect();
    let times = seeds.release().map(|times| places.iter().map(|place| times[*place]).collect());
    let outside = case.seeds.first().map(|block| block.outside).unwrap_or_default();
    let shape = SeedShape::List { points, times };
    case.seeds = vec![Seeds { shape, release: None, repeat: None, outside }];
    case.source.clear();
    Ok([count, all])
}

/// The ends of a run with every second frame, beside those of one with all.
fn frames(
    case: &Case,
    field: &DeviceField,
    all: &Ends,
    notes: &mut Vec<String>,
) -> Option<Comparison> {
    let count = field.loaded().description.series()?.times.len();
    if count < 3 || !matches!(case.field.source, FieldSource::Files { .. }) {
        return None;
    }
    let mut half = case.clone();
    half.field.options.frames.every *= 2;
    let run = half.load(&Silent::default()).and_then(|field| Ok(ends(&field, &half)?));
    match run {
        Ok(ends) => {
            let values = [count.to_string(), count.div_ceil(2).to_string()];
            Some(all.compare(&ends, "frames", values))
        }
        Err(error) => {
            notes.push(format!("frames are not compared: with every second one, {error}"));
            None
        }
    }
}

/// The ends of the particles of a case, whose seeds are a list.
fn ends(field: &DeviceField, case: &Case) -> Result<Ends> {
    let radius = field.units(case).radius;
    let mut tracks = Tracks::default();
    field.trace_into(case, &mut tracks, &Silent::default())?;
    let Some(save) = tracks.saves().last() else { return Ok(Ends::default()) };
    let mut position = save.exact_positions()?;
    let turns: Vec<f64> = save.image.clone().into_data().iter::<f64>().collect();
    for (position, turns) in position.iter_mut().zip(turns.as_chunks::<3>().0) {
        (0..3).for_each(|d| position[d] += turns[d] * tracks.periods()[d]);
    }
    let release = case.seeds.iter().flat_map(|block| match &block.shape {
        SeedShape::List { points, .. } => &points[..],
        _ => &[],
    });
    let travel = release.zip(&position).map(|(from, to)| distance(radius, from, to));
    Ok(Ends { travel: travel.collect(), status: tracks.ends().status.clone(), radius, position })
}

/// A distance as a length: on a sphere, of the chord.
fn distance(radius: Option<f64>, from: &[f64; 3], to: &[f64; 3]) -> f64 {
    let place = |position: &[f64; 3]| {
        radius.map_or(*position, |radius| sphere::in_space(radius, *position))
    };
    straight(place(from), place(to))
}

impl Ends {
    fn compare(&self, other: &Ends, key: &'static str, values: [String; 2]) -> Comparison {
        let pairs = self.position.iter().zip(&other.position);
        let pairs = pairs.zip(self.status.iter().zip(&other.status));
        let is_released = |status: &Status| ![Status::Waiting, Status::NotLocated].contains(status);
        let pairs: Vec<_> = pairs.filter(|(_, (status, _))| is_released(status)).collect();
        let alike = pairs.iter().filter(|(_, (own, others))| own == others);
        let distances: Vec<f64> =
            alike.map(|((from, to), _)| distance(self.radius, from, to)).collect();
        let at = |share| quantile(distances.clone(), share);
        let other_ends = pairs.len() - distances.len();
        Comparison { key, values, median: at(0.5), p90: at(0.9), max: at(1.0), other_ends }
    }
}

/// The number below which a share of numbers is; 0 of none.
fn quantile(mut numbers: Vec<f64>, share: f64) -> f64 {
    numbers.sort_by(f64::total_cmp);
    match numbers.len() {
        0 => 0.0,
        count => interpolate(&numbers, share * (count as f64 - 1.0)),
    }
}

/// The order by the differences of two halvings, if they are above those of rounding.
fn order(
    halved: &Comparison,
    quartered: &Comparison,
    travel: f64,
    precision: Precision,
) -> Option<f64> {
    let rounding = match precision {
        Precision::F32 => 1e-6,
        Precision::F64 => 1e-14,
    };
    let is_seen = quartered.median > rounding * travel && quartered.median > 0.0;
    is_seen.then(|| (halved.median / quartered.median).log2())
}

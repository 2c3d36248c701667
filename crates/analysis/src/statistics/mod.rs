//! Track statistics: displacement, dispersion, speeds, residence times and exits.
//!
//! [`Statistics`] is a track sink, fed by a run or by a stored run (`burntrace_io::Tracks::play`). Its
//! memory does not grow with the product of saves and particles: it holds about 100 bytes for each slot,
//! and one [`SaveStatistics`] for each save and group.

mod ends;
mod groups;
mod histogram;
mod moments;
mod pairs;
mod recording;
mod report;
mod residence;
mod result;
mod rows;
mod trajectory;
mod values;

pub use groups::{Groups, Pairs};
pub use histogram::Histogram;
pub use residence::{EXACT_TIMES, interpolate};
pub use result::{
    ArrayStatistics, Counted, EndStatistics, GroupStatistics, ParticleStatistics, Quantile,
    ResidenceTimes, SaveStatistics, SpeedFrom, TrackStatistics,
};

use crate::{Error, Result};
use burntrace_core::{Ends, ParticleInstance, Save, SavePlan, SinkError, TrackSink, sphere};
use recording::Recording;

/// Accumulates statistics of tracks during a run.
///
/// * Positions are unwrapped: a particle that has crossed a periodic box twice is displaced by two
///   periods. Displacements start at the release position of a seed, whether or not it was saved. The
///   release position of a particle from an inlet is known only at its end: its displacements in
///   statistics at saves start at the first save after the release, and its row of
///   [`TrackStatistics::particles`] starts at the release position (assuming the shortest displacement
///   across periodic faces before the first save).
/// * Each particle instance is measured separately. Instances between two saves count in ends and
///   residence times only.
/// * A slot with a waiting particle, or without one, counts as waiting and in no mean.
/// * A pair counts while both of its particles count; only the first instances in its slots do.
///
/// The results are bit-identical for any block size of the saves and any number of threads.
///
/// ```
/// use burntrace_analysis::statistics::Statistics;
/// use burntrace_core::{
///     Control, Domain, FieldFn, Precision, SaveAt, Seeds, Span, Tracer, device,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = device::open("flex")?.device;
/// let flow = FieldFn::new(Domain::unbounded(), &device, Precision::F64, |p, _| p.ones_like());
/// let seeds = Seeds::list(vec![[0.0; 3], [1.0, 0.0, 0.0]])?;
/// let mut statistics = Statistics::new();
/// Tracer::new(&flow)
///     .span(Span { t0: Some(0.0), t1: Some(2.0), steps: Some(4), ..Span::default() })
///     .save(SaveAt::EverySteps(2))
///     .trace_into(&seeds, &mut statistics, &mut |_| Control::Continue)?;
/// let found = statistics.result()?;
/// let end = &found.all.saves[2];
/// assert_eq!((end.active, end.pairs), (2, 1));
/// assert!(end.centroid.is_some_and(|[x, _, _]| (x - 2.5).abs() < 1e-12));
/// assert!((found.particles[0].path_length - 12_f64.sqrt()).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Statistics {
    options: Options,
    recording: Option<Recording>,
}

/// The requested statistics.
#[derive(Clone, Debug)]
struct Options {
    groups: Option<Groups>,
    pairs: Pairs,
    counted: Counted,
    time_bins: Option<Vec<f64>>,
    residence_bins: Option<Vec<f64>>,
    quantiles: Vec<f64>,
    particles: Option<bool>,
    radius: Option<f64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            groups: None,
            pairs: Pairs::default(),
            counted: Counted::default(),
            time_bins: None,
            residence_bins: None,
            quantiles: vec![0.05, 0.25, 0.5, 0.75, 0.95],
            particles: None,
            radius: None,
        }
    }
}

impl Options {
    /// The point in space of a position, if it is on a sphere.
    fn in_space(&self, position: [f64; 3]) -> [f64; 3] {
        self.radius.map_or(position, |radius| sphere::in_space(radius, position))
    }

    /// The position of a point in space, if it is on a sphere.
    fn of_space(&self, point: [f64; 3]) -> [f64; 3] {
        self.radius.map_or(point, |radius| sphere::of_space(radius, point))
    }
}

impl Statistics {
    /// Statistics of all particles together, and of pairs of consecutive slots.
    pub fn new() -> Self {
        Statistics::default()
    }

    /// Takes positions as longitudes and latitudes in degrees and heights in metres on a sphere of this radius in metres:
    /// displacements and distances are straight ones in space, in metres (so within 1 part in 1,000 of those along the
    /// sphere up to 1,000 km of the earth). Centroids are longitude, latitude and height.
    pub fn on_sphere(mut self, radius: f64) -> Self {
        self.options.radius = Some(radius);
        self
    }

    /// Adds statistics of each group. Memory grows with saves times groups.
    pub fn groups(mut self, groups: Groups) -> Self {
        self.options.groups = Some(groups);
        self
    }

    /// Sets the pairs of slots for the relative dispersion.
    pub fn pairs(mut self, pairs: Pairs) -> Self {
        self.options.pairs = pairs;
        self
    }

    /// Sets the particles to include in means at a save; by default the active ones.
    pub fn counted(mut self, counted: Counted) -> Self {
        self.options.counted = counted;
        self
    }

    /// Sets the edges of the time bins for ends, increasing, or decreasing for a backward run. The
    /// default edges are the times of the saves.
    pub fn time_bins(mut self, edges: Vec<f64>) -> Self {
        self.options.time_bins = Some(edges);
        self
    }

    /// Sets the edges of the residence-time bins, increasing. By default, each end status has 32 equal
    /// bins from 0 to its maximum time.
    pub fn residence_bins(mut self, edges: Vec<f64>) -> Self {
        self.options.residence_bins = Some(edges);
        self
    }

    /// Sets the quantiles of residence times, as probabilities from 0 to 1. The default is 0.05, 0.25,
    /// 0.5, 0.75 and 0.95.
    pub fn quantiles(mut self, probabilities: Vec<f64>) -> Self {
        self.options.quantiles = probabilities;
        self
    }

    /// Sets whether to return a row for each particle. By default there are rows, except in runs with
    /// re-used slots, where their memory grows with the number of particle instances.
    pub fn particles(mut self, enabled: bool) -> Self {
        self.options.particles = Some(enabled);
        self
    }

    /// The statistics up to the last complete save.
    ///
    /// # Errors
    ///
    /// [`Error::Statistics`] if no run has started.
    pub fn result(&self) -> Result<TrackStatistics> {
        match &self.recording {
            Some(recording) => Ok(recording.report(&self.options)),
            None => Err(Error::Statistics(
                "no run has started; pass the statistics to a run, or play a stored run into them"
                    .into(),
            )),
        }
    }
}

impl Options {
    fn check(&self, slots: usize) -> Result<()> {
        if let Some(groups) = self.groups.as_ref().filter(|groups| groups.slots() != slots) {
            return Err(Error::Statistics(format!(
                "groups are given for {} slots; the run has {slots} (its seeds and the slots of \
                 its sources): give each a group",
                groups.slots()
            )));
        }
        self.pairs.check(slots)?;
        if let Some(edges) = &self.time_bins {
            histogram::check("the time bins", edges, true)?;
        }
        if let Some(edges) = &self.residence_bins {
            histogram::check("the residence-time bins", edges, false)?;
        }
        match self.quantiles.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            None => Ok(()),
            Some(invalid) => Err(Error::Statistics(format!(
                "quantile {invalid} is out of range; give probabilities from 0 to 1, for example 0.5 \
                 for the median"
            ))),
        }
    }

    fn group_of(&self, slot: usize) -> u32 {
        self.groups.as_ref().map_or(Groups::NONE, |groups| groups.of(slot))
    }

    /// The group of a pair, if both slots have the same.
    fn group_of_pair(&self, slots: [usize; 2]) -> u32 {
        let [a, b] = slots.map(|slot| self.group_of(slot));
        if a == b { a } else { Groups::NONE }
    }

    fn count_groups(&self) -> usize {
        self.groups.as_ref().map_or(0, Groups::count)
    }

    /// Whether to return a row for each particle.
    fn has_rows(&self, reuses_slots: bool) -> bool {
        self.particles.unwrap_or(!reuses_slots)
    }
}

impl TrackSink for Statistics {
    fn on_host(&self) -> bool {
        true
    }

    fn begin(&mut self, plan: &SavePlan) -> std::result::Result<(), SinkError> {
        self.options.check(plan.particles)?;
        self.recording = Some(Recording::begin(plan, &self.options));
        Ok(())
    }

    fn releases(
        &mut self,
        first: usize,
        positions: &[[f64; 3]],
    ) -> std::result::Result<(), SinkError> {
        Ok(self.started()?.add_releases(first, positions)?)
    }

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        Ok(self.started()?.add_block(save)?)
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        let recording = self.started()?;
        Ok(instances.iter().try_for_each(|instance| recording.add_instance(instance))?)
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        Ok(self.started()?.end(ends)?)
    }
}

impl Statistics {
    /// The recording of the run that has started.
    fn started(&mut self) -> Result<&mut Recording> {
        let none = || Error::Statistics("tracks were given before the start of a run".into());
        self.recording.as_mut().ok_or_else(none)
    }
}

//! How far particles went, how they spread, how long they stayed, where they left.
//!
//! [`Statistics`] is a sink for tracks: of a run that goes on, or of a store that is played
//! (`burntrace_io::Tracks::play`). What it needs does not grow with the number of saves times that
//! of particles: some 100 bytes for each slot, and as many numbers for each save and group as
//! [`SaveStatistics`] has.

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
mod way;

pub use groups::{Groups, Pairs};
pub use histogram::Histogram;
pub use residence::EXACT_TIMES;
pub use result::{
    Counted, EndStatistics, GroupStatistics, ParticleStatistics, Quantile, ResidenceTimes,
    SaveStatistics, SpeedFrom, TrackStatistics,
};

use crate::{Error, Result};
use burntrace_core::{Ends, ParticleInstance, Save, SavePlan, SinkError, TrackSink};
use recording::Recording;

/// Makes statistics of tracks as they come.
///
/// * Displacements are those without jumps: who went around a periodic box twice is two periods
///   away. They begin where the particle was released: at its place while it waited, if a save met
///   it then, or at the first save that met it released. A life in a slot that is used again is
///   measured from the first save that met it, as the place of its release is told at its end only;
///   in [`TrackStatistics::particles`] it is measured from the place of its release (where no save
///   met a crossing of a periodic face, on the shortest way).
/// * Nothing is measured from one life to the next one. Lives that no save met count where they
///   ended, and how long they were.
/// * A slot that waits, or in which there is no particle, counts as waiting and in no mean.
/// * A pair counts as long as both particles do, in their first life.
///
/// The answer has the same bits whatever blocks the saves come in, and whatever the number of
/// threads.
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

/// What is asked for.
#[derive(Clone, Debug)]
struct Options {
    groups: Option<Groups>,
    pairs: Pairs,
    counted: Counted,
    time_bins: Option<Vec<f64>>,
    residence_bins: Option<Vec<f64>>,
    quantiles: Vec<f64>,
    particles: Option<bool>,
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
        }
    }
}

impl Statistics {
    /// Statistics of all particles together, and of pairs of consecutive slots.
    pub fn new() -> Self {
        Statistics::default()
    }

    /// Also of each group. Memory grows with saves times groups.
    pub fn groups(mut self, groups: Groups) -> Self {
        self.options.groups = Some(groups);
        self
    }

    /// Pairs whose distance is followed.
    pub fn pairs(mut self, pairs: Pairs) -> Self {
        self.options.pairs = pairs;
        self
    }

    /// Which particles count in means at a save; those that are active, unless told otherwise.
    pub fn counted(mut self, counted: Counted) -> Self {
        self.options.counted = counted;
        self
    }

    /// Edges of the bins of time in which ends are counted, increasing, or decreasing for a
    /// backward run. Without them the times of the saves are.
    pub fn time_bins(mut self, edges: Vec<f64>) -> Self {
        self.options.time_bins = Some(edges);
        self
    }

    /// Edges of the bins of residence times, increasing. Without them 32 equal bins from 0 to the
    /// longest time are made, for each way of ending its own.
    pub fn residence_bins(mut self, edges: Vec<f64>) -> Self {
        self.options.residence_bins = Some(edges);
        self
    }

    /// Which quantiles of residence times to give: parts from 0 to 1. Without it those are 0.05,
    /// 0.25, 0.5, 0.75 and 0.95.
    pub fn quantiles(mut self, probabilities: Vec<f64>) -> Self {
        self.options.quantiles = probabilities;
        self
    }

    /// Whether to give a row for each particle. Without it there is one for each slot, and none
    /// where slots are used again: there, memory grows with the number of lives if asked for.
    pub fn particles(mut self, yes: bool) -> Self {
        self.options.particles = Some(yes);
        self
    }

    /// The statistics of what has come so far, up to the last complete save.
    ///
    /// # Errors
    ///
    /// [`Error::Statistics`] where nothing has come, not even the begin of a run.
    pub fn result(&self) -> Result<TrackStatistics> {
        match &self.recording {
            Some(recording) => Ok(recording.report(&self.options)),
            None => Err(Error::Statistics(
                "no run has begun; give them to a run, or play a store into them".into(),
            )),
        }
    }
}

impl Options {
    fn check(&self, slots: usize) -> Result<()> {
        if let Some(groups) = self.groups.as_ref().filter(|groups| groups.slots() != slots) {
            return Err(Error::Statistics(format!(
                "groups are given for {} slots, and the run has {slots}: its seeds, and those of \
                 sources",
                groups.slots()
            )));
        }
        self.pairs.check(slots)?;
        if let Some(edges) = &self.time_bins {
            histogram::check("the bins of time", edges, true)?;
        }
        if let Some(edges) = &self.residence_bins {
            histogram::check("the bins of residence times", edges, false)?;
        }
        match self.quantiles.iter().find(|part| !(0.0..=1.0).contains(*part)) {
            None => Ok(()),
            Some(bad) => Err(Error::Statistics(format!(
                "quantile {bad} is none; give parts from 0 to 1, as 0.5 for the median"
            ))),
        }
    }

    fn group_of(&self, slot: usize) -> u32 {
        self.groups.as_ref().map_or(Groups::NONE, |groups| groups.of(slot))
    }

    /// The group of a pair: that of both.
    fn group_of_pair(&self, slots: [usize; 2]) -> u32 {
        let [a, b] = slots.map(|slot| self.group_of(slot));
        if a == b { a } else { Groups::NONE }
    }

    fn count_groups(&self) -> usize {
        self.groups.as_ref().map_or(0, Groups::count)
    }

    /// Whether there is to be a row for each particle.
    fn has_rows(&self, lives: bool) -> bool {
        self.particles.unwrap_or(!lives)
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

    fn save(&mut self, save: Save) -> std::result::Result<(), SinkError> {
        Ok(self.begun()?.block(save)?)
    }

    fn instances(&mut self, instances: &[ParticleInstance]) -> std::result::Result<(), SinkError> {
        let recording = self.begun()?;
        Ok(instances.iter().try_for_each(|instance| recording.life(instance))?)
    }

    fn end(&mut self, ends: &Ends) -> std::result::Result<(), SinkError> {
        Ok(self.begun()?.end(ends)?)
    }
}

impl Statistics {
    fn begun(&mut self) -> Result<&mut Recording> {
        let none = || Error::Statistics("tracks came before the begin of their run".into());
        self.recording.as_mut().ok_or_else(none)
    }
}

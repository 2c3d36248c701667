//! Results of the track statistics.

use super::Histogram;
use burntrace_core::Status;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Statistics of a run.
///
/// Lengths and times are in the data's units. Undefined quantities, such as the mean over no particles,
/// are `None`; no number is NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackStatistics {
    /// Times of the saves `[saves]`.
    pub times: Vec<f64>,
    /// Number of slots; without re-used slots, the number of particles.
    pub slots: usize,
    /// Whether slots are re-used by successive particle instances.
    pub reuses_slots: bool,
    /// Whether the run has reported how its particles ended. If not (a stopped run), counts refer to
    /// the last save and to the particle instances that had ended; only the latter have residence times.
    pub complete: bool,
    /// The source of speeds.
    pub speed_from: SpeedFrom,
    /// The particles in means over particles at a save.
    pub counted: Counted,
    /// All particles.
    pub all: GroupStatistics,
    /// Each group `[groups]`; empty if no groups were given.
    pub groups: Vec<GroupStatistics>,
    /// Each particle, in the order of the slots; with re-used slots each particle instance, in the order
    /// of their ends. Empty unless requested.
    pub particles: Vec<ParticleStatistics>,
}

/// The source of speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedFrom {
    /// The velocities at the saves.
    Velocities,
    /// Displacements between saves, divided by the time between them. The speed at a save is the mean
    /// over the preceding interval.
    Displacements,
}

/// The particles in means over particles at a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Active particles.
    #[default]
    Active,
    /// Active particles, and ended particles at their end positions.
    Released,
}

/// Statistics of a group of particles. *released = active + ended*, and each slot that is not re-used is
/// released, waiting or not located.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupStatistics {
    /// Number of slots in the group.
    pub slots: u64,
    /// Number of released particles; with re-used slots, of particle instances.
    pub released: u64,
    /// Number of particles still active at the end.
    pub active: u64,
    /// Number of ended particles.
    pub ended: u64,
    /// Number of slots without a released particle at the end.
    pub waiting: u64,
    /// Number of particles that could not be released, because the field is undefined at their positions.
    pub not_located: u64,
    /// Statistics of each save `[saves]`.
    pub saves: Vec<SaveStatistics>,
    /// Statistics of each end status that occurs, in the order of the status codes.
    pub ends: Vec<EndStatistics>,
    /// Residence times of all ended particles.
    pub residence: ResidenceTimes,
}

/// Statistics of a group of particles at one save. Positions are unwrapped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SaveStatistics {
    /// Number of slots without a released particle.
    pub waiting: u64,
    /// Number of slots with an active particle.
    pub active: u64,
    /// Number of slots with an ended particle that has not been replaced.
    pub ended: u64,
    /// Number of slots with a particle that was not located.
    pub not_located: u64,
    /// Number of particles in the means below: see [`Counted`].
    pub counted: u64,
    /// Mean squared displacement since the release, along each axis (length squared); the sum over the
    /// axes is the mean-square displacement. See [`Statistics`](super::Statistics) for the start of a
    /// displacement.
    pub mean_square_displacement: Option<[f64; 3]>,
    /// Mean position (length).
    pub centroid: Option<[f64; 3]>,
    /// Absolute dispersion: mean squared distance from the centroid, along each axis (length squared;
    /// over n, not n - 1).
    pub variance: Option<[f64; 3]>,
    /// Number of pairs in which both particles count.
    pub pairs: u64,
    /// Relative dispersion: mean squared separation of these pairs, along each axis (length squared).
    pub pair_dispersion: Option<[f64; 3]>,
    /// Number of particles in the mean speed: the active ones; with speeds from displacements, those
    /// that were active at the previous save too.
    pub moving: u64,
    /// Mean speed (length per time).
    pub mean_speed: Option<f64>,
    /// Each component of each array that is sampled along the tracks, in the order of
    /// [`SavePlan::arrays`](burntrace_core::SavePlan::arrays).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<ArrayStatistics>,
}

/// Statistics of a component of a sampled array at a save, in the array's unit, over the particles that
/// count and have a finite value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrayStatistics {
    /// Name of the array.
    pub name: String,
    /// Index of the component; `None` for a scalar.
    pub component: Option<usize>,
    /// Number of values.
    pub count: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// Their mean squared distance from the mean (over n, not n - 1).
    pub variance: Option<f64>,
    /// The smallest value.
    pub min: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
}

/// Statistics of the particles with one end status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndStatistics {
    /// The end status, for example an exit through a face. In files its name, such as `exited x-high`.
    #[serde(serialize_with = "write_status", deserialize_with = "read_status")]
    pub status: Status,
    /// Number of particles.
    pub count: u64,
    /// Their mass, if masses are saved (`SaveRequest::sizes`) and that of each is known: not of a particle in a re-used slot that has never been active at a
    /// save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mass: Option<f64>,
    /// Number of ends over time, in the intervals between saves unless bins were given. Empty if end
    /// times are unknown: see [`TrackStatistics::complete`].
    pub over_time: Histogram,
    /// Residence times.
    pub residence: ResidenceTimes,
}

/// Times from release to end, positive in backward runs too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidenceTimes {
    /// Number of residence times.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Minimum.
    pub min: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
    /// Quantiles, by linear interpolation between the sorted times as in `numpy.quantile`.
    pub quantiles: Vec<Quantile>,
    /// Whether the quantiles are exact. For more than [`EXACT_TIMES`](super::EXACT_TIMES) times they are
    /// accurate to one part in a thousand.
    pub exact: bool,
    /// Histogram of the times.
    pub histogram: Histogram,
}

/// A quantile of residence times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The probability, 0 to 1.
    pub probability: f64,
    /// The time that this fraction of the particles does not exceed.
    pub time: f64,
}

/// Statistics of one particle instance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleStatistics {
    /// Slot of the particle.
    pub slot: usize,
    /// Number of earlier particle instances in the slot.
    pub generation: u32,
    /// End status, or active, or waiting.
    #[serde(serialize_with = "write_status", deserialize_with = "read_status")]
    pub status: Status,
    /// Release time.
    pub release_time: Option<f64>,
    /// End time.
    pub end_time: Option<f64>,
    /// Time from release to end.
    pub residence_time: Option<f64>,
    /// Unwrapped displacement from the release position to the end position, or to the current one
    /// (length).
    pub displacement: [f64; 3],
    /// Length of the displacement.
    pub distance: f64,
    /// Length of the trajectory, as straight lines from save to save.
    pub path_length: f64,
    /// Mean speed (length per time): with velocities, the mean over the saves at which the particle was
    /// active; otherwise path length over time.
    pub mean_speed: Option<f64>,
    /// Maximum speed at the saves, or between two of them (length per time).
    pub max_speed: Option<f64>,
}

fn write_status<S: Serializer>(status: &Status, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(status)
}

fn read_status<'de, D: Deserializer<'de>>(from: D) -> Result<Status, D::Error> {
    let name = String::deserialize(from)?;
    let status = Status::ALL.into_iter().find(|status| status.to_string() == name);
    status.ok_or_else(|| serde::de::Error::custom(format!("unknown particle status `{name}`")))
}

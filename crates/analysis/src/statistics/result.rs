//! What statistics say.

use super::Histogram;
use burntrace_core::Status;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What became of the particles of a run.
///
/// Lengths and times are in the data's units. What there is nothing to make of, as the mean of no
/// particle, is `None`; no number here is NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackStatistics {
    /// Times of the saves `[saves]`.
    pub times: Vec<f64>,
    /// Slots of the run: particles, where slots are not used again.
    pub slots: usize,
    /// Whether slots are used again, by one life after another.
    pub lives: bool,
    /// Whether the run told how its particles ended. If not (the store of a stopped run), counts
    /// are those of the last save and of lives that had ended, and only these have residence times.
    pub complete: bool,
    /// What speeds are made of.
    pub speed_from: SpeedFrom,
    /// Which particles count in means over particles at a save.
    pub counted: Counted,
    /// All particles.
    pub all: GroupStatistics,
    /// Each group `[groups]`; empty where no groups were given.
    pub groups: Vec<GroupStatistics>,
    /// Each particle, in the order of the slots; where slots are used again each life, in the order
    /// in which they ended. Empty where not asked for.
    pub particles: Vec<ParticleStatistics>,
}

/// What speeds are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedFrom {
    /// Velocities at the saves.
    Velocities,
    /// Displacements between saves over the times between them. The speed at a save is that of the
    /// interval before it.
    Displacements,
}

/// Which particles count in means over particles at a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counted {
    /// Those that are active then.
    #[default]
    Active,
    /// Those too that have ended, where they ended.
    Released,
}

/// What became of a group of particles. *released = active + ended*.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupStatistics {
    /// Slots in it.
    pub slots: u64,
    /// Particles that were released: lives, where slots are used again.
    pub released: u64,
    /// Particles that are active at the end.
    pub active: u64,
    /// Particles that have ended.
    pub ended: u64,
    /// Slots whose particle has not been released at the end, or in which there is none.
    pub waiting: u64,
    /// Each save `[saves]`.
    pub saves: Vec<SaveStatistics>,
    /// Each way of ending that occurs, in the order of the codes of statuses.
    pub ends: Vec<EndStatistics>,
    /// Residence times of all that have ended.
    pub residence: ResidenceTimes,
}

/// A group of particles at one time. Positions are as if a periodic box went on for ever.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SaveStatistics {
    /// Slots whose particle has not been released, or in which there is none.
    pub waiting: u64,
    /// Slots whose particle is active.
    pub active: u64,
    /// Slots whose particle has ended, and was not followed by another one.
    pub ended: u64,
    /// Particles that count in the means below: see [`Counted`].
    pub counted: u64,
    /// Mean of the squares of displacements since the release, along each axis (length squared);
    /// their sum is the mean-square displacement. See [`Statistics`](super::Statistics) for what
    /// is taken as the place of the release.
    pub mean_square_displacement: Option<[f64; 3]>,
    /// Mean position.
    pub centroid: Option<[f64; 3]>,
    /// Absolute dispersion: mean of the squares of distances from the centroid, along each axis
    /// (length squared; over n, not n - 1).
    pub variance: Option<[f64; 3]>,
    /// Pairs of which both count.
    pub pairs: u64,
    /// Relative dispersion: mean of the squares of the distances in these pairs, along each axis
    /// (length squared).
    pub pair_dispersion: Option<[f64; 3]>,
    /// Particles in the mean speed: those that are active, and were so at the save before where
    /// speeds are made of displacements.
    pub moving: u64,
    /// Their mean speed.
    pub mean_speed: Option<f64>,
}

/// Particles that ended in one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndStatistics {
    /// The way: a face, an obstacle. In files its name, as `exited x-high`.
    #[serde(serialize_with = "write_status", deserialize_with = "read_status")]
    pub status: Status,
    /// How many ended so.
    pub count: u64,
    /// How many of them when; in the saves' intervals unless bins were given. Empty where nobody told
    /// when: see [`TrackStatistics::complete`].
    pub over_time: Histogram,
    /// Times from their release to their end.
    pub residence: ResidenceTimes,
}

/// Times from release to end, positive in backward runs too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResidenceTimes {
    /// How many there are.
    pub count: u64,
    /// Their mean.
    pub mean: Option<f64>,
    /// The shortest one.
    pub min: Option<f64>,
    /// The longest one.
    pub max: Option<f64>,
    /// Quantiles, by linear interpolation between the times in order (`numpy.quantile`).
    pub quantiles: Vec<Quantile>,
    /// Whether quantiles are exact. Of more than
    /// [`EXACT_TIMES`](super::EXACT_TIMES) times they are good to one part in a thousand.
    pub exact: bool,
    /// How many are how long.
    pub histogram: Histogram,
}

/// A time that a part of the particles does not stay longer than.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantile {
    /// The part, 0 to 1.
    pub probability: f64,
    /// The time.
    pub time: f64,
}

/// The way of one particle, in one life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParticleStatistics {
    /// Its slot.
    pub slot: usize,
    /// How many lives that slot has had before.
    pub generation: u32,
    /// How it has ended, or active, or waiting.
    #[serde(serialize_with = "write_status", deserialize_with = "read_status")]
    pub status: Status,
    /// Time of its release.
    pub release_time: Option<f64>,
    /// Time of its end.
    pub end_time: Option<f64>,
    /// Time from its release to its end.
    pub residence_time: Option<f64>,
    /// From its release to its end, or to where it is, as if a periodic box went on for ever.
    pub displacement: [f64; 3],
    /// The length of that.
    pub distance: f64,
    /// The length of its way: of the straight lines from save to save.
    pub path_length: f64,
    /// With velocities, the mean over the saves at which it was active; else the length of its way
    /// over its time.
    pub mean_speed: Option<f64>,
    /// The greatest speed, at the saves or between two of them.
    pub max_speed: Option<f64>,
}

fn write_status<S: Serializer>(status: &Status, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(status)
}

fn read_status<'de, D: Deserializer<'de>>(from: D) -> Result<Status, D::Error> {
    let name = String::deserialize(from)?;
    let status = Status::ALL.into_iter().find(|status| status.to_string() == name);
    status.ok_or_else(|| serde::de::Error::custom(format!("`{name}` is no status of a particle")))
}

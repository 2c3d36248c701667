//! The summary of a run.

use crate::{InputSummary, Precision, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The engine that takes the steps.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// The fused operation: many steps in one launch.
    Fused,
    /// Tensor operations, for every field and with automatic differentiation.
    Tensor,
}

impl std::fmt::Display for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Engine::Fused => "fused",
            Engine::Tensor => "tensor",
        })
    }
}

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Summary {
    /// The engine of the run.
    pub engine: Engine,
    /// Name of the device.
    pub device: String,
    /// Precision of the arithmetic.
    pub precision: Precision,
    /// Slots: one for each seed, and the slots of sources.
    pub particles: usize,
    /// Number of particles released, over all slots.
    pub released: usize,
    /// Number of releases of sources that were dropped because their slots were in use.
    pub dropped: usize,
    /// Number of steps of the run; a step that is split at a save counts as two.
    pub steps: u64,
    /// Number of steps of active particles; with adaptive steps, of attempts.
    pub particle_steps: u64,
    /// Number of accepted and rejected steps, if steps are adaptive.
    pub tries: Option<[u64; 2]>,
    /// Number of launches of the fused operation, or of steps of the tensor engine.
    pub launches: u64,
    /// Kernels of this crate that the run launches on a GPU: 1 for the steps, 2 if saves sample the
    /// velocity; 0 on CPU backends and with the tensor engine. It follows from the settings: CubeCL
    /// does not count compilations, and an earlier run of the process may have compiled them.
    pub kernels: usize,
    /// Number of saves.
    pub saves: usize,
    /// Number of particles by status, without zeros. Waiting particles are counted by slot; the
    /// other counts are of particle instances. Those of active and ended ones add up to `released`,
    /// which every run checks.
    #[serde(with = "by_code")]
    pub counts: Vec<(Status, usize)>,
    /// Number of particles that left the mesh through each of its patches, by name; empty for a run
    /// without patches.
    pub patches: Vec<(String, usize)>,
    /// Number of particles that each condition has [ended](Status::Stopped); empty for a run without conditions.
    #[serde(default)]
    pub conditions: Vec<(String, usize)>,
    /// Batches of particles on the device.
    pub batches: BatchSummary,
    /// Frames read during the run, if the field did not hold all of them from the start.
    pub input: Option<InputSummary>,
    /// Wall time in seconds spent waiting for steps and for results from the device. Computation
    /// during a save of the sink is part of `save_seconds`.
    pub trace_seconds: f64,
    /// Wall time of the sink in seconds.
    pub save_seconds: f64,
    /// Whether the observer cancelled the run.
    pub cancelled: bool,
    /// Of a [piece](crate::Prepared::piece) that re-uses slots: number of particle instances that were
    /// followed by others, by segment of the run. The table of the whole run has those of the first segment
    /// first, and in each segment those of the first piece first; the last instances of all slots come last.
    pub instances_by_segment: Vec<u64>,
    /// The same of crossings of gates, of any run with gates.
    pub crossings_by_segment: Vec<u64>,
}

impl Summary {
    /// The summary of a run from those of its [pieces](crate::Prepared::piece): sums of counts and of seconds;
    /// what pieces have in common is that of the first one. `None` if there are none.
    pub fn join(pieces: impl IntoIterator<Item = Summary>) -> Option<Summary> {
        let mut pieces = pieces.into_iter();
        let mut all = pieces.next()?;
        all.instances_by_segment.clear();
        all.crossings_by_segment.clear();
        for piece in pieces {
            all.add(&piece);
        }
        Some(all)
    }

    fn add(&mut self, piece: &Summary) {
        self.particles += piece.particles;
        self.released += piece.released;
        self.dropped += piece.dropped;
        self.particle_steps += piece.particle_steps;
        if let (Some(all), Some(tries)) = (&mut self.tries, piece.tries) {
            all.iter_mut().zip(tries).for_each(|(sum, count)| *sum += count);
        }
        self.launches += piece.launches;
        let count = |of: &Summary, status| of.count(|other| other == status);
        let counts = Status::ALL.map(|status| (status, count(self, status) + count(piece, status)));
        self.counts = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        let conditions = self.conditions.iter_mut().zip(&piece.conditions);
        for ((_, sum), (_, count)) in self.patches.iter_mut().zip(&piece.patches).chain(conditions)
        {
            *sum += count;
        }
        self.batches.join(piece.batches);
        if let (Some(all), Some(input)) = (&mut self.input, &piece.input) {
            all.frames += input.frames;
            all.bytes += input.bytes;
            all.wait_seconds += input.wait_seconds;
        }
        self.trace_seconds += piece.trace_seconds;
        self.save_seconds += piece.save_seconds;
        self.cancelled |= piece.cancelled;
    }

    /// Number of active particles.
    pub fn active(&self) -> usize {
        self.count(|status| status == Status::Active)
    }

    /// Number of particles that could not be released, because the field is undefined at their
    /// positions.
    pub fn not_located(&self) -> usize {
        self.count(|status| status == Status::NotLocated)
    }

    /// Number of particles that have ended, for any reason.
    pub fn ended(&self) -> usize {
        self.count(Status::has_ended)
    }

    /// Steps of active particles per second of `trace_seconds`.
    pub fn particle_steps_per_second(&self) -> f64 {
        self.particle_steps as f64 / self.trace_seconds.max(f64::MIN_POSITIVE)
    }

    fn count(&self, is_counted: impl Fn(Status) -> bool) -> usize {
        let counted = self.counts.iter().filter(|(status, _)| is_counted(*status));
        counted.map(|(_, count)| count).sum()
    }
}

/// The batches in which the particles of a run were sent to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct BatchSummary {
    /// Number of batches, over all segments of the run.
    pub count: u64,
    /// Particles in the smallest and in the largest batch.
    pub sizes: [usize; 2],
    /// Number of batches that did not fit into the device's memory and were halved.
    pub retries: u64,
}

impl BatchSummary {
    /// Adds the batches of another piece of the run.
    pub(crate) fn join(&mut self, other: BatchSummary) {
        let ([smallest, largest], [min, max]) = (self.sizes, other.sizes);
        self.sizes = match (self.count, other.count) {
            (_, 0) => self.sizes,
            (0, _) => other.sizes,
            _ => [smallest.min(min), largest.max(max)],
        };
        self.count += other.count;
        self.retries += other.retries;
    }

    /// Adds a batch.
    pub(crate) fn add(&mut self, size: usize) {
        let [smallest, largest] = self.sizes;
        self.sizes = [if self.count == 0 { size } else { smallest.min(size) }, largest.max(size)];
        self.count += 1;
    }
}

/// Serialises statuses by their codes.
mod by_code {
    use crate::Status;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    pub fn serialize<S: Serializer>(
        counts: &[(Status, usize)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let codes = counts.iter().map(|(status, count)| (status.code(), *count));
        codes.collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(Status, usize)>, D::Error> {
        let counts = Vec::<(i32, usize)>::deserialize(deserializer)?;
        let status = |(code, count)| {
            let status = Status::from_code(code);
            status
                .map(|status| (status, count))
                .ok_or_else(|| D::Error::custom(format!("{code} is not the code of a status")))
        };
        counts.into_iter().map(status).collect()
    }
}

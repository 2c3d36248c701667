//! The summary of a run.

use crate::{BatchSummary, InputSummary, Precision, Status};

/// The engine that takes the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
#[derive(Clone, Debug, PartialEq)]
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
    pub counts: Vec<(Status, usize)>,
    /// Number of particles that left the mesh through each of its patches, by name; empty for a run
    /// without patches.
    pub patches: Vec<(String, usize)>,
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
}

impl Summary {
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

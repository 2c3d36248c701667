//! How a run is executed.

use crate::{Engine, Strategy};

/// How a run is executed. Nothing here changes the tracks. By default, the run uses the memory that is free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// The name of the device in the summary; `None` for the name that Burn gives it.
    pub device_name: Option<String>,
    /// The maximum memory of the run in bytes: of the whole process if the device is the CPU, else on the
    /// device. `None` for the free memory.
    pub memory: Option<u64>,
    /// The memory strategy; `None` for the first of [`Strategy::ALL`] that fits. Streaming of
    /// frames is chosen when the field is [opened](crate::GridField::open).
    pub strategy: Option<Strategy>,
    /// Maximum number of particles on the device at a time; the others stay on the host. `None` for as many
    /// as fit.
    pub batch: Option<usize>,
    /// Maximum number of particles of [pieces](crate::Prepared::piece), which run one at a time: the memory
    /// of one is planned. `None` to plan that of the whole run.
    pub piece: Option<usize>,
    /// How gradients go back through the run, and what is kept for it. Without tracked gradients it has no
    /// effect.
    pub adjoint: Adjoint,
    /// Whether a run with gradients (on a device that tracks them, and in [`Tracer::evaluate`](crate::Tracer::evaluate)) may lose
    /// particles because a velocity is not finite, as other runs may: they end as [`NonFinite`](crate::Status::NonFinite), with the gradients of their last positions. By default they
    /// are an error there, [`Error::Lost`](crate::Error::Lost).
    pub allow_non_finite: bool,
    /// The engine that tests require; `None` for the fused one where it can take the steps.
    #[doc(hidden)]
    pub engine: Option<Engine>,
}

/// How gradients go back through a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adjoint {
    /// The adjoint of the fused operation where there is one. For other runs the tensor engine: in segments in
    /// [`Tracer::value_and_grad`](crate::Tracer::value_and_grad), with the graph of all steps in [`Tracer::trace`](crate::Tracer::trace).
    /// A small run is one segment: up to 256 steps, of up to 262,144 evaluations of the field (particles x stages x steps), and
    /// without a limit of [memory](Execution::memory).
    #[default]
    Auto,
    /// The adjoint of the fused operation, which keeps the states of the particles every `every` steps (64 by
    /// default) and at saves. Fewer steps need more memory, more steps leave the cache of the processor.
    Fused {
        /// Steps between states.
        every: usize,
    },
    /// The tensor engine in segments, in [`Tracer::value_and_grad`](crate::Tracer::value_and_grad) only. It keeps the states of the particles
    /// between segments, and takes one segment at a time again with its graph. The graph of the last one is that of the
    /// forward run. In [`value_and_grad`](crate::value_and_grad) of several runs, it is only for those that are one segment, up
    /// to 262,144 evaluations in all.
    Segments {
        /// Steps of a segment.
        steps: usize,
    },
    /// The tensor engine, with the graph of all steps.
    Graph,
}

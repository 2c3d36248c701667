//! The segments of a run of which gradients are wanted.

use super::reinjection::Reinjection;
use crate::schedule::Chunk;
use burn::tensor::Tensor;
use burntrace_kernels::Particles;

/// A segment of a run.
pub(super) struct Segment {
    /// The particles at its start, without a graph.
    pub particles: Particles,
    pub chunk: Chunk,
    pub following: Option<Reinjection>,
    /// The positions at its end, without a graph.
    pub end: Tensor<2>,
    /// The positions at its end, as a leaf on which the save depends.
    pub saved: Option<Tensor<2>>,
    /// The fractions of steps at its end, as a leaf on which the end times may depend.
    pub fraction: Option<Tensor<1>>,
}

/// The last steps of a run, whose graph is kept from the forward run: a chain of launches.
pub(super) struct KeptGraph {
    /// The positions and fractions at their start, as leaves.
    pub start: (Tensor<2>, Tensor<1>),
    pub ends: Vec<KeptEnd>,
}

/// The end of a launch whose graph is kept.
pub(super) struct KeptEnd {
    /// The positions and fractions, in the graph.
    pub reached: (Tensor<2>, Tensor<1>),
    /// The same as leaves, on which the save and the end times depend.
    pub saved: Option<Tensor<2>>,
    pub fraction: Tensor<1>,
}

/// The segments of a run.
#[derive(Default)]
pub(super) struct Tape {
    pub segments: Vec<Segment>,
    /// The steps after `keeps_from`.
    pub kept: Option<KeptGraph>,
    /// The first step whose graph is kept.
    pub keeps_from: u64,
    /// The positions at the start, in the graph of the seeds.
    pub origin: Option<Tensor<2>>,
}

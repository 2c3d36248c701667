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

/// The segments of a run.
#[derive(Default)]
pub(super) struct Tape {
    pub segments: Vec<Segment>,
    /// The positions at the start, in the graph of the seeds.
    pub origin: Option<Tensor<2>>,
}

//! What an operation after each step receives.

use burn::tensor::{Bool, Tensor};
use std::sync::Arc;

/// A completed step, as passed to [`Tracer::each_step`](crate::Tracer::each_step). There is a row for each of the `n` slots, or in a
/// run in batches for those of the batch; rows of inactive particles have no meaning.
#[derive(Clone, Debug)]
pub struct Step {
    /// Positions before the step `[n, 3]`; for a particle released within the step, its release
    /// position.
    pub before: Tensor<2>,
    /// Positions after the step `[n, 3]`, in the domain box (wrapped at periodic faces). On a sphere these are degrees and metres,
    /// and so is what the operation returns: whole turns of longitude between the two do not count.
    pub after: Tensor<2>,
    /// Time that each particle was advanced `[n, 1]`, in the data's unit of time: the whole step,
    /// or the rest of it after a release; 0 for inactive particles, negative backward.
    pub dt: Tensor<2>,
    /// Whether each particle is active after the step `[n, 1]`.
    pub active: Tensor<2, Bool>,
    /// Start and end time of the step.
    pub times: [f64; 2],
    /// The slot of the first row: 0 unless the run is divided into batches. Seeds have the first slots,
    /// in their order.
    pub first_slot: usize,
    /// The number of the step in the run, from 0.
    pub index: u64,
}

/// The user's operation after each step.
pub(super) type Operation<'a> = Arc<dyn Fn(Step) -> Tensor<2> + Send + Sync + 'a>;

/// The user's operation in a run.
pub(super) struct Hook<'a> {
    pub operation: Operation<'a>,
    /// Flat axes, along which positions do not move.
    pub flat: [bool; 3],
    /// Whether positions are longitudes and latitudes on a sphere.
    pub is_on_sphere: bool,
}

//! Gradients of settling.

use super::{constant, inner_field, inner_geometry, inner_state, outcome_of, outcome_parts};
use crate::{
    Segment, TraceBackend,
    ops::{Advanced, CARRIED, Ends, Geometry, Sampled, State, TraceAdjoint},
};
use burn::backend::{
    Autodiff, Backend, TensorMetadata,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::FloatTensor,
};
use burn::tensor::Slice;
use std::ops::Range;

/// The backward step of a settling, with gradients by positions, fractions, displacements, the spread and the motion.
#[derive(Debug)]
struct PullBackSettling;

/// What was settled.
#[derive(Clone, Debug)]
struct Settled<B: Backend> {
    state: State<B>,
    ends: Ends<B>,
    field: Sampled<B>,
    geometry: Geometry<B>,
    segment: Segment,
}

impl<B: TraceBackend> Settled<B> {
    fn settle(self) -> Advanced<B> {
        B::settle(self.state, self.ends, self.field, self.geometry, self.segment)
    }

    fn carry(self, velocities: FloatTensor<B>) -> FloatTensor<B> {
        B::carry(self.state, self.ends, self.field, self.geometry, velocities, self.segment)
    }
}

impl<B: TraceAdjoint> Backward<B, 5> for PullBackSettling {
    type State = Settled<B>;

    fn backward(
        self,
        ops: Ops<Settled<B>, 5>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = gradients.consume::<B>(&ops.node);
        let Settled { state, ends, field, geometry, segment } = ops.state;
        let by = B::pull_back_settling(state, ends, field, geometry, gradient, segment);
        let by = [by.position, by.fraction, by.displacement, by.spread, by.motion];
        for (node, by) in ops.parents.into_iter().zip(by) {
            if let Some(node) = node {
                gradients.register::<B>(node.id, by);
            }
        }
    }
}

/// `TraceBackend::settle` as an operation in a graph.
pub(super) fn settle<B: TraceAdjoint, C: CheckpointStrategy>(
    state: State<Autodiff<B, C>>,
    ends: Ends<Autodiff<B, C>>,
    field: Sampled<Autodiff<B, C>>,
    geometry: Geometry<Autodiff<B, C>>,
    segment: Segment,
) -> Advanced<Autodiff<B, C>> {
    let nodes = [
        state.position.node(),
        state.fraction.node(),
        ends.displacement.node(),
        ends.spread.node(),
        geometry.motion.node(),
    ];
    let settled = settled(state, ends, field, geometry, segment);
    match PullBackSettling.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let advanced = settled.clone().settle();
            let outcome = prepared.finish(settled, outcome_of(&advanced));
            outcome_parts(advanced, outcome)
        }
        OpsKind::UnTracked(prepared) => {
            let advanced = settled.settle();
            let position = prepared.finish(advanced.position.clone());
            let fraction = constant::<B, C>(advanced.fraction.clone());
            advanced.with(position, fraction)
        }
    }
}

/// The backward step of `TraceBackend::carry`, with gradients by positions, displacements and velocities.
#[derive(Debug)]
struct PullBackCarrying;

impl<B: TraceAdjoint> Backward<B, 3> for PullBackCarrying {
    type State = (Settled<B>, FloatTensor<B>);

    fn backward(
        self,
        ops: Ops<Self::State, 3>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let gradient = gradients.consume::<B>(&ops.node);
        let (Settled { state, ends, field, geometry, segment }, velocities) = ops.state;
        let by = B::pull_back_carrying(state, ends, field, geometry, velocities, gradient, segment);
        let [count, _] = by.shape().dims();
        let part = |columns: Range<usize>| {
            B::float_slice(by.clone(), &[Slice::from(0..count), Slice::from(columns)])
        };
        let [start, end] = [CARRIED, CARRIED + 3].map(|first| part(first..first + 3));
        // The rests of positions have none.
        let rest = B::float_mul_scalar(start.clone(), 0.0.into());
        let position = B::float_cat(vec![start, rest], 1);
        let by = [position, end, part(0..CARRIED)];
        for (node, by) in ops.parents.into_iter().zip(by) {
            if let Some(node) = node {
                gradients.register::<B>(node.id, by);
            }
        }
    }
}

/// `TraceBackend::carry` as an operation in a graph.
pub(super) fn carry<B: TraceAdjoint, C: CheckpointStrategy>(
    state: State<Autodiff<B, C>>,
    ends: Ends<Autodiff<B, C>>,
    field: Sampled<Autodiff<B, C>>,
    geometry: Geometry<Autodiff<B, C>>,
    velocities: FloatTensor<Autodiff<B, C>>,
    segment: Segment,
) -> FloatTensor<Autodiff<B, C>> {
    let nodes = [state.position.node(), ends.displacement.node(), velocities.node()];
    let settled = settled(state, ends, field, geometry, segment);
    let velocities = velocities.into_primitive();
    let carried = settled.clone().carry(velocities.clone());
    match PullBackCarrying.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => prepared.finish((settled, velocities), carried),
        OpsKind::UnTracked(prepared) => prepared.finish(carried),
    }
}

/// What is settled, without its graph.
fn settled<B: Backend, C: CheckpointStrategy>(
    state: State<Autodiff<B, C>>,
    ends: Ends<Autodiff<B, C>>,
    field: Sampled<Autodiff<B, C>>,
    geometry: Geometry<Autodiff<B, C>>,
    segment: Segment,
) -> Settled<B> {
    Settled {
        state: inner_state(state),
        ends: inner_ends(ends),
        field: inner_field(field),
        geometry: inner_geometry(geometry),
        segment,
    }
}

fn inner_ends<B: Backend, C: CheckpointStrategy>(ends: Ends<Autodiff<B, C>>) -> Ends<B> {
    Ends {
        displacement: ends.displacement.into_primitive(),
        span: ends.span.into_primitive(),
        spread: ends.spread.into_primitive(),
        flags: ends.flags,
    }
}

//! Gradients of settling.

use super::{constant, inner_field, inner_geometry, inner_state, outcome_of, outcome_parts};
use crate::{
    Segment, TraceBackend,
    ops::{Advanced, Ends, Geometry, Sampled, State, TraceAdjoint},
};
use burn::backend::{
    Autodiff, Backend,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
};

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
    let settled = Settled {
        state: inner_state(state),
        ends: inner_ends(ends),
        field: inner_field(field),
        geometry: inner_geometry(geometry),
        segment,
    };
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

fn inner_ends<B: Backend, C: CheckpointStrategy>(ends: Ends<Autodiff<B, C>>) -> Ends<B> {
    Ends {
        displacement: ends.displacement.into_primitive(),
        span: ends.span.into_primitive(),
        spread: ends.spread.into_primitive(),
        flags: ends.flags,
    }
}

//! Gradients on any backend.

use crate::{
    Segment, TraceBackend,
    ops::{Advanced, Geometry, PulledBack, Sampled, State},
};
use burn::backend::{
    Autodiff, Backend,
    autodiff::{
        checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
        grads::Gradients,
        ops::{Backward, Ops, OpsKind},
    },
    tensor::{FloatTensor, IntTensor},
};

/// The backward step of a launch, with gradients by positions, by the field's values and by the motion.
#[derive(Debug)]
struct PullBack;

/// What a launch started from. The rest of its steps is recomputed.
#[derive(Clone, Debug)]
struct Taken<B: Backend> {
    state: State<B>,
    field: Sampled<B>,
    geometry: Geometry<B>,
    segment: Segment,
}

impl<B: TraceBackend> Backward<B, 3> for PullBack {
    type State = Taken<B>;

    fn backward(
        self,
        ops: Ops<Taken<B>, 3>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [position, velocity, motion] = ops.parents;
        let gradient = gradients.consume::<B>(&ops.node);
        let Taken { state, field, geometry, segment } = ops.state;
        let by_values = velocity.is_some();
        let by = B::pull_back(state, field, geometry, gradient, by_values, segment);
        if let Some(node) = position {
            gradients.register::<B>(node.id, by.position);
        }
        if let Some(node) = velocity {
            gradients.register::<B>(node.id, by.velocity);
        }
        if let Some(node) = motion {
            gradients.register::<B>(node.id, by.motion);
        }
    }
}

impl<B: TraceBackend, C: CheckpointStrategy> TraceBackend for Autodiff<B, C> {
    fn advance(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        let nodes = [state.position.node(), field.velocity.node(), geometry.motion.node()];
        let taken = Taken {
            state: inner_state(state),
            field: inner_field(field),
            geometry: inner_geometry(geometry),
            segment,
        };
        let launch =
            |Taken { state, field, geometry, segment }| B::advance(state, field, geometry, segment);
        let (advanced, position) = match PullBack.prepare::<C>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => {
                let advanced = launch(taken.clone());
                let position = prepared.finish(taken, advanced.position.clone());
                (advanced, position)
            }
            OpsKind::UnTracked(prepared) => {
                let advanced = launch(taken);
                let position = prepared.finish(advanced.position.clone());
                (advanced, position)
            }
        };
        Advanced {
            position,
            record: advanced.record,
            fraction: constant::<B, C>(advanced.fraction),
            log_index: advanced.log_index,
            log_position: constant::<B, C>(advanced.log_position),
            log_count: advanced.log_count,
        }
    }

    fn pull_back(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        gradient: FloatTensor<Self>,
        by_values: bool,
        segment: Segment,
    ) -> PulledBack<Self> {
        let (state, field) = (inner_state(state), inner_field(field));
        let (geometry, gradient) = (inner_geometry(geometry), gradient.into_primitive());
        let by = B::pull_back(state, field, geometry, gradient, by_values, segment);
        PulledBack {
            position: constant::<B, C>(by.position),
            velocity: constant::<B, C>(by.velocity),
            motion: constant::<B, C>(by.motion),
        }
    }

    /// The result has no gradients.
    fn push_forward(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        tangents: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        let (state, field) = (inner_state(state), inner_field(field));
        let (geometry, tangents) = (inner_geometry(geometry), tangents.into_primitive());
        constant::<B, C>(B::push_forward(state, field, geometry, tangents, segment))
    }

    fn sample(
        state: State<Self>,
        field: Sampled<Self>,
        first_group: usize,
        segment: Segment,
    ) -> FloatTensor<Self> {
        constant::<B, C>(B::sample(inner_state(state), inner_field(field), first_group, segment))
    }

    fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
        B::locate(position.into_primitive(), inner_field(field))
    }
}

/// A tensor without gradients.
fn constant<B: Backend, C: CheckpointStrategy>(
    tensor: FloatTensor<B>,
) -> FloatTensor<Autodiff<B, C>> {
    FloatTensor::<Autodiff<B, C>>::new(tensor)
}

fn inner_state<B: Backend, C: CheckpointStrategy>(state: State<Autodiff<B, C>>) -> State<B> {
    State {
        position: state.position.into_primitive(),
        record: state.record,
        fraction: state.fraction.into_primitive(),
    }
}

fn inner_field<B: Backend, C: CheckpointStrategy>(field: Sampled<Autodiff<B, C>>) -> Sampled<B> {
    Sampled {
        velocity: field.velocity.into_primitive(),
        groups: field.groups,
        coordinates: field.coordinates.into_primitive(),
        index: field.index,
        shape: field.shape,
    }
}

fn inner_geometry<B: Backend, C: CheckpointStrategy>(
    geometry: Geometry<Autodiff<B, C>>,
) -> Geometry<B> {
    Geometry {
        rows: geometry.rows.into_primitive(),
        numbers: geometry.numbers,
        motion: geometry.motion.into_primitive(),
    }
}

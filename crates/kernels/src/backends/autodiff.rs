//! Gradients on any backend.

mod settling;

use super::fields;
use crate::{
    POSITION, Segment, TraceBackend,
    ops::{Advanced, Ends, Geometry, OUTCOME, PulledBack, Sampled, State, TraceAdjoint, Wanted},
};
use burn::{
    backend::{
        Autodiff, Backend, TensorMetadata,
        autodiff::{
            checkpoint::{base::Checkpointer, strategy::CheckpointStrategy},
            grads::Gradients,
            ops::{Backward, NodeGuard, Ops, OpsKind},
        },
        ops::FloatTensorOps,
        tensor::{FloatTensor, IntTensor},
    },
    tensor::{Shape, Slice},
};
use std::ops::Range;

/// The backward step of a launch, with gradients by positions, end fractions, the field's values, the motion and
/// the positions of inlets.
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

impl<B: TraceAdjoint> Backward<B, 5> for PullBack {
    type State = Taken<B>;

    fn backward(
        self,
        ops: Ops<Taken<B>, 5>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let [position, fraction, velocity, motion, rows] = ops.parents;
        let gradient = gradients.consume::<B>(&ops.node);
        let wanted = Wanted { values: velocity.is_some(), rows: rows.is_some() };
        let by = match ops.state.reloaded() {
            Ok(Taken { state, field, geometry, segment }) => {
                B::pull_back(state, field, geometry, gradient, wanted, segment)
            }
            Err(taken) => taken.unknown(gradient, wanted),
        };
        let by = [
            (position, by.position),
            (fraction, by.fraction),
            (velocity, by.velocity),
            (motion, by.motion),
            (rows, by.rows),
        ];
        for (node, by) in by {
            if let Some(node) = node {
                gradients.register::<B>(node.id, by);
            }
        }
    }
}

impl<B: TraceBackend> Taken<B> {
    /// Without the field's values, if they can be loaded once more.
    fn kept(mut self) -> Self {
        if self.segment.reload.is_some() {
            let velocity = &self.field.velocity;
            let (device, dtype) = (velocity.device(), velocity.dtype());
            self.field.velocity = B::float_zeros(Shape::new([1, 4]), &device, dtype.into());
        }
        self
    }

    /// With the field's values, or as it is if they cannot be loaded.
    fn reloaded(mut self) -> Result<Self, Box<Self>> {
        let Some(reload) = self.segment.reload.take() else { return Ok(self) };
        let Some(frames) = reload.reload() else { return Err(Box::new(self)) };
        let device = self.state.position.device();
        self.field.velocity = B::float_from_data(frames.values, &device);
        (self.segment.clock, self.segment.steps) = (frames.clock, frames.steps);
        Ok(self)
    }

    /// Gradients that are not known: NaN where there is one.
    fn unknown(&self, gradient: FloatTensor<B>, wanted: Wanted) -> PulledBack<B> {
        let [count, _] = gradient.shape().dims();
        let nan = |like: &FloatTensor<B>, shape: Shape| {
            B::float_full(shape, f64::NAN.into(), &like.device(), like.dtype().into())
        };
        let single = |width: usize| Shape::new([1, width]);
        let Geometry { rows, motion, .. } = &self.geometry;
        PulledBack {
            position: nan(&gradient, Shape::new([count, POSITION])),
            fraction: nan(&gradient, Shape::new([count])),
            velocity: nan(&gradient, single(4)),
            motion: nan(motion, motion.shape()),
            rows: nan(rows, if wanted.rows { rows.shape() } else { single(3) }),
        }
    }

    /// Takes the steps, a batch of particles after another.
    fn launch(self) -> Advanced<B> {
        let Taken { state, field, geometry, mut segment } = self;
        let count = state.fraction.shape().num_elements();
        // Ends and crossings are logged for all particles together.
        let has_log = segment.reinjection.is_some() || !segment.gates.is_empty();
        let is_whole = has_log || segment.fields > 1;
        let batch = segment.batch.take().filter(|_| !is_whole);
        let Some(batch) = batch.filter(|batch| *batch < count) else {
            return B::advance(state, field, geometry, segment);
        };
        let launch = |first: usize| {
            let state = fields::state_rows(&state, first..count.min(first + batch));
            let first_slot = segment.first_slot + first as u32;
            let segment = Segment { first_slot, ..segment.clone() };
            B::advance(state, field.clone(), geometry.clone(), segment)
        };
        fields::advanced((0..count).step_by(batch).map(launch).collect())
    }
}

impl<B: TraceAdjoint, C: CheckpointStrategy> TraceBackend for Autodiff<B, C> {
    fn advance(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        let nodes = [
            state.position.node(),
            state.fraction.node(),
            field.velocity.node(),
            geometry.motion.node(),
            geometry.rows.node(),
        ];
        let taken = Taken {
            state: inner_state(state),
            field: inner_field(field),
            geometry: inner_geometry(geometry),
            segment,
        };
        advance_tracked::<B, C>(nodes, taken)
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

    fn settle(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        settling::settle(state, ends, field, geometry, segment)
    }

    fn carry(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        velocities: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        settling::carry(state, ends, field, geometry, velocities, segment)
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

/// A launch as an operation in a graph: one of the positions together with the end fractions, so that a backward
/// pass takes its steps again only once.
fn advance_tracked<B: TraceAdjoint, C: CheckpointStrategy>(
    nodes: [NodeGuard; 5],
    taken: Taken<B>,
) -> Advanced<Autodiff<B, C>> {
    match PullBack.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prepared) => {
            let advanced = taken.clone().launch();
            let outcome = prepared.finish(taken.kept(), outcome_of(&advanced));
            outcome_parts(advanced, outcome)
        }
        OpsKind::UnTracked(prepared) => {
            let advanced = taken.launch();
            let position = prepared.finish(advanced.position.clone());
            let fraction = constant::<B, C>(advanced.fraction.clone());
            advanced.with(position, fraction)
        }
    }
}

/// Positions and fractions as one tensor `[n, OUTCOME]`.
fn outcome_of<B: Backend>(advanced: &Advanced<B>) -> FloatTensor<B> {
    let count = advanced.fraction.shape().num_elements();
    let fraction = B::float_reshape(advanced.fraction.clone(), Shape::new([count, 1]));
    B::float_cat(vec![advanced.position.clone(), fraction], 1)
}

/// A result with the positions and fractions of an outcome in a graph.
fn outcome_parts<B: Backend, C: CheckpointStrategy>(
    advanced: Advanced<B>,
    outcome: FloatTensor<Autodiff<B, C>>,
) -> Advanced<Autodiff<B, C>> {
    let count = advanced.fraction.shape().num_elements();
    let columns = |columns: Range<usize>| {
        let all = Slice::from(0..count);
        Autodiff::<B, C>::float_slice(outcome.clone(), &[all, Slice::from(columns)])
    };
    let fraction = Autodiff::<B, C>::float_reshape(columns(POSITION..OUTCOME), Shape::new([count]));
    advanced.with(columns(0..POSITION), fraction)
}

impl<B: Backend> Advanced<B> {
    /// The same result with other positions and fractions.
    fn with<C: CheckpointStrategy>(
        self,
        position: FloatTensor<Autodiff<B, C>>,
        fraction: FloatTensor<Autodiff<B, C>>,
    ) -> Advanced<Autodiff<B, C>> {
        Advanced {
            position,
            record: self.record,
            fraction,
            log_index: self.log_index,
            log_position: constant::<B, C>(self.log_position),
            log_count: self.log_count,
        }
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

//! The operations on tensors: what a user of Burn calls.

use crate::{GridShape, Segment, TraceBackend, ops};
use burn::backend::Dispatch;
use burn::tensor::{Int, Tensor};

/// A velocity field on a grid, on a device.
#[derive(Clone, Debug)]
pub struct FieldTensors {
    /// Velocity `[frames, values, 4]`: u, v, w and a zero that pads them; x varies fastest among
    /// the values. Unit of length per unit of time.
    pub velocity: Tensor<3>,
    /// Node coordinates `[nx + ny + nz]`, the x axis first; used where the spacing is a table.
    pub nodes: Tensor<1>,
    /// The grid's shape.
    pub shape: GridShape,
}

/// Particles on a device, `n` of them.
#[derive(Clone, Debug)]
pub struct Particles {
    /// Positions `[n, 3]`, in the field's precision.
    pub position: Tensor<2>,
    /// A row of five `i32` for each particle `[n, 5]`: its [`Status`](crate::Status) code; the
    /// number of the step of its event, which is its release while it waits and its end once it
    /// has ended; and the boxes it has crossed through periodic faces of each axis (position +
    /// image x width is the free path).
    pub record: Tensor<2, Int>,
    /// The fraction of its event's step at which the event takes place `[n]`.
    pub fraction: Tensor<1>,
}

/// Columns of [`Particles::record`].
pub const RECORD: usize = 5;

impl Particles {
    /// [`Status`](crate::Status) codes `[n]`.
    pub fn status(&self) -> Tensor<1, Int> {
        self.record.clone().slice([0..self.count(), 0..1]).squeeze_dim(1)
    }

    /// Numbers of the steps of the particles' events `[n]`.
    pub fn event_step(&self) -> Tensor<1, Int> {
        self.record.clone().slice([0..self.count(), 1..2]).squeeze_dim(1)
    }

    /// Boxes crossed through periodic faces `[n, 3]`.
    pub fn image(&self) -> Tensor<2, Int> {
        self.record.clone().slice([0..self.count(), 2..RECORD])
    }

    /// How many particles there are.
    pub fn count(&self) -> usize {
        self.position.dims()[0]
    }
}

/// Takes all particles through all steps of a segment, in one launch, on the device that holds
/// them.
///
/// # Panics
///
/// On tensors that are not on one device, not of one float precision, or not of the shapes that
/// [`Particles`] and [`FieldTensors`] state; and on a device that tracks gradients.
pub fn advance(particles: Particles, grid: &FieldTensors, segment: Segment) -> Particles {
    let state = ops::State {
        position: particles.position.into_dispatch(),
        record: particles.record.into_dispatch(),
        fraction: particles.fraction.into_dispatch(),
    };
    let state = <Dispatch as TraceBackend>::advance(state, primitive(grid), segment);
    Particles {
        position: Tensor::from_dispatch(state.position),
        record: Tensor::from_dispatch(state.record),
        fraction: Tensor::from_dispatch(state.fraction),
    }
}

/// Velocity `[n, 3]` at positions `[n, 3]`, at the beginning of the segment's first step.
///
/// # Panics
///
/// As [`advance`].
pub fn sample(position: Tensor<2>, grid: &FieldTensors, segment: Segment) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as TraceBackend>::sample(
        position.into_dispatch(),
        primitive(grid),
        segment,
    ))
}

fn primitive(grid: &FieldTensors) -> ops::Grid<Dispatch> {
    ops::Grid {
        velocity: grid.velocity.clone().into_dispatch(),
        nodes: grid.nodes.clone().into_dispatch(),
        shape: grid.shape,
    }
}

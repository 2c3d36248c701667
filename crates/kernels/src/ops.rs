//! The backend extension.

#![allow(deprecated)] // the NdArray backend, which people ask for by name

use crate::{FieldShape, Segment};
use burn::backend::{
    Backend, ExtensionType, backend_extension,
    tensor::{FloatTensor, IntTensor},
};

/// A field's tensors on a backend. See [`FieldTensors`](crate::FieldTensors) for shapes.
#[derive(ExtensionType)]
pub struct Sampled<B: Backend> {
    /// Velocity, padded to four components.
    pub velocity: FloatTensor<B>,
    /// Coordinates of nodes.
    pub places: FloatTensor<B>,
    /// Where the nodes of each cell begin; or what there is to know of a mesh.
    pub index: IntTensor<B>,
    /// The field's shape.
    pub shape: FieldShape,
}

/// Particles on a backend. See [`Particles`](crate::Particles) for shapes.
#[derive(ExtensionType)]
pub struct State<B: Backend> {
    /// Positions.
    pub position: FloatTensor<B>,
    /// Statuses, events, periodic images and generations.
    pub record: IntTensor<B>,
    /// Fractions of the events' steps.
    pub fraction: FloatTensor<B>,
}

/// Places of inlets and triangles of surfaces on a backend. See [`Places`](crate::Places) for
/// shapes.
#[derive(ExtensionType)]
pub struct Placed<B: Backend> {
    /// Places of inlets, and behind them the numbers of triangles.
    pub rows: FloatTensor<B>,
    /// Integers of surfaces.
    pub numbers: IntTensor<B>,
}

/// What a launch gives back. See [`Launched`](crate::Launched) for shapes.
#[derive(ExtensionType)]
pub struct Advanced<B: Backend> {
    /// Positions.
    pub position: FloatTensor<B>,
    /// Statuses, events, periodic images, generations.
    pub record: IntTensor<B>,
    /// Fractions of the events' steps.
    pub fraction: FloatTensor<B>,
    /// Integers of the log of lives.
    pub log_index: IntTensor<B>,
    /// Fractions and places of the log of lives.
    pub log_place: FloatTensor<B>,
    /// How many lives the log has.
    pub log_count: IntTensor<B>,
}

/// The operations that burntrace adds to a Burn backend.
#[backend_extension(Flex, NdArray, Cube: cfg(feature = "cube"))]
pub trait TraceBackend: Backend {
    /// Takes all particles through all steps of a segment, in one launch.
    fn advance(
        #[extension_type] state: State<Self>,
        #[extension_type] field: Sampled<Self>,
        #[extension_type] placed: Placed<Self>,
        segment: Segment,
    ) -> Advanced<Self>;

    /// Velocity at positions `[n, 3]` at the beginning of the segment's first step.
    fn sample(
        position: FloatTensor<Self>,
        #[extension_type] field: Sampled<Self>,
        segment: Segment,
    ) -> FloatTensor<Self>;

    /// The cell of a mesh in which each of the positions `[n, 3]` is, or -1 `[n]`.
    fn locate(
        position: FloatTensor<Self>,
        #[extension_type] field: Sampled<Self>,
    ) -> IntTensor<Self>;
}

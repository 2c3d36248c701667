//! The backend extension.

#![allow(deprecated)] // the NdArray backend, kept for users that select it by name

use crate::{FieldShape, POSITION, Segment};
use burn::backend::{
    Backend, ExtensionType, backend_extension,
    tensor::{FloatTensor, IntTensor},
};

/// A field's tensors on a backend. See [`FieldTensors`](crate::FieldTensors) for shapes.
#[derive(Clone, Debug, ExtensionType)]
pub struct Sampled<B: Backend> {
    /// Groups of four values, the first of them velocities.
    pub velocity: FloatTensor<B>,
    /// Number of groups.
    pub groups: usize,
    /// Coordinates of nodes.
    pub coordinates: FloatTensor<B>,
    /// Offsets of the nodes of each cell of points, or the connectivity of a mesh.
    pub index: IntTensor<B>,
    /// The field's shape.
    pub shape: FieldShape,
}

/// Particles on a backend. See [`Particles`](crate::Particles) for shapes.
#[derive(Clone, Debug, ExtensionType)]
pub struct State<B: Backend> {
    /// Positions.
    pub position: FloatTensor<B>,
    /// Statuses, events, periodic images and generations.
    pub record: IntTensor<B>,
    /// Fractions of the events' steps.
    pub fraction: FloatTensor<B>,
}

/// The free ends of a step on a backend. See [`FreeEnds`](crate::FreeEnds) for shapes.
#[derive(Clone, Debug, ExtensionType)]
pub struct Ends<B: Backend> {
    /// Displacements.
    pub displacement: FloatTensor<B>,
    /// Fractions of the step.
    pub span: FloatTensor<B>,
    /// Diffusivities and their derivatives.
    pub spread: FloatTensor<B>,
    /// Flags.
    pub flags: IntTensor<B>,
}

/// Inlet positions, obstacle triangles and motion on a backend. See
/// [`GeometryTensors`](crate::GeometryTensors) for shapes.
#[derive(Clone, Debug, ExtensionType)]
pub struct Geometry<B: Backend> {
    /// Positions of inlets, then the numbers of triangles.
    pub rows: FloatTensor<B>,
    /// Integers of surfaces.
    pub numbers: IntTensor<B>,
    /// Drift and diffusivity, for their gradients alone.
    pub motion: FloatTensor<B>,
}

/// Result of a launch. See [`Launched`](crate::Launched) for shapes.
#[derive(ExtensionType)]
pub struct Advanced<B: Backend> {
    /// Positions.
    pub position: FloatTensor<B>,
    /// Statuses, events, periodic images, generations.
    pub record: IntTensor<B>,
    /// Fractions of the events' steps.
    pub fraction: FloatTensor<B>,
    /// Integers of the log of ended instances.
    pub log_index: IntTensor<B>,
    /// Fractions and positions of the log of ended instances.
    pub log_position: FloatTensor<B>,
    /// Number of entries in the log.
    pub log_count: IntTensor<B>,
}

/// Result of [`TraceAdjoint::pull_back`].
pub struct PulledBack<B: Backend> {
    /// Gradients by [`State::position`].
    pub position: FloatTensor<B>,
    /// Gradients by [`State::fraction`], as far as it has the ends and the releases of particles.
    pub fraction: FloatTensor<B>,
    /// Gradients by [`Sampled::velocity`].
    pub velocity: FloatTensor<B>,
    /// Gradients by [`Geometry::motion`].
    pub motion: FloatTensor<B>,
    /// Gradients by [`Geometry::rows`], as far as they are positions of inlets.
    pub rows: FloatTensor<B>,
}

/// Result of [`TraceAdjoint::pull_back_settling`].
pub struct PulledBackEnds<B: Backend> {
    /// Gradients by [`State::position`].
    pub position: FloatTensor<B>,
    /// Gradients by [`State::fraction`].
    pub fraction: FloatTensor<B>,
    /// Gradients by [`Ends::displacement`].
    pub displacement: FloatTensor<B>,
    /// Gradients by [`Ends::spread`].
    pub spread: FloatTensor<B>,
    /// Gradients by [`Geometry::motion`], as far as it is the diffusivity.
    pub motion: FloatTensor<B>,
}

/// Number of columns of an outcome: the position at the end of a launch, its rest, and the fraction of the step in
/// which the particle ended.
pub(crate) const OUTCOME: usize = POSITION + 1;

/// Columns of the velocities of particles with inertia before a step settles: at its start, and their changes.
pub(crate) const CARRIED: usize = 6;

/// The gradients that a backward pass wants beside those by positions and by the motion.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// By the field's values.
    pub values: bool,
    /// By the positions of inlets.
    pub rows: bool,
}

/// The operations that burntrace adds to a Burn backend.
#[backend_extension(Autodiff, Flex, NdArray, Cube: cfg(feature = "cube"))]
pub trait TraceBackend: Backend {
    /// Advances all particles through all steps of a segment, in one launch.
    fn advance(
        #[extension_type] state: State<Self>,
        #[extension_type] field: Sampled<Self>,
        #[extension_type] geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self>;

    /// The derivatives `[n, TANGENTS]` of the positions at the end of a launch, from those at its start.
    fn push_forward(
        #[extension_type] state: State<Self>,
        #[extension_type] field: Sampled<Self>,
        #[extension_type] geometry: Geometry<Self>,
        tangents: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self>;

    /// Takes particles to the ends of the segment's step; see [`settle`](crate::settle).
    fn settle(
        #[extension_type] state: State<Self>,
        #[extension_type] ends: Ends<Self>,
        #[extension_type] field: Sampled<Self>,
        #[extension_type] geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self>;

    /// Velocities `[n, 3]` at the ends of the segment's step, from those at its start and their changes `[n, CARRIED]`. Where
    /// the path of a particle is turned, so is its velocity there. NaN for a particle that another one has replaced.
    fn carry(
        #[extension_type] state: State<Self>,
        #[extension_type] ends: Ends<Self>,
        #[extension_type] field: Sampled<Self>,
        #[extension_type] geometry: Geometry<Self>,
        velocities: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self>;

    /// The groups of values from a first one on, at the particles' positions at the start of the
    /// segment's first step.
    fn sample(
        #[extension_type] state: State<Self>,
        #[extension_type] field: Sampled<Self>,
        first_group: usize,
        segment: Segment,
    ) -> FloatTensor<Self>;

    /// The mesh cell that contains each of the positions `[n, 3]`, or -1 `[n]`.
    fn locate(
        position: FloatTensor<Self>,
        #[extension_type] field: Sampled<Self>,
    ) -> IntTensor<Self>;
}

/// The backward steps of the operations, on backends without gradients.
pub trait TraceAdjoint: TraceBackend {
    /// Gradients by the positions at the start of a launch, by the field's values, by the motion and by the
    /// positions of inlets, from `gradient` `[n, OUTCOME]`, those by the positions and end fractions after it.
    /// Those by the values and by the inlets are a single row unless they are wanted.
    fn pull_back(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        gradient: FloatTensor<Self>,
        wanted: Wanted,
        segment: Segment,
    ) -> PulledBack<Self>;

    /// Gradients by what particles and their free ends were before [`settle`](TraceBackend::settle), from
    /// `gradient` `[n, OUTCOME]`, those by the positions and fractions after it.
    fn pull_back_settling(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        gradient: FloatTensor<Self>,
        segment: Segment,
    ) -> PulledBackEnds<Self>;

    /// Gradients `[n, 2 CARRIED]` by the velocities at the start of a step and their changes, by the start of each path and by
    /// its displacement, from `gradient` `[n, 3]`, those by the result of [`carry`](TraceBackend::carry).
    fn pull_back_carrying(
        state: State<Self>,
        ends: Ends<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        velocities: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self>;
}

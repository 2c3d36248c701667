//! Settling: what becomes of the end of a step.

use crate::{
    FieldShape, FieldTensors, GeometryTensors, GridShape, INERTIAL, Launched, POSITION, Particles,
    Placement, Segment, Spacing, TraceBackend, functions, ops,
};
use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Int, Tensor};

/// A flag of a particle that moves. A waiting one is released.
pub const MOVES: i32 = 1;
/// A flag of a particle that is slower than the threshold speed, and ends where it is.
pub const SLOW: i32 = 2;
/// A flag of a particle at whose position, at the start of the step, the field has no velocity.
pub const UNKNOWN: i32 = 4;
/// A flag of a particle whose successor in its slot is not released before the next step.
pub const DEFERS: i32 = 8;
/// A flag of a particle whose adaptive step is rejected. It stays where it is, and is released.
pub const REJECTED: i32 = 16;
/// A flag of a slot that gets its first release in the launch, if it is an idle one of a source.
pub const WAKES: i32 = 32;

/// A flag of an active particle that an operation displaces: it moves unless its displacement is 0.
pub const PUSHED: i32 = 64;
/// A flag of a particle whose adaptive steps became too short: it ends where it is.
pub const GIVES_UP: i32 = 128;

/// Where a step takes particles before they meet anything, in the order of slots.
#[derive(Clone, Debug)]
pub struct FreeEnds {
    /// Displacements `[n, 3]`, to which the rests of positions are added.
    pub displacement: Tensor<2>,
    /// The fractions of the step between which each particle moves `[n, 2]`, or `[1, 2]` for all of them.
    pub span: Tensor<2>,
    /// For a random walk in a diffusivity that varies, the field's diffusivity where each particle starts, and its
    /// derivatives along x, y and z times the factors of the walk `[n, 4]`; otherwise a row that is not read.
    pub spread: Tensor<2>,
    /// Changes of the velocities of particles with inertia in the step `[n, 3]`; `None` for 0.
    pub velocity_change: Option<Tensor<2>>,
    /// Sums of flags `[n]`: [`MOVES`] and others. A particle without flags is not changed.
    pub flags: Tensor<1, Int>,
}

/// Takes particles to the ends of a step that an engine has computed: adds the displacement of the segment's random
/// walk, follows the straight paths through faces, obstacles and the boundary of the mesh, and replaces particles
/// that have ended by the next ones in their slots, as [`advance`](crate::advance) does in its steps. The
/// segment has one step; of the field, its mesh matters.
///
/// The next particle in a slot waits for its release, or is active if that is the end of the step.
///
/// Velocities of particles with inertia change as the step says, and are turned where the path is, as are fluctuations of the fluid's velocity.
/// Those of the next particles in slots are NaN.
///
/// Positions and fractions after the step have gradients by those before it, by displacements, by the spread and by
/// the diffusivity.
///
/// # Panics
///
/// As [`advance`](crate::advance).
pub fn settle(
    particles: Particles,
    ends: FreeEnds,
    field: &FieldTensors,
    geometry: &GeometryTensors,
    mut segment: Segment,
) -> Launched {
    let (slots, tallies) = (particles.slots.clone(), particles.tallies.clone());
    let (velocity, fluctuation) = (particles.velocity(), particles.fluctuation());
    // A further owner of the positions of other particles would cost a copy.
    let inertial = velocity.as_ref().map(|_| particles.position.clone());
    segment.slots.clone_from(&slots);
    let change = ends.velocity_change;
    let ends = ops::Ends {
        displacement: ends.displacement.into_dispatch(),
        span: ends.span.into_dispatch(),
        spread: ends.spread.into_dispatch(),
        flags: ends.flags.into_dispatch(),
    };
    let (state, field) = (functions::state(particles), functions::primitive(field));
    let geometry = functions::buffers(geometry);
    let fluctuates = segment.inertia.is_some_and(|inertia| inertia.fluctuates);
    let carry = |velocity: Tensor<2>, change: Option<Tensor<2>>| {
        let change = change.unwrap_or_else(|| velocity.zeros_like());
        let velocities = Tensor::cat(vec![velocity, change], 1).into_dispatch();
        let (state, ends, field) = (state.clone(), ends.clone(), field.clone());
        let (geometry, segment) = (geometry.clone(), segment.clone());
        Tensor::from_dispatch(<Dispatch as TraceBackend>::carry(
            state, ends, field, geometry, velocities, segment,
        ))
    };
    let carried = velocity.map(|velocity| {
        let turned = fluctuation.filter(|_| fluctuates).map(|fluctuation| carry(fluctuation, None));
        (carry(velocity, change), turned)
    });
    let settled = <Dispatch as TraceBackend>::settle(state, ends, field, geometry, segment);
    let mut launched = functions::launched(settled, None, slots);
    launched.particles.tallies = tallies;
    match carried.zip(inertial) {
        None => launched,
        Some(((velocity, fluctuation), before)) => {
            let beside = before.narrow(1, POSITION + 3, INERTIAL - POSITION - 3);
            let position = Tensor::cat(vec![launched.particles.position, velocity, beside], 1);
            let mut particles = Particles { position, ..launched.particles };
            if let Some(fluctuation) = fluctuation {
                particles = particles.with_fluctuation(fluctuation);
            }
            Launched { particles, ..launched }
        }
    }
}

impl FieldTensors {
    /// Placeholders for a field that is not sampled and has no mesh, for [`settle`].
    pub fn none(device: &Device, dtype: DType) -> Self {
        let grid = GridShape {
            radius: None,
            nodes: [1; 3],
            origin: [0.0; 3],
            pitch: [1.0; 3],
            spacing: Spacing::Uniform,
            placement: Placement::Nodes,
        };
        FieldTensors {
            velocity: Tensor::zeros([2, 4], (device, dtype)),
            groups: 1,
            coordinates: Tensor::zeros([3], (device, dtype)),
            index: Tensor::zeros([1], (device, DType::I32)),
            shape: FieldShape::Grid(grid),
        }
    }
}

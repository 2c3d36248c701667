//! Functions on Burn tensors, the entry points for users of Burn.

use crate::{FieldShape, GeometryTensors, Segment, TraceBackend, ops, record};
use burn::backend::Dispatch;
use burn::tensor::{DType, Int, Tensor};
use std::sync::Arc;

/// A velocity field on a device, and other quantities at the same nodes or cells.
#[derive(Clone, Debug)]
pub struct FieldTensors {
    /// Values `[frames x groups x values + 1, 4]`, frame after frame, and group after group in a
    /// frame. The first group is the velocity in length per time: u, v, w (zero along flat axes) and
    /// a fourth component (zero, or a diffusivity). The others are quantities that [`sample`] can
    /// interpolate. One padding row at the end allows kernels to read two values at a time. On a
    /// grid x varies fastest; point values are in the order of [`PointShape`](crate::PointShape).
    pub velocity: Tensor<2>,
    /// Number of groups.
    pub groups: usize,
    /// On a grid, the node coordinates `[nx + ny + nz]` of its axes, used if the spacing is a
    /// table. For points, the coordinates `[3 (n + NODE_PADDING)]`: all x, padded, all y, all z; 0
    /// on flat axes; then the branches of trees, see [`PointShape`](crate::PointShape). For a mesh, see [`MeshShape`](crate::MeshShape).
    pub coordinates: Tensor<1>,
    /// For points, `i32` `[cells + 1]`: the index of the first node of each cell, and the end; then
    /// the trees of crowded cells, if there are any, see [`PointShape`](crate::PointShape). For a mesh, see [`MeshShape`](crate::MeshShape). On a grid a single 0.
    pub index: Tensor<1, Int>,
    /// The field's shape.
    pub shape: FieldShape,
}

impl FieldTensors {
    /// Rows of `velocity` per frame.
    pub fn rows_per_frame(&self) -> usize {
        self.groups * self.shape.values_per_frame()
    }
}

/// State of `n` particles on a device.
#[derive(Clone, Debug)]
pub struct Particles {
    /// Positions `[n, POSITION]`, in the field's precision: x, y and z, and their rests, which are
    /// too small for them. A step adds to both, so that a long run does not lose small steps. For particles with inertia
    /// `[n, INERTIAL]`: behind them velocities, NaN where they are not released yet, then relaxation times, ratios beta of densities and
    /// Reynolds numbers of a unit of speed, then fluctuations of the fluid's velocity, NaN (which counts as 0) where they are not known
    /// yet.
    pub position: Tensor<2>,
    /// The `i32` of a [`Record`](crate::Record) per particle `[n, RECORD]`.
    pub record: Tensor<2, Int>,
    /// Fraction of its event's step at which the event takes place `[n]`. For an active particle
    /// with adaptive steps, the length suggested for its next step.
    pub fraction: Tensor<1>,
    /// Derivatives of the positions by three numbers `[n, TANGENTS]`: those of x, then of y, then of z;
    /// [`advance`] takes them along. For [`IDENTITY`] at the start these are the gradients of the flow map.
    pub tangents: Option<Tensor<2>>,
    /// What has added up along the track of each particle `[n, Tallies::width]`, in the field's precision; see
    /// [`Segment::tallies`].
    pub tallies: Option<Tensor<2>>,
    /// The slot of each row, counted from that of the launch, if rows are not in the order of slots; see
    /// [`Segment::slots`].
    pub slots: Option<Arc<[u32]>>,
}

/// Columns of [`Particles::position`].
pub const POSITION: usize = 6;

/// Columns of [`Particles::position`] for particles with inertia.
pub const INERTIAL: usize = POSITION + 9;

/// The first column of the fluctuations of the fluid's velocity.
pub(crate) const FLUCTUATION: usize = POSITION + 6;

/// Columns of [`Particles::tangents`].
pub const TANGENTS: usize = 9;

/// The derivatives of a position by its own coordinates.
pub const IDENTITY: [f64; TANGENTS] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

impl Particles {
    /// Particles at positions `[n, 3]`, of which nothing else is known, for [`sample`].
    pub fn at(position: Tensor<2>) -> Self {
        let [n, _] = position.dims();
        let (device, dtype) = (position.device(), position.dtype());
        Particles {
            position: Tensor::cat(vec![position.clone(), position.zeros_like()], 1),
            record: Tensor::zeros([n, record::RECORD], (&device, DType::I32)),
            fraction: Tensor::zeros([n], (&device, dtype)),
            tangents: None,
            tallies: None,
            slots: None,
        }
    }

    /// Positions `[n, 3]` without their rests.
    pub fn coordinates(&self) -> Tensor<2> {
        self.position.clone().narrow(1, 0, 3)
    }

    /// Rests of the positions `[n, 3]`.
    pub fn rest(&self) -> Tensor<2> {
        self.position.clone().narrow(1, 3, 3)
    }

    /// Velocities `[n, 3]` of particles with inertia.
    pub fn velocity(&self) -> Option<Tensor<2>> {
        self.vector(POSITION)
    }

    /// Fluctuations of the fluid's velocity `[n, 3]` at particles with inertia.
    pub fn fluctuation(&self) -> Option<Tensor<2>> {
        self.vector(FLUCTUATION)
    }

    fn vector(&self, first: usize) -> Option<Tensor<2>> {
        let [_, columns] = self.position.dims();
        (columns > POSITION).then(|| self.position.clone().narrow(1, first, 3))
    }

    /// The particles with other velocities `[n, 3]`.
    pub fn with_velocity(self, velocity: Tensor<2>) -> Self {
        self.with_vector(POSITION, velocity)
    }

    /// The particles with other fluctuations of the fluid's velocity `[n, 3]`.
    pub fn with_fluctuation(self, fluctuation: Tensor<2>) -> Self {
        self.with_vector(FLUCTUATION, fluctuation)
    }

    fn with_vector(self, first: usize, vector: Tensor<2>) -> Self {
        let [_, columns] = self.position.dims();
        let part = |from: usize, to: usize| self.position.clone().narrow(1, from, to - from);
        let mut parts = vec![part(0, first), vector];
        if first + 3 < columns {
            parts.push(part(first + 3, columns));
        }
        Particles { position: Tensor::cat(parts, 1), ..self }
    }

    /// [`Status`](crate::Status) codes `[n]`.
    pub fn status(&self) -> Tensor<1, Int> {
        self.column(record::STATUS)
    }

    /// Steps of the particles' events `[n]`.
    pub fn event_step(&self) -> Tensor<1, Int> {
        self.column(record::STEP)
    }

    /// Boxes crossed through periodic faces `[n, 3]`.
    pub fn image(&self) -> Tensor<2, Int> {
        self.record.clone().narrow(1, record::IMAGE, 3)
    }

    /// Mesh cells of the particles, or where they ended `[n]`; see
    /// [`Record::location`](crate::Record::location).
    pub fn location(&self) -> Tensor<1, Int> {
        self.column(record::LOCATION)
    }

    /// Generations: earlier particle instances in the particles' slots `[n]`.
    pub fn generation(&self) -> Tensor<1, Int> {
        self.column(record::GENERATION)
    }

    /// Accepted and rejected adaptive steps `[n, 2]`.
    pub fn tries(&self) -> Tensor<2, Int> {
        self.record.clone().narrow(1, record::ACCEPTED, 2)
    }

    fn column(&self, column: usize) -> Tensor<1, Int> {
        self.record.clone().narrow(1, column, 1).squeeze_dim(1)
    }

    /// Number of particles.
    pub fn count(&self) -> usize {
        self.position.dims()[0]
    }
}

/// Particle instances that ended in a launch and were followed by others in their slots, and crossings of
/// gates. Those of a slot are in order.
///
/// The rows are divided into equal parts, one per element of `count`: a single part on a CPU, one
/// per slot on other devices.
#[derive(Clone, Debug)]
pub struct Log {
    /// Integers per entry `[rows, 5]`: slot, generation, [`Status`](crate::Status) code, the step in which
    /// it ended, and the location as in [`Particles::record`]. For a crossing, the code is [`CROSSED`](crate::status::CROSSED)
    /// or -1 times it, and the location is the number of the gate.
    pub index: Tensor<2, Int>,
    /// Fraction of that step and the position x, y, z, per entry `[rows, 4]`.
    pub position: Tensor<2>,
    /// Number of entries in each part. If it exceeds the part's rows, one end waits for a launch that
    /// [resumes](crate::ReinjectionRules::resumes). -1 if the part had no room for a crossing.
    pub count: Tensor<1, Int>,
}

/// Result of a launch.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The particles after the last step.
    pub particles: Particles,
    /// Particle instances that ended and were followed by another in their slot; meaningless rows
    /// if the segment has neither [`ReinjectionRules`](crate::ReinjectionRules) nor gates.
    pub log: Log,
}

/// Advances all particles through all steps of a segment, in one launch, on the device that holds
/// them. `geometry` holds the positions of the segment's inlets and the triangles of its obstacles.
///
/// The positions, and the fractions at which particles ended, have gradients by those at the start, by the field's
/// velocities and diffusivities (not by its other values), by the motion and by the positions of inlets, if these are tracked;
/// [tangents](Particles::tangents) have none.
///
/// # Panics
///
/// If the tensors are on different devices, have different float precisions or not the shapes
/// stated in [`Particles`] and [`FieldTensors`], and for particles with tangents in slots that are re-used.
pub fn advance(
    particles: Particles,
    field: &FieldTensors,
    geometry: &GeometryTensors,
    mut segment: Segment,
) -> Launched {
    let (tangents, slots) = (particles.tangents.clone(), particles.slots.clone());
    assert!(tangents.is_none() || slots.is_none(), "tangents of rows in another order");
    segment.slots.clone_from(&slots);
    if particles.tallies.is_none() {
        segment.tallies = Arc::default();
    }
    let width = particles.position.dims()[1];
    let geometry = buffers(geometry);
    let before = tangents.is_some().then(|| whole_state(particles.clone()));
    let state = whole_state(with_tallies(particles));
    let tangents = tangents.zip(before).map(|(tangents, state)| {
        let geometry = geometry.clone();
        let (tangents, segment) = (tangents.into_dispatch(), segment.clone());
        Tensor::from_dispatch(<Dispatch as TraceBackend>::push_forward(
            state,
            primitive(field),
            geometry,
            tangents,
            segment,
        ))
    });
    let advanced = <Dispatch as TraceBackend>::advance(state, primitive(field), geometry, segment);
    let mut launched = launched(advanced, tangents, slots);
    launched.particles = without_tallies(launched.particles, width);
    launched
}

/// Particles whose tallies are behind their positions, as an operation takes them.
fn with_tallies(mut particles: Particles) -> Particles {
    if let Some(tallies) = particles.tallies.take() {
        particles.position = Tensor::cat(vec![particles.position, tallies], 1);
    }
    particles
}

/// The particles of [`with_tallies`] again, with positions of a width.
fn without_tallies(mut particles: Particles, width: usize) -> Particles {
    let [_, all] = particles.position.dims();
    if all > width {
        particles.tallies = Some(particles.position.clone().narrow(1, width, all - width));
        particles.position = particles.position.narrow(1, 0, width);
    }
    particles
}

/// The result of a launch as tensors.
pub(crate) fn launched(
    advanced: ops::Advanced<Dispatch>,
    tangents: Option<Tensor<2>>,
    slots: Option<Arc<[u32]>>,
) -> Launched {
    Launched {
        particles: Particles {
            position: Tensor::from_dispatch(advanced.position),
            record: Tensor::from_dispatch(advanced.record),
            fraction: Tensor::from_dispatch(advanced.fraction),
            tangents,
            tallies: None,
            slots,
        },
        log: Log {
            index: Tensor::from_dispatch(advanced.log_index),
            position: Tensor::from_dispatch(advanced.log_position),
            count: Tensor::from_dispatch(advanced.log_count),
        },
    }
}

/// The groups of values of a field from a first one on `[n, (groups - first_group) x 4]`, at the
/// positions of `n` particles, at the start of the segment's first step. The cell of each particle is
/// found once. The result has no gradients.
///
/// # Panics
///
/// As [`advance`].
pub fn sample(
    particles: Particles,
    field: &FieldTensors,
    first_group: usize,
    segment: Segment,
) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as TraceBackend>::sample(
        state(particles),
        primitive(field),
        first_group,
        segment,
    ))
}

/// The mesh cell that contains each of the positions `[n, 3]`, or -1 `[n]`. A position on a face,
/// edge or vertex belongs to the adjacent cell with the lowest number.
///
/// # Panics
///
/// As [`advance`], and for fields that are not on a mesh.
pub fn locate(position: Tensor<2>, field: &FieldTensors) -> Tensor<1, Int> {
    Tensor::from_dispatch(<Dispatch as TraceBackend>::locate(
        position.into_dispatch(),
        primitive(field),
    ))
}

pub(crate) fn buffers(geometry: &GeometryTensors) -> ops::Geometry<Dispatch> {
    ops::Geometry {
        rows: geometry.rows.clone().into_dispatch(),
        numbers: geometry.numbers.clone().into_dispatch(),
        motion: geometry.motion.clone().into_dispatch(),
    }
}

/// The state of particles, without what those with inertia have beside.
pub(crate) fn state(particles: Particles) -> ops::State<Dispatch> {
    whole_state(match particles.position.dims()[1] {
        POSITION => particles,
        _ => Particles { position: particles.position.narrow(1, 0, POSITION), ..particles },
    })
}

fn whole_state(particles: Particles) -> ops::State<Dispatch> {
    ops::State {
        position: particles.position.into_dispatch(),
        record: particles.record.into_dispatch(),
        fraction: particles.fraction.into_dispatch(),
    }
}

pub(crate) fn primitive(field: &FieldTensors) -> ops::Sampled<Dispatch> {
    ops::Sampled {
        groups: field.groups,
        velocity: field.velocity.clone().into_dispatch(),
        coordinates: field.coordinates.clone().into_dispatch(),
        index: field.index.clone().into_dispatch(),
        shape: field.shape,
    }
}

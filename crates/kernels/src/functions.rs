//! The operations on tensors: what a user of Burn calls.

use crate::{ClosedSurface, FieldShape, Obstacle, Segment, Shape, TraceBackend, ops};
use burn::backend::Dispatch;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};

/// A velocity field on a device.
#[derive(Clone, Debug)]
pub struct FieldTensors {
    /// Velocity `[frames x values + 1, 4]`: u, v, w and a zero that pads them, frame after frame,
    /// and at the end one value more, which takes no part (vectors of two values are read). Unit
    /// of length per unit of time; zero along flat axes. On a grid x varies fastest among the
    /// values; those of points are in the order of [`PointShape`](crate::PointShape).
    pub velocity: Tensor<2>,
    /// On a grid the node coordinates `[nx + ny + nz]` of its axes, used where the spacing is a
    /// table. Of points the coordinates `[3 (n + NODE_PADDING)]`: all x, padded, all y, all z; 0
    /// on flat axes.
    pub places: Tensor<1>,
    /// Of points the number of the first node of each cell, and of the end `[cells + 1]`, `i32`;
    /// on a grid a single 0.
    pub index: Tensor<1, Int>,
    /// The field's shape.
    pub shape: FieldShape,
}

/// Particles on a device, `n` of them.
#[derive(Clone, Debug)]
pub struct Particles {
    /// Positions `[n, 3]`, in the field's precision.
    pub position: Tensor<2>,
    /// A row of nine `i32` for each particle `[n, 9]`: its [`Status`](crate::Status) code; the
    /// number of the step of its event, which is its release while it waits and its end once it
    /// has ended; the boxes it has crossed through periodic faces of each axis (position +
    /// image x width is the free path); and in a mesh, while it goes on, one more than the
    /// number of a cell that it was in, or 0; where it has left the mesh, eight times the number
    /// of its last cell and the face of that cell (in its kind's order); how many lives its
    /// slot has had before this one; and the steps that it has had accepted and rejected, where
    /// their lengths follow from their errors.
    pub record: Tensor<2, Int>,
    /// The fraction of its event's step at which the event takes place `[n]`. While a particle goes
    /// on whose steps' lengths follow from their errors, the length that its next step should have.
    pub fraction: Tensor<1>,
}

/// Columns of [`Particles::record`].
pub const RECORD: usize = 9;

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
        self.record.clone().slice([0..self.count(), 2..5])
    }

    /// Cells of particles in a mesh, or where they have left it `[n]`; see the record.
    pub fn cell(&self) -> Tensor<1, Int> {
        self.record.clone().slice([0..self.count(), 5..6]).squeeze_dim(1)
    }

    /// How many lives the particles' slots have had before these `[n]`.
    pub fn generation(&self) -> Tensor<1, Int> {
        self.record.clone().slice([0..self.count(), 6..7]).squeeze_dim(1)
    }

    /// Steps that particles have had accepted and rejected `[n, 2]`.
    pub fn tries(&self) -> Tensor<2, Int> {
        self.record.clone().slice([0..self.count(), 7..9])
    }

    /// How many particles there are.
    pub fn count(&self) -> usize {
        self.position.dims()[0]
    }
}

/// Places of inlets and triangles of surfaces on a device, the same for all launches of a run.
#[derive(Clone, Debug)]
pub struct Places {
    /// Rows of three numbers `[rows, 3]`, in the field's precision: the places of inlets; behind them
    /// the triangles of the surfaces among the obstacles, but not on CPUs, which have them at hand.
    /// There is one row at least.
    pub rows: Tensor<2>,
    /// Integers of those surfaces `[numbers]`, `i32`; one at least.
    pub numbers: Tensor<1, Int>,
}

impl Places {
    /// Puts the places of inlets and the surfaces among obstacles on a device.
    pub fn new(inlets: &[[f64; 3]], obstacles: &[Obstacle], device: &Device, dtype: DType) -> Self {
        let (mut rows, mut numbers) = (inlets.to_vec(), Vec::new());
        for surface in surfaces(obstacles) {
            rows.extend(surface.double().iter());
            numbers.extend(&surface.numbers);
        }
        if rows.is_empty() {
            rows.push([0.0; 3]);
        }
        if numbers.is_empty() {
            numbers.push(0);
        }
        let (row_count, count) = (rows.len(), numbers.len());
        let rows = rows.into_flattened();
        let rows = match dtype {
            DType::F64 => TensorData::new(rows, [row_count, 3]),
            _ => {
                let single: Vec<f32> = rows.into_iter().map(|x| x as f32).collect();
                TensorData::new(single, [row_count, 3])
            }
        };
        let numbers = TensorData::new(numbers, [count]);
        Places {
            rows: Tensor::from_data(rows, (device, dtype)),
            numbers: Tensor::from_data(numbers, (device, DType::I32)),
        }
    }
}

/// The surfaces of triangles among obstacles.
pub(crate) fn surfaces(obstacles: &[Obstacle]) -> impl Iterator<Item = &ClosedSurface> {
    obstacles.iter().filter_map(|obstacle| match &obstacle.shape {
        Shape::Surface(surface) => Some(surface.as_ref()),
        _ => None,
    })
}

/// Lives that have ended in a launch and are followed by others in their slots, in no order.
///
/// The rows are in parts of equal size, as many as there are counts: one for all slots on a CPU, one
/// for each slot on other devices.
#[derive(Clone, Debug)]
pub struct Log {
    /// A row of five `i32` for each end: slot, generation, [`Status`](crate::Status) code, the
    /// number of the step in which it ended, and what the particle's record said of cells.
    pub index: Tensor<2, Int>,
    /// A row for each of them: the fraction of that step, and the place x, y, z.
    pub place: Tensor<2>,
    /// How many rows of each part are ends. Where this is more than there are rows, an end waits
    /// for a launch that [resumes](crate::Succession::resumes).
    pub count: Tensor<1, Int>,
}

/// What a launch gives back.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The particles after the last step.
    pub particles: Particles,
    /// Who came to an end on the way and was followed by another life; rows without meaning where
    /// the segment has no [`Succession`](crate::Succession).
    pub log: Log,
}

/// Takes all particles through all steps of a segment, in one launch, on the device that holds
/// them. The places are those of the segment's inlets, and on devices other than CPUs of its
/// obstacles.
///
/// # Panics
///
/// On tensors that are not on one device, not of one float precision, or not of the shapes that
/// [`Particles`] and [`FieldTensors`] state; and on a device that tracks gradients.
pub fn advance(
    particles: Particles,
    field: &FieldTensors,
    places: &Places,
    segment: Segment,
) -> Launched {
    let state = ops::State {
        position: particles.position.into_dispatch(),
        record: particles.record.into_dispatch(),
        fraction: particles.fraction.into_dispatch(),
    };
    let placed = ops::Placed {
        rows: places.rows.clone().into_dispatch(),
        numbers: places.numbers.clone().into_dispatch(),
    };
    let advanced = <Dispatch as TraceBackend>::advance(state, primitive(field), placed, segment);
    Launched {
        particles: Particles {
            position: Tensor::from_dispatch(advanced.position),
            record: Tensor::from_dispatch(advanced.record),
            fraction: Tensor::from_dispatch(advanced.fraction),
        },
        log: Log {
            index: Tensor::from_dispatch(advanced.log_index),
            place: Tensor::from_dispatch(advanced.log_place),
            count: Tensor::from_dispatch(advanced.log_count),
        },
    }
}

/// Velocity `[n, 3]` at positions `[n, 3]`, at the beginning of the segment's first step.
///
/// # Panics
///
/// As [`advance`].
pub fn sample(position: Tensor<2>, field: &FieldTensors, segment: Segment) -> Tensor<2> {
    Tensor::from_dispatch(<Dispatch as TraceBackend>::sample(
        position.into_dispatch(),
        primitive(field),
        segment,
    ))
}

/// The number of the cell of a mesh in which each of the positions `[n, 3]` is, or -1 `[n]`. A
/// position on a face, an edge or a vertex is in the cell of the lowest number there.
///
/// # Panics
///
/// As [`advance`], and on fields that are not on a mesh.
pub fn locate(position: Tensor<2>, field: &FieldTensors) -> Tensor<1, Int> {
    Tensor::from_dispatch(<Dispatch as TraceBackend>::locate(
        position.into_dispatch(),
        primitive(field),
    ))
}

fn primitive(field: &FieldTensors) -> ops::Sampled<Dispatch> {
    ops::Sampled {
        velocity: field.velocity.clone().into_dispatch(),
        places: field.places.clone().into_dispatch(),
        index: field.index.clone().into_dispatch(),
        shape: field.shape,
    }
}

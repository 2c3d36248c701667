//! Obstacles: validation, and their effect on steps of the tensor engine.
//!
//! The effect is computed on the host, one particle at a time. The gradient is that of the free
//! step; the correction at obstacles is treated as a constant.

use super::{Tracer, edge::constant, start, stepper::Stepper, walls::Landing};
use crate::{
    Domain, Error, Field, Inlet, Obstacle, Result, Shape, Status, device,
    field::{AXES, to_host},
};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{GeometryTensors, obstacle_passages, status::EXITED};

/// Distance behind a surface within which a released particle counts as on it, in units of
/// rounding.
const SLACK: f64 = 16.0;

impl Tracer<'_> {
    /// Adds an obstacle: a body that particles stay outside of, or a vessel that they stay inside.
    /// Obstacles are numbered in the order in which they are added. Fields on meshes have
    /// [walls](Tracer::mesh_wall) instead and cannot be combined with obstacles.
    ///
    /// In a domain that is flat along an axis, spheres and boxes extend along the whole axis, and
    /// so do cylinders, whose axis must be parallel to it. Triangulated surfaces need a 3-D domain.
    pub fn obstacle(mut self, obstacle: Obstacle) -> Self {
        self.obstacles.push(obstacle);
        self
    }

    /// Adds several obstacles; see [`obstacle`](Tracer::obstacle).
    pub fn obstacles(mut self, obstacles: impl IntoIterator<Item = Obstacle>) -> Self {
        self.obstacles.extend(obstacles);
        self
    }

    /// Makes all obstacles with an [exit](crate::Surface::Exit) surface outlets, as
    /// [`outlet`](Tracer::outlet) does for a face.
    pub fn obstacle_outlet(mut self, inlet: Inlet) -> Self {
        self.outlets.retain(|(status, _)| *status != Status::HitObstacle);
        self.outlets.push((Status::HitObstacle, inlet));
        self
    }
}

/// The obstacles of a tracer, adapted to its domain.
pub(super) fn checked(tracer: &Tracer) -> Result<Vec<Obstacle>> {
    if tracer.obstacles.is_empty() {
        return Ok(Vec::new());
    }
    if tracer.field.mesh().is_some() {
        return Err(Error::Obstacle(
            "the field is on a mesh; use the wall of the mesh (`boundary.mesh`), or sample the \
             field onto a grid"
                .into(),
        ));
    }
    let of_one = |(number, obstacle): (usize, &Obstacle)| {
        let fail = |reason| {
            Error::Obstacle(format!("number {number}, a {}: {reason}", obstacle.shape.name()))
        };
        let shape = outline(obstacle.shape.clone(), &tracer.domain).map_err(fail)?;
        match shape.flaw() {
            Some(flaw) => Err(fail(flaw.into())),
            None => Ok(Obstacle { shape, ..obstacle.clone() }),
        }
    };
    tracer.obstacles.iter().enumerate().map(of_one).collect()
}

/// The buffers of inlets and obstacles on the field's device. CPU backends read surfaces directly.
pub(super) fn geometry(
    field: &dyn Field,
    inlets: &[[f64; 3]],
    obstacles: &[Obstacle],
) -> GeometryTensors {
    let device = start::plain(&field.device());
    let obstacles = if device::compiles_kernels(&device) { obstacles } else { &[] };
    GeometryTensors::new(inlets, obstacles, &device, field.precision().dtype())
}

/// The shape extended along the flat axes of the domain.
fn outline(shape: Shape, domain: &Domain) -> std::result::Result<Shape, String> {
    let mut shape = shape;
    for d in (0..3).filter(|d| domain.is_flat(*d)) {
        let mut along = [0.0; 3];
        along[d] = 1.0;
        shape = match shape {
            Shape::Sphere { centre, radius } => {
                Shape::Cylinder { base: centre, axis: along, radius, capped: false }
            }
            Shape::Cylinder { base, axis, radius, .. } => {
                if (0..3).any(|other| other != d && axis[other] != 0.0) {
                    return Err(format!(
                        "its axis is not parallel to {}, along which the domain is flat",
                        AXES[d]
                    ));
                }
                Shape::Cylinder { base, axis, radius, capped: false }
            }
            Shape::Box { mut low, mut high } => {
                (low[d], high[d]) = (f64::NEG_INFINITY, f64::INFINITY);
                Shape::Box { low, high }
            }
            Shape::Surface(_) => {
                return Err(format!(
                    "the domain is flat along {}, where a triangulated surface has no outline; use a \
                     cylinder or a box, or a 3-D domain",
                    AXES[d]
                ));
            }
        };
    }
    Ok(shape)
}

/// Whether a position is on the allowed side of a tracer's obstacles, as a function.
pub(super) fn allowed(tracer: &Tracer) -> Result<impl Fn(&[f64; 3]) -> bool + use<>> {
    let obstacles = checked(tracer)?;
    let slack = SLACK * tracer.field.precision().epsilon();
    Ok(move |position: &[f64; 3]| {
        obstacles.iter().all(|obstacle| obstacle.allows(*position, slack))
    })
}

/// Applies obstacles and domain faces to paths `from -> to` and updates `landing`, which held the
/// result for the faces alone. Returns the obstacle number for each record `[n, 1]`.
pub(super) fn pass(
    stepper: &Stepper,
    [from, to]: [&Tensor<2>; 2],
    landing: &mut Landing,
) -> Tensor<2, Int> {
    let [n, _] = to.dims();
    let (starts, ends) = (to_host(from), to_host(to));
    let (obstacles, boundary) = (&stepper.obstacles, &stepper.boundary);
    let passages = obstacle_passages(obstacles, boundary, to.dtype(), &starts, &ends);
    let (mut position, mut image) = (Vec::with_capacity(3 * n), Vec::with_capacity(3 * n));
    let (mut face, mut fraction, mut which) = (Vec::new(), Vec::new(), Vec::new());
    for passage in passages {
        position.extend(passage.position);
        image.extend(passage.image);
        let (status, part) = passage.end.unwrap_or((Status::Active, 2.0));
        face.push(status.code() - EXITED);
        fraction.push(part);
        which.push(passage.obstacle.map_or(0, |which| which as i32));
    }
    let device = landing.image.device();
    let ints = |numbers: Vec<i32>, columns: usize| {
        let data = TensorData::new(numbers, [n, columns]);
        Tensor::<2, Int>::from_data(data, (&device, DType::I32))
    };
    let free = landing.position.clone();
    landing.position = constant(position, to) + (free.clone() - free.detach());
    landing.fraction = constant(fraction, &landing.fraction);
    (landing.image, landing.face) = (ints(image, 3), ints(face, 1));
    ints(which, 1)
}

//! Obstacles: validation, and their buffers.

use super::{Tracer, contact};
use crate::{
    Domain, Error, GateShape, Obstacle, Result, Shape, device,
    field::{self, AXES},
    patch,
};
use burntrace_kernels::{Allowed, GeometryTensors, Land};
use std::sync::Arc;

/// Distance behind a surface within which a released particle counts as on it, in units of
/// rounding.
const SLACK: f64 = 16.0;

/// The obstacles of a tracer, adapted to its domain.
pub(super) fn checked(tracer: &Tracer) -> Result<Vec<Obstacle>> {
    if let (Some(_), Some(flaw)) = (land(tracer), patch::not_of_bodies(tracer.surroundings.coast)) {
        return Err(Error::Obstacle(format!("the coast: {flaw}")));
    }
    if tracer.surroundings.obstacles.is_empty() {
        return Ok(Vec::new());
    }
    let of_one = |(number, obstacle): (usize, &Obstacle)| {
        let fail = |reason| {
            Error::Obstacle(format!("number {number}, a {}: {reason}", obstacle.shape.name()))
        };
        let shape = outline(obstacle.shape.clone(), &tracer.domain_box()).map_err(fail)?;
        let shape = contact::grown(shape, obstacle.allowed, contact::radius(tracer));
        let flaw = shape.flaw().map(str::to_string).or(patch::not_of_bodies(obstacle.surface));
        match flaw {
            Some(flaw) => Err(fail(flaw)),
            None => Ok(Obstacle { shape, ..obstacle.clone() }),
        }
    };
    tracer.surroundings.obstacles.iter().enumerate().map(of_one).collect()
}

/// The obstacles of a tracer, adapted to its domain and measured from its origin, and the land of its field.
pub(super) fn measured(tracer: &Tracer) -> Result<Vec<Obstacle>> {
    let by = field::origin(tracer.field).map(|x| -x);
    let mut obstacles = checked(tracer)?;
    if by != [0.0; 3] {
        obstacles.iter_mut().for_each(|obstacle| obstacle.shape = obstacle.shape.moved(by));
    }
    obstacles.extend(land(tracer).map(|land| Obstacle {
        shape: Shape::Land(land.clone()),
        allowed: Allowed::Outside,
        surface: tracer.surroundings.coast,
    }));
    Ok(obstacles)
}

/// The land of a tracer's field.
pub(super) fn land<'a>(tracer: &Tracer<'a>) -> Option<&'a Arc<Land>> {
    tracer.field.sampled()?.land.as_ref()
}

/// The buffers of inlets, obstacles and gates on the field's device.
pub(super) fn geometry(
    tracer: &Tracer,
    inlets: &[[f64; 3]],
    shapes: (&[Obstacle], &[GateShape]),
) -> GeometryTensors {
    let device = device::plain(&tracer.field.device());
    let on = (&device, tracer.field.precision().dtype());
    GeometryTensors::new(inlets, shapes, !tracer.shapes.is_empty(), on)
}

/// The shape extended along the flat axes of the domain.
pub(crate) fn outline(shape: Shape, domain: &Domain) -> std::result::Result<Shape, String> {
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
            land @ Shape::Land(_) => land,
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
    // The slack is in proportion to the coordinates.
    let (obstacles, origin) = (measured(tracer)?, field::origin(tracer.field));
    let slack = SLACK * tracer.field.precision().epsilon();
    Ok(move |position: &[f64; 3]| {
        let position = field::measured(origin, *position);
        obstacles.iter().all(|obstacle| obstacle.allows(position, slack))
    })
}

//! Walls that particles touch with their surface: they are moved by a radius towards where the centres are.

use super::{Tracer, obstacles};
use crate::{
    BoundaryCondition, Contact, Domain, Error, Obstacle, PerParticle, Result, Shape, error::short,
    field::AXES, inertia::Body,
};
use burntrace_kernels::Allowed;

/// The distance of the centres of a tracer's particles from walls; 0 if these are touched by them.
pub(super) fn radius(tracer: &Tracer) -> f64 {
    let inertia = tracer.motion.inertia.as_ref().filter(|it| it.contact == Contact::Surface);
    match inertia.map(|inertia| &inertia.body) {
        Some(Body::Sphere(sphere)) => match sphere.diameter {
            PerParticle::Number(diameter) => 0.5 * diameter,
            _ => 0.0,
        },
        _ => 0.0,
    }
}

/// The part of a domain box in which centres are.
pub(super) fn inner(tracer: &Tracer, mut domain: Domain) -> Domain {
    let radius = radius(tracer);
    for d in 0..3 {
        if radius == 0.0 || domain.is_flat(d) {
            continue;
        }
        let faces = tracer.surroundings.faces[d];
        let [low, high] = faces.map(|face| if is_wall(face) { radius } else { 0.0 });
        (domain.low[d], domain.high[d]) = (domain.low[d] + low, domain.high[d] - high);
    }
    domain
}

fn is_wall(condition: BoundaryCondition) -> bool {
    !matches!(condition, BoundaryCondition::Exit | BoundaryCondition::Periodic)
}

/// A shape that centres stay out of, or in.
pub(super) fn grown(shape: Shape, allowed: Allowed, radius: f64) -> Shape {
    let by = if allowed == Allowed::Outside { radius } else { -radius };
    match shape {
        _ if by == 0.0 => shape,
        Shape::Sphere { centre, radius } => Shape::Sphere { centre, radius: radius + by },
        Shape::Cylinder { base, axis, radius, capped: false } => {
            Shape::Cylinder { base, axis, radius: radius + by, capped: false }
        }
        Shape::Cylinder { base, axis, radius, capped } => {
            let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
            let part = by / length;
            Shape::Cylinder {
                base: [0, 1, 2].map(|d| base[d] - part * axis[d]),
                axis: axis.map(|x| x * (1.0 + 2.0 * part)),
                radius: radius + by,
                capped,
            }
        }
        Shape::Box { low, high } => {
            Shape::Box { low: low.map(|x| x - by), high: high.map(|x| x + by) }
        }
        Shape::Surface(_) | Shape::Land(_) => shape,
    }
}

/// Whether a vessel has room for the centres of particles.
fn fits(Obstacle { shape, allowed, .. }: &Obstacle, by: f64) -> bool {
    let is_longer = |length: f64| length > 2.0 * by;
    *allowed == Allowed::Outside
        || match shape {
            Shape::Sphere { radius, .. } => *radius > by,
            Shape::Cylinder { radius, axis, capped, .. } => {
                let length = axis.iter().map(|x| x * x).sum::<f64>().sqrt();
                *radius > by && (!capped || is_longer(length))
            }
            Shape::Box { low, high } => (0..3).all(|d| is_longer(high[d] - low[d])),
            Shape::Surface(_) | Shape::Land(_) => true,
        }
}

/// Refuses walls that cannot be moved, and particles that do not fit between them.
pub(super) fn check(tracer: &Tracer) -> Result<()> {
    let is_asked = tracer.motion.inertia.as_ref().is_some_and(|it| it.contact == Contact::Surface);
    if !is_asked {
        return Ok(());
    }
    let fail = |text: String| Err(Error::Inertia(text));
    let radius = radius(tracer);
    if radius == 0.0 {
        return fail(
            "particles touch walls with their surface, for which they must be spheres of one diameter; give one number, or let them touch walls with their \
             centre"
                .into(),
        );
    }
    let is_faceted = |shape: &Shape| matches!(shape, Shape::Surface(_) | Shape::Land(_));
    let obstacles = &tracer.surroundings.obstacles;
    if tracer.field.mesh().is_some()
        || obstacles::land(tracer).is_some()
        || obstacles.iter().any(|obstacle| is_faceted(&obstacle.shape))
    {
        return fail(
            "particles touch walls with their surface, which is not possible at the boundary of a mesh, at surfaces of triangles and at land; let them touch \
             walls with their centre"
                .into(),
        );
    }
    let misfit = obstacles.iter().position(|obstacle| !fits(obstacle, radius));
    if let Some(number) = misfit {
        return fail(format!(
            "particles of the radius {} do not fit in obstacle {number}; give smaller ones",
            short(radius)
        ));
    }
    let given = tracer.surroundings.domain.unwrap_or_else(|| tracer.field.domain());
    let domain = tracer.domain_box();
    match (0..3).find(|d| !given.is_flat(*d) && domain.low[*d] >= domain.high[*d]) {
        Some(d) => fail(format!(
            "particles of the radius {} do not fit between the walls along {}; give smaller ones",
            short(radius),
            AXES[d]
        )),
        None => Ok(()),
    }
}

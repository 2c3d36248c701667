//! The domain box and its face conditions, validated.

use super::{Tracer, obstacles, patches};
use crate::{
    BoundaryCondition, Error, Face, InletShape, Patch, Result, Status,
    field::{self, AXES},
};
use burntrace_kernels::Boundary;

/// The domain box and its faces, measured from the origin; flat axes are open. An infinite side
/// becomes an exit that no particle reaches, so that the kernels never see an infinite width.
pub(super) fn boundary(tracer: &Tracer) -> Result<Boundary> {
    let origin = field::origin(tracer.field);
    let mut boundary = Boundary {
        low: field::measured(origin, tracer.domain.low),
        high: field::measured(origin, tracer.domain.high),
        faces: tracer.faces,
        wall: tracer.wall,
        patches: patches::boxes(tracer),
    };
    for d in 0..3 {
        if tracer.domain.is_flat(d) {
            boundary.low[d] = f64::NEG_INFINITY;
            boundary.high[d] = f64::INFINITY;
            boundary.faces[d] = [BoundaryCondition::Exit; 2];
        } else {
            check_faces(d, &boundary)?;
            let sides = [boundary.low[d], boundary.high[d]];
            for (condition, side) in boundary.faces[d].iter_mut().zip(sides) {
                if side.is_infinite() {
                    *condition = BoundaryCondition::Exit;
                }
            }
        }
    }
    patches::check(tracer)?;
    obstacles::checked(tracer)?;
    check_inflows(tracer)?;
    Ok(boundary)
}

/// Refuses a domain in which the field is nowhere.
pub(super) fn check_overlap(tracer: &Tracer) -> Result<()> {
    let (domain, field) = (&tracer.domain, tracer.field.domain());
    let is_apart = |d: &usize| domain.low[*d] > field.high[*d] || domain.high[*d] < field.low[*d];
    match (0..3).find(is_apart) {
        None => Ok(()),
        Some(d) => Err(Error::DomainApart {
            axis: AXES[d],
            low: domain.low[d],
            high: domain.high[d],
            field: [field.low[d], field.high[d]],
        }),
    }
}

/// Widths of the box along periodic axes; 0 along the others.
pub(super) fn periods(boundary: &Boundary) -> [f64; 3] {
    std::array::from_fn(|d| {
        if boundary.is_periodic(d) { boundary.high[d] - boundary.low[d] } else { 0.0 }
    })
}

fn fail<T>(face: Face, reason: String) -> Result<T> {
    Err(Error::Boundary { face, reason })
}

fn check_faces(d: usize, boundary: &Boundary) -> Result<()> {
    let [low, high] = boundary.faces[d];
    let face = |side: usize| Face::ALL[2 * d + side];
    if (low == BoundaryCondition::Periodic) != (high == BoundaryCondition::Periodic) {
        let side = usize::from(high == BoundaryCondition::Periodic);
        let other = boundary.faces[d][1 - side].name();
        return fail(
            face(side),
            format!(
                "it is periodic, but the opposite face {} is `{other}`; make both periodic, or \
                 neither",
                face(1 - side)
            ),
        );
    }
    let is_finite = (boundary.high[d] - boundary.low[d]).is_finite();
    if low == BoundaryCondition::Periodic && !is_finite {
        return fail(face(0), format!("a periodic {} axis needs a finite domain", AXES[d]));
    }
    Ok(())
}

/// Validates outlets and the faces of inlets.
fn check_inflows(tracer: &Tracer) -> Result<()> {
    for (status, inlet) in &tracer.outlets {
        match status {
            Status::Exited(face) => check_outlet(tracer, *face)?,
            Status::LeftMesh if tracer.field.mesh().is_none() => {
                return Err(Error::Inlet(
                    "the mesh boundary is an outlet, but the field has no mesh; make a face of the \
                     domain box the outlet"
                        .into(),
                ));
            }
            Status::HitObstacle
                if tracer.obstacles.iter().all(|o| o.surface != BoundaryCondition::Exit) =>
            {
                return Err(Error::Inlet(
                    "obstacles are an outlet, but none of them has the surface `exit`; give one \
                     that surface"
                        .into(),
                ));
            }
            _ => {}
        }
        check_inlet(tracer, inlet.shape())?;
    }
    let mut of_patches = tracer.patches.iter().filter_map(Patch::inlet);
    of_patches.try_for_each(|inlet| check_inlet(tracer, inlet.shape()))?;
    tracer.sources.iter().try_for_each(|source| check_inlet(tracer, source.inlet().shape()))
}

fn check_outlet(tracer: &Tracer, face: Face) -> Result<()> {
    let (axis, side) = (face as usize / 2, face as usize % 2);
    let at = [tracer.domain.low[axis], tracer.domain.high[axis]][side];
    if tracer.domain.is_flat(axis) || at.is_infinite() {
        return fail(
            face,
            format!(
                "it is an outlet, but the {} axis is unbounded there; give the domain a finite side",
                AXES[axis]
            ),
        );
    }
    match tracer.faces[axis][side] {
        BoundaryCondition::Exit => Ok(()),
        other => {
            fail(face, format!("it is both an outlet and `{}`; remove one of them", other.name()))
        }
    }
}

/// Checks that an inlet's face has a condition for particles that flow back out through it.
fn check_inlet(tracer: &Tracer, shape: &InletShape) -> Result<()> {
    let InletShape::Face(face) = shape else { return Ok(()) };
    match tracer.faces[*face as usize / 2][*face as usize % 2] {
        BoundaryCondition::Periodic => fail(
            *face,
            "it is an inlet and `periodic`; set the condition for particles that flow back out: \
             `clamp`, `exit` or `reflect`"
                .into(),
        ),
        _ => Ok(()),
    }
}

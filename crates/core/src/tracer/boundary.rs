//! The domain box and its face conditions, validated.

use super::{Tracer, obstacles, patches};
use crate::{
    BoundaryCondition, Error, Face, InletShape, OutletAt, Result, Source,
    field::{self, AXES},
};
use burntrace_kernels::Boundary;

/// The domain box and its faces, measured from the origin; flat axes are open. An infinite side
/// becomes an exit that no particle reaches, so that the kernels never see an infinite width.
pub(super) fn boundary(tracer: &Tracer) -> Result<Boundary> {
    let (origin, domain) = (field::origin(tracer.field), tracer.domain_box());
    let mut boundary = Boundary {
        low: field::measured(origin, domain.low),
        high: field::measured(origin, domain.high),
        faces: tracer.surroundings.faces,
        wall: tracer.surroundings.mesh_wall,
        patches: patches::boxes(tracer),
    };
    for d in 0..3 {
        if domain.is_flat(d) {
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
    let (domain, field) = (tracer.domain_box(), tracer.field.domain());
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
    for outlet in &tracer.surroundings.outlets {
        if let OutletAt::Face(face) = outlet.at {
            check_outlet(tracer, face)?;
        }
    }
    let mut inlets = tracer.surroundings.inlets().chain(tracer.sources.iter().map(Source::inlet));
    inlets.try_for_each(|inlet| check_inlet(tracer, inlet.shape()))
}

fn check_outlet(tracer: &Tracer, face: Face) -> Result<()> {
    let (axis, side) = (face as usize / 2, face as usize % 2);
    let domain = tracer.domain_box();
    let at = [domain.low[axis], domain.high[axis]][side];
    if domain.is_flat(axis) || at.is_infinite() {
        return fail(
            face,
            format!(
                "it is an outlet, but the {} axis is unbounded there; give the domain a finite side",
                AXES[axis]
            ),
        );
    }
    match tracer.surroundings.at(face) {
        BoundaryCondition::Exit => Ok(()),
        other => {
            fail(face, format!("it is both an outlet and `{}`; remove one of them", other.name()))
        }
    }
}

/// Checks that an inlet's face has a condition for particles that flow back out through it.
fn check_inlet(tracer: &Tracer, shape: &InletShape) -> Result<()> {
    let InletShape::Face(face) = shape else { return Ok(()) };
    match tracer.surroundings.at(*face) {
        BoundaryCondition::Periodic => fail(
            *face,
            "it is an inlet and `periodic`; set the condition for particles that flow back out: \
             `clamp`, `exit` or `reflect`"
                .into(),
        ),
        _ => Ok(()),
    }
}

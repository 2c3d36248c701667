//! What moves particles beside the field of a case, and the accuracy of its steps.

use crate::case::{self, Case, Diffusivity, Misuse};
use anyhow::Result;
use burntrace::{Placement, RandomWalk, Tolerance, Tracer};

/// Refuses walks without a diffusivity, or with several, and tolerances that nothing keeps.
pub fn check(case: &Case) -> Result<()> {
    let is_varying = case.field.diffusivity.is_some();
    if is_varying && case.field.files.is_none() {
        return Err(Misuse::error(
            "field.diffusivity is an array of field.files; a flow has none, so give \
             walk.diffusivity, a number or [kx, ky, kz]",
        ));
    }
    match &case.walk {
        Some(walk) => check_walk(walk, is_varying)?,
        None if is_varying => {
            return Err(Misuse::error("field.diffusivity goes with [walk], which uses it"));
        }
        None => {}
    }
    let has_tolerance = case.trace.tolerance.is_some();
    if has_tolerance && case.trace.scheme != case::Scheme::DormandPrince {
        return Err(Misuse::error(
            "[trace.tolerance] goes with trace.scheme = \"dormand-prince\", which estimates its \
             error",
        ));
    }
    if has_tolerance && case.walk.is_some() {
        return Err(Misuse::error(
            "[walk] does not go with [trace.tolerance]: a walk has steps of a given length; give \
             trace.dt or trace.steps and leave the tolerance out",
        ));
    }
    Ok(())
}

fn check_walk(walk: &case::Walk, is_varying: bool) -> Result<()> {
    match (walk.diffusivity, is_varying) {
        (Some(_), true) => Err(Misuse::error(
            "the case has both walk.diffusivity and field.diffusivity; keep one of them",
        )),
        (None, false) => Err(Misuse::error(
            "walk.diffusivity is missing; give a number or [kx, ky, kz], or an array of the files \
             as field.diffusivity",
        )),
        (Some(_), false) if walk.factors.is_some() => Err(Misuse::error(
            "walk.factors goes with field.diffusivity, which they multiply; walk.diffusivity can \
             be [kx, ky, kz]",
        )),
        _ => Ok(()),
    }
}

/// Refuses a diffusivity in cells whose velocities are averaged: it is not.
pub fn check_cells(field: &case::Field, placement: Placement) -> Result<()> {
    let is_averaged = field.cell_velocity == Some(case::CellVelocity::Averaged);
    if field.diffusivity.is_some() && is_averaged && placement == Placement::Cells {
        return Err(Misuse::error(
            "field.diffusivity does not go with field.cell_velocity = \"averaged\": diffusivities \
             are not averaged; use \"constant\", or convert both to the points (in ParaView: Cell \
             Data to Point Data)",
        ));
    }
    Ok(())
}

/// Gives a tracer the drift, the walk and the tolerance of a case.
pub fn add<'a>(case: &Case, mut tracer: Tracer<'a>) -> Tracer<'a> {
    tracer = tracer.drift(case.trace.drift);
    if let Some(walk) = &case.walk {
        tracer = tracer.random_walk(random_walk(walk));
    }
    if let Some(given) = &case.trace.tolerance {
        let (least, most) = (given.least.unwrap_or(0.0), given.most.unwrap_or(f64::INFINITY));
        let tolerance = Tolerance::new(given.relative, given.absolute);
        tracer = tracer.tolerance(tolerance.steps_between(least, most));
    }
    tracer
}

fn random_walk(walk: &case::Walk) -> RandomWalk {
    let made = match walk.diffusivity {
        Some(Diffusivity::Isotropic(diffusivity)) => RandomWalk::isotropic(diffusivity, walk.seed),
        Some(Diffusivity::PerAxis(diffusivity)) => RandomWalk::per_axis(diffusivity, walk.seed),
        None => RandomWalk::of_field(walk.factors.unwrap_or([1.0; 3]), walk.seed),
    };
    made.scheme(walk.scheme.into())
}

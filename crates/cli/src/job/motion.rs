//! The drift, the random walk, the scheme and the tolerance of a case.

use crate::case::{self, Case, Diffusivity, FieldSource, FileField, Interpolation, Misuse};
use anyhow::Result;
use burntrace::{Motion, Placement, RandomWalk, Solver, Tolerance};

/// Refuses walks without a diffusivity or with two, and tolerances that the scheme cannot use.
pub fn check(case: &Case) -> Result<()> {
    let is_varying = match &case.field.source {
        FieldSource::Files(field) => field.diffusivity.is_some(),
        FieldSource::Flow(_) => false,
    };
    match &case.walk {
        Some(walk) => check_walk(walk, is_varying)?,
        None if is_varying => {
            return Err(Misuse::error(
                "field.diffusivity needs a [walk], which uses it; add [walk]",
            ));
        }
        None => {}
    }
    let has_tolerance = case.trace.tolerance.is_some();
    if has_tolerance && case.trace.scheme != case::Scheme::DormandPrince {
        return Err(Misuse::error(
            "[trace.tolerance] needs trace.scheme = \"dormand-prince\", which estimates its \
             error; change the scheme, or omit the tolerance",
        ));
    }
    if has_tolerance && case.walk.is_some() {
        return Err(Misuse::error(
            "[walk] cannot be combined with [trace.tolerance]: a random walk needs steps of fixed \
             length; omit the tolerance and give trace.dt or trace.steps",
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
            "walk.diffusivity is missing; give a number or [kx, ky, kz], or name an array of the \
             files as field.diffusivity",
        )),
        (Some(_), false) if walk.factors.is_some() => Err(Misuse::error(
            "walk.factors needs field.diffusivity, which it multiplies; give walk.diffusivity as \
             [kx, ky, kz] instead",
        )),
        _ => Ok(()),
    }
}

/// Refuses a diffusivity in the cells where velocities are averaged at the points: diffusivities are
/// not averaged.
pub fn check_cells(field: &FileField, placement: Placement) -> Result<()> {
    let averaged = Some(case::CellVelocity::Averaged);
    let is_averaged = matches!(
        field.interpolation,
        Interpolation::Mesh { cell_velocity, .. } if cell_velocity == averaged
    );
    if field.diffusivity.is_some() && is_averaged && placement == Placement::Cells {
        return Err(Misuse::error(
            "field.diffusivity cannot be combined with field.cell_velocity = \"averaged\": \
             diffusivities are not averaged; use \"constant\", or convert both to the points (in ParaView: Cell \
             Data to Point Data)",
        ));
    }
    Ok(())
}

/// The drift and the random walk of a case.
pub fn motion(case: &Case) -> Motion {
    Motion { drift: case.trace.drift.into(), walk: case.walk.as_ref().map(random_walk) }
}

/// The scheme and the tolerance of a case.
pub fn solver(trace: &case::Trace) -> Solver {
    let tolerance = trace.tolerance.as_ref().map(|given| {
        let min_step = given.min_step.unwrap_or(0.0);
        let max_step = given.max_step.unwrap_or(f64::INFINITY);
        Tolerance::new(given.relative, given.absolute).steps_between(min_step, max_step)
    });
    Solver { scheme: trace.scheme.into(), tolerance }
}

fn random_walk(walk: &case::Walk) -> RandomWalk {
    let made = match walk.diffusivity {
        Some(Diffusivity::Isotropic(diffusivity)) => RandomWalk::isotropic(diffusivity, walk.seed),
        Some(Diffusivity::PerAxis(diffusivity)) => RandomWalk::per_axis(diffusivity, walk.seed),
        None => RandomWalk::of_field(walk.factors.unwrap_or([1.0; 3]), walk.seed),
    };
    made.scheme(walk.scheme.into())
}

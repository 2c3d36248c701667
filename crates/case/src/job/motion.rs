//! What moves the particles of a case: drift, inertia and random walk.

use super::inertia;
use crate::file::{self, Case, Diffusivity, FieldSource, Interpolation, Misuse, Profile};
use anyhow::Result;
use burntrace_core::{
    CellVelocity, Mixing, Motion, PerParticle, Placement, RandomWalk, Scheme, Seeds,
};

/// Refuses walks without a diffusivity or with two, and tolerances that the scheme cannot use.
pub fn check(case: &Case) -> Result<()> {
    let is_varying = case.field.options.diffusivity.is_some();
    if is_varying && matches!(case.field.source, FieldSource::Flow { .. }) {
        return Err(Misuse::error(
            "`diffusivity` is not a key of [field] with `flow`; it belongs to `files`: give walk.diffusivity",
        ));
    }
    match &case.walk {
        Some(walk) => check_walk(walk, is_varying)?,
        None if is_varying => {
            return Err(Misuse::error(
                "field.diffusivity needs a [walk], which uses it; add [walk]",
            ));
        }
        None => {}
    }
    case.motion.as_ref().map_or(Ok(()), inertia::check)?;
    if let Some(column) = inertia::columns(case).first()
        && !case.source.is_empty()
    {
        return Err(Misuse::error(format!(
            "[motion] has the column `{column}` of the seeds, which the particles of a [[source]] do not have; give a number or a distribution"
        )));
    }
    let solver = case.trace.solver;
    if solver.tolerance.is_some() && solver.scheme != Scheme::DormandPrince {
        return Err(Misuse::error(
            "[trace.tolerance] needs trace.scheme = \"dormand-prince\", which estimates its \
             error; change the scheme, or omit the tolerance",
        ));
    }
    if solver.tolerance.is_some() && case.walk.is_some() {
        return Err(Misuse::error(
            "[walk] cannot be combined with [trace.tolerance]: a random walk needs steps of fixed \
             length; omit the tolerance and give trace.dt or trace.steps",
        ));
    }
    Ok(())
}

fn check_walk(walk: &file::Walk, is_varying: bool) -> Result<()> {
    let all = [
        ("walk.diffusivity", walk.diffusivity.is_some()),
        ("field.diffusivity", is_varying),
        ("walk.profile", walk.profile.is_some()),
        ("walk.smagorinsky", walk.smagorinsky.is_some()),
    ];
    let given: Vec<&str> = all.into_iter().filter_map(|(key, is)| is.then_some(key)).collect();
    match given[..] {
        [first, second, ..] => {
            Err(Misuse::error(format!("the case has both {first} and {second}; keep one of them")))
        }
        [] => Err(Misuse::error(
            "walk.diffusivity is missing; give a number or [kx, ky, kz], name an array of the \
             files as field.diffusivity, or give walk.profile or walk.smagorinsky",
        )),
        ["walk.diffusivity"] if walk.factors.is_some() => Err(Misuse::error(
            "walk.factors needs a diffusivity that varies, which it multiplies (field.diffusivity, walk.profile or \
             walk.smagorinsky); give walk.diffusivity as [kx, ky, kz] instead",
        )),
        _ => Ok(()),
    }
}

/// The diffusivity that follows from the field, if the walk has one, and its key.
pub fn mixing(case: &Case) -> Option<(Mixing, &'static str)> {
    let walk = case.walk.as_ref()?;
    let profile = walk
        .profile
        .clone()
        .map(|Profile { z, diffusivity }| (Mixing::Profile { z, diffusivity }, "walk.profile"));
    profile.or(walk.smagorinsky.map(|c| (Mixing::Smagorinsky(c), "walk.smagorinsky")))
}

/// Refuses a diffusivity in the cells where velocities are averaged at the points: diffusivities are
/// not averaged.
pub fn check_cells(case: &Case, placement: Placement) -> Result<()> {
    let averaged = CellVelocity::Averaged;
    let is_averaged = matches!(
        case.field.interpolation,
        Interpolation::Mesh { cell_velocity, .. } if cell_velocity == averaged
    );
    let has_diffusivity = case.field.options.diffusivity.is_some();
    if has_diffusivity && is_averaged && placement == Placement::Cells {
        return Err(Misuse::error(
            "field.diffusivity cannot be combined with field.cell_velocity = \"averaged\": \
             diffusivities are not averaged; use \"constant\", or convert both to the points (in ParaView: Cell \
             Data to Point Data)",
        ));
    }
    Ok(())
}

/// What moves the particles of a case, which start at these seeds.
pub fn motion(case: &Case, seeds: &Seeds) -> Result<Motion> {
    Ok(Motion {
        drift: case.trace.drift.into(),
        walk: case.walk.as_ref().map(random_walk),
        inertia: case.motion.as_ref().map(|motion| inertia::inertia(motion, seeds)).transpose()?,
        factors: case.field.windage().map(|windage| factors(windage, seeds)).transpose()?,
    })
}

/// The factors of a further field, by its number and the column of the seeds that they are in.
fn factors((field, column): (usize, &str), seeds: &Seeds) -> Result<PerParticle> {
    let key = format!("field[{field}].factor");
    Ok(inertia::column(seeds, &key, column)?.to_vec().into())
}

/// The names of the columns of seeds that a case uses.
pub fn columns(case: &Case) -> Vec<&str> {
    let windage = case.field.windage().map(|(_, name)| name);
    let mut names = inertia::columns(case);
    names.extend(windage.filter(|name| !names.contains(name)));
    names
}

fn random_walk(walk: &file::Walk) -> RandomWalk {
    let made = match walk.diffusivity {
        Some(Diffusivity::Isotropic(diffusivity)) => RandomWalk::isotropic(diffusivity, walk.seed),
        Some(Diffusivity::PerAxis(diffusivity)) => RandomWalk::per_axis(diffusivity, walk.seed),
        None => {
            let usual = match walk {
                file::Walk { profile: Some(_), .. } => [0.0, 0.0, 1.0],
                file::Walk { smagorinsky: Some(_), .. } => [1.0, 1.0, 0.0],
                _ => [1.0; 3],
            };
            RandomWalk::of_field(walk.factors.unwrap_or(usual), walk.seed)
        }
    };
    made.scheme(walk.scheme)
}

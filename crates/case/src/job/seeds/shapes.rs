//! The positions of the seeds of a block.

use super::super::{LoadedField, motion, patches, time_span};
use crate::file::{Case, Misuse, PatchDensity, SeedPlacement, SeedShape};
use crate::folder::{Folder, RunFiles};
use crate::format::twelve_digits;
use anyhow::Result;
use burntrace_analysis::ftle::{Lattice, Stencil};
use burntrace_core::mesh::Mesh;
use burntrace_core::{Domain, Field, GridPlacement, Seeds, Status};
use burntrace_io::{self as io, tracks::TimeOrigin};
use std::path::PathBuf;

/// The seed of random positions in a block, by its number from 0, unless the case gives one: blocks are independent.
fn default_seed(block: usize) -> u64 {
    1 + ((block as u64) << 32)
}

/// Positions that are drawn at most for each seed in the water.
const MOST_ON_LAND: usize = 1024;

/// The seeds of a shape of a block, and a warning about them.
pub(super) fn make(
    case: &Case,
    (shape, block): (&SeedShape, usize),
    domain: Domain,
    loaded: &LoadedField,
) -> Result<(Seeds, Option<String>)> {
    use SeedShape::*;
    let field = &*loaded.field;
    let (low, high) = corners(shape, domain);
    let random = |seed: Option<u64>| seed.unwrap_or(default_seed(block));
    if let Some(made) = without_field((shape, block), [low, high])? {
        return Ok((made, None));
    }
    let made = match *shape {
        Uniform { count, seed, placement, .. } => {
            let draw = |count| Seeds::uniform(low, high, count, random(seed));
            drawn(draw, (count, placement), [low[1], high[1]], (domain, field))?
        }
        Sobol { count, placement, .. } => {
            let draw = |count| Seeds::sobol(low, high, count);
            drawn(draw, (count, placement), [low[1], high[1]], (domain, field))?
        }
        Mesh { count, seed, patch: Some(ref name), by, .. } => {
            on_patch(case, loaded, (name, by.unwrap_or_default()), count, random(seed))?
        }
        Mesh { count, seed, .. } => Seeds::in_mesh(mesh(field)?, low, high, count, random(seed)),
        File { ref path } => from_file(case, path, loaded.time_origin())?,
        Run { ref path } => return of_run(&Folder::at(path)),
        // Made above.
        Grid { .. }
        | Gaussian { .. }
        | Line { .. }
        | Plane { .. }
        | Disc { .. }
        | Sphere { .. }
        | Ball { .. }
        | List { .. } => Ok(Seeds::none()),
    };
    Ok((made.map_err(Misuse::of)?, None))
}

/// The seeds of a shape of a block with a box, if they need no field.
fn without_field(
    (shape, block): (&SeedShape, usize),
    corners: [[f64; 3]; 2],
) -> Result<Option<Seeds>> {
    use SeedShape::*;
    let random = |seed: Option<u64>| seed.unwrap_or(default_seed(block));
    let made = match *shape {
        Grid { counts, placement, auxiliary, .. } => {
            return grid(corners, counts, placement, auxiliary).map(Some);
        }
        Gaussian { centre, deviation, count, seed } => {
            Seeds::gaussian(centre, deviation, count, random(seed))
        }
        Line { from, to, count } => Seeds::line(from, to, count),
        Plane { origin, edge1, edge2, counts } => Seeds::plane(origin, edge1, edge2, counts),
        Disc { centre, normal, radius, count } => Seeds::disc(centre, normal, radius, count),
        Sphere { centre, radius, count } => Seeds::sphere(centre, radius, count),
        Ball { centre, radius, count, seed } => Seeds::ball(centre, radius, count, random(seed)),
        List { ref points, ref times } => {
            let made = Seeds::list(points.clone());
            times.iter().fold(made, |made, times| made?.with_release(times.clone()))
        }
        Uniform { .. } | Sobol { .. } | Mesh { .. } | File { .. } | Run { .. } => return Ok(None),
    };
    made.map(Some).map_err(Misuse::of)
}

/// The low and the high end along each axis of the positions that seeds can have, in the coordinates of a domain; of longitudes
/// around the sphere, beyond the domain where they go on at its other end.
pub fn bounds(
    case: &Case,
    domain: Domain,
    (is_in_degrees, origin): (bool, Option<&TimeOrigin>),
) -> Result<[[f64; 2]; 3]> {
    let mut bounds = [[f64::INFINITY, f64::NEG_INFINITY]; 3];
    for (block, given) in case.seeds.iter().enumerate() {
        let (low, high) = corners(&given.shape, domain);
        let made = match &given.shape {
            SeedShape::File { path } => Some(from_file(case, path, origin)?.map_err(Misuse::of)?),
            SeedShape::Run { path } => Some(of_run(&Folder::at(path))?.0),
            shape => without_field((shape, block), [low, high])?,
        };
        let moved = |seeds: Seeds| match is_in_degrees {
            true => seeds.within_longitudes(domain.low[0], domain.high[0]),
            false => seeds,
        };
        let positions = match made {
            Some(seeds) => moved(seeds).positions().to_vec(),
            None => {
                let [west, south, z] =
                    moved(Seeds::list(vec![low]).map_err(Misuse::of)?).positions()[0];
                vec![[west, south, z], [west + high[0] - low[0], high[1], high[2]]]
            }
        };
        for (d, ends) in bounds.iter_mut().enumerate() {
            let along = || positions.iter().map(|position| position[d]);
            *ends = [along().fold(ends[0], f64::min), along().fold(ends[1], f64::max)];
        }
    }
    Ok(bounds)
}

/// A number of seeds of a sequence in a box with these latitudes: on a sphere by area, and in the water if they are to be there.
fn drawn(
    draw: impl Fn(usize) -> burntrace_core::Result<Seeds>,
    (count, placement): (usize, SeedPlacement),
    [south, north]: [f64; 2],
    (domain, field): (Domain, &dyn Field),
) -> Result<burntrace_core::Result<Seeds>> {
    let sampled = field.sampled();
    let is_on_sphere = sampled.is_some_and(|sampled| sampled.radius().is_some());
    let draw = |count| match draw(count) {
        Ok(seeds) if is_on_sphere => {
            Ok(seeds.by_area(south, north).within_longitudes(domain.low[0], domain.high[0]))
        }
        other => other,
    };
    let (SeedPlacement::Sea, Some(sampled)) = (placement, sampled) else { return Ok(draw(count)) };
    let mut all = count;
    loop {
        let seeds = match draw(all) {
            Ok(seeds) => seeds,
            error => return Ok(error),
        };
        let water = seeds.positions().iter().filter(|p| !sampled.is_on_land(**p));
        let water: Vec<[f64; 3]> = water.take(count).copied().collect();
        if water.len() == count {
            return Ok(Seeds::list(water));
        }
        if all >= MOST_ON_LAND.saturating_mul(count.max(1000)) {
            return Err(Misuse::error(format!(
                "seeds.placement is \"sea\", but {} of {all} positions in the box are in the water; give a box with more of it",
                water.len()
            )));
        }
        all *= 2;
    }
}

/// The corners of the box of a shape, by default those of the domain.
fn corners(shape: &SeedShape, domain: Domain) -> ([f64; 3], [f64; 3]) {
    use SeedShape::*;
    let (low, high) = match *shape {
        Grid { low, high, .. }
        | Uniform { low, high, .. }
        | Sobol { low, high, .. }
        | Mesh { low, high, .. } => (low, high),
        _ => (None, None),
    };
    (low.unwrap_or(domain.low), high.unwrap_or(domain.high))
}

/// Seeds on a grid, with auxiliary ones around each position if their distance is given.
fn grid(
    [low, high]: [[f64; 3]; 2],
    counts: [usize; 3],
    placement: GridPlacement,
    auxiliary: Option<f64>,
) -> Result<Seeds> {
    match auxiliary {
        None => Seeds::grid(low, high, counts, placement).map_err(Misuse::of),
        Some(distance) => Lattice::new(low, high, counts, placement)
            .and_then(|lattice| lattice.seeds(Stencil::Auxiliary(distance)))
            .map_err(Misuse::of),
    }
}

/// Seeds on a patch of the boundary of the field's mesh.
fn on_patch(
    case: &Case,
    loaded: &LoadedField,
    (name, by): (&str, PatchDensity),
    count: usize,
    seed: u64,
) -> Result<burntrace_core::Result<Seeds>> {
    let given = patches::named(case, name, "seeds.patch")?;
    let field = &*loaded.field;
    let (patch, mesh) = (patches::patch(given, None), mesh(field)?);
    Ok(match by {
        PatchDensity::Area => Seeds::on_patch(mesh, &patch, count, seed),
        PatchDensity::Flux => {
            Seeds::on_patch_by_flux(field, &patch, time_span(case, loaded)?.t0, count, seed)
        }
    })
}

/// The mesh that seeds are distributed in.
fn mesh(field: &dyn Field) -> Result<&Mesh> {
    field.mesh().map(|mesh| &**mesh).ok_or_else(|| {
        Misuse::error(
            "[seeds] kind = \"mesh\" draws positions in the cells or on a patch of a mesh, and the field is not on one; \
             give kind = \"uniform\", or field.interpolation = \"mesh\"",
        )
    })
}

/// Seeds from a CSV or VTK file, with their release times if the file has them.
fn from_file(
    case: &Case,
    path: &PathBuf,
    origin: Option<&TimeOrigin>,
) -> Result<burntrace_core::Result<Seeds>> {
    let names = motion::columns(case);
    let points = io::read_seeds(path, origin, &names).map_err(Misuse::of)?;
    let seeds = Seeds::list(points.position);
    let seeds = match points.time {
        Some(times) => seeds.and_then(|seeds| seeds.with_release(times)),
        None => seeds,
    };
    let add = |seeds: Seeds, (name, numbers): (&str, _)| seeds.with_column(name, numbers);
    Ok(seeds.and_then(|seeds| names.into_iter().zip(points.columns).try_fold(seeds, add)))
}

/// The positions of the active particles at the last save of a run, and a warning if that is not its end.
fn of_run(folder: &Folder) -> Result<(Seeds, Option<String>)> {
    let tracks = io::Tracks::open_partial(folder.tracks()?).map_err(Misuse::of)?;
    let Some(last) = tracks.num_saves().checked_sub(1) else { return Err(folder.without_saves()) };
    let status = tracks.status(last).map_err(Misuse::of)?;
    let positions = tracks.position(last).map_err(Misuse::of)?;
    let active = positions.into_iter().zip(&status).filter(|(_, of)| **of == Status::Active);
    let active: Vec<[f64; 3]> = active.map(|(position, _)| position).collect();
    let (name, time) = (folder.root.display(), twelve_digits(tracks.times()[last]));
    if active.is_empty() {
        return Err(Misuse::error(format!(
            "no particle of the run {name} is active at its last save, t = {time:?}; give another run"
        )));
    }
    let warning = end_problem(folder, &tracks, time).map(|problem| {
        format!(
            "the seeds have the positions of the run {name} at its last save, t = {time:?}, {problem}"
        )
    });
    Ok((Seeds::list(active).map_err(Misuse::of)?, warning))
}

/// Why the last save of a run is not its end, if so.
fn end_problem(folder: &Folder, tracks: &io::Tracks, last: f64) -> Option<String> {
    if !tracks.is_complete() {
        return Some("which is not its end".into());
    }
    match RunFiles::read(folder).summary["time"].as_f64().map(twelve_digits) {
        Some(end) if end == last => None,
        Some(end) => Some(format!("which is not its end at {end:?}")),
        None => Some("which may not be its end: its `summary.json` has no `time`".into()),
    }
}

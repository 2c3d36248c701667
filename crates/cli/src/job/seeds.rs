//! The seeds of a case: its blocks, one after another.

use super::{memory, time_span};
use crate::case::{self, Case, Misuse, Repeat, SeedShape};
use crate::folder::Folder;
use crate::format::twelve_digits;
use anyhow::Result;
use burntrace::analysis::ftle::{Lattice, Stencil};
use burntrace::{Domain, Field, Seeds, Status, TimeSpan, io};
use std::path::{Path, PathBuf};

/// The seed of random positions, unless the case gives one.
const SEED: u64 = 1;

/// Refuses repetitions without an interval, and blocks that differ where they must not.
pub fn check(case: &Case) -> Result<()> {
    for (i, given) in case.seeds.iter().enumerate() {
        if let Some(repeat) = given.repeat
            && (!repeat.every.is_finite() || repeat.every <= 0.0 || !repeat.until.is_finite())
        {
            let text = "give a positive interval, and a finite time of the last release";
            return Err(Misuse::error(format!(
                "{}seeds.repeat is every {:?} until {:?}; {text}",
                block(case, i),
                twelve_digits(repeat.every),
                twelve_digits(repeat.until)
            )));
        }
        if given.outside != outside(case) {
            return Err(Misuse::error(format!(
                "{}seeds.outside differs from that of the first block; give the same in all blocks",
                block(case, i)
            )));
        }
    }
    Ok(())
}

/// What happens to seeds outside the domain.
pub fn outside(case: &Case) -> case::SeedsOutside {
    case.seeds.first().map(|seeds| seeds.outside).unwrap_or_default()
}

/// The name of a block before a message, if there are several.
fn block(case: &Case, i: usize) -> String {
    match case.seeds.len() {
        1 => String::new(),
        count => format!("[[seeds]] {} of {count}: ", i + 1),
    }
}

/// The seeds of a case in a domain, and warnings about them. There are none if the case has sources only.
pub fn seeds(
    case: &Case,
    domain: Domain,
    base: &Path,
    field: &dyn Field,
) -> Result<(Seeds, Vec<String>)> {
    let span = || time_span(case, field);
    if case.seeds.iter().any(|given| given.repeat.is_some()) {
        memory::check_particles(case, Some(span()?.t0))?;
    }
    let (mut blocks, mut warnings) = (Vec::new(), Vec::new());
    for (i, given) in case.seeds.iter().enumerate() {
        let made = make(&given.shape, domain, base, field);
        let made = made.and_then(|(made, more)| {
            warnings.extend(more.map(|text| format!("{}{text}", block(case, i))));
            released(given, made, span)
        });
        blocks.push(made.map_err(|error| match case.seeds.len() {
            1 => error,
            _ => Misuse::error(format!("{}{error}", block(case, i))),
        })?);
    }
    if blocks.iter().any(|seeds| seeds.release().is_some()) {
        let start = |seeds: Seeds| match seeds.release() {
            Some(_) => Ok(seeds),
            None => seeds.release_at(span()?.t0).map_err(Misuse::of),
        };
        blocks = blocks.into_iter().map(start).collect::<Result<_>>()?;
    }
    let all = blocks.into_iter().try_fold(Seeds::none(), |all, next| all.join(next));
    let all = all.map_err(Misuse::of)?;
    if all.release().is_some() {
        warnings.extend(late_warning(&all, span()?));
    }
    Ok((all, warnings))
}

/// The seeds of a block with all their releases.
fn released(
    given: &case::Seeds,
    made: Seeds,
    span: impl Fn() -> Result<TimeSpan>,
) -> Result<Seeds> {
    let made = match given.release {
        Some(time) => made.release_at(time).map_err(Misuse::of)?,
        None => made,
    };
    match given.repeat {
        Some(repeat) => repeated(made, repeat, span()?),
        None => Ok(made),
    }
}

fn repeated(made: Seeds, Repeat { every, until }: Repeat, span: TimeSpan) -> Result<Seeds> {
    let made = match made.release() {
        Some(_) => made,
        None => made.release_at(span.t0).map_err(Misuse::of)?,
    };
    let is_late = |time: &&f64| (until - **time) * span.dt.signum() < 0.0;
    if let Some(first) = made.release().unwrap_or_default().iter().find(is_late) {
        let (order, dt) = if span.dt < 0.0 { ("after", "backward") } else { ("before", "forward") };
        return Err(Misuse::error(format!(
            "seeds.repeat.until is {:?}, {order} the first release at {:?} of a run that goes {dt} in time; give \
             the time of the last release",
            twelve_digits(until),
            twelve_digits(*first)
        )));
    }
    made.repeat(every, until).map_err(Misuse::of)
}

/// A warning if seeds are due at or after the end of the run.
fn late_warning(seeds: &Seeds, span: TimeSpan) -> Option<String> {
    let is_late = |time: &&f64| (**time - span.t1) * span.dt.signum() >= 0.0;
    let times = seeds.release().unwrap_or_default();
    let first = times.iter().find(is_late)?;
    let count = times.iter().filter(is_late).count();
    Some(format!(
        "{count} of {} seeds are not released: their release times, such as {:?}, are not before the end of the \
         run at {:?}",
        times.len(),
        twelve_digits(*first),
        twelve_digits(span.t1)
    ))
}

/// The seeds of a shape, and a warning about them.
fn make(
    shape: &SeedShape,
    domain: Domain,
    base: &Path,
    field: &dyn Field,
) -> Result<(Seeds, Option<String>)> {
    if let SeedShape::Run { path } = shape {
        return of_run(&Folder::at(base.join(path)));
    }
    Ok((positions(shape, domain, base, field)?.map_err(Misuse::of)?, None))
}

fn positions(
    shape: &SeedShape,
    domain: Domain,
    base: &Path,
    field: &dyn Field,
) -> Result<burntrace::Result<Seeds>> {
    let corners = |low: Option<[f64; 3]>, high: Option<[f64; 3]>| {
        (low.unwrap_or(domain.low), high.unwrap_or(domain.high))
    };
    Ok(match *shape {
        SeedShape::Grid { counts, placement, auxiliary, low, high } => {
            let (low, high) = corners(low, high);
            let placement = placement.unwrap_or_default().into();
            match auxiliary {
                None => Seeds::grid(low, high, counts, placement),
                Some(distance) => Ok(Lattice::new(low, high, counts, placement)
                    .and_then(|lattice| lattice.seeds(Stencil::Auxiliary(distance)))
                    .map_err(Misuse::of)?),
            }
        }
        SeedShape::Uniform { count, low, high, seed } => {
            let (low, high) = corners(low, high);
            Seeds::uniform(low, high, count, seed.unwrap_or(SEED))
        }
        SeedShape::Sobol { count, low, high } => {
            let (low, high) = corners(low, high);
            Seeds::sobol(low, high, count)
        }
        SeedShape::Gaussian { centre, deviation, count, seed } => {
            Seeds::gaussian(centre, deviation, count, seed.unwrap_or(SEED))
        }
        SeedShape::Line { from, to, count } => Seeds::line(from, to, count),
        SeedShape::Plane { origin, edge1, edge2, counts } => {
            Seeds::plane(origin, edge1, edge2, counts)
        }
        SeedShape::Disc { centre, normal, radius, count } => {
            Seeds::disc(centre, normal, radius, count)
        }
        SeedShape::Sphere { centre, radius, count } => Seeds::sphere(centre, radius, count),
        SeedShape::Ball { centre, radius, count, seed } => {
            Seeds::ball(centre, radius, count, seed.unwrap_or(SEED))
        }
        SeedShape::List { ref points } => Seeds::list(points.clone()),
        SeedShape::Mesh { count, low, high, seed } => {
            let (low, high) = corners(low, high);
            let Some(mesh) = field.mesh() else {
                return Err(Misuse::error(
                    "[seeds] kind = \"mesh\" draws positions in the cells of a mesh, and the field is not on one; \
                     give kind = \"uniform\", or field.interpolation = \"mesh\"",
                ));
            };
            Seeds::in_mesh(mesh, low, high, count, seed.unwrap_or(SEED))
        }
        SeedShape::File { ref path } => from_file(&base.join(path))?,
        SeedShape::Run { ref path } => Ok(of_run(&Folder::at(base.join(path)))?.0),
    })
}

/// Seeds from a CSV or VTK file, with their release times if the file has them.
fn from_file(path: &PathBuf) -> Result<burntrace::Result<Seeds>> {
    let points = io::read_points(path).map_err(Misuse::of)?;
    let seeds = Seeds::list(points.position);
    Ok(match points.time {
        Some(times) => seeds.and_then(|seeds| seeds.with_release(times)),
        None => seeds,
    })
}

/// The positions of the active particles at the last save of a run, and a warning if that is not its end.
fn of_run(folder: &Folder) -> Result<(Seeds, Option<String>)> {
    let tracks = io::Tracks::open_partial(folder.tracks()?).map_err(Misuse::of)?;
    let Some(last) = tracks.num_saves().checked_sub(1) else { return Err(folder.without_saves()) };
    let (name, time) = (folder.root.display(), twelve_digits(tracks.times()[last]));
    let status = tracks.status(last).map_err(Misuse::of)?;
    let positions = tracks.position(last).map_err(Misuse::of)?;
    let active = positions.into_iter().zip(&status).filter(|(_, of)| **of == Status::Active);
    let active: Vec<[f64; 3]> = active.map(|(position, _)| position).collect();
    if active.is_empty() {
        return Err(Misuse::error(format!(
            "no particle of the run {name} is active at its last save, t = {time:?}; give another run"
        )));
    }
    let is_end = match tracks.is_complete() {
        true => tracks.ends().map_err(Misuse::of)?.status == status,
        false => false,
    };
    let warning = format!(
        "the seeds have the positions of the run {name} at its last save, t = {time:?}, which is not its end"
    );
    Ok((Seeds::list(active).map_err(Misuse::of)?, (!is_end).then_some(warning)))
}

//! What a case asks for, checked and made: the field, the seeds, the tracer's settings.

mod field;
mod inflow;
mod interpolation;
mod keys;
mod memory;
mod motion;
mod obstacles;
mod timed;

pub use field::{LoadedField, field, file_of, size};
pub use memory::plan;

use crate::case::{self, Case, Misuse, SeedKind};
use anyhow::Result;
use burntrace::analysis::ftle::{Lattice, Stencil};
use burntrace::{Domain, Field, SaveAt, Seeds, Span, Tracer, io};
use std::path::{Path, PathBuf};

/// Refuses a case whose sections do not go together.
pub fn check(case: &Case) -> Result<()> {
    inflow::check(case)?;
    memory::check(case)?;
    motion::check(case)
}

/// The box of a case: its own corners where it gives them, else the field's.
pub fn domain(case: &Case, field: Domain) -> Result<Domain> {
    let low = case.domain.low.unwrap_or(field.low);
    let high = case.domain.high.unwrap_or(field.high);
    Domain::new(low, high).map_err(Misuse::of)
}

/// The tracer of a case. Relative file names start at `base`.
pub fn tracer<'a>(
    case: &Case,
    base: &Path,
    field: &'a dyn Field,
    device: &str,
) -> Result<Tracer<'a>> {
    use burntrace::Face;
    let faces = [case.boundary.x, case.boundary.y, case.boundary.z];
    let trace = &case.trace;
    let mut tracer = Tracer::new(field)
        .scheme(trace.scheme.into())
        .domain(domain(case, field.domain())?)
        .span(span(trace))
        .save(save_at(&case.save)?)
        .save_velocity(case.save.velocity)
        .mesh_wall(case.boundary.mesh.into())
        .stagnant_speed(trace.stagnant_speed)
        .seeds_outside(case.seeds.as_ref().map(|seeds| seeds.outside).unwrap_or_default().into())
        .device_name(device);
    for (face, condition) in Face::ALL.into_iter().zip(faces.into_iter().flatten()) {
        tracer = tracer.face(face, condition.into());
    }
    let resolved = || ends(trace).resolve(field.span()).map_err(Misuse::of);
    let tracer = memory::add(case, motion::add(case, obstacles::add(case, base, tracer)?));
    let tracer = inflow::open(case, base, tracer, resolved)?;
    match Option::from(trace.path) {
        Some(engine) => Ok(tracer.engine(engine)),
        None => Ok(tracer),
    }
}

fn span(trace: &case::Trace) -> Span {
    Span { t0: trace.t0, t1: trace.t1, dt: trace.dt, steps: trace.steps }
}

/// A span with the ends of the run, and steps where tolerances let the tracer choose them.
fn ends(trace: &case::Trace) -> Span {
    let span = span(trace);
    let is_free = trace.tolerance.is_some() && span.dt.is_none();
    Span { steps: span.steps.or(is_free.then_some(1)), ..span }
}

fn save_at(save: &case::Save) -> Result<SaveAt> {
    match (save.every, save.every_time, &save.times) {
        (None, None, None) => Ok(SaveAt::End),
        (Some(steps), None, None) => Ok(SaveAt::EverySteps(steps)),
        (None, Some(time), None) => Ok(SaveAt::EveryTime(time)),
        (None, None, Some(times)) => Ok(SaveAt::Times(times.clone())),
        _ => Err(Misuse::error("save has several of every, every_time and times; keep one")),
    }
}

/// The seeds of a case, in a domain; there may be none.
pub fn seeds(case: &Case, domain: Domain, base: &Path) -> Result<Seeds> {
    let Some(seeds) = &case.seeds else { return Ok(Seeds::none()) };
    check_keys(seeds)?;
    let made = make(seeds, domain, base)?.map_err(Misuse::of)?;
    match seeds.release {
        Some(time) => made.release_at(time).map_err(Misuse::of),
        None => Ok(made),
    }
}

fn make(s: &case::Seeds, domain: Domain, base: &Path) -> Result<burntrace::Result<Seeds>> {
    let low = s.low.unwrap_or(domain.low);
    let high = s.high.unwrap_or(domain.high);
    let seed = s.seed.unwrap_or(1);
    let count = || need(s.count, "count");
    let counts = || need(s.counts.clone(), "counts");
    let centre = || need(s.centre, "centre");
    let radius = || need(s.radius, "radius");
    Ok(match s.kind {
        SeedKind::Grid => {
            let placement = s.placement.unwrap_or_default().into();
            let counts = exactly(counts()?)?;
            match s.auxiliary {
                None => Seeds::grid(low, high, counts, placement),
                Some(distance) => Ok(Lattice::new(low, high, counts, placement)
                    .and_then(|lattice| lattice.seeds(Stencil::Auxiliary(distance)))
                    .map_err(Misuse::of)?),
            }
        }
        SeedKind::Uniform => Seeds::uniform(low, high, count()?, seed),
        SeedKind::Sobol => Seeds::sobol(low, high, count()?),
        SeedKind::Gaussian => {
            Seeds::gaussian(centre()?, need(s.deviation, "deviation")?, count()?, seed)
        }
        SeedKind::Line => Seeds::line(need(s.from, "from")?, need(s.to, "to")?, count()?),
        SeedKind::Plane => {
            let origin = need(s.origin, "origin")?;
            let edges = (need(s.edge1, "edge1")?, need(s.edge2, "edge2")?);
            Seeds::plane(origin, edges.0, edges.1, exactly(counts()?)?)
        }
        SeedKind::Disc => Seeds::disc(centre()?, need(s.normal, "normal")?, radius()?, count()?),
        SeedKind::Sphere => Seeds::sphere(centre()?, radius()?, count()?),
        SeedKind::Ball => Seeds::ball(centre()?, radius()?, count()?, seed),
        SeedKind::List => Seeds::list(need(s.points.clone(), "points")?),
        SeedKind::File => from_file(&base.join(need(s.path.clone(), "path")?))?,
    })
}

/// Seeds from a CSV or VTK file, with release times where it has them.
fn from_file(path: &PathBuf) -> Result<burntrace::Result<Seeds>> {
    let points = io::read_points(path).map_err(Misuse::of)?;
    let seeds = Seeds::list(points.position);
    Ok(match points.time {
        Some(times) => seeds.and_then(|seeds| seeds.with_release(times)),
        None => seeds,
    })
}

fn need<T>(value: Option<T>, key: &str) -> Result<T> {
    keys::need(value, "seeds", key)
}

fn exactly<const N: usize>(counts: Vec<usize>) -> Result<[usize; N]> {
    counts.try_into().map_err(|counts: Vec<_>| {
        Misuse::error(format!("seeds.counts has {} numbers, not {N}", counts.len()))
    })
}

/// Refuses keys that a kind of seeds does not use.
fn check_keys(seeds: &case::Seeds) -> Result<()> {
    let used: &[&str] = match seeds.kind {
        SeedKind::Grid => &["counts", "placement", "auxiliary", "low", "high"],
        SeedKind::Uniform => &["count", "seed", "low", "high"],
        SeedKind::Sobol => &["count", "low", "high"],
        SeedKind::Gaussian => &["centre", "deviation", "count", "seed"],
        SeedKind::Line => &["from", "to", "count"],
        SeedKind::Plane => &["origin", "edge1", "edge2", "counts"],
        SeedKind::Disc => &["centre", "normal", "radius", "count"],
        SeedKind::Sphere => &["centre", "radius", "count"],
        SeedKind::Ball => &["centre", "radius", "count", "seed"],
        SeedKind::List => &["points"],
        SeedKind::File => &["path"],
    };
    keys::check("seeds", seeds, [used, &["release", "outside"]])
}

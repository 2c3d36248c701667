//! Where particles come in in the course of a run: the outlets, inlets and sources of a case.

use super::{
    keys::{self, need},
    obstacles,
};
use crate::case::{self, Case, InletKind, Misuse};
use anyhow::Result;
use burntrace::{Face, Inlet, InletShape, Patch, Pattern, Rate, Source, TimeSpan, Tracer, io};
use std::path::Path;

/// Refuses a case in which nothing moves, and outlets and inlets without each other.
pub fn check(case: &Case) -> Result<()> {
    if case.seeds.is_none() && case.source.is_empty() {
        return Err(Misuse::error("the case has no particles; give [seeds], or a [[source]]"));
    }
    let mesh = is_mesh_outlet(case).then(|| "the edge of the mesh".to_string());
    let patch = case.patch.iter().find(|patch| patch.wall == case::Wall::Outlet);
    let patch = patch.map(|patch| format!("the patch `{}`", patch.name));
    let face = outlets(case).next().map(|face| format!("the face {face}"));
    let obstacle = obstacles::are_outlets(case).then(|| "an obstacle".to_string());
    let outlet = face.or(mesh).or(patch).or(obstacle);
    obstacles::check(case)?;
    match (outlet, &case.inlet) {
        (Some(outlet), None) => Err(Misuse::error(format!(
            "{outlet} is an outlet, and there is no [inlet], where particles come in that have \
             left through it; give one, or have them end for good (`exit`, or `leave` for a mesh)"
        ))),
        (None, Some(_)) => Err(Misuse::error(
            "there is an [inlet], and no face of [boundary] is an `outlet`, nor an [[obstacle]], \
             the edge of a mesh or a [[patch]] of it; make one of them so, or leave the inlet out \
             (a [[source]] has its own)",
        )),
        _ => Ok(()),
    }
}

/// The faces that are outlets.
fn outlets(case: &Case) -> impl Iterator<Item = Face> {
    let conditions = [case.boundary.x, case.boundary.y, case.boundary.z].into_iter().flatten();
    let faces = Face::ALL.into_iter().zip(conditions);
    faces.filter(|(_, condition)| *condition == case::Condition::Outlet).map(|(face, _)| face)
}

fn is_mesh_outlet(case: &Case) -> bool {
    case.boundary.mesh == case::Wall::Outlet
}

/// Gives a tracer the outlets and the sources of a case, in a run over a span.
pub fn open<'a>(
    case: &Case,
    base: &Path,
    mut tracer: Tracer<'a>,
    span: impl Fn() -> Result<TimeSpan>,
) -> Result<Tracer<'a>> {
    let common = case.inlet.as_ref().map(|given| inlet(given, "inlet", base)).transpose()?;
    for given in &case.patch {
        tracer = tracer.mesh_patch(patch(given, common.as_ref()));
    }
    if let Some(inlet) = common {
        if obstacles::are_outlets(case) {
            tracer = tracer.obstacle_outlet(inlet.clone());
        }
        for face in outlets(case) {
            tracer = tracer.outlet(face, inlet.clone());
        }
        if is_mesh_outlet(case) {
            tracer = tracer.mesh_outlet(inlet);
        }
    }
    let count = case.source.len();
    for (i, given) in case.source.iter().enumerate() {
        let source = source(given, base, &span)
            .map_err(|error| Misuse::error(format!("source {} of {count}: {error}", i + 1)))?;
        tracer = tracer.source(source);
    }
    Ok(tracer)
}

/// A patch of a mesh's edge, which may be an outlet.
fn patch(given: &case::Patch, inlet: Option<&Inlet>) -> Patch {
    let low = given.low.unwrap_or([f64::NEG_INFINITY; 3]);
    let high = given.high.unwrap_or([f64::INFINITY; 3]);
    let patch = Patch::new(&given.name, low, high);
    match (given.wall, inlet) {
        (case::Wall::Outlet, Some(inlet)) => patch.outlet(inlet.clone()),
        (wall, _) => patch.wall(wall.into()),
    }
}

fn inlet(given: &case::Inlet, section: &str, base: &Path) -> Result<Inlet> {
    check_keys(given, section)?;
    let shape = shape(given, section, base)?;
    Inlet::new(shape, pattern(given, section)?).map_err(Misuse::of)
}

/// Refuses keys that a kind of inlet does not use.
fn check_keys(given: &case::Inlet, section: &str) -> Result<()> {
    let used: &[&str] = match given.kind {
        InletKind::Face => &["face"],
        InletKind::Rectangle => &["origin", "edge1", "edge2"],
        InletKind::Disc => &["centre", "normal", "radius"],
        InletKind::Polygon => &["corners"],
        InletKind::Points => &["points"],
        InletKind::File => &["path"],
    };
    keys::check(section, given, [used, &["pattern", "deviation"]])
}

fn shape(given: &case::Inlet, section: &str, base: &Path) -> Result<InletShape> {
    Ok(match given.kind {
        InletKind::Face => InletShape::Face(need(given.face, section, "face")?.into()),
        InletKind::Rectangle => InletShape::Rectangle {
            origin: need(given.origin, section, "origin")?,
            edge1: need(given.edge1, section, "edge1")?,
            edge2: need(given.edge2, section, "edge2")?,
        },
        InletKind::Disc => InletShape::Disc {
            centre: need(given.centre, section, "centre")?,
            normal: need(given.normal, section, "normal")?,
            radius: need(given.radius, section, "radius")?,
        },
        InletKind::Polygon => InletShape::Polygon(need(given.corners.clone(), section, "corners")?),
        InletKind::Points => InletShape::Points(need(given.points.clone(), section, "points")?),
        InletKind::File => {
            let path = base.join(need(given.path.as_ref(), section, "path")?);
            InletShape::Points(io::read_points(path).map_err(Misuse::of)?.position)
        }
    })
}

fn pattern(given: &case::Inlet, section: &str) -> Result<Pattern> {
    match (given.pattern, given.deviation) {
        (case::Pattern::Gaussian, Some(deviation)) => Ok(Pattern::Gaussian { deviation }),
        (case::Pattern::Gaussian, None) => Err(Misuse::error(format!(
            "{section}.pattern = \"gaussian\" needs {section}.deviation, a length"
        ))),
        (_, Some(_)) => Err(Misuse::error(format!(
            "{section}.deviation goes with {section}.pattern = \"gaussian\""
        ))),
        (case::Pattern::Lattice, None) => Ok(Pattern::Lattice),
        (case::Pattern::Uniform, None) => Ok(Pattern::Uniform),
        (case::Pattern::Flux, None) => Ok(Pattern::Flux),
    }
}

fn source(
    given: &case::Source,
    base: &Path,
    span: impl Fn() -> Result<TimeSpan>,
) -> Result<Source> {
    let rate = rate(given)?;
    let inlet = inlet(&given.inlet, "source.inlet", base)?;
    let has_span = given.begin.is_some() || given.end.is_some();
    let capacity = match rate {
        Rate::Burst { count, .. } => count as usize,
        _ => given.capacity.ok_or_else(|| {
            Misuse::error(
                "source.capacity is missing, the most particles of the source at a time: its \
                 rate times the longest way through the flow, and a little more",
            )
        })?,
    };
    let source = Source::new(inlet, rate, capacity).map_err(Misuse::of)?;
    if has_span { between(source, given, span()?) } else { Ok(source) }
}

/// How many particles a source releases, and when; without keys that do not go with that.
fn rate(given: &case::Source) -> Result<Rate> {
    let has_span = given.begin.is_some() || given.end.is_some();
    match (given.rate, &given.table, given.burst) {
        (None, None, None) => Err(Misuse::error(
            "it releases nothing; give source.rate, source.table or source.burst",
        )),
        (None, None, Some(_)) if given.capacity.is_some() => Err(Misuse::error(
            "source.capacity does not go with source.burst, whose capacity is its count",
        )),
        (None, ..) if has_span => Err(Misuse::error(
            "source.begin and source.end go with source.rate; a table and a burst have times of \
             their own",
        )),
        (Some(rate), None, None) => Ok(Rate::Constant(rate)),
        (None, Some(rows), None) => Ok(Rate::Table(rows.clone())),
        (None, None, Some(case::Burst { time, count })) => {
            Ok(Rate::Burst { time, count: count as u64 })
        }
        _ => Err(Misuse::error(
            "it has several of source.rate, source.table and source.burst; keep one",
        )),
    }
}

/// Has a source begin and end at the times given, or with the run.
fn between(source: Source, given: &case::Source, span: TimeSpan) -> Result<Source> {
    let begin = given.begin.unwrap_or(span.t0);
    let end = given.end.unwrap_or(span.t1);
    let lasts = (end - begin) * span.dt.signum();
    if !begin.is_finite() || lasts.is_nan() || lasts <= 0.0 {
        return Err(Misuse::error(format!(
            "it releases nothing from {begin} to {end}, as the run goes from {} to {}; give \
             source.begin and source.end in the direction of the run",
            span.t0, span.t1
        )));
    }
    source.between(begin, end).map_err(Misuse::of)
}

//! The outlets, inlets and sources of a case.

use super::{geometry, obstacles, patches};
use crate::file::{self, Case, Misuse, SourceRate};
use anyhow::Result;
use burntrace_core::{
    Face, Inlet, InletShape, Outlet, OutletAt, Rate, Source, Surroundings, program::TimeSpan,
};
use burntrace_io as io;

/// Refuses a case without particles, an outlet without an inlet, and an inlet without an outlet.
pub fn check(case: &Case) -> Result<()> {
    if case.seeds.is_empty() && case.source.is_empty() {
        return Err(Misuse::error("the case has no particles; add [seeds] or a [[source]]"));
    }
    let mesh = is_mesh_outlet(case).then(|| "the boundary of the mesh".to_string());
    let patch = case.patch.iter().find(|patch| patch.wall == file::Condition::Outlet);
    let patch = patch.map(|patch| format!("the patch `{}`", patch.name));
    let face = outlets(case).next().map(|face| format!("the face {face}"));
    let obstacle = obstacles::are_outlets(case).then(|| "an obstacle".to_string());
    let outlet = face.or(mesh).or(patch).or(obstacle);
    obstacles::check(case)?;
    check_inlet_patches(case)?;
    match (outlet, &case.inlet) {
        (Some(outlet), None) => Err(Misuse::error(format!(
            "{outlet} is an outlet, which re-injects particles at the [inlet], and the case has no \
             [inlet]; add one, or use `exit`, which ends particles"
        ))),
        (None, Some(_)) => Err(Misuse::error(
            "the case has an [inlet] and no `outlet`; make a face of [boundary], an [[obstacle]], \
             the boundary of a mesh or a [[patch]] an outlet, or omit [inlet] (a [[source]] has its \
             own inlet)",
        )),
        _ => Ok(()),
    }
}

/// Refuses inlets on patches that do not exist.
fn check_inlet_patches(case: &Case) -> Result<()> {
    let of_sources = case.source.iter().map(|source| ("source.inlet", &source.inlet));
    for (section, inlet) in case.inlet.iter().map(|inlet| ("inlet", inlet)).chain(of_sources) {
        if let file::InletShape::Patch { patch } = &inlet.shape {
            patches::named(case, patch, &format!("{section}.patch"))?;
        }
    }
    Ok(())
}

/// The faces that are outlets.
fn outlets(case: &Case) -> impl Iterator<Item = Face> {
    let conditions = geometry::faces(case, None).into_iter().flatten();
    let faces = Face::ALL.into_iter().zip(conditions);
    faces.filter(|(_, condition)| *condition == file::Condition::Outlet).map(|(face, _)| face)
}

fn is_mesh_outlet(case: &Case) -> bool {
    case.boundary.mesh == file::Condition::Outlet
}

/// Adds the patches and the outlets of a case.
pub fn add_outlets(case: &Case, surroundings: &mut Surroundings) -> Result<()> {
    let inlet = case.inlet.as_ref().map(inlet).transpose()?;
    let patch = |given| patches::patch(given, inlet.as_ref());
    surroundings.patches = case.patch.iter().map(patch).collect();
    let Some(inlet) = &inlet else { return Ok(()) };
    let mesh = is_mesh_outlet(case).then_some(OutletAt::Mesh);
    let obstacles = obstacles::are_outlets(case).then_some(OutletAt::Obstacles);
    let places = obstacles.into_iter().chain(outlets(case).map(OutletAt::Face)).chain(mesh);
    surroundings.outlets = places.map(|at| Outlet { at, inlet: inlet.clone() }).collect();
    Ok(())
}

/// The sources of a case. `span` returns the time span of the run.
pub fn sources(case: &Case, span: impl Fn() -> Result<TimeSpan>) -> Result<Vec<Source>> {
    let count = case.source.len();
    let one = |(i, given)| {
        source(given, &span)
            .map_err(|error| Misuse::error(format!("[[source]] {} of {count}: {error}", i + 1)))
    };
    case.source.iter().enumerate().map(one).collect()
}

fn inlet(given: &file::Inlet) -> Result<Inlet> {
    Inlet::new(shape(&given.shape)?, given.pattern).map_err(Misuse::of)
}

fn shape(given: &file::InletShape) -> Result<InletShape> {
    use file::InletShape as Given;
    Ok(match *given {
        Given::Face { face } => InletShape::Face(face),
        Given::Rectangle { origin, edge1, edge2 } => InletShape::Rectangle { origin, edge1, edge2 },
        Given::Disc { centre, normal, radius } => InletShape::Disc { centre, normal, radius },
        Given::Polygon { ref corners } => InletShape::Polygon(corners.clone()),
        Given::Points { ref points } => InletShape::Points(points.clone()),
        Given::File { ref path } => {
            InletShape::Points(io::read_points(path).map_err(Misuse::of)?.position)
        }
        Given::Patch { ref patch } => InletShape::Patch(patch.clone()),
    })
}

fn source(given: &file::Source, span: impl Fn() -> Result<TimeSpan>) -> Result<Source> {
    let (rate, limits) = match &given.rate {
        SourceRate::Rate { rate, begin, end, .. } => (Rate::Constant(*rate), (*begin, *end)),
        SourceRate::Table { table, .. } => (Rate::Table(table.clone()), (None, None)),
        SourceRate::Burst { burst } => {
            (Rate::Burst { time: burst.time, count: burst.count as u64 }, (None, None))
        }
    };
    let source = Source::new(inlet(&given.inlet)?, rate, given.capacity());
    let source = source.map_err(Misuse::of)?;
    match limits {
        (None, None) => Ok(source),
        limits => between(source, limits, span()?),
    }
}

/// Limits a source to the given times, by default those of the run.
fn between(
    source: Source,
    (begin, end): (Option<f64>, Option<f64>),
    span: TimeSpan,
) -> Result<Source> {
    let (begin, end) = (begin.unwrap_or(span.t0), end.unwrap_or(span.t1));
    let duration = (end - begin) * span.dt.signum();
    if !begin.is_finite() || duration.is_nan() || duration <= 0.0 {
        return Err(Misuse::error(format!(
            "it releases nothing from {begin} to {end}, as the run goes from {} to {}; give \
             source.begin and source.end in the direction of the run",
            span.t0, span.t1
        )));
    }
    source.between(begin, end).map_err(Misuse::of)
}

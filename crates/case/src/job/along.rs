//! What a case asks for along the tracks: arrays that follow from the field, and tallies of them.

use super::{domain_within, geometry, input::TracedInput, sampled::has, surroundings};
use crate::{
    console::Silent,
    file::{Case, Misuse, SampledArray},
};
use anyhow::Result;
use burntrace_core::{
    Derived, Domain, Field, FieldArray, NotFinite, SavedTally, Tally, WALL_DISTANCE,
};
use burntrace_io as io;
use burntrace_io::{
    NamedArray,
    series::{ArrayEntry, Association},
};

/// The tally that a request is of, unless the field has an array of its name.
pub fn tally(request: &SampledArray) -> Option<Tally> {
    let is_plain = request.files.is_none() && request.prefer.is_none();
    let parsed = request.array.parse::<Tally>().ok().filter(|_| is_plain);
    parsed.filter(Tally::adds_up)
}

/// The quantities of the field that tallies and conditions follow.
fn followed(case: &Case) -> impl Iterator<Item = String> {
    let saved = case.save.fields.iter().filter_map(tally);
    let conditions = case.trace.stop_when.iter().map(|condition| condition.tally.clone());
    saved.chain(conditions).filter_map(|tally| tally.quantity().map(String::from))
}

/// These, and what is saved of the field itself.
fn quantities(case: &Case) -> impl Iterator<Item = String> {
    let requests = case.save.fields.iter().filter(|request| request.files.is_none());
    followed(case).chain(requests.map(|request| request.array.clone()))
}

/// The arrays of which gradients are among the quantities.
fn bases(case: &Case) -> impl Iterator<Item = String> {
    quantities(case).filter_map(|quantity| match quantity.parse() {
        Ok(Derived::Gradient(of)) => Some(of),
        _ => None,
    })
}

/// Adds the arrays of the files, on an association, that tallies, conditions and gradients need.
pub fn add_needed(
    case: &Case,
    (arrays, on): (&[ArrayEntry], Association),
    named: &mut Vec<NamedArray>,
) {
    for name in followed(case).chain(bases(case)) {
        if !named.iter().any(|known| known.name == name) && has(arrays, &name, on) {
            named.push(NamedArray { array: name.clone(), name });
        }
    }
}

/// The arrays that a program's field is to have if it has them, by the names of a case.
pub fn of_program(case: &Case) -> Vec<String> {
    let mut names = Vec::new();
    for name in quantities(case).chain(bases(case)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Refuses tallies with the name of an array that is needed.
pub fn check(case: &Case) -> Result<()> {
    let is_taken = |request: &&SampledArray| {
        request.name != request.array
            && tally(request).is_some()
            && quantities(case).chain(bases(case)).any(|name| name == request.name)
    };
    match case.save.fields.iter().find(is_taken) {
        None => Ok(()),
        Some(request) => Err(Misuse::error(format!(
            "save.fields: `{}` is called `{}` as an array of the field is; give another name",
            request.array, request.name
        ))),
    }
}

/// The traced field with the derived arrays that the case asks for and the field does not have.
pub fn with_derived(
    case: &Case,
    traced: TracedInput,
    series: Option<&io::SeriesInfo>,
) -> Result<TracedInput> {
    let traced = with_wall_distance(case, traced, series)?;
    let own = traced.frames().map_or(&[][..], |input| input.arrays());
    let mut wanted: Vec<Derived> = Vec::new();
    for name in quantities(case) {
        let Ok(derived) = name.parse::<Derived>() else { continue };
        if !own.iter().any(|array| array.name == name) && !wanted.contains(&derived) {
            wanted.push(derived);
        }
    }
    check_name(case, |array| wanted.iter().any(|of| of.to_string() == array))?;
    match traced {
        traced if wanted.is_empty() => Ok(traced),
        TracedInput::Frames(input) => {
            let radius = geometry::geometry(case, series);
            Ok(TracedInput::Frames(input.with_derived(&wanted, radius)?))
        }
        TracedInput::Formula(..) | TracedInput::Own(_) => Err(Misuse::error(format!(
            "`{}` follows from differences of a field on a grid or a mesh, and this one is a formula or a function; give \
             field.sample = {{ nodes = [nx, ny, nz] }}",
            wanted[0]
        ))),
    }
}

/// Refuses another name for an array that follows from the field.
fn check_name(case: &Case, is_derived: impl Fn(&str) -> bool) -> Result<()> {
    let is_renamed =
        |request: &&SampledArray| request.name != request.array && is_derived(&request.array);
    match case.save.fields.iter().find(is_renamed) {
        None => Ok(()),
        Some(request) => Err(Misuse::error(format!(
            "save.fields: `{}` follows from the field and keeps its name; omit `name`",
            request.array
        ))),
    }
}

/// The traced field with the distance to the nearest wall, if the case asks for it and the field has no array of this name.
fn with_wall_distance(
    case: &Case,
    traced: TracedInput,
    series: Option<&io::SeriesInfo>,
) -> Result<TracedInput> {
    let own = traced.frames().map_or(&[][..], |input| input.arrays());
    let is_own = own.iter().any(|array| array.name == WALL_DISTANCE);
    if is_own || !quantities(case).any(|name| name == WALL_DISTANCE) {
        return Ok(traced);
    }
    check_name(case, |array| array == WALL_DISTANCE)?;
    let refused = |reason: &str| Err(Misuse::error(format!("`{WALL_DISTANCE}` {reason}")));
    if geometry::geometry(case, series).is_some() {
        return refused("is a length, and positions are in degrees; use an array of the files");
    }
    if geometry::not_finite(case, series) == NotFinite::Land {
        return refused("does not know the land of a grid; use an array of the files");
    }
    match traced {
        TracedInput::Frames(input) => {
            let [low, high] = input.bounds();
            let domain = domain_within(case, Domain::new(low, high).map_err(Misuse::of)?)?;
            // Notes about obstacles come when the tracer is made.
            let around = surroundings(case, domain, series, &Silent::default())?;
            let with = input.with_wall_distance(&around).map_err(Misuse::of)?;
            Ok(TracedInput::Frames(with))
        }
        TracedInput::Formula(..) | TracedInput::Own(_) => refused(
            "is known at the nodes of a field, and this one is a formula or a function; give field.sample = { nodes = [nx, ny, nz] }",
        ),
    }
}

/// The tallies that a case saves: those whose names are not of arrays of the field.
pub fn tallies(case: &Case, field: &dyn Field) -> Vec<SavedTally> {
    let arrays = field.sampled().map_or(&[][..], |sampled| sampled.arrays());
    let is_array = |name: &str| arrays.iter().any(|array: &FieldArray| array.name == name);
    let saved = |request: &SampledArray| {
        let is_own = is_array(&request.name) || is_array(&request.array);
        let tally = tally(request).filter(|_| !is_own)?;
        Some(SavedTally { name: request.name.clone(), tally })
    };
    case.save.fields.iter().filter_map(saved).collect()
}

/// A warning about tallies of particles that end in slots that are re-used.
pub fn warning(case: &Case, field: &dyn Field) -> Option<String> {
    let reuses_slots = case.inlet.is_some() || !case.source.is_empty();
    let first = tallies(case, field).into_iter().next().filter(|_| reuses_slots)?;
    Some(format!(
        "save.fields: `{}` is saved as long as a particle is active; what it was when a particle of a source ended, or one that is re-injected, is not \
         kept: release [seeds] with `repeat` if you need it",
        first.name
    ))
}

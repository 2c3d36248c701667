//! The fields, the seeds and the tracer of a case.

mod added;
mod along;
mod description;
mod field;
mod flow;
mod gates;
mod geometry;
mod inertia;
mod inflow;
mod input;
mod interpolation;
mod memory;
mod motion;
mod obstacles;
mod patches;
mod reach;
mod sampled;
mod seeds;
mod words;

pub use description::{NodeCount, file_of};
pub use field::{LoadedField, field, mesh, sizes};
pub use gates::{gate_names, gates};
pub use geometry::{geometry, units};
pub use input::FieldFiles;
pub use memory::{
    StoredSize, free as free_memory, limited_by, piece_length, plan, plan_warnings, stored,
};
pub use motion::{columns, mixing, motion};
pub use obstacles::obstacles;
pub use sampled::{has as has_array, interpolation_of};
pub use seeds::seeds;
pub use words::in_words as field_in_words;

use crate::{
    console::Console,
    file::{self, Case, FieldSource, GivenCrop, Misuse, SeedPlacement, SeedShape, Units},
    folder,
    format::{six_digits, three_digits},
};
use anyhow::Result;
use burntrace_core::{
    Courant, Domain, Execution, NotFinite, SaveRequest, Seeds, Span, Surroundings, Tracer,
    device::OpenDevice,
    program::{Sampled, TimeSpan},
};
use burntrace_io as io;
use std::collections::HashSet;

/// Refuses sections that exclude each other, or that need another one.
pub fn check(case: &Case) -> Result<()> {
    added::check(case)?;
    inflow::check(case)?;
    seeds::check(case)?;
    sampled::check(case)?;
    memory::check(case)?;
    motion::check(case)
}

/// Refuses a folder for the run that it would replace or that it cannot describe, before it is made.
pub fn check_folder(case: &Case) -> Result<()> {
    seeds::check_folder(case)?;
    folder::case_text(case).map(drop)
}

/// The domain of a case: its corners, by default those of the field.
pub fn domain(case: &Case, loaded: &LoadedField) -> Result<Domain> {
    domain_within(case, loaded.domain())
}

/// The domain of a case, by default that of a field.
fn domain_within(case: &Case, field: Domain) -> Result<Domain> {
    let low = case.domain.low.unwrap_or(field.low);
    let high = case.domain.high.unwrap_or(field.high);
    Domain::new(low, high).map_err(Misuse::of)
}

/// Warnings about a loaded field: keys without effect, what is converted, and a domain beyond the field.
pub fn warnings(case: &Case, loaded: &LoadedField) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    let series = loaded.description.series();
    warnings.extend(series.into_iter().flat_map(|of| unused_times("field", &case.field, of)));
    for (field, added) in case.field.added.iter().zip(&loaded.added) {
        let series = added.description.series();
        warnings.extend(series.into_iter().flat_map(|of| unused_times(&added.key, field, of)));
    }
    if let Some(series) = series.filter(|series| series.times_from.is_some()) {
        warnings.extend(unit_warnings(&case.units, series));
    }
    warnings.extend(about_files(loaded, false));
    warnings.extend(along::warning(case, &*loaded.field));
    let overlapping = series.and_then(|series| Some(series.mesh.as_ref()?.overlapping));
    if let Some(count) = overlapping.filter(|count| *count > 0) {
        warnings.push(format!(
            "{count} polyhedra are not star-shaped around the mean of their points; the parts into which \
             they are divided overlap, and velocities near these cells are approximate"
        ));
    }
    let is_in_seconds = |series: &io::SeriesInfo| series.time_origin.is_some() || has_units(series);
    if case.has_durations && !series.is_some_and(is_in_seconds) {
        warnings.push(
            "durations of the case, such as \"10 min\", are taken as seconds, and the times of the field have no \
             unit: make sure that they are in seconds, too"
                .into(),
        );
    }
    warnings.extend(patches::warnings(case, &*loaded.field));
    warnings.extend(no_zeros(case, loaded));
    warnings.extend(no_sea(case, loaded));
    warnings.extend(domain_warning(case, loaded)?);
    Ok(warnings)
}

/// A warning if velocities that are not finite are to count as 0, and there are none.
fn no_zeros(case: &Case, loaded: &LoadedField) -> Option<String> {
    let is_zero = case.field.not_finite == Some(NotFinite::Zero);
    // In a sum each field has its own.
    let is_alone = case.field.added.is_empty();
    let has_zeros = loaded.field.sampled().map_or(Some(false), Sampled::has_zeros);
    (is_zero && is_alone && has_zeros == Some(false)).then(|| {
        "field.not_finite = \"zero\" has no effect: all velocities of the field are finite".into()
    })
}

/// A warning if seeds are to be in the sea, and there is no land.
fn no_sea(case: &Case, loaded: &LoadedField) -> Option<String> {
    let is_in_sea = |seeds: &file::Seeds| {
        use SeedShape::{Sobol, Uniform};
        let (Uniform { placement, .. } | Sobol { placement, .. }) = seeds.shape else {
            return false;
        };
        placement == SeedPlacement::Sea
    };
    let has_land = loaded.field.sampled().is_some_and(|sampled| sampled.land().is_some());
    (case.seeds.iter().any(is_in_sea) && !has_land).then(|| {
        "seeds.placement = \"sea\" has no effect: the field has no land (field.not_finite = \"land\" makes missing velocities land)".into()
    })
}

/// Cells that a particle may cross in a step, in 99 % of the cells, without a warning.
const MANY_CELLS: f64 = 2.0;

/// A warning if particles cross several cells in a step. Graphics cards would compile a kernel to find out.
pub fn long_steps(
    case: &Case,
    loaded: &LoadedField,
    device: &OpenDevice,
) -> Result<Option<String>> {
    if case.trace.solver.tolerance.is_some() || device.compiles_kernels() {
        return Ok(None);
    }
    let TimeSpan { t0, dt, .. } = time_span(case, loaded)?;
    let courant = Courant::of(&*loaded.field, t0, dt)?;
    Ok(courant.filter(|courant| courant.p99 > MANY_CELLS).map(|Courant { median, p99, .. }| {
        format!(
            "dt = {} is long for the cells of the field: at the start, particles cross up to {} of them in a step in 99 % of the field ({} in half \
             of it); dt = {} would make it 1, and `burntrace check` measures what a step costs",
            six_digits(dt),
            three_digits(p99),
            three_digits(median),
            three_digits(dt / p99)
        )
    }))
}

/// Warnings about keys for the times of files that their times do not need. `name` is the key of the field.
fn unused_times(name: &str, field: &file::Field, series: &io::SeriesInfo) -> Vec<String> {
    let (given, Some(from)) = (&field.options, &series.times_from) else { return Vec::new() };
    let keys = [
        ("file_dt", given.file_dt.is_some(), matches!(from, io::TimesFrom::FileNumbers(_))),
        ("times", given.times.is_some(), matches!(from, io::TimesFrom::Case)),
        ("same_times", given.same_times.is_some(), !matches!(from, io::TimesFrom::Case)),
    ];
    let unused = keys.iter().filter(|(_, is_given, is_used)| *is_given && !is_used);
    let text = |key| {
        format!(
            "`{name}.{key}` has no effect: times are from {from} (`{name}.ignore_file_times` ignores times in \
             files)"
        )
    };
    unused.map(|(key, ..)| text(key)).collect()
}

/// What of the files is converted by their own attributes, or else what is assumed or not used.
pub fn about_files(loaded: &LoadedField, is_conversion: bool) -> Vec<String> {
    let of = |series: &'_ io::SeriesInfo| (series.notes.clone(), series.conversions.clone());
    let own = loaded.description.series().map(|series| ("field.files", of(series)));
    let added = loaded.added.iter().map(|added| {
        let (mut notes, mut conversions) = added.description.series().map(of).unwrap_or_default();
        [&mut notes, &mut conversions].into_iter().for_each(|all| all.push(added.note.clone()));
        (&*added.key, (notes, conversions))
    });
    let others = loaded.sampled.iter();
    let others =
        others.map(|other| ("save.fields", (other.notes.clone(), other.conversions.clone())));
    let mut known = HashSet::new();
    own.into_iter()
        .chain(added)
        .chain(others)
        .flat_map(|(key, (notes, conversions))| {
            let is_it = move |note: &String| conversions.contains(note) == is_conversion;
            notes.into_iter().filter(is_it).map(move |note| (key, note))
        })
        .filter(|(key, note)| known.insert(note.clone()) || *key != "save.fields")
        .map(|(key, note)| format!("{key}: {note}"))
        .collect()
}

/// A warning if a part of the domain is outside the field. On a mesh this is usual: there is no field
/// outside, and a larger domain leaves its boundary to the mesh.
fn domain_warning(case: &Case, loaded: &LoadedField) -> Result<Option<String>> {
    // No particle reaches what is left out of the field.
    let is_found = case.field.crop == Some(GivenCrop::Auto);
    if is_found
        || loaded.field.mesh().is_some()
        || !matches!(case.field.source, FieldSource::Files { .. })
    {
        return Ok(None);
    }
    let (domain, field) = (domain(case, loaded)?, loaded.domain());
    let inside = (0..3).filter(|d| !domain.is_flat(*d) && !field.is_flat(*d)).map(|d| {
        let overlap = domain.high[d].min(field.high[d]) - domain.low[d].max(field.low[d]);
        overlap / (domain.high[d] - domain.low[d])
    });
    let outside = 1.0 - inside.product::<f64>();
    Ok((outside > 1e-9).then(|| {
        format!(
            "{:.3} % of the domain is outside the field; particles there have the velocity of the \
             nearest point of the field",
            100.0 * outside
        )
    }))
}

/// Whether files name the units of their arrays, which are converted to metres and seconds.
fn has_units(series: &io::SeriesInfo) -> bool {
    series.arrays.iter().any(|array| array.units.is_some())
}

/// Warnings about units other than those of a field in SI units.
fn unit_warnings(units: &Units, series: &io::SeriesInfo) -> Vec<String> {
    let (length, time) = (units.length.as_str(), units.time.as_str());
    let mut warnings = Vec::new();
    if has_units(series) && !["", "m", "meter", "meters", "metre", "metres"].contains(&length) {
        warnings.push(format!(
            "units.length is {length:?}, but the lengths of the field are in metres; pictures, reports and tracks \
             would have a wrong unit: set `units.length = \"m\"`"
        ));
    }
    if series.time_origin.is_some() && !file::is_seconds(time) {
        warnings.push(format!(
            "units.time is {time:?}, but the times of the field are in seconds; the tracks have no dates"
        ));
    }
    warnings
}

/// The tracer of a case, for its seeds.
pub fn tracer<'a>(
    case: &Case,
    (loaded, seeds): (&'a LoadedField, &Seeds),
    device: &str,
    console: &dyn Console,
) -> Result<Tracer<'a>> {
    let field = &*loaded.field;
    let domain = patches::traced_domain(case, loaded)?;
    let series = loaded.description.series();
    let tracer = Tracer::new(field)
        .motion(motion(case, seeds)?)
        .solver(case.trace.solver)
        .span(case.trace.span)
        .surroundings(surroundings(case, domain, series, console)?)
        .save_request(SaveRequest {
            at: case.save.at.clone(),
            velocity: case.save.velocity,
            fluid_velocity: case.save.fluid_velocity,
            sizes: case.save.sizes,
            flow_map_gradient: case.save.flow_map_gradient,
            tallies: along::tallies(case, field),
            arrays: sampled::arrays(case, loaded),
            gates: gates::gates(case, console)?,
        })
        .execution(Execution {
            device_name: Some(device.into()),
            ..memory::execution(case, &field.device())
        });
    let sources = inflow::sources(case, || time_span(case, loaded))?;
    Ok(sources.into_iter().fold(tracer, Tracer::source))
}

/// What surrounds the particles of a case in a domain.
fn surroundings(
    case: &Case,
    domain: Domain,
    series: Option<&io::SeriesInfo>,
    console: &dyn Console,
) -> Result<Surroundings> {
    let faces = geometry::faces(case, series);
    let mut surroundings = Surroundings {
        domain: Some(domain),
        faces: faces.map(|faces| faces.map(Into::into)),
        mesh_wall: case.boundary.mesh.into(),
        obstacles: obstacles::obstacles(case, console)?,
        coast: case.boundary.coast.into(),
        stagnant_speed: case.trace.stagnant_speed,
        stop_when: case.trace.stop_when.clone(),
        seeds_outside: seeds::outside(case),
        ..Surroundings::default()
    };
    inflow::add_outlets(case, &mut surroundings)?;
    surroundings.patches.extend(patches::of_sea(case, series));
    Ok(surroundings)
}

/// From the start to the end of the run. Where a tolerance leaves the number of steps open, it has one step.
pub fn time_span(case: &Case, loaded: &LoadedField) -> Result<TimeSpan> {
    ends(&case.trace).resolve(loaded.field.span()).map_err(|error| loaded.misuse(error))
}

/// The span of the run. Where a tolerance leaves the number of steps open, it has one step.
fn ends(trace: &file::Trace) -> Span {
    let span = trace.span;
    let is_adaptive = trace.solver.tolerance.is_some() && span.dt.is_none();
    Span { steps: span.steps.or(is_adaptive.then_some(1)), ..span }
}

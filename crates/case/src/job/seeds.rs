//! The seeds of a case: its blocks, one after another.

mod shapes;

pub use shapes::bounds;

use super::{LoadedField, memory, patches, time_span};
use crate::file::{self, Case, Misuse, Repeat, SeedShape};
use crate::folder::paths;
use crate::format::{twelve_digits, with_date};
use anyhow::Result;
use burntrace_core::{Domain, Seeds, SeedsOutside, program::TimeSpan};
use burntrace_io::tracks::TimeOrigin;

/// Refuses repetitions without an interval, unknown patches, and blocks that differ where they must not.
pub fn check(case: &Case) -> Result<()> {
    for (i, given) in case.seeds.iter().enumerate() {
        if let Some(Repeat { every, until }) = given.repeat
            && (!every.is_finite() || every <= 0.0 || until.is_some_and(|time| !time.is_finite()))
        {
            let text = "give a positive interval, and a finite time of the last release";
            let until =
                until.map_or(String::new(), |time| format!(" until {:?}", twelve_digits(time)));
            return Err(Misuse::error(format!(
                "{}seeds.repeat is every {:?}{until}; {text}",
                block(case, i),
                twelve_digits(every),
            )));
        }
        if let SeedShape::Mesh { patch: Some(name), .. } = &given.shape {
            patches::named(case, name, "seeds.patch")
                .map_err(|error| Misuse::error(format!("{}{error}", block(case, i))))?;
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
pub fn outside(case: &Case) -> SeedsOutside {
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
pub fn seeds(case: &Case, domain: Domain, loaded: &LoadedField) -> Result<(Seeds, Vec<String>)> {
    let (field, origin) = (&*loaded.field, loaded.time_origin());
    let span = || time_span(case, loaded);
    if case.seeds.iter().any(|given| given.repeat.is_some()) {
        let span = span()?;
        memory::check_particles(case, [span.t0, span.t1].map(Some))?;
    }
    let (mut blocks, mut warnings) = (Vec::new(), Vec::new());
    for (i, given) in case.seeds.iter().enumerate() {
        let made = shapes::make(case, (&given.shape, i), domain, loaded);
        let made = made.and_then(|(made, more)| {
            warnings.extend(more.map(|text| format!("{}{text}", block(case, i))));
            released(given, made, span, origin)
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
    let mut all = all.map_err(Misuse::of)?;
    if field.sampled().is_some_and(|sampled| sampled.radius().is_some()) {
        all = all.within_longitudes(domain.low[0], domain.high[0]);
    }
    if all.release().is_some() {
        warnings.extend(late_warning(&all, span()?, origin));
    }
    Ok((all, warnings))
}

/// The seeds of a block with all their releases.
fn released(
    given: &file::Seeds,
    made: Seeds,
    span: impl Fn() -> Result<TimeSpan>,
    origin: Option<&TimeOrigin>,
) -> Result<Seeds> {
    let made = match given.release {
        Some(time) => made.release_at(time).map_err(Misuse::of)?,
        None => made,
    };
    match given.repeat {
        Some(repeat) => repeated(made, repeat, span()?, origin),
        None => Ok(made),
    }
}

fn repeated(
    made: Seeds,
    repeat: Repeat,
    span: TimeSpan,
    origin: Option<&TimeOrigin>,
) -> Result<Seeds> {
    let made = match made.release() {
        Some(_) => made,
        None => made.release_at(span.t0).map_err(Misuse::of)?,
    };
    let until = repeat.until(span.t1, span.dt);
    let is_late = |time: &&f64| (until - **time) * span.dt.signum() < 0.0;
    if let Some(first) = made.release().unwrap_or_default().iter().find(is_late) {
        let (order, dt) = if span.dt < 0.0 { ("after", "backward") } else { ("before", "forward") };
        let until = repeat.until.unwrap_or(span.t1);
        return Err(Misuse::error(format!(
            "seeds.repeat.until is {}, {order} the first release at {} of a run that goes {dt} in time; give \
             the time of the last release",
            with_date(until, origin),
            with_date(*first, origin)
        )));
    }
    made.repeat(repeat.every, until).map_err(Misuse::of)
}

/// A warning if seeds are due at or after the end of the run.
fn late_warning(seeds: &Seeds, span: TimeSpan, origin: Option<&TimeOrigin>) -> Option<String> {
    let is_late = |time: &&f64| (**time - span.t1) * span.dt.signum() >= 0.0;
    let times = seeds.release().unwrap_or_default();
    let first = times.iter().find(is_late)?;
    let count = times.iter().filter(is_late).count();
    Some(format!(
        "{count} of {} seeds are not released: their release times, such as {}, are not before the end of the \
         run at {}",
        times.len(),
        with_date(*first, origin),
        with_date(span.t1, origin)
    ))
}

/// Refuses a run in the folder of a run that its seeds are from, which it would replace.
pub fn check_folder(case: &Case) -> Result<()> {
    for given in &case.seeds {
        if let SeedShape::Run { path } = &given.shape
            && paths::is_same(path, &case.run.out)?
        {
            return Err(Misuse::error(format!(
                "run.out is {0}, the folder of the run that the seeds are from ([seeds] kind = \"run\"), which \
                 it would replace; give another folder with --out",
                case.run.out.display()
            )));
        }
    }
    Ok(())
}

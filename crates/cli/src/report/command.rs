//! `burntrace report`.

use super::make;
use crate::{
    args::{ReportArgs, lines_of},
    file::Misuse,
    folder,
    results::{Group, Results},
    sweep,
};
use anyhow::Result;

pub fn execute(args: &ReportArgs) -> Result<()> {
    if args.run.join(folder::SWEEP).is_file() {
        return of_sweep(args);
    }
    let results = Results::open(&args.run)?.note_unfinished();
    let groups = match args.groups.is_empty() {
        true => results.groups(),
        false => args.groups.iter().map(|text| group(text)).collect::<Result<_>>()?,
    };
    let report = make(&results, groups, args.particles)?;
    args.output.print(|| report.json(), || lines_of(&report.written))
}

/// Makes tables and report of the sweep in a folder again.
fn of_sweep(args: &ReportArgs) -> Result<()> {
    if args.particles || !args.groups.is_empty() {
        return Err(Misuse::error(format!(
            "{} is the folder of a sweep, whose report has no --groups and --particles; give the folder of one of its \
             runs, or omit them",
            args.run.display()
        )));
    }
    let made = sweep::again(&args.run)?;
    args.output.print(|| made.json, || lines_of(&made.files))
}

/// Parses a range of slots, such as `0..500`.
fn group(text: &str) -> Result<Group> {
    let ends = text.split_once("..").map(|(first, end)| (first.trim().parse(), end.trim().parse()));
    match ends {
        Some((Ok(first), Ok(end))) => Ok(Group { name: text.into(), slots: first..end }),
        _ => Err(Misuse::error(format!(
            "--groups {text}: give half-open ranges of slots, such as 0..500,500..1000"
        ))),
    }
}

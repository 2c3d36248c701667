//! `burntrace run`.

use crate::{
    allocator,
    args::{OutputArgs, RunArgs},
    devices,
    file::{self, Case, Misuse},
    folder, log, notes,
    ranks::{self, Rank, SharedStart},
    resume,
    terminal::Terminal,
};
use anyhow::Result;
use burntrace_case::profile;
use burntrace_case::run::{self, FinishedRun, Printed, RunStart};
use std::path::{Path, PathBuf};

pub fn execute(args: &RunArgs) -> Result<()> {
    let rank = Rank::find(args.rank.as_deref())?;
    let of_rank = (rank.count > 1).then_some(rank.index);
    profiled((args.profile.as_deref(), of_rank), args.case.as_slice(), || {
        let _phase = burntrace::phase!("run");
        start(args, rank)
    })
}

/// Runs a command that does not replace its inputs by the trace of its phases, if a file for that is given.
pub fn profiled(
    (path, rank): (Option<&Path>, Option<usize>),
    inputs: &[PathBuf],
    run: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let Some(path) = path else { return run() };
    folder::refuse_replacing(path, inputs, "")?;
    profile::start(path, rank)?;
    log::install();
    let result = run();
    // A run that was stopped or has failed has a profile, too.
    profile::write()?.into_iter().for_each(notes::warning);
    result
}

fn start(args: &RunArgs, rank: Rank) -> Result<()> {
    if let Some(root) = &args.extend {
        rank.refuse_several("--extend")?;
        return extend(args, root);
    }
    if args.accept_changes && args.resume.is_none() {
        return Err(Misuse::error("--accept-changes needs --resume or --extend; give one of them"));
    }
    let file = match (&args.resume, &args.case) {
        (Some(root), _) => return resume::execute(args, root, rank),
        (None, Some(file)) => file,
        (None, None) => return Err(Misuse::error("give a case file, or --resume and a folder")),
    };
    let mut case = file::read(file, &args.set)?;
    args.apply_to(&mut case);
    let devices = devices::names(&case.run.device)?;
    if rank.count == 1 && devices.len() == 1 {
        let start = RunStart::New { overwrite: args.overwrite };
        return trace(&case, start, args.output);
    }
    if args.overwrite {
        rank.refuse_several("--overwrite")?;
    }
    if args.profile.is_some() {
        devices::only_name(&case.run.device, "--profile")?;
    }
    let start = SharedStart { overwrites: args.overwrite, ..SharedStart::new(rank) };
    trace_shared(&case, start, args.output)
}

/// Continues a finished run to a later end, in a folder of its own.
fn extend(args: &RunArgs, root: &Path) -> Result<()> {
    let finished = FinishedRun::read(root)?;
    let case = finished.longer_case(&args.set, |case| {
        args.apply_to(case);
        args.out.is_some() || args.sets("run.out")
    })?;
    devices::only_name(&case.run.device, "--extend")?;
    let start = RunStart::Extended {
        finished: Box::new(finished),
        overwrite: args.overwrite,
        accept_changes: args.accept_changes,
    };
    trace(&case, start, args.output)
}

/// Runs a case, and prints its output.
pub fn trace(case: &Case, start: RunStart, output: OutputArgs) -> Result<()> {
    limit_blocks(case);
    let (printed, stopped) = run::trace(case, start, &Terminal::new(output.quiet))?;
    print(&printed, output)?;
    stopped.map_or(Ok(()), |stopped| Err(stopped.into()))
}

/// Takes part in the run of a case that several processes share, and prints its output if it is complete.
pub fn trace_shared(case: &Case, start: SharedStart, output: OutputArgs) -> Result<()> {
    limit_blocks(case);
    let printed = ranks::trace_shared(case, start, &Terminal::new(output.quiet))?;
    printed.map_or(Ok(()), |printed| print(&printed, output))
}

/// Where memory is limited, large blocks that are freed are given back to the system.
fn limit_blocks(case: &Case) {
    if case.run.memory.is_some() {
        allocator::return_large_blocks();
    }
}

fn print(printed: &Printed, output: OutputArgs) -> Result<()> {
    output.print(|| printed.json.clone(), || printed.text.clone())
}

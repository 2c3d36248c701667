//! `burntrace run`.

use crate::{
    args::RunArgs,
    case::{self, Misuse},
    devices,
    extend::FinishedRun,
    folder, log, profile,
    ranks::{Rank, SharedStart},
    resume,
    trace::{self, RunStart},
};
use anyhow::Result;
use std::path::Path;

pub fn execute(args: &RunArgs) -> Result<()> {
    let rank = Rank::find(args.rank.as_deref())?;
    let Some(path) = &args.profile else { return run(args, rank) };
    rank.refuse_several("--profile")?;
    folder::refuse_replacing(path, args.case.as_slice(), "")?;
    profile::start(path)?;
    log::install();
    let result = {
        let _phase = burntrace::phase!("run");
        run(args, rank)
    };
    // A run that was stopped or has failed has a profile, too.
    profile::write().and(result)
}

fn run(args: &RunArgs, rank: Rank) -> Result<()> {
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
    let mut case = case::read(file, &args.set)?;
    args.apply_to(&mut case);
    let file = std::path::absolute(file)?;
    let base = file.parent().unwrap_or(Path::new("/"));
    let devices = devices::names(&case.run.device)?;
    if rank.count == 1 && devices.len() == 1 {
        let start = RunStart::New { overwrite: args.overwrite };
        return trace::trace(&case, base, start, args.output);
    }
    if args.overwrite {
        rank.refuse_several("--overwrite")?;
    }
    if args.profile.is_some() {
        devices::only_name(&case.run.device, "--profile")?;
    }
    let start = SharedStart { overwrites: args.overwrite, ..SharedStart::new(rank) };
    trace::trace_shared(&case, base, start, args.output)
}

/// Continues a finished run to a later end, in a folder of its own.
fn extend(args: &RunArgs, root: &Path) -> Result<()> {
    let finished = FinishedRun::read(root)?;
    let case = finished.longer_case(args)?;
    devices::only_name(&case.run.device, "--extend")?;
    let start = RunStart::Extended {
        finished: Box::new(finished),
        overwrite: args.overwrite,
        accept_changes: args.accept_changes,
    };
    trace::trace(&case, Path::new("/"), start, args.output)
}

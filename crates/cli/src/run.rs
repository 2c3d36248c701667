//! `burntrace run`.

use crate::{
    args::RunArgs,
    case::{self, Misuse},
    extend, log, profile, resume,
    trace::{self, RunStart},
};
use anyhow::Result;
use std::path::Path;

pub fn execute(args: &RunArgs) -> Result<()> {
    let Some(path) = &args.profile else { return run(args) };
    profile::start(path)?;
    log::install();
    let result = {
        let _phase = burntrace::phase!("run");
        run(args)
    };
    // A run that was stopped or has failed has a profile, too.
    profile::write().and(result)
}

fn run(args: &RunArgs) -> Result<()> {
    if let Some(root) = &args.extend {
        return extend::execute(args, root);
    }
    if args.accept_changes && args.resume.is_none() {
        return Err(Misuse::error("--accept-changes needs --resume or --extend; give one of them"));
    }
    let file = match (&args.resume, &args.case) {
        (Some(root), _) => return resume::execute(args, root),
        (None, Some(file)) => file,
        (None, None) => return Err(Misuse::error("give a case file, or --resume and a folder")),
    };
    let mut case = case::read(file, &args.set)?;
    args.apply_to(&mut case);
    let file = std::path::absolute(file)?;
    let base = file.parent().unwrap_or(Path::new("/"));
    trace::trace(&case, base, RunStart::New { overwrite: args.overwrite }, args.output)
}

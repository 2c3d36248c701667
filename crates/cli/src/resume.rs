//! `burntrace run --resume`: resumes a stopped run.

use crate::{
    args::RunArgs,
    devices,
    file::{self, Case, Misuse},
    folder::Folder,
    ranks::{self, Rank, SharedStart},
    run,
    terminal::Terminal,
};
use anyhow::Result;
use burntrace_case::{
    console::Console,
    run::{RunCheckpoint, RunStart, case_change, open_log},
};
use std::path::Path;

pub fn execute(args: &RunArgs, root: &Path, rank: Rank) -> Result<()> {
    let folder = Folder::at(root);
    if folder.is_shared() {
        let checkpoint = ranks::checkpoint(&folder)?;
        let mut case = resumed_case(args, root, &checkpoint)?;
        devices::keep(&mut case, checkpoint.machine.kind());
        let accept_changes = args.accept_changes;
        let start = SharedStart { resumes: true, accept_changes, ..SharedStart::new(rank) };
        return run::trace_shared(&case, start, args.output);
    }
    if rank.count > 1 && ranks::has_completed(&folder) {
        let text = format!("the run in {} is complete; {rank} has nothing to do", root.display());
        Terminal::new(args.output.quiet).say("ranks", &text);
        return Ok(());
    }
    let checkpoint = RunCheckpoint::read(&folder)?;
    rank.refuse_several("--resume of a run that one process started")?;
    open_log(&folder.path("log.txt"), &Terminal::new(true))?;
    let mut case = resumed_case(args, root, &checkpoint)?;
    devices::keep(&mut case, &checkpoint.machine.device);
    devices::only_name(&case.run.device, "a run that was started on one device")?;
    let checkpoint = Box::new(checkpoint);
    let start = RunStart::Resumed { checkpoint, accept_changes: args.accept_changes };
    run::trace(&case, start, args.output)
}

/// The case of the resumed run. Only keys that do not affect the tracks may differ from the case at
/// the start of the run.
fn resumed_case(args: &RunArgs, root: &Path, checkpoint: &RunCheckpoint) -> Result<Case> {
    let read = |set: &[String]| {
        let case = file::from_text(&checkpoint.case, set);
        case.map_err(|problem| Misuse::error(format!("the case of {}: {problem}", root.display())))
    };
    let before = read(&[])?;
    if args.sets("run.out") {
        return Err(Misuse::error(format!(
            "--set run.out: a resumed run continues in its folder {}; omit it, or move the folder first and \
             resume it there",
            root.display()
        )));
    }
    let mut case = match &args.case {
        Some(file) => file::read(file, &args.set)?,
        None => read(&args.set)?,
    };
    if let Some(change) = case_change::first(&before, &case, &[])? {
        return Err(Misuse::error(format!(
            "{change} when the run in {} started; a resumed run may change only run.{}: remove the \
             change, or start a new run in another folder",
            root.display(),
            file::Run::FREE.into_iter().filter(|key| *key != "out").collect::<Vec<_>>().join(", ")
        )));
    }
    args.apply_to(&mut case);
    // The case of the folder has the name that it had at the start, and may have been moved.
    if args.case.is_some() && std::path::absolute(&case.run.out)? != std::path::absolute(root)? {
        case.notes.push(format!(
            "run.out = {:?} of the case has no effect: the run is resumed in its folder {}",
            case.run.out,
            root.display()
        ));
    }
    case.run.out = root.into();
    Ok(case)
}

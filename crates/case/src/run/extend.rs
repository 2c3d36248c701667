//! A finished run that is continued to a later end, in a folder of its own.

use super::{
    Fingerprint, Machine, RunCheckpoint, Session, case_change, checkpoint_policy, devices, open_log,
};
use crate::{
    file::{self, Case, GivenCrop, Misuse},
    folder::{self, Folder, STATE, paths},
    job,
};
use anyhow::Result;
use burntrace_core::{Prepared, Seeds};
use burntrace_io::tracks;
use std::path::Path;

/// Keys that may differ from the case of the finished run, besides those of `[run]`: the end, which the
/// steps are compared with, and saves, which are compared up to the end of the finished run.
const FREE: [(&str, &[&str]); 2] = [
    ("trace", &["t1", "dt", "steps"]),
    ("save", &["every", "every_time", "times", "vtk", "report"]),
];

/// A finished run with its last state.
pub struct FinishedRun {
    folder: Folder,
    case: Case,
    checkpoint: RunCheckpoint,
}

impl FinishedRun {
    /// Reads the last state of the run in a folder.
    pub fn read(root: &Path) -> Result<FinishedRun> {
        let folder = Folder::at(root);
        let name = root.display();
        if !root.is_dir() {
            return Err(Misuse::error(format!(
                "there is no folder {name}; give the folder of a finished run"
            )));
        }
        if folder.is_in_progress() {
            return Err(Misuse::error(format!(
                "the run in {name} is in progress; wait until it ends"
            )));
        }
        if folder.is_stopped() {
            return Err(Misuse::error(format!(
                "the run in {name} was stopped before its end; finish it first with {}",
                folder.resume_command()
            )));
        }
        if !folder.path(STATE).is_file() {
            return Err(Misuse::error(format!(
                "{name} has no `{STATE}`, the last state of a finished run: it contains no run, or one with \
                 `run.keep_state = false`, or one that was cut short; run the longer case from its start"
            )));
        }
        let checkpoint = RunCheckpoint::of_end(&folder)?;
        let case = file::from_text(&checkpoint.case, &[])
            .map_err(|problem| Misuse::error(format!("the case of {name}: {problem}")))?;
        Ok(FinishedRun { folder, case, checkpoint })
    }

    /// The case of the longer run. Only keys that do not change the results up to the end of the finished
    /// run may differ: those of `set`, and what `change` does, which returns whether it names a folder.
    pub fn longer_case(
        &self,
        set: &[String],
        change: impl FnOnce(&mut Case) -> bool,
    ) -> Result<Case> {
        let root = &self.folder.root;
        let name = root.display();
        let mut case = file::from_text(&self.checkpoint.case, set)
            .map_err(|problem| Misuse::error(format!("the case of {name}: {problem}")))?;
        if let Some(change) = case_change::first(&self.case, &case, &FREE)? {
            return Err(Misuse::error(format!(
                "{change} in the finished run {name}; --extend may change only the end (trace.t1, or trace.steps \
                 with the same step), later saves (save.every, every_time, times), save.vtk, save.report and \
                 keys of [run] other than run.precision: remove the change, or run the case from its start"
            )));
        }
        if case.field.crop == Some(GivenCrop::Auto) {
            return Err(Misuse::error(format!(
                "field.crop is \"auto\", and what the particles reach depends on the end of the run; run the case from \
                 its start, as --extend goes on in the box of the finished run {name}"
            )));
        }
        self.keep_releases(&mut case);
        let is_named = change(&mut case);
        devices::keep(&mut case, &self.checkpoint.machine.device);
        if !is_named || paths::is_within(&case.run.out, root)? {
            return Err(Misuse::error(format!(
                "the longer run needs a folder of its own, not in {name}, which is not changed; give another one \
                 with --out"
            )));
        }
        Ok(case)
    }

    /// Ends repeated releases without an end of their own where they end in the finished run: the particles stay the same.
    fn keep_releases(&self, case: &mut Case) {
        let (span, Some(end)) = (self.case.trace.span, self.checkpoint.time()) else { return };
        let is_backward = span.t0.is_some_and(|t0| end < t0) || span.dt.is_some_and(|dt| dt < 0.0);
        let sign = if is_backward { -1.0 } else { 1.0 };
        for repeat in case.seeds.iter_mut().filter_map(|seeds| seeds.repeat.as_mut()) {
            repeat.until = Some(repeat.until(end, sign));
        }
    }

    /// Creates the folder of the longer run, with the saves of the finished one and a checkpoint at its
    /// end. Returns warnings about changes, too.
    pub fn open_longer(
        self,
        case: &Case,
        (prepared, seeds): (&Prepared, &Seeds),
        (fingerprint, accept_changes): (Fingerprint, bool),
        overwrite: bool,
        session: &Session,
    ) -> Result<(Folder, RunCheckpoint, Vec<String>)> {
        let Session { loaded, device, console, .. } = *session;
        let FinishedRun { folder: from, case: mut before, mut checkpoint } = self;
        let misuse = |error| loaded.misuse(error);
        let root = from.root.display();
        let what = format!("since the run in {root} started");
        let change = checkpoint.data_change(&fingerprint, accept_changes, &what)?;
        // The default is the last frame, and there may be further ones by now.
        let span = &mut before.trace.span;
        if span.dt.is_none() || span.steps.is_none() {
            span.t1 = span.t1.or(checkpoint.time());
        }
        let state = {
            let tracer = job::tracer(&before, (loaded, seeds), &device.name, console)?;
            let finished = tracer.prepare(seeds).map_err(misuse)?;
            let state = checkpoint.take_state();
            let state = state.ok_or_else(|| Misuse::error(format!("`{STATE}` has no state")))?;
            prepared.extend(&finished, state).map_err(misuse)?
        };
        refuse_damage(&from)?;
        let changes = checkpoint.changes(device).into_iter().chain(change).collect();
        let folder = Folder::create(&case.run.out, overwrite)?;
        let text = folder::case_text(case)?;
        folder.write("case.toml", &text)?;
        open_log(&folder.path("log.txt"), console)?;
        let (plan, position) = (prepared.save_plan(), state.numbers.mark());
        let of_run = (&plan, case.save.compress);
        tracks::copy_saves(from.path("tracks"), folder.path("tracks"), of_run, position)?;
        checkpoint.continue_as(text, fingerprint, Machine::of(device), state);
        if checkpoint_policy(&case.run).is_some() {
            checkpoint.write_state(&folder)?;
        }
        Ok((folder, checkpoint, changes))
    }
}

/// Refuses tracks that differ from their checksums.
fn refuse_damage(folder: &Folder) -> Result<()> {
    let found = tracks::verify(folder.tracks()?).map_err(Misuse::of)?;
    match found.damage.first() {
        None => Ok(()),
        Some(first) => Err(Misuse::error(format!(
            "the tracks of the finished run are damaged: {first}; list the damage with `burntrace verify {}`, \
             or run the longer case from its start",
            folder.root.display()
        ))),
    }
}

//! The observer of a run: shows progress, writes checkpoints, and stops the run when it is asked to.

use super::{CheckpointTotals, RunCheckpoint, io_meter::IoMeter, shared::Shared};
use crate::{
    console::{Console, Interrupts},
    file,
    folder::Folder,
};
use burntrace_core::{CheckpointEvery, Control, Observer, Progress, RunState, SinkError};
use std::time::Instant;

/// When checkpoints are due. `None` for a run without checkpoints.
pub fn policy(run: &file::Run) -> Option<CheckpointEvery> {
    let every = (run.checkpoint > 0.0).then(|| CheckpointEvery::seconds(run.checkpoint))?;
    Some(run.checkpoint_segments.map_or(every, |segments| every.or_segments(segments)))
}

/// The observer of a run.
pub struct Watch<'a> {
    console: &'a dyn Console,
    interrupts: &'a dyn Interrupts,
    pub io: &'a IoMeter<'a>,
    pub shared: &'a Shared,
    /// When checkpoints are due. `None` for a run without checkpoints.
    pub every: Option<CheckpointEvery>,
    pub folder: &'a Folder,
    pub checkpoint: RunCheckpoint,
    /// Totals over the checkpoints written so far.
    pub totals: CheckpointTotals,
    /// The time that the run has reached.
    pub time: f64,
    /// Whether a signal stops the run after this segment.
    is_stopping: bool,
    /// Whether a finished run keeps its last state: a checkpoint at its end, even where others are off.
    keeps_state: bool,
    /// Whether the run has reached its end and keeps this state.
    is_last: bool,
}

impl<'a> Watch<'a> {
    /// An observer of the run of a case.
    pub fn new(
        console: &'a dyn Console,
        (interrupts, io, shared): (&'a dyn Interrupts, &'a IoMeter<'a>, &'a Shared),
        (folder, checkpoint): (&'a Folder, RunCheckpoint),
        case: &file::Case,
    ) -> Self {
        Watch {
            console,
            interrupts,
            io,
            shared,
            every: policy(&case.run),
            folder,
            time: checkpoint.time().unwrap_or_default(),
            checkpoint,
            totals: CheckpointTotals::default(),
            is_stopping: false,
            keeps_state: case.run.keep_state,
            is_last: false,
        }
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: Progress) -> Control {
        self.time = progress.time;
        self.console.progress(progress, &|| self.io.stats(self.shared));
        self.is_stopping = self.interrupts.code().is_some();
        if self.is_stopping { Control::Cancel } else { Control::Continue }
    }

    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        let is_due = self.every.as_mut().is_some_and(|every| every.is_due() || self.is_stopping);
        self.is_last = self.keeps_state && progress.fraction >= 1.0;
        is_due || self.is_last
    }

    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        // A run that is about to fail passes its state even where checkpoints are off.
        if self.every.is_none() && !self.is_last {
            return Ok(());
        }
        let start = Instant::now();
        let residence = self.shared.residence.borrow();
        self.checkpoint.advance(state.numbers, self.io.spent(), residence.as_deref());
        let bytes = self.checkpoint.write(self.folder, &state.arrays)?;
        self.totals.count += 1;
        self.totals.bytes += bytes;
        self.totals.seconds += start.elapsed().as_secs_f64();
        tracing::debug!(time = self.time, bytes, "checkpoint");
        self.shared.is_stopped.set(self.is_stopping && self.every.is_some());
        Ok(())
    }
}

//! The observer of a run: shows progress, writes checkpoints, and stops the run on a signal.

use crate::{
    case,
    checkpoint::{CheckpointTotals, RunCheckpoint},
    folder::Folder,
    io_stats::IoMeter,
    progress::Display,
    shared::Shared,
    signals::Signals,
};
use burntrace::{CheckpointEvery, Control, Observer, Progress, RunState, SinkError};
use std::time::Instant;

/// When checkpoints are due. `None` for a run without checkpoints.
pub fn policy(run: &case::Run) -> Option<CheckpointEvery> {
    let every = (run.checkpoint > 0.0).then(|| CheckpointEvery::seconds(run.checkpoint))?;
    Some(run.checkpoint_segments.map_or(every, |segments| every.or_segments(segments)))
}

/// The observer of a run.
pub struct Watch<'a> {
    pub display: Display,
    pub signals: &'a Signals,
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
    /// Whether the run ends after this segment.
    is_ending: bool,
    /// Whether a finished run keeps its last state.
    keeps_state: bool,
    /// The files to write with the next state; `None` for a run that is about to fail.
    wanted: Option<Wanted>,
}

/// Files to write with a state.
#[derive(Clone, Copy)]
struct Wanted {
    checkpoint: bool,
    /// The last state of the run, which stays in its folder.
    end: bool,
}

impl<'a> Watch<'a> {
    /// An observer of the run of a case.
    pub fn new(
        display: Display,
        (signals, io, shared): (&'a Signals, &'a IoMeter<'a>, &'a Shared),
        (folder, checkpoint): (&'a Folder, RunCheckpoint),
        case: &case::Case,
    ) -> Self {
        Watch {
            display,
            signals,
            io,
            shared,
            every: policy(&case.run),
            folder,
            time: checkpoint.time().unwrap_or_default(),
            checkpoint,
            totals: CheckpointTotals::default(),
            is_ending: false,
            keeps_state: case.run.keep_state,
            wanted: None,
        }
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: Progress) -> Control {
        self.time = progress.time;
        self.display.observe(progress, || self.io.stats(self.shared));
        self.is_ending = self.signals.code().is_some();
        if self.is_ending { Control::Cancel } else { Control::Continue }
    }

    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        let is_due = self.every.as_mut().is_some_and(|every| every.is_due() || self.is_ending);
        let is_end = self.keeps_state && progress.fraction >= 1.0;
        self.wanted = Some(Wanted { checkpoint: is_due, end: is_end });
        is_due || is_end
    }

    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        // A run that is about to fail passes its state even where checkpoints are off.
        let fails = Wanted { checkpoint: self.every.is_some(), end: false };
        let wanted = self.wanted.take().unwrap_or(fails);
        let start = Instant::now();
        let residence = self.shared.residence.borrow();
        self.checkpoint.advance(state.numbers, self.io.spent(), residence.as_deref());
        if wanted.end {
            self.checkpoint.write_end(self.folder, &state.arrays)?;
        }
        if !wanted.checkpoint {
            return Ok(());
        }
        let bytes = self.checkpoint.write(self.folder, &state.arrays)?;
        self.totals.count += 1;
        self.totals.bytes += bytes;
        self.totals.seconds += start.elapsed().as_secs_f64();
        tracing::debug!(time = self.time, bytes, "checkpoint");
        self.shared.is_stopped.set(self.is_ending);
        Ok(())
    }
}

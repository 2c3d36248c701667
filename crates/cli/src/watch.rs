//! Who watches a run: shows how far it is, keeps checkpoints, and ends it when a signal has come.

use crate::{
    case, checkpoint::Kept, folder::Folder, lives::ResidenceTimes, progress::Display,
    signals::Signals, traffic::IoStats,
};
use burntrace::{CheckpointEvery, Control, Observer, Progress, RunState, SinkError};
use std::cell::{Cell, RefCell};
use std::time::Instant;

/// What the sink and the observer of a run know together.
#[derive(Default)]
pub struct Shared {
    /// Whether the run has been stopped and can go on: it has no end then.
    pub is_stopped: Cell<bool>,
    /// How long lives have lasted, where slots are used again.
    pub stays: RefCell<Option<Vec<ResidenceTimes>>>,
    /// Bytes of tracks that have been written, and seconds for which the run waited for that.
    pub tracks: Cell<(u64, f64)>,
}

/// Checkpoints that have been written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checkpoints {
    pub count: u64,
    pub bytes: u64,
    pub seconds: f64,
}

/// When checkpoints are due.
pub fn policy(run: &case::Run) -> Option<CheckpointEvery> {
    let every = (run.checkpoint > 0.0).then(|| CheckpointEvery::seconds(run.checkpoint))?;
    Some(run.checkpoint_segments.map_or(every, |segments| every.or_segments(segments)))
}

/// Watches a run.
pub struct Watch<'a> {
    pub display: Display,
    pub signals: &'a Signals,
    pub traffic: &'a IoStats<'a>,
    pub shared: &'a Shared,
    /// When checkpoints are due; nothing for a run without.
    pub every: Option<CheckpointEvery>,
    pub folder: &'a Folder,
    pub kept: Kept,
    pub checkpoints: Checkpoints,
    /// The time that the run has come to.
    pub time: f64,
    /// Steps of all particles.
    steps: u64,
    /// Whether it ends after this segment.
    is_ending: bool,
}

impl<'a> Watch<'a> {
    /// Watches a run of a case.
    pub fn new(
        display: Display,
        (signals, traffic, shared): (&'a Signals, &'a IoStats<'a>, &'a Shared),
        (folder, kept): (&'a Folder, Kept),
        case: &case::Case,
    ) -> Self {
        Watch {
            display,
            signals,
            traffic,
            shared,
            every: policy(&case.run),
            folder,
            time: kept.time().unwrap_or_default(),
            kept,
            checkpoints: Checkpoints::default(),
            steps: 0,
            is_ending: false,
        }
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: Progress) -> Control {
        (self.time, self.steps) = (progress.time, progress.particle_steps);
        self.display.observe(progress, || self.traffic.flow(self.shared));
        self.is_ending = self.signals.code().is_some();
        if self.is_ending { Control::Cancel } else { Control::Continue }
    }

    fn wants_checkpoint(&mut self, _: &Progress) -> bool {
        let Some(every) = &mut self.every else { return false };
        every.is_due() || self.is_ending
    }

    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        if self.every.is_none() {
            // A run that is about to fail gives its state unasked.
            return Ok(());
        }
        let begin = Instant::now();
        self.kept.advance(state.numbers, self.steps, self.shared.stays.borrow().as_deref());
        let bytes = self.kept.write(self.folder, &state.arrays)?;
        let Checkpoints { count, bytes: before, seconds } = self.checkpoints;
        let seconds = seconds + begin.elapsed().as_secs_f64();
        self.checkpoints = Checkpoints { count: count + 1, bytes: before + bytes, seconds };
        tracing::debug!(time = self.time, bytes, "checkpoint");
        self.shared.is_stopped.set(self.is_ending);
        Ok(())
    }
}

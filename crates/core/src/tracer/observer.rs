//! Observers of a run.

use crate::{RunState, SinkError};
use std::time::Instant;

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Completed fraction of the run's time span, 0 to 1.
    pub fraction: f64,
    /// Current time, in the data's unit.
    pub time: f64,
    /// Number of steps of active particles since this process started or resumed the run, for its speed.
    /// A particle that ends between two calls counts for half of the steps between them.
    pub particle_steps: u64,
}

/// Whether a run continues after a call of its observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Continue.
    Continue,
    /// Stop, and keep the results so far.
    Cancel,
}

/// Watches a run, may cancel it, and may write checkpoints to resume from. A closure that takes a
/// [`Progress`] is an observer without checkpoints.
pub trait Observer {
    /// Called after each segment of the run.
    fn progress(&mut self, progress: Progress) -> Control;

    /// Whether to write a checkpoint here. Called after each [`progress`](Observer::progress),
    /// whatever it returned. The state is only copied for a checkpoint.
    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        let _ = progress;
        false
    }

    /// Called with the state after [`wants_checkpoint`](Observer::wants_checkpoint) returned
    /// `true`, once the sink has [synchronised](crate::TrackSink::sync) all saves so far. Also
    /// called before a run ends with an error because it cannot read a frame of the field.
    ///
    /// # Errors
    ///
    /// If the checkpoint cannot be written; the run stops.
    fn checkpoint(&mut self, state: RunState<'_>) -> Result<(), SinkError> {
        let _ = state;
        Ok(())
    }
}

impl<F: FnMut(Progress) -> Control> Observer for F {
    fn progress(&mut self, progress: Progress) -> Control {
        self(progress)
    }
}

/// The interval of checkpoints: a number of segments or of seconds, whichever ends first.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointEvery {
    seconds: f64,
    segments: u64,
    last: Instant,
    passed: u64,
}

impl CheckpointEvery {
    /// A number of seconds; 0 writes a checkpoint after each segment.
    pub fn seconds(seconds: f64) -> Self {
        CheckpointEvery { seconds, segments: u64::MAX, last: Instant::now(), passed: 0 }
    }

    /// A number of segments.
    pub fn segments(segments: u64) -> Self {
        CheckpointEvery { segments, ..CheckpointEvery::seconds(f64::INFINITY) }
    }

    /// Adds a number of segments.
    pub fn or_segments(self, segments: u64) -> Self {
        CheckpointEvery { segments, ..self }
    }

    /// Counts a segment, and returns whether to write a checkpoint after it.
    pub fn is_due(&mut self) -> bool {
        self.passed += 1;
        let is_due =
            self.passed >= self.segments || self.last.elapsed().as_secs_f64() >= self.seconds;
        if is_due {
            (self.passed, self.last) = (0, Instant::now());
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_due_once_per_interval() {
        let mut every = CheckpointEvery::segments(3);
        let due: Vec<bool> = (0..7).map(|_| every.is_due()).collect();
        assert_eq!(due, [false, false, true, false, false, true, false]);
        assert!(CheckpointEvery::seconds(0.0).is_due() && !CheckpointEvery::seconds(1e9).is_due());
        assert!(CheckpointEvery::seconds(1e9).or_segments(1).is_due());
    }
}

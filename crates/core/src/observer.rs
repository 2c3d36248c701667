//! Who watches a run.

use crate::{RunState, SinkError};
use std::time::Instant;

/// How far a run has come, as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Fraction of the run's time that is done, 0 to 1.
    pub fraction: f64,
    /// Time reached, in the data's unit.
    pub time: f64,
    /// Steps taken, times the number of particles.
    pub particle_steps: u64,
}

/// What an observer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop here, keep what is there.
    Cancel,
}

/// Hears how far a run has come, may end it, and may keep its state so that it can go on from
/// there. A closure that takes a [`Progress`] is one that keeps nothing.
pub trait Observer {
    /// Called after each segment of the run.
    fn progress(&mut self, progress: Progress) -> Control;

    /// Whether the run's state is to be kept here; called after
    /// [`progress`](Observer::progress), whatever that said. What is not kept is not copied.
    fn wants_checkpoint(&mut self, progress: &Progress) -> bool {
        let _ = progress;
        false
    }

    /// Called with the state where [`wants_checkpoint`](Observer::wants_checkpoint) said so, after the sink has made what
    /// came before [outlast a crash](crate::TrackSink::sync). Also called, whoever asked, where a
    /// segment cannot begin as a frame of the field cannot be read, and the run is about to end with
    /// that error.
    ///
    /// # Errors
    ///
    /// Whatever keeps the state from being kept; the run stops.
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

/// When the state of a run is kept: after so many segments, or so many seconds, whichever comes
/// first.
#[derive(Clone, Copy, Debug)]
pub struct CheckpointEvery {
    seconds: f64,
    segments: u64,
    last: Instant,
    passed: u64,
}

impl CheckpointEvery {
    /// After so many seconds; 0 after each segment.
    pub fn seconds(seconds: f64) -> Self {
        CheckpointEvery { seconds, segments: u64::MAX, last: Instant::now(), passed: 0 }
    }

    /// After so many segments.
    pub fn segments(segments: u64) -> Self {
        CheckpointEvery { segments, ..CheckpointEvery::seconds(f64::INFINITY) }
    }

    /// Also after so many segments.
    pub fn or_segments(self, segments: u64) -> Self {
        CheckpointEvery { segments, ..self }
    }

    /// Counts a segment, and says whether the state is to be kept after it.
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
    fn what_is_due_is_due_once() {
        let mut every = CheckpointEvery::segments(3);
        let due: Vec<bool> = (0..7).map(|_| every.is_due()).collect();
        assert_eq!(due, [false, false, true, false, false, true, false]);
        assert!(CheckpointEvery::seconds(0.0).is_due() && !CheckpointEvery::seconds(1e9).is_due());
        assert!(CheckpointEvery::seconds(1e9).or_segments(1).is_due());
    }
}

//! What a run reads and writes, how long it waits for that, and the memory that it takes.

use crate::{bench::machine, job::LoadedField, progress::in_words, watch::Shared};
use std::time::Instant;

/// Where the numbers come from.
pub struct IoStats<'a> {
    pub loaded: &'a LoadedField,
    /// When the program began with the run.
    pub begin: Instant,
}

/// The numbers at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flow {
    /// Bytes of velocities that were read.
    pub read: u64,
    /// Bytes of tracks that were written.
    pub written: u64,
    /// Seconds for which the run waited for its input,
    pub input: f64,
    /// and for its tracks to be written.
    pub output: f64,
    /// Seconds since the program began with the run.
    pub total: f64,
    /// The most bytes of memory that the program has had, where the system tells.
    pub memory: Option<u64>,
}

impl IoStats<'_> {
    /// The numbers now.
    pub fn flow(&self, shared: &Shared) -> Flow {
        let (written, output) = shared.tracks.get();
        let streamed = self.loaded.field.sampled().and_then(|sampled| sampled.input());
        Flow {
            read: self.loaded.tally.bytes(),
            written,
            input: self.loaded.read_seconds + streamed.map_or(0.0, |input| input.wait_seconds),
            output,
            total: self.begin.elapsed().as_secs_f64(),
            memory: machine::peak(),
        }
    }
}

impl Flow {
    /// The part of the time that was spent in waiting for input and output.
    pub fn share(&self) -> f64 {
        (self.input + self.output) / self.total.max(1e-9)
    }
}

impl std::fmt::Display for Flow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [read, written] = [self.read, self.written].map(|bytes| in_words(bytes as f64));
        write!(f, "read {read}B, written {written}B, waiting {:.1}%", 100.0 * self.share())?;
        match self.memory {
            Some(memory) => write!(f, ", memory {}B", in_words(memory as f64)),
            None => Ok(()),
        }
    }
}

//! Measures input, output and waiting times of a run.

use super::{IoStats, Spent, peak_memory, shared::Shared};
use crate::job::LoadedField;
use burntrace_core::device::{OpenDevice, card_memory};
use std::time::Instant;

/// The sources of a run's I/O statistics.
pub struct IoMeter<'a> {
    pub loaded: &'a LoadedField,
    pub device: &'a OpenDevice,
    /// Seconds in which this process read and uploaded the field and compiled kernels; their total if `start` was later.
    pub load: Spent,
    /// When this process started or resumed the run.
    pub start: Instant,
    /// Seconds of earlier processes.
    pub before: Spent,
}

impl IoMeter<'_> {
    /// Seconds so far, over all processes.
    pub fn spent(&self) -> Spent {
        let mut spent = self.before;
        spent += self.load;
        spent.total += self.start.elapsed().as_secs_f64();
        spent
    }

    /// The statistics at this time.
    pub fn stats(&self, shared: &Shared) -> IoStats {
        let (written, output) = shared.tracks.get();
        IoStats {
            read: self.loaded.bytes_read(),
            written,
            input: self.loaded.read_seconds + self.loaded.wait_seconds(),
            output,
            total: self.start.elapsed().as_secs_f64(),
            memory: peak_memory(),
            card_memory: card_memory(&self.device.device),
        }
    }
}

//! Input, output, waiting times and memory of a run.

use crate::format::bytes;
use serde::{Deserialize, Serialize};

/// I/O statistics of a run so far.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct IoStats {
    /// Bytes of the fields' frames read.
    pub read: u64,
    /// Bytes of tracks written.
    pub written: u64,
    /// Seconds that the run waited for its input.
    pub input: f64,
    /// Seconds that the run waited for its tracks to be written.
    pub output: f64,
    /// Seconds since this process started or resumed the run.
    pub total: f64,
    /// Peak memory of the process in bytes, if the system reports it.
    pub memory: Option<u64>,
    /// Bytes that the device has given to the process, on a graphics card.
    pub card_memory: Option<u64>,
}

impl IoStats {
    /// The fraction of the time that the run waited for input and output.
    pub fn waiting_share(&self) -> f64 {
        (self.input + self.output) / self.total.max(1e-9)
    }
}

impl std::fmt::Display for IoStats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [read, written] = [self.read, self.written].map(|count| bytes(count as f64));
        let waiting = 100.0 * self.waiting_share();
        write!(f, "read {read}, written {written}, waiting {waiting:.1}%")?;
        if let Some(memory) = self.memory {
            write!(f, ", memory {}", bytes(memory as f64))?;
        }
        match self.card_memory {
            Some(memory) => write!(f, ", on the card {}", bytes(memory as f64)),
            None => Ok(()),
        }
    }
}

/// Peak memory of this process in bytes, if the system reports it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024 * kilobytes)
}

//! Totals of what this process has read of frames.

use super::source::{FrameData, SourceError};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

static BYTES: AtomicU64 = AtomicU64::new(0);
static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// Bytes of frames that fields of this process have read, in the precision of their sources, and the seconds
/// that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadTotals {
    /// Bytes of velocities, diffusivities and arrays.
    pub bytes: u64,
    /// Seconds spent reading, or evaluating a formula at the nodes of a grid.
    pub seconds: f64,
}

impl ReadTotals {
    /// The totals so far.
    pub fn now() -> Self {
        let seconds = NANOSECONDS.load(Relaxed) as f64 / 1e9;
        ReadTotals { bytes: BYTES.load(Relaxed), seconds }
    }

    /// Adds frames that were read since `start`.
    pub(super) fn add(start: Instant, frames: &[Result<FrameData, SourceError>]) {
        let bytes: usize = frames.iter().flatten().map(FrameData::num_bytes).sum();
        BYTES.fetch_add(bytes as u64, Relaxed);
        NANOSECONDS.fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
    }
}

//! Positions in a schedule.

use crate::bits;
use serde::{Deserialize, Serialize};

/// Progress through the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    #[serde(with = "bits")]
    pub now: f64,
    /// Completed whole steps of the span.
    pub grid: u64,
    pub save: u64,
    pub step: u64,
}

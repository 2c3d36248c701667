//! State that the track sink and the observer of a run share.

use super::residence::ResidenceTimes;
use std::cell::{Cell, RefCell};

/// State that the track sink and the observer of a run share.
#[derive(Default)]
pub struct Shared {
    /// Whether the run was stopped and can be resumed. The end of such a run is not written.
    pub is_stopped: Cell<bool>,
    /// Residence times so far, in runs that re-use slots.
    pub residence: RefCell<Option<Vec<ResidenceTimes>>>,
    /// Bytes of tracks written, and seconds that the run waited for the writer.
    pub tracks: Cell<(u64, f64)>,
}

//! The run of a case: from its input to the files of its folder.

pub mod case_change;
mod case_run;
mod checkpoint;
mod counting_sink;
pub mod devices;
mod extend;
mod fingerprint;
mod io_meter;
mod io_stats;
mod land;
mod residence;
mod shared;
mod stopped;
mod summary;
mod trace;
mod watch;

pub(crate) use case_run::{CaseRun, device_bytes, failed, interrupted};
pub(crate) use fingerprint::Fingerprint;
pub(crate) use residence::{ResidenceTimes, sorted as sorted_residence};
pub(crate) use summary::{SharedWork, Traced};
pub(crate) use trace::{compile, load_seconds, too_many_lines, with_session};
pub(crate) use watch::policy as checkpoint_policy;

pub use case_run::Printed;
pub use checkpoint::{CheckpointTotals, Machine, RunCheckpoint, Spent};
pub use extend::FinishedRun;
pub use io_stats::{IoStats, peak_memory};
pub use stopped::Stopped;
pub use trace::{
    RunStart, Session, check_and_start, open_log, start_threads, trace, trace_in, warnings,
};

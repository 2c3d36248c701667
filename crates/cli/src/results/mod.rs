//! Runs, for the commands that process them.

mod run_results;
pub mod sources;
mod statistics;
pub mod walls;

pub use burntrace::densities::AXES;
pub use run_results::{MAX_SAVES, Results};
pub use statistics::Group;

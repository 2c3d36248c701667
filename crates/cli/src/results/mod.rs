//! Runs, for the commands that process them.

mod layer;
mod run_results;
mod statistics;
pub mod tensors;
pub mod walls;

pub use layer::{AXES, Layer, layer};
pub use run_results::{MAX_SAVES, Results};
pub use statistics::Group;

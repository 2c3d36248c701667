//! Runs, for the commands that process them.

mod finished_run;
mod layer;
mod run_files;
mod statistics;
pub mod tensors;
mod trajectories;

pub use finished_run::Results;
pub use layer::{AXES, Layer, layer};
pub use run_files::RunFiles;
pub use statistics::Group;
pub use trajectories::{SampleLimits, SampledTrajectories, sample_trajectories};

//! Case files of burntrace, and their runs.
//!
//! For users of the library, `burntrace::case` has what a run needs; the modules here are for the program.

pub mod console;
pub mod errors;
pub mod file;
pub mod folder;
pub mod format;
pub mod gates;
mod in_memory;
pub mod job;
mod library;
pub mod profile;
pub mod ranks;
pub mod run;
mod step_check;

pub use in_memory::{DeviceField, GradientBy, Leaves, TrackedRun};
pub use library::{Completed, Error};
pub use step_check::{Comparison, StepCheck};

//! What became of particles.
//!
//! * [`density`]: how many there are where, by kernel density, smoothed particles or histograms.
//! * [`statistics`]: how far they went, how they spread, how long they stayed, where they left.
//! * [`ftle`]: how much the flow stretches what lies between them.
//!
//! Nothing here opens a file or prints.

pub mod density;
mod error;
pub mod ftle;
pub mod statistics;

pub use error::{Error, Result};

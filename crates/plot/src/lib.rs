//! Plots of particle tracks and of the results computed from them: PNG and SVG pictures,
//! animations, and an interactive HTML page.
//!
//! * [`picture`]: tracks, fields on a plane, histograms and curves.
//! * [`animation`]: moving particles, as GIF or MP4.
//! * [`color`]: colour maps.
//! * [`page`]: one HTML file, to rotate, play and query.
//!
//! The input is plain data ([`Trajectories`], [`Raster`], [`Histogram`], [`Curves`]) from any
//! source. The crate depends neither on tensors nor on the files of a run, and prints nothing.

pub mod animation;
pub mod color;
mod data;
mod error;
mod land;
pub mod page;
pub mod picture;

pub use data::{Attribute, Axis, Curves, Histogram, PartialLine, Raster, Surface, Trajectories};
pub use error::{Error, Result};
pub use land::Land;

//! Pictures of particles and of what is made of them: PNG and SVG, animations, and a page for a
//! browser.
//!
//! * [`picture`]: tracks, fields on a plane, histograms and curves.
//! * [`animation`]: particles that go their ways, as GIF or MP4.
//! * [`color`]: colour maps.
//! * [`page`]: one HTML file, to turn and to play.
//!
//! What comes in is plain data ([`Ways`], [`Raster`], [`Histogram`], [`Curves`]), whoever made it.
//! Nothing here knows tensors or the store of a run, and nothing prints.

pub mod animation;
pub mod color;
mod data;
mod error;
pub mod page;
pub mod picture;

pub use data::{Attribute, Axis, Curves, Histogram, Raster, Trajectories};
pub use error::{Error, Result};

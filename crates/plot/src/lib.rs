//! Pictures of particles and of what is made of them: PNG and SVG, animations, and a page for a
//! browser.
//!
//! What comes in is plain data ([`Ways`], [`Raster`], [`Histogram`]), whoever made it. Nothing here
//! knows tensors or the store of a run, and nothing prints.

mod data;
pub mod page;

pub use data::{Attribute, Axis, Histogram, Raster, Ways};

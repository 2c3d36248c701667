#![doc = include_str!("../README.md")]
//!
//! [`open`] reads the list of variables. [`CfGrid::open`] finds the velocity, its axes and its times, and
//! [`CfGrid::read`] reads a hyperslab of one time, decoded and in metres and seconds. [`CfMesh`] is the grid of an ocean
//! model as a mesh, and a [`DataSet`] what a program has in memory. [`zarr`] has what writers of Zarr arrays need.

mod axis;
mod calendar;
mod choose;
mod degrees;
mod directions;
mod error;
mod fingerprint;
mod gather;
mod grid;
mod join;
mod kinds;
mod layout;
mod memory;
mod mesh;
mod model;
mod netcdf;
mod open;
mod packing;
mod parallel;
mod part;
mod projection;
mod rest;
mod store;
mod strided;
#[cfg(test)]
mod tests;
mod time;
mod turn;
mod units;
mod unstructured;
mod values;
pub mod zarr;

pub use calendar::Calendar;
pub use choose::{Field, fields, velocity};
pub use error::{Error, Result};
pub use fingerprint::MeshFingerprint;
pub use grid::{CfFrame, CfGrid, Request};
pub use join::open_joined;
pub use memory::{DataSet, Numbers};
pub use mesh::{COAST, CellShape, CfMesh, MeshPlacement, NONE, SURFACE};
pub use model::{Convention, Corners, MeshRequest, Staggering};
pub use netcdf::cache_bytes;
pub use open::{is_cf, open};
pub use parallel::set_threads;
pub use store::{Attribute, Dimension, ScalarType, Span, Store, Variable};
pub use time::{Clock, DatedTimes, TimeAxis, Times, times};
pub use turn::Turn;
pub use values::Values;

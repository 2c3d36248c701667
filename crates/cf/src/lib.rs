//! Reader for NetCDF files (classic, 64-bit and NetCDF-4) and Zarr groups (versions 2 and 3), with the
//! CF conventions: velocities on grids whose axes are lengths.
//!
//! [`open`] reads the list of variables. [`CfGrid::open`] finds the velocity, its axes and its times, and
//! [`CfGrid::read`] reads a hyperslab of one time, decoded and in metres and seconds.
//!
//! Damaged or malicious files give an [`Error`] that names the file and the variable, never a panic; sizes
//! in a file are checked before memory is allocated for them.
//!
//! ```no_run
//! use burntrace_cf::{CfGrid, Request, Span};
//!
//! let grid = CfGrid::open("flow.nc", &Request::default())?;
//! let whole = grid.axes().each_ref().map(|axis| Span::all(axis.len()));
//! let frame = grid.read(0, whole)?;
//! assert_eq!(frame.velocity.len(), 3 * whole.iter().map(|span| span.count).product::<usize>());
//! # Ok::<(), burntrace_cf::Error>(())
//! ```

mod axis;
mod calendar;
mod choose;
mod directions;
mod error;
mod grid;
mod kinds;
mod layout;
mod netcdf;
mod open;
mod packing;
mod store;
mod strided;
#[cfg(test)]
mod tests;
mod time;
mod units;
mod values;
mod zarr;

pub use calendar::Calendar;
pub use choose::{Field, fields, velocity};
pub use error::{Error, Result};
pub use grid::{CfFrame, CfGrid, Request};
pub use netcdf::cache_bytes;
pub use open::{is_cf, open};
pub use store::{Attribute, Dimension, ScalarType, Span, Store, Variable};
pub use time::{Clock, DatedTimes, TimeAxis, Times};
pub use values::Values;
pub use zarr::blosc;

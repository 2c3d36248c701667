//! Implementation of the operation on each backend, one file each.

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod fields;
mod flex;
mod host;
mod ndarray;
#[cfg(feature = "cube")]
mod through_host;

pub use host::HostTensor;

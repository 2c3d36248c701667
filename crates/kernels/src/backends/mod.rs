//! Implementation of the operation on each backend, one file each.

#[cfg(feature = "cube")]
mod cube;
mod flex;
mod host;
mod ndarray;

pub use host::HostTensor;

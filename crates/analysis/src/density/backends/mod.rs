//! The operations on each backend, a file each.

#[cfg(feature = "cube")]
mod cube;
mod flex;
mod host;
mod ndarray;

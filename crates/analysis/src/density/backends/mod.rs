//! The density operations, one file for each backend.

#[cfg(feature = "cube")]
mod cube;
mod flex;
mod host;
mod ndarray;

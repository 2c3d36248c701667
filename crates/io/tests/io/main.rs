//! Tests of series, stores and poly data with files.

// Clippy does not count helper functions as tests.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod boxes;
mod cf;
mod checksums;
mod composite;
mod compressed;
mod damaged;
mod degrees;
mod diffusivity;
mod export;
mod instances;
mod join;
mod killed;
mod mask;
mod mesh;
mod netcdf;
mod play;
mod points;
#[path = "../../../../tests/support/requirements.rs"]
mod requirements;
mod sampled;
mod series;
mod store;
mod support;
mod surface;
mod tracks;
mod vtp;
#[path = "../../../../tests/support/zarr.rs"]
mod zarr;

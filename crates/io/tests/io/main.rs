//! Series, stores and poly data through files.

// Helpers of tests are no tests to clippy.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod diffusivity;
mod killed;
mod lives;
mod mesh;
mod play;
mod points;
mod series;
mod speed;
mod store;
mod support;
mod surface;
mod tracks;
mod vtp;

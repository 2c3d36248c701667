//! Pictures and animations of synthetic particles and fields.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]

mod animation;
mod paper;
mod pictures;
#[path = "../../../../tests/support/requirements.rs"]
mod requirements;
mod samples;

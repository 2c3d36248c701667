//! Densities against direct sums, known distributions and SciPy, on every available device.
//!
//! Devices: Flex, NdArray and the first Vulkan device. A missing device is skipped with a message, or an
//! error if it is listed in `BURNTRACE_REQUIRE=flex,ndarray,vulkan`.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;
mod direct;
#[path = "../../../../tests/support/requirements.rs"]
mod requirements;

mod bins;
mod faces;
mod fused;
mod globe;
mod limits;
mod normal;
mod scipy;
mod sph;
mod walls;

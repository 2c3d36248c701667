//! Densities against sums without any search, against known distributions and against scipy, on
//! every device that is there.
//!
//! Devices: Flex, NdArray and the first Vulkan device; `BURNTRACE_REQUIRE=flex,ndarray,vulkan`
//! makes the absence of one of those an error, where else it is skipped with a message.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common;
mod direct;

mod bins;
mod faces;
mod fused;
mod limits;
mod normal;
mod scipy;
mod sph;

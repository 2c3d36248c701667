//! The tracer against flows with known solutions, on every available device.
//!
//! Devices: Flex, NdArray and the first Vulkan device, in double precision through wgpu. A missing device is skipped with
//! a message, or an error if it is listed in `BURNTRACE_REQUIRE=flex,ndarray,vulkan`.

#[path = "../support/requirements.rs"]
mod requirements;

mod cloud;
mod common;
mod lattice;
mod meshes;
mod oracle;
mod recorded;

mod accuracy;
mod boundaries;
mod fields;
mod gradients;
mod runs;
mod steps;

//! The tracer against flows whose answers are known, on every device that is there.
//!
//! Devices: Flex, NdArray and the first Vulkan device; `BURNTRACE_REQUIRE=flex,ndarray,vulkan`
//! makes the absence of one of those an error, where else it is skipped with a message.

mod physics {
    mod cloud;
    mod common;
    mod kept;
    mod meshes;
    mod oracle;

    mod account;
    mod adaptive;
    mod against_oracle;
    mod analytic;
    mod batches;
    mod damaged_meshes;
    mod faces;
    mod ftle;
    mod gradients;
    mod groups;
    mod hook;
    mod lives;
    mod long;
    mod mesh;
    mod mesh_edges;
    mod mesh_patches;
    mod obstacles;
    mod order;
    mod outside_time;
    mod paths;
    mod points;
    mod probe;
    mod residence;
    mod resume;
    mod rotation;
    mod schedule;
    mod sinks;
    mod statistics;
    mod streamed;
    mod surfaces;
    mod threads;
    mod time;
    mod walk;
}

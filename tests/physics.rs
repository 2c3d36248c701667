//! The tracer against flows with known solutions, on every available device.
//!
//! Devices: Flex, NdArray and the first Vulkan device. A missing device is skipped with a message, or an
//! error if it is listed in `BURNTRACE_REQUIRE=flex,ndarray,vulkan`.

#[path = "support/requirements.rs"]
mod requirements;

mod physics {
    mod adjoint;
    mod cloud;
    mod common;
    mod meshes;
    mod oracle;
    mod recorded;

    mod adaptive;
    mod adjoint_reuse;
    mod adjoint_streams;
    mod against_oracle;
    mod against_oracle_walls;
    mod analytic;
    mod arrays;
    mod batches;
    mod blocks;
    mod damaged_meshes;
    mod end_times;
    mod engines;
    mod faces;
    mod far;
    mod flow_map;
    mod formulas;
    mod ftle;
    mod gradients;
    mod gradients_at_walls;
    mod groups;
    mod high_face;
    mod holes;
    mod hook;
    mod long_launches;
    mod mesh;
    mod mesh_edges;
    mod mesh_patches;
    mod mesh_planes;
    mod motion_gradients;
    mod named_patches;
    mod obstacles;
    mod order;
    mod outside_time;
    mod own_fields;
    mod pieces;
    mod points;
    mod probe;
    mod reinjection;
    mod residence;
    mod resume;
    mod rotation;
    mod schedule;
    mod segments;
    mod sinks;
    mod statistics;
    mod streamed;
    mod summary;
    mod surfaces;
    mod threads;
    mod time;
    mod walk;
}

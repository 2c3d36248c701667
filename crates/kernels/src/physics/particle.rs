//! A particle, outside of the arrays that store it.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod particle {
    /// The state of a particle; see [`Particles`](crate::Particles).
    pub(crate) struct Particle<F: Float> {
        pub position: Vec3<F>,
        pub status: i32,
        pub step: i32,
        pub image_x: i32,
        pub image_y: i32,
        pub image_z: i32,
        /// What its record stores of its cell, or of the place where it ended.
        pub place: i32,
        pub generation: i32,
        pub accepted: i32,
        pub rejected: i32,
        pub fraction: F,
    }
}

//! A particle, outside of the arrays that store it.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod particle {
    use crate::physics::faces::both::Passage;
    use crate::physics::tables::STAGNANT;
    use crate::status::{LEFT_FIELD, NON_FINITE, NOT_LOCATED};

    /// The state of a particle; see [`Particles`](crate::Particles).
    pub(crate) struct Particle<F: Float> {
        pub position: Vec3<F>,
        pub rest: Vec3<F>,
        pub status: i32,
        pub step: i32,
        pub image_x: i32,
        pub image_y: i32,
        pub image_z: i32,
        /// What its record stores of its cell, or of the location where it ended.
        pub location: i32,
        pub generation: i32,
        pub accepted: i32,
        pub rejected: i32,
        pub fraction: F,
    }

    /// The status of a particle whose step has no finite end: whether the step starts at its release,
    /// and whether the field has a velocity there.
    pub(crate) fn lost_status(
        is_first: bool,
        is_in_field: bool,
        #[comptime] has_holes: bool,
    ) -> i32 {
        let mut status = i32::new(NON_FINITE as i64);
        if comptime!(has_holes) {
            status = select(is_first && !is_in_field, NOT_LOCATED, LEFT_FIELD);
        }
        status
    }

    /// Whether events on a path of duration `h` keep the particle from moving at the threshold speed:
    /// in a corner of sliding walls, for example.
    pub(crate) fn is_pinned<F: Float>(launch: &Launch<F>, passage: &Passage<F>, h: F) -> bool {
        passage.moved * passage.moved < launch.float(STAGNANT) * h * h
    }

    /// The rest of a position at the end of a path to `to`, whose rest is given: the same along axes
    /// on which nothing but periods came between.
    pub(crate) fn rest_after<F: Float>(
        passage: &Passage<F>,
        to: Vec3<F>,
        rest: Vec3<F>,
    ) -> Vec3<F> {
        let zero = F::new(0.0_f32);
        let mut kept = rest;
        #[unroll]
        for d in 0..3usize {
            let mut image = passage.image_x;
            if comptime!(d == 1) {
                image = passage.image_y;
            }
            if comptime!(d == 2) {
                image = passage.image_z;
            }
            let is_free = image != 0 || passage.position.extract(d) == to.extract(d);
            kept.insert(d, select(is_free, rest.extract(d), zero));
        }
        kept
    }
}

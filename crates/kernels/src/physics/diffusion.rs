//! The displacement of a random walk.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod diffusion {
    use crate::physics::{
        normals::both::{bits, normals},
        tables::{DIFFUSIVITY, WALK_SEED},
    };
    use crate::random::WALK;

    /// What a random number of a walk is a function of, besides the seed.
    pub(crate) struct Address {
        pub slot: u32,
        pub generation: u32,
        pub step: u32,
    }

    /// The diffusivity at the start of a step, and its derivative along each axis.
    pub(crate) struct Spread<F: Float> {
        pub here: F,
        pub gradient: Vec3<F>,
    }

    /// The displacement of a random walk in a step of length `h`.
    pub(crate) fn displacement<F: Float>(
        launch: &Launch<F>,
        address: &Address,
        spread: &Spread<F>,
        h: F,
    ) -> Vec3<F> {
        let (low, high) = (launch.int(WALK_SEED) as u32, launch.int(WALK_SEED + 1) as u32);
        let bits = bits(low, high, address.slot, address.generation, address.step, WALK);
        let normal = normals::<F>(&bits);
        let dt = h.abs();
        let mut displacement = Vec3::<F>::new(F::new(0.0_f32));
        #[unroll]
        for d in 0..3usize {
            let dw = dt.sqrt() * normal.extract(d);
            let mut squares = dt;
            if comptime!(launch.features.walk.is_milstein) {
                squares = F::new(0.5_f32) * (dw * dw + dt);
            }
            let k = launch.float(DIFFUSIVITY + d) * spread.here;
            let drift = spread.gradient.extract(d) * squares;
            displacement.insert(d, drift + (k + k).sqrt() * dw);
        }
        displacement
    }
}

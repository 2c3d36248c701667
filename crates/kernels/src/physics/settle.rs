//! What becomes of a particle at the end of a step.

use burntrace_macros::host_device;

#[host_device]
pub(crate) mod settle {
    use crate::physics::{
        faces::both::Passage,
        particle::both::{Particle, is_pinned, rest_after},
        path::both::location_code,
        tables::FIRST_STEP,
    };
    use crate::status::{ACTIVE, STAGNANT};

    /// Where a step takes a particle before it meets anything.
    pub(crate) struct FreeEnd<F: Float> {
        pub to: Vec3<F>,
        /// The rest of `to`.
        pub rest: Vec3<F>,
        /// The fractions of the step between which the particle moves.
        pub start: F,
        pub until: F,
        /// The time between them.
        pub h: F,
    }

    /// Ends a particle in a step of the run.
    pub(crate) fn end<F: Float>(particle: &mut Particle<F>, status: i32, number: i32, fraction: F) {
        particle.status = status;
        particle.step = number;
        particle.fraction = fraction;
    }

    /// Moves a particle to the end of a path. `cell` is what its record stores of its cell.
    pub(crate) fn arrive<F: Float>(
        launch: &Launch<F>,
        particle: &mut Particle<F>,
        passage: &Passage<F>,
        free: &FreeEnd<F>,
        number: i32,
        cell: i32,
    ) {
        particle.rest = rest_after::<F>(passage, free.to, free.rest);
        particle.position = passage.position;
        particle.location = location_code::<F>(passage, cell);
        particle.image_x = saturating_sum(particle.image_x, passage.image_x);
        particle.image_y = saturating_sum(particle.image_y, passage.image_y);
        particle.image_z = saturating_sum(particle.image_z, passage.image_z);
        if passage.status != ACTIVE {
            let fraction = free.start + passage.fraction * (free.until - free.start);
            end::<F>(particle, passage.status, number, fraction);
        } else if comptime!(!launch.features.walk.is_on) {
            let stays = is_pinned::<F>(launch, passage, free.h);
            if stays {
                end::<F>(particle, STAGNANT, number, free.until);
            }
        }
    }

    /// Lets a particle that has replaced another one wait for the next step, if it `defers`, or start at once where
    /// its release is the end of this step.
    pub(crate) fn await_release<F: Float>(
        launch: &Launch<F>,
        particle: &mut Particle<F>,
        defers: bool,
    ) {
        let number = launch.int(FIRST_STEP);
        if particle.step == number {
            if defers {
                particle.step = number + 1;
                particle.fraction = F::new(0.0_f32);
            } else if particle.fraction == F::new(1.0_f32) {
                particle.status = i32::new(ACTIVE as i64);
                particle.fraction = F::new(0.0_f32);
            }
        }
    }
}

//! Progress of a particle through a segment, and the re-use of its slot.

use super::{
    cubecl,
    launch::{EndLog, Launch},
    reinjection::reinject,
};
use crate::physics::tables::{FIRST_STEP, LOG_ROWS, RESUMES};
use crate::physics::{
    gates::device::{Noting, noting},
    particle::device::Particle,
    slots::device::assign_first_release,
};
use crate::{MAX_INSTANCES_PER_STEP, status::ACTIVE};
use burn_cubecl::cubecl::prelude::*;

/// Progress of a particle through a segment.
#[derive(CubeType)]
pub(super) struct StepProgress<F: Float> {
    /// The step.
    pub j: usize,
    /// The fraction of the step already taken.
    pub start_fraction: F,
    /// The suggested length of the next adaptive step.
    pub next_dt: F,
    /// Number of trial steps of the instance in the step.
    pub trials: i32,
    /// Number of instances that started in the step.
    pub instances: i32,
    /// Entries in the log of this launch.
    pub noting: Noting<F>,
    /// Whether the step continues.
    pub repeats: bool,
}

/// The progress of a particle before its first step.
#[cube]
pub(super) fn start<F: Float>(particle: &Particle<F>, slot: u32) -> StepProgress<F> {
    let zero = F::new(0.0_f32);
    StepProgress::<F> {
        j: 0usize,
        start_fraction: zero,
        next_dt: select(particle.status == ACTIVE, particle.fraction, zero),
        trials: 0i32,
        instances: 0i32,
        noting: noting::<F>(slot),
        repeats: false,
    }
}

/// Moves on to the next step unless this one continues.
#[cube]
pub(super) fn move_on<F: Float>(progress: &mut StepProgress<F>, waits: bool) {
    if !progress.repeats {
        progress.j += 1;
        progress.trials = 0i32;
        progress.instances = select(waits, progress.instances, 0i32);
        progress.start_fraction = F::new(0.0_f32);
    }
}

/// Re-injects a slot after a step. Returns whether another instance follows.
#[cube]
pub(super) fn follow<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    progress: &mut StepProgress<F>,
    log: &mut EndLog<F>,
    slot: u32,
) -> bool {
    let number = launch.int(FIRST_STEP) + progress.j as i32;
    let follows = reinject::<F>(launch, particle, &mut progress.noting.logged, log, slot);
    if follows {
        start_next::<F>(particle, progress, number);
    } else if progress.noting.logged > launch.int(LOG_ROWS) {
        // The image column is free until re-injection, which resets it.
        particle.image_x = progress.instances;
    }
    follows
}

/// Applies re-injections that the previous launch deferred, and the first releases of sources.
/// Returns whether a particle takes part in the launch.
#[cube]
#[allow(clippy::identity_op)]
pub(super) fn begin<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    progress: &mut StepProgress<F>,
    log: &mut EndLog<F>,
    slot: u32,
) -> bool {
    let mut takes_part = true;
    if launch.int(RESUMES) != 0 {
        takes_part = particle.status > ACTIVE;
    } else {
        assign_first_release::<F>(launch, particle, slot);
    }
    if takes_part {
        // The additions copy: a value read from a struct field changes with the field.
        let (instances, number) = (particle.image_x + 0i32, particle.step + 0i32);
        if reinject::<F>(launch, particle, &mut progress.noting.logged, log, slot) {
            progress.instances = instances;
            start_next::<F>(particle, progress, number);
            progress.repeats = false;
        }
        takes_part = particle.status <= ACTIVE;
    }
    takes_part
}

/// Starts the next instance of a slot: in the rest of this step, or later.
#[cube]
fn start_next<F: Float>(particle: &mut Particle<F>, progress: &mut StepProgress<F>, number: i32) {
    progress.start_fraction = F::new(0.0_f32);
    progress.trials = 0i32;
    progress.instances += 1;
    progress.repeats = particle.step == number;
    if progress.repeats && progress.instances > comptime!(MAX_INSTANCES_PER_STEP as i32) {
        progress.repeats = false;
        particle.step = number + 1;
        particle.fraction = F::new(0.0_f32);
    }
    progress.instances = select(progress.repeats, progress.instances, 0i32);
}

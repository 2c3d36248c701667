//! Re-use of slots: the log of ends.

use super::{
    cubecl,
    launch::{EndLog, Launch},
};
use crate::{
    LOG_INDEX, LOG_POSITION,
    physics::{
        particle::device::Particle,
        slots::device::{is_followed, succeed},
        tables::{FIRST_SLOT, LOG_ROWS},
    },
};
use burn_cubecl::cubecl::prelude::*;

/// Prepares the instance that follows an ended one: it waits for its release. Returns whether one
/// follows and the slot's part of the log had room for the end of the last one.
///
/// Each slot has rows of its own. A single list with an atomic counter would be shorter, but Mesa's
/// llvmpipe (22.3) loses other writes of kernels that use one.
#[cube]
pub(super) fn reinject<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    logged: &mut i32,
    log: &mut EndLog<F>,
    slot: u32,
) -> bool {
    let mut follows = false;
    if is_followed::<F>(launch, particle, slot) {
        let log_rows = launch.int(LOG_ROWS);
        let row =
            (slot - launch.int(FIRST_SLOT) as u32) as usize * log_rows as usize + *logged as usize;
        follows = *logged < log_rows;
        *logged += 1;
        if follows {
            log_end::<F>(particle, log, row, slot);
            succeed::<F>(launch, particle, slot);
        }
    }
    follows
}

/// Writes a log entry.
#[cube]
fn log_end<F: Float>(particle: &mut Particle<F>, log: &mut EndLog<F>, row: usize, slot: u32) {
    let at = row * LOG_INDEX;
    log.index[at] = slot as i32;
    log.index[at + 1] = particle.generation;
    log.index[at + 2] = particle.status;
    log.index[at + 3] = particle.step;
    log.index[at + 4] = particle.location;
    let at = row * LOG_POSITION;
    log.position[at] = particle.fraction;
    #[unroll]
    for d in 0..3usize {
        log.position[at + 1 + d] = particle.position.extract(d);
    }
}

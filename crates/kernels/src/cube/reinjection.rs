//! Re-use of slots: the log of ends.

use super::{
    Vec4, cubecl,
    launch::{EndLog, Launch},
};
use crate::status::CROSSED;
use crate::{
    LOG_INDEX, LOG_POSITION,
    physics::{
        gates::device::Noting,
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

/// What the log says of the number of its entries of a slot: -1 if there was no room for a crossing.
#[cube]
pub(super) fn count_of<F: Float>(noting: &Noting<F>) -> i32 {
    select(noting.lost > 0, -1i32, noting.logged)
}

/// Logs the crossing of a gate, if the slot's part of the log has room.
#[cube]
pub(crate) fn log_crossing<F: Float>(
    launch: &Launch<F>,
    log: &mut EndLog<F>,
    noting: &mut Noting<F>,
    gate: i32,
    direction: i32,
    fraction: F,
    point: Vec4<F>,
) {
    let rows = launch.int(LOG_ROWS);
    if noting.logged < rows {
        let first = (noting.slot - launch.int(FIRST_SLOT) as u32) as usize * rows as usize;
        let row = first + noting.logged as usize;
        let at = row * LOG_INDEX;
        log.index[at] = noting.slot as i32;
        log.index[at + 1] = noting.generation;
        log.index[at + 2] = direction * CROSSED;
        log.index[at + 3] = noting.number;
        log.index[at + 4] = gate;
        let at = row * LOG_POSITION;
        log.position[at] = fraction;
        #[unroll]
        for d in 0..3usize {
            log.position[at + 1 + d] = point.extract(d);
        }
        noting.logged += 1;
    } else {
        noting.lost += 1;
    }
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

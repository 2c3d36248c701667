//! Re-use of slots: re-injection after an end, and releases from sources. See `cpu/reinjection.rs`.

use super::{
    Vec4, cubecl,
    edge::patch_at,
    particle::Particle,
    tables::{
        AFTER, FIRST_SLOT, INLET_COLUMNS, INLETS_AT, LOG_ROWS, PATCH_COLUMNS, PATCHES_AT,
        RELEASES_AT, SOURCE_COLUMNS, SOURCES, SOURCES_AT,
    },
    vec4,
};
use crate::{
    LOG_INDEX, LOG_POSITION, NEVER,
    status::{ACTIVE, LEFT_MESH, WAITING},
};
use burn_cubecl::cubecl::prelude::*;

/// Assigns the first release of this launch, if any, to an idle slot of a source.
#[cube]
pub(super) fn assign_first_release<F: Float>(
    particle: &mut Particle<F>,
    inlets: &[F],
    floats: &[F],
    ints: &[i32],
    slot: u32,
) {
    if particle.status == WAITING && particle.step == NEVER {
        // Before all releases.
        particle.step = i32::new(-1);
        wait_for_release::<F>(particle, inlets, floats, ints, slot);
    }
}

/// Prepares the instance that follows an ended one: it waits for its release. Returns whether one
/// follows and the slot's part of the log had room for the end of the last one.
///
/// Each slot has rows of its own. A single list with an atomic counter would be shorter, but Mesa's
/// llvmpipe (22.3) loses other writes of kernels that use one.
#[cube]
pub(super) fn reinject<F: Float>(
    particle: &mut Particle<F>,
    log_index: &mut [i32],
    log_position: &mut [F],
    inlets: &[F],
    floats: &[F],
    ints: &[i32],
    slot: u32,
) -> bool {
    let mut follows = false;
    if particle.status > ACTIVE {
        let inlet = inlet_after::<F>(particle.status, particle.position, floats, ints);
        if inlet >= 0 || source(ints, slot) >= 0 {
            let log_rows = ints[LOG_ROWS];
            let row = (slot - ints[FIRST_SLOT] as u32) as usize * log_rows as usize
                + particle.logged as usize;
            follows = particle.logged < log_rows;
            particle.logged += 1;
            if follows {
                log::<F>(particle, log_index, log_position, row, slot);
                particle.status = i32::new(WAITING as i64);
                particle.image_x = 0i32;
                particle.image_y = 0i32;
                particle.image_z = 0i32;
                particle.cell = 0i32;
                particle.generation += 1;
                if inlet >= 0 {
                    place_at_inlet::<F>(particle, inlets, ints, inlet, slot);
                } else {
                    wait_for_release::<F>(particle, inlets, floats, ints, slot);
                }
            }
        }
    }
    follows
}

/// The inlet of immediate re-injection for an instance that ended with a status at a position, or
/// -1.
#[cube]
fn inlet_after<F: Float>(status: i32, position: Vec4<F>, floats: &[F], ints: &[i32]) -> i32 {
    let mut inlet = ints[AFTER + status as usize];
    if status == LEFT_MESH {
        let patch = patch_at::<F>(floats, ints, position);
        if patch >= 0 {
            let at = ints[PATCHES_AT] + patch * comptime!(PATCH_COLUMNS as i32);
            inlet = ints[(at + 1) as usize];
        }
    }
    inlet
}

/// Writes a log entry.
#[cube]
fn log<F: Float>(
    particle: &mut Particle<F>,
    log_index: &mut [i32],
    log_position: &mut [F],
    row: usize,
    slot: u32,
) {
    let at = row * LOG_INDEX;
    log_index[at] = slot as i32;
    log_index[at + 1] = particle.generation;
    log_index[at + 2] = particle.status;
    log_index[at + 3] = particle.step;
    let at = row * LOG_POSITION;
    log_position[at] = particle.fraction;
    #[unroll]
    for d in 0..3usize {
        log_position[at + 1 + d] = particle.position.extract(d);
    }
}

/// The source that a slot belongs to, or -1.
#[cube]
fn source(ints: &[i32], slot: u32) -> i32 {
    let mut found = i32::new(-1);
    for s in 0..ints[SOURCES] {
        let at = (ints[SOURCES_AT] + s * comptime!(SOURCE_COLUMNS as i32)) as usize;
        let local = slot as i32 - ints[at];
        if local >= 0 && local < ints[at + 1] {
            found = s;
        }
    }
    found
}

/// Schedules the next release of a source's slot, at its position on the inlet.
#[cube]
fn wait_for_release<F: Float>(
    particle: &mut Particle<F>,
    inlets: &[F],
    floats: &[F],
    ints: &[i32],
    slot: u32,
) {
    let mut next = i32::new(NEVER as i64);
    let mut next_fraction = F::new(0.0_f32);
    let source = source(ints, slot);
    if source >= 0 {
        let at = (ints[SOURCES_AT] + source * comptime!(SOURCE_COLUMNS as i32)) as usize;
        let slots = ints[at + 1];
        let local = slot as i32 - ints[at];
        let count = ints[at + 4];
        let mut k = (local + slots - ints[at + 3]) % slots;
        while k < count {
            let step = ints[(ints[at + 5] + k) as usize];
            let fraction = floats[(ints[RELEASES_AT] + ints[at + 6] + k) as usize];
            let is_later = step > particle.step;
            if is_later || (step == particle.step && fraction > particle.fraction) {
                next = step;
                next_fraction = fraction;
                place_at_inlet::<F>(particle, inlets, ints, ints[at + 2], local as u32);
                k = count;
            } else {
                k += slots;
            }
        }
    }
    particle.step = next;
    particle.fraction = next_fraction;
}

/// Puts a particle at the position of its instance on an inlet.
#[cube]
fn place_at_inlet<F: Float>(
    particle: &mut Particle<F>,
    inlets: &[F],
    ints: &[i32],
    inlet: i32,
    number: u32,
) {
    let at = (ints[INLETS_AT] + inlet * comptime!(INLET_COLUMNS as i32)) as usize;
    let scattered = number * (ints[at + 2] as u32);
    let strode = (particle.generation as u32) * (ints[at + 3] as u32);
    let row = ints[at] as usize + ((scattered + strode) % (ints[at + 1] as u32)) as usize;
    particle.position = vec4::<F>(inlets[3 * row], inlets[3 * row + 1], inlets[3 * row + 2]);
}

//! A particle in registers.

use super::{
    cubecl,
    launch::{Launch, Rows},
    vec4,
};
use crate::{
    POSITION,
    physics::particle::device::Particle,
    record::{ACCEPTED, GENERATION, IMAGE, LOCATION, RECORD, REJECTED, STATUS, STEP},
};
use burn_cubecl::cubecl::prelude::*;

/// Loads particle `i`.
#[cube]
pub(super) fn load<F: Float>(launch: &Launch<F>, rows: &mut Rows<F>, i: usize) -> Particle<F> {
    let (row, at) = (i * RECORD, i * POSITION);
    let mut accepted = 0i32;
    let mut rejected = 0i32;
    if comptime!(launch.features.adaptive) {
        accepted = rows.record[row + ACCEPTED];
        rejected = rows.record[row + REJECTED];
    }
    Particle::<F> {
        position: vec4::<F>(rows.position[at], rows.position[at + 1], rows.position[at + 2]),
        rest: vec4::<F>(rows.position[at + 3], rows.position[at + 4], rows.position[at + 5]),
        status: rows.record[row + STATUS],
        step: rows.record[row + STEP],
        image_x: rows.record[row + IMAGE],
        image_y: rows.record[row + IMAGE + 1],
        image_z: rows.record[row + IMAGE + 2],
        location: rows.record[row + LOCATION],
        generation: rows.record[row + GENERATION],
        accepted,
        rejected,
        fraction: rows.fraction[i],
    }
}

/// Stores particle `i`.
#[cube]
pub(super) fn store<F: Float>(
    launch: &Launch<F>,
    rows: &mut Rows<F>,
    i: usize,
    particle: &Particle<F>,
) {
    let (row, at) = (i * RECORD, i * POSITION);
    #[unroll]
    for d in 0..3usize {
        rows.position[at + d] = particle.position.extract(d);
        rows.position[at + 3 + d] = particle.rest.extract(d);
    }
    rows.record[row + STATUS] = particle.status;
    rows.record[row + STEP] = particle.step;
    rows.record[row + IMAGE] = particle.image_x;
    rows.record[row + IMAGE + 1] = particle.image_y;
    rows.record[row + IMAGE + 2] = particle.image_z;
    rows.record[row + LOCATION] = particle.location;
    if comptime!(launch.features.reuses_slots) {
        rows.record[row + GENERATION] = particle.generation;
    }
    if comptime!(launch.features.adaptive) {
        rows.record[row + ACCEPTED] = particle.accepted;
        rows.record[row + REJECTED] = particle.rejected;
    }
    rows.fraction[i] = particle.fraction;
}

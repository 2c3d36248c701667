//! A particle in registers.

use super::{Form, Vec4, cubecl, vec4};
use crate::RECORD;
use burn_cubecl::cubecl::prelude::*;

/// A particle's state in registers.
#[derive(CubeType)]
pub(super) struct Particle<F: Float> {
    pub position: Vec4<F>,
    pub status: i32,
    pub step: i32,
    pub image_x: i32,
    pub image_y: i32,
    pub image_z: i32,
    /// The mesh cell or obstacle stored in its record.
    pub cell: i32,
    pub generation: i32,
    pub accepted: i32,
    pub rejected: i32,
    /// Ends logged in this launch; one more than the capacity of the log if the last one waits.
    pub logged: i32,
    pub fraction: F,
}

/// Loads particle `i`.
#[cube]
pub(super) fn load<F: Float>(
    position: &mut [F],
    record: &mut [i32],
    fraction: &mut [F],
    i: usize,
    #[comptime] form: Form,
) -> Particle<F> {
    let row = i * RECORD;
    let mut cell = 0i32;
    if comptime!(form.kind.is_mesh() || form.obstacles) {
        cell = record[row + 5];
    }
    let mut accepted = 0i32;
    let mut rejected = 0i32;
    if comptime!(form.adaptive) {
        accepted = record[row + 7];
        rejected = record[row + 8];
    }
    Particle::<F> {
        position: vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]),
        status: record[row],
        step: record[row + 1],
        image_x: record[row + 2],
        image_y: record[row + 3],
        image_z: record[row + 4],
        cell,
        generation: record[row + 6],
        accepted,
        rejected,
        logged: 0i32,
        fraction: fraction[i],
    }
}

/// Stores particle `i`.
#[cube]
pub(super) fn store<F: Float>(
    position: &mut [F],
    record: &mut [i32],
    fraction: &mut [F],
    i: usize,
    particle: &Particle<F>,
    #[comptime] form: Form,
) {
    let row = i * RECORD;
    #[unroll]
    for d in 0..3usize {
        position[3 * i + d] = particle.position.extract(d);
    }
    record[row] = particle.status;
    record[row + 1] = particle.step;
    record[row + 2] = particle.image_x;
    record[row + 3] = particle.image_y;
    record[row + 4] = particle.image_z;
    if comptime!(form.kind.is_mesh() || form.obstacles) {
        record[row + 5] = particle.cell;
    }
    if comptime!(form.reuses_slots) {
        record[row + 6] = particle.generation;
    }
    if comptime!(form.adaptive) {
        record[row + 7] = particle.accepted;
        record[row + 8] = particle.rejected;
    }
    fraction[i] = particle.fraction;
}

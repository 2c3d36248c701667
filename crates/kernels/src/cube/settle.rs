//! Boundary conditions and status after a step.

use super::{
    Vec4, cubecl,
    frame_pair::frame_pair,
    launch::{EndLog, Launch},
    mesh,
    sampler::{Hint, image, sample},
    stages::{Part, StepResult},
    vec4,
};
use crate::{
    physics::{
        faces::device::{contains, land},
        gates::device::{Noting, note, whole},
        obstacles::device::is_clear_of_all,
        particle::device::{Particle, lost_status},
        path::device::pass,
        settle::device::{FreeEnd, arrive, end},
        tables::FIRST_STEP,
        vector::device::is_within,
    },
    status::STAGNANT,
};
use burn_cubecl::cubecl::prelude::*;

/// Applies a step's displacement and the boundary conditions, in the step of the notes from its fraction `start` on.
#[cube]
#[allow(clippy::identity_op)]
pub(super) fn settle<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    result: &StepResult<F>,
    part: &Part<F>,
    hint: &mut Hint<F>,
    noting: &mut Noting<F>,
    log: &mut EndLog<F>,
) {
    // A copy: a value read from a struct field changes with the field.
    let index = noting.number + 0i32;
    if moves::<F>(launch, particle, result, index, part, hint) {
        let free = FreeEnd::<F> {
            to: result.to,
            rest: result.rest,
            start: part.start,
            until: part.until,
            h: (part.until - part.start) * part.full_dt,
        };
        go::<F>(launch, particle, &free, hint, noting, log);
    }
}

/// Moves a particle on the straight path to its free end. The hint knows the cell of its start.
#[cube]
#[allow(clippy::identity_op)]
pub(super) fn go<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    free: &FreeEnd<F>,
    hint: &mut Hint<F>,
    noting: &mut Noting<F>,
    log: &mut EndLog<F>,
) {
    let to = free.to;
    // Copies: a value read from a struct field changes with the field.
    let index = noting.number + 0i32;
    let from = vec4::<F>(
        particle.position.extract(0usize),
        particle.position.extract(1usize),
        particle.position.extract(2usize),
    );
    let mut is_plain = contains::<F>(launch, to);
    if comptime!(launch.features.bodies) && is_plain {
        is_plain = is_clear_of_all::<F>(launch, from, to);
    }
    if comptime!(launch.features.mesh) && is_plain {
        is_plain = mesh::holds::<F>(launch, to, &mut hint.mesh);
    }
    if comptime!(launch.features.gates) {
        noting.generation = particle.generation + 0i32;
        noting.start = free.start;
        noting.until = free.until;
        if is_plain {
            let path = whole::<F>(from, to);
            note::<F>(launch, &path, noting, log);
        }
    }
    if is_plain {
        particle.position = to;
        particle.rest = free.rest;
        if comptime!(launch.features.mesh) {
            particle.location = hint.mesh.base;
        }
    } else if comptime!(
        launch.features.bodies
            || launch.features.mesh
            || launch.features.bounces
            || launch.features.gates
    ) {
        let passage = pass::<F>(launch, from, to, &mut hint.mesh, noting, log);
        arrive::<F>(launch, particle, &passage, free, index, hint.mesh.base);
    } else {
        let passage = land::<F>(launch, from, to);
        arrive::<F>(launch, particle, &passage, free, index, hint.mesh.base);
    }
}

/// Ends a particle that became non-finite or slower than the threshold. Returns whether it moves.
#[cube]
fn moves<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    result: &StepResult<F>,
    index: i32,
    part: &Part<F>,
    hint: &mut Hint<F>,
) -> bool {
    let mut moves = false;
    if !finite::<F>(result.to) {
        let is_first = particle.step == index && particle.fraction == part.start;
        let mut is_in_field = true;
        if comptime!(launch.features.holes) {
            let j = (index - launch.int(FIRST_STEP)) as usize;
            let pair = frame_pair::<F>(launch, j, part.start * part.full_dt);
            let at = image::<F>(launch, particle.position);
            is_in_field = finite::<F>(sample::<F>(launch, at, &pair, hint));
        }
        let status = lost_status(is_first, is_in_field, comptime!(launch.features.holes));
        end::<F>(particle, status, index, part.start);
    } else if result.slow {
        end::<F>(particle, STAGNANT, index, part.start);
    } else {
        moves = true;
    }
    moves
}

/// Whether all components are finite.
#[cube]
pub(super) fn finite<F: Float>(p: Vec4<F>) -> bool {
    is_within::<F>(p, F::max_value())
}

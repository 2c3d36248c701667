//! Boundary conditions and status after a step.

use super::{
    Form, Vec4, cubecl,
    edge::{Passage, pass},
    mesh::{self, CellHint},
    obstacles::{self, is_clear_of_all},
    particle::Particle,
    stages::StepResult,
    tables::{OBSTACLES_AT, SHAPES_AT},
    vec4,
    walls::{contains, land},
};
use crate::status::{ACTIVE, EXITED, LEFT_MESH, NON_FINITE, STAGNANT as STAGNANT_STATUS};
use burn_cubecl::cubecl::prelude::*;

/// Applies a step's displacement and the boundary conditions, in step `index` from its fraction
/// `start` on.
#[cube]
pub(super) fn settle<F: Float>(
    particle: &mut Particle<F>,
    floats: &[F],
    ints: &[i32],
    result: &StepResult<F>,
    index: i32,
    start: F,
) {
    if moves::<F>(particle, result, index, start) {
        if contains::<F>(floats, result.to) {
            particle.position = result.to;
        } else {
            let landing = land::<F>(floats, ints, particle.position, result.to);
            let mut status = i32::new(ACTIVE as i64);
            if landing.face >= 0 {
                status = EXITED + landing.face;
            }
            let passage = Passage::<F> {
                position: landing.position,
                image_x: landing.image_x,
                image_y: landing.image_y,
                image_z: landing.image_z,
                status,
                fraction: landing.fraction,
                face: landing.face,
            };
            arrive::<F>(particle, &passage, result, index, start);
        }
    }
}

/// As [`settle`], in a mesh, which may end within the domain box.
#[cube]
pub(super) fn settle_in_mesh<F: Float>(
    particle: &mut Particle<F>,
    coords: &[Vec4<F>],
    cells: &[i32],
    floats: &[F],
    ints: &[i32],
    result: &StepResult<F>,
    index: i32,
    start: F,
    hint: &mut CellHint<F>,
    #[comptime] form: Form,
) {
    let mesh = comptime!(form.kind.mesh());
    let to = result.to;
    if moves::<F>(particle, result, index, start) {
        let mut is_plain = contains::<F>(floats, to);
        if is_plain {
            is_plain = mesh::holds::<F>(coords, cells, floats, ints, to, hint, mesh);
        }
        if is_plain {
            particle.position = to;
        } else {
            let passage = pass::<F>(coords, cells, floats, ints, particle.position, to, hint, mesh);
            arrive::<F>(particle, &passage, result, index, start);
            particle.cell = passage.face;
        }
    }
    if particle.status != LEFT_MESH {
        particle.cell = hint.base;
    }
}

/// As [`settle`], among obstacles.
#[cube]
pub(super) fn settle_among_obstacles<F: Float>(
    particle: &mut Particle<F>,
    rows: &[F],
    numbers: &[i32],
    floats: &[F],
    ints: &[i32],
    result: &StepResult<F>,
    index: i32,
    start: F,
    #[comptime] surfaces: bool,
) {
    let to = result.to;
    let (floats_at, ints_at) = (ints[SHAPES_AT] as usize, ints[OBSTACLES_AT] as usize);
    // A copy: a value read from a struct field changes with the field.
    let from = vec4::<F>(
        particle.position.extract(0usize),
        particle.position.extract(1usize),
        particle.position.extract(2usize),
    );
    if moves::<F>(particle, result, index, start) {
        let mut is_plain = contains::<F>(floats, to);
        if is_plain {
            is_plain = is_clear_of_all::<F>(
                rows, numbers, floats, ints, from, to, floats_at, ints_at, surfaces,
            );
        }
        if is_plain {
            particle.position = to;
        } else {
            let passage = obstacles::pass::<F>(
                rows, numbers, floats, ints, from, to, floats_at, ints_at, surfaces,
            );
            arrive::<F>(particle, &passage, result, index, start);
            if passage.status != ACTIVE {
                particle.cell = max(passage.face, 0i32);
            }
        }
    }
}

/// Ends a particle that became non-finite or slower than the threshold. Returns whether it moves.
#[cube]
fn moves<F: Float>(
    particle: &mut Particle<F>,
    result: &StepResult<F>,
    index: i32,
    start: F,
) -> bool {
    let mut moves = false;
    if !finite::<F>(result.to) {
        end::<F>(particle, NON_FINITE, index, start);
    } else if result.slow {
        end::<F>(particle, STAGNANT_STATUS, index, start);
    } else {
        moves = true;
    }
    moves
}

/// Stores the end of a particle's path.
#[cube]
fn arrive<F: Float>(
    particle: &mut Particle<F>,
    passage: &Passage<F>,
    result: &StepResult<F>,
    index: i32,
    start: F,
) {
    particle.position = passage.position;
    particle.image_x += passage.image_x;
    particle.image_y += passage.image_y;
    particle.image_z += passage.image_z;
    if passage.status != ACTIVE {
        let fraction = start + passage.fraction * (result.until - start);
        end::<F>(particle, passage.status, index, fraction);
    }
}

#[cube]
fn end<F: Float>(particle: &mut Particle<F>, status: i32, index: i32, fraction: F) {
    particle.status = status;
    particle.step = index;
    particle.fraction = fraction;
}

/// Whether all coordinates are finite.
#[cube]
fn finite<F: Float>(p: Vec4<F>) -> bool {
    let sum = p.extract(0usize).abs() + p.extract(1usize).abs() + p.extract(2usize).abs();
    sum <= F::max_value()
}

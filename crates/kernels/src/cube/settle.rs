//! What becomes of a particle in a step that has led somewhere.

use super::{
    Form, Vec4, cubecl,
    edge::pass,
    mesh::{self, Whereabouts},
    obstacles::{self, is_free},
    particle::Particle,
    stages::Leap,
    tables::{OBSTACLES_AT, SHAPES_AT},
    vec4,
    walls::{contains, land},
};
use crate::status::{ACTIVE, EXITED, LEFT_MESH, NON_FINITE, STAGNANT as STAGNANT_STATUS};
use burn_cubecl::cubecl::prelude::*;

/// Writes what became of a particle in step `index`, from its fraction `start` on.
#[cube]
pub(super) fn settle<F: Float>(
    particle: &mut Particle<F>,
    reals: &[F],
    wholes: &[i32],
    leap: &Leap<F>,
    index: i32,
    start: F,
) {
    if !finite::<F>(leap.to) {
        end::<F>(particle, NON_FINITE, index, start);
    } else if leap.slow {
        end::<F>(particle, STAGNANT_STATUS, index, start);
    } else if contains::<F>(reals, leap.to) {
        particle.position = leap.to;
    } else {
        let landing = land::<F>(reals, wholes, particle.position, leap.to);
        particle.position = landing.position;
        particle.image_x += landing.image_x;
        particle.image_y += landing.image_y;
        particle.image_z += landing.image_z;
        if landing.face >= 0 {
            let fraction = start + landing.fraction * (leap.until - start);
            end::<F>(particle, EXITED + landing.face, index, fraction);
        }
    }
}

/// As [`settle`], in a mesh, which may end within its box.
#[cube]
pub(super) fn settle_in_mesh<F: Float>(
    particle: &mut Particle<F>,
    places: &[Vec4<F>],
    cells: &[i32],
    reals: &[F],
    wholes: &[i32],
    leap: &Leap<F>,
    index: i32,
    start: F,
    hint: &mut Whereabouts<F>,
    #[comptime] form: Form,
) {
    let mesh = comptime!(form.kind.mesh());
    let to = leap.to;
    let mut is_plain = false;
    if !finite::<F>(to) {
        end::<F>(particle, NON_FINITE, index, start);
    } else if leap.slow {
        end::<F>(particle, STAGNANT_STATUS, index, start);
    } else if contains::<F>(reals, to) {
        is_plain = mesh::holds::<F>(places, cells, reals, wholes, to, hint, mesh);
    }
    if is_plain {
        particle.position = to;
    } else if particle.status == ACTIVE {
        let passage = pass::<F>(places, cells, reals, wholes, particle.position, to, hint, mesh);
        particle.position = passage.position;
        particle.image_x += passage.image_x;
        particle.image_y += passage.image_y;
        particle.image_z += passage.image_z;
        if passage.status != ACTIVE {
            let fraction = start + passage.fraction * (leap.until - start);
            end::<F>(particle, passage.status, index, fraction);
        }
        particle.place = passage.face;
    }
    if particle.status != LEFT_MESH {
        particle.place = hint.base;
    }
}

/// As [`settle`], among obstacles.
#[cube]
pub(super) fn settle_among_obstacles<F: Float>(
    particle: &mut Particle<F>,
    rows: &[F],
    numbers: &[i32],
    reals: &[F],
    wholes: &[i32],
    leap: &Leap<F>,
    index: i32,
    start: F,
    #[comptime] surfaces: bool,
) {
    let to = leap.to;
    let (reals_at, wholes_at) = (wholes[SHAPES_AT] as usize, wholes[OBSTACLES_AT] as usize);
    // A copy: what is read from a field changes with it.
    let from = vec4::<F>(
        particle.position.extract(0usize),
        particle.position.extract(1usize),
        particle.position.extract(2usize),
    );
    let mut is_plain = false;
    if !finite::<F>(to) {
        end::<F>(particle, NON_FINITE, index, start);
    } else if leap.slow {
        end::<F>(particle, STAGNANT_STATUS, index, start);
    } else if contains::<F>(reals, to) {
        is_plain =
            is_free::<F>(rows, numbers, reals, wholes, from, to, reals_at, wholes_at, surfaces);
    }
    if is_plain {
        particle.position = to;
    } else if particle.status == ACTIVE {
        let passage = obstacles::pass::<F>(
            rows, numbers, reals, wholes, from, to, reals_at, wholes_at, surfaces,
        );
        particle.position = passage.position;
        particle.image_x += passage.image_x;
        particle.image_y += passage.image_y;
        particle.image_z += passage.image_z;
        if passage.status != ACTIVE {
            let fraction = start + passage.fraction * (leap.until - start);
            end::<F>(particle, passage.status, index, fraction);
            particle.place = max(passage.face, 0i32);
        }
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

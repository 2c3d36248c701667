//! A Runge-Kutta step and its stages.

use super::{
    Vec4, cubecl, dot,
    frame_pair::{FramePair, frame_pair, from_velocity},
    launch::Launch,
    sampler::{Hint, image, sample},
    walk::diffuse,
};
use crate::physics::particle::device::Particle;
use crate::{
    Ratio,
    physics::{
        diffusion::device::Address,
        scaled::device::factor,
        sphere::device::{Place, change, local, place},
        tables::{DRIFT, FIRST_STEP, LOWEST, SCALED_AT, STAGNANT},
    },
};
use burn_cubecl::cubecl::prelude::*;

/// Result of a step, before boundary conditions.
#[derive(CubeType)]
pub(super) struct StepResult<F: Float> {
    pub to: Vec4<F>,
    /// The rest of `to`.
    pub rest: Vec4<F>,
    pub slow: bool,
    /// Difference from the embedded solution, with adaptive steps.
    pub error: Vec4<F>,
}

/// The part of a segment's step that a particle takes at once.
#[derive(CubeType)]
pub(super) struct Part<F: Float> {
    /// The fractions of the step at which it starts and ends.
    pub start: F,
    pub until: F,
    /// Its length, and that of the step.
    pub h: F,
    pub full_dt: F,
}

/// A coefficient of a scheme.
#[cube]
pub(super) fn ratio<F: Float>(#[comptime] ratio: Ratio) -> F {
    F::cast_from(comptime!(ratio.0)) / F::cast_from(comptime!(ratio.1))
}

/// One Runge-Kutta step: a part of step `j`.
#[cube]
pub(super) fn rk_step<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    slot: u32,
    j: usize,
    part: &Part<F>,
    hint: &mut Hint<F>,
) -> StepResult<F> {
    let tableau = comptime!(*launch.form.scheme.tableau());
    let from = particle.position;
    let h = part.h;
    let elapsed = part.start * part.full_dt;
    let stages = comptime!(if launch.features.adaptive {
        tableau.stages
    } else {
        tableau.solution_stages()
    });
    let here = place_of::<F>(launch, from);
    let drift = drift::<F>(launch);
    let scale = scale::<F>(launch, slot);
    let mut k = Sequence::<Vec4<F>>::new();
    #[unroll]
    for s in 0..stages {
        let mut stage = start_of_sum::<F>(launch, from);
        #[unroll]
        for r in 0..s {
            let a = comptime!(tableau.a[s][r]);
            if comptime!(!a.is_zero()) {
                stage += Vec4::<F>::new(ratio::<F>(a) * h) * k[r];
            }
        }
        let offset = elapsed + ratio::<F>(comptime!(tableau.c[s])) * h;
        let at = frame_pair::<F>(launch, j, offset);
        if comptime!(launch.features.sphere) {
            stage = from + change_by::<F>(&here, stage);
        }
        k.push(stage_velocity::<F>(launch, stage, drift, scale, &at, hint));
    }
    let mut mean_velocity = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..comptime!(tableau.solution_stages()) {
        let b = comptime!(tableau.b[s]);
        if comptime!(!b.is_zero()) {
            mean_velocity += Vec4::<F>::new(ratio::<F>(b)) * k[s];
        }
    }
    let mut error = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..stages {
        let e = comptime!(tableau.error[s]);
        if comptime!(launch.features.adaptive && !e.is_zero()) {
            error += Vec4::<F>::new(ratio::<F>(e) * h) * k[s];
        }
    }
    let mut displacement = Vec4::<F>::new(h) * mean_velocity;
    if comptime!(launch.features.sphere) {
        displacement = change_by::<F>(&here, displacement);
        error = along_axes::<F>(&here, error);
        mean_velocity = along_axes::<F>(&here, mean_velocity);
    }
    let displacement = displacement + particle.rest;
    let mut to = from + displacement;
    let mut rest = rest_of::<F>(launch, from, displacement, to);
    if comptime!(launch.features.walk.is_on) {
        let pair = frame_pair::<F>(launch, j, elapsed);
        let address = Address {
            slot,
            generation: particle.generation as u32,
            step: (launch.int(FIRST_STEP) + j as i32) as u32,
        };
        let displacement = diffuse::<F>(launch, from, &address, &pair, h, hint) + rest;
        let moved = to + displacement;
        rest = rest_of::<F>(launch, to, displacement, moved);
        to = moved;
    }
    let slow = dot::<F>(mean_velocity, mean_velocity) < launch.float(STAGNANT);
    StepResult::<F> { to, rest, slow, error }
}

/// The velocity with which particles move at a stage.
#[cube]
fn stage_velocity<F: Float>(
    launch: &Launch<F>,
    stage: Vec4<F>,
    drift: Vec4<F>,
    scale: F,
    at: &FramePair<F>,
    hint: &mut Hint<F>,
) -> Vec4<F> {
    let p = image::<F>(launch, stage);
    let mut v = sample::<F>(launch, p, at, hint) + drift;
    if comptime!(launch.features.scaled) {
        let second = from_velocity::<F>(at, launch.int(SCALED_AT) as usize);
        v += Vec4::<F>::new(scale) * sample::<F>(launch, p, &second, hint);
    }
    if comptime!(launch.features.walk.varies && !launch.features.sphere) {
        v.insert(3usize, F::new(0.0_f32));
    }
    v
}

/// The factor by which a particle scales the second velocity of the field; 0 without one.
#[cube]
fn scale<F: Float>(launch: &Launch<F>, slot: u32) -> F {
    if comptime!(launch.features.scaled) { factor::<F>(launch, slot) } else { F::new(0.0_f32) }
}

/// What displacements of stages are added to: on a sphere, they make a change of position in the end.
#[cube]
fn start_of_sum<F: Float>(launch: &Launch<F>, from: Vec4<F>) -> Vec4<F> {
    if comptime!(launch.features.sphere) { Vec4::<F>::new(F::new(0.0_f32)) } else { from }
}

/// The place of a position on a sphere; in a flat space, nothing that is computed.
#[cube]
pub(super) fn place_of<F: Float>(launch: &Launch<F>, from: Vec4<F>) -> Place<F> {
    if comptime!(launch.features.sphere) {
        place::<F>(launch, from)
    } else {
        Place::<F> { east: from, north: from, up: from, radius: F::new(0.0_f32) }
    }
}

/// The drift in the components of a velocity: on a sphere, only upwards.
#[cube]
fn drift<F: Float>(launch: &Launch<F>) -> Vec4<F> {
    if comptime!(launch.features.sphere) {
        let mut up = Vec4::<F>::new(F::new(0.0_f32));
        up.insert(3usize, launch.float(DRIFT + 2));
        up
    } else {
        launch.vec3(DRIFT)
    }
}

/// The change of position on a sphere by a displacement in space, whose fourth component is upwards.
#[cube]
fn change_by<F: Float>(here: &Place<F>, by: Vec4<F>) -> Vec4<F> {
    change::<F>(here, local::<F>(here, by), by.extract(3usize))
}

/// The components of a velocity on a sphere towards the east, the north, and upwards.
#[cube]
pub(super) fn along_axes<F: Float>(here: &Place<F>, v: Vec4<F>) -> Vec4<F> {
    let mut axes = local::<F>(here, v);
    axes.insert(2usize, v.extract(3usize));
    axes
}

/// What the sum of a position `from` and a displacement loses by being rounded to `to` (Dekker's
/// fast two-sum).
#[cube]
pub(super) fn rest_of<F: Float>(
    launch: &Launch<F>,
    from: Vec4<F>,
    displacement: Vec4<F>,
    to: Vec4<F>,
) -> Vec4<F> {
    let mut rest = displacement;
    #[unroll]
    for d in 0..3usize {
        // The maximum hides the sum from compilers of devices that cancel terms.
        let moved = max(to.extract(d), launch.float(LOWEST)) - from.extract(d);
        rest.insert(d, displacement.extract(d) - moved);
    }
    rest
}

//! The kernels: a thread takes one particle through all steps of a segment.

use super::{
    Form, Vec4,
    adapt::{judge, length},
    cubecl,
    frame_pair::{FramePair, frame_pair},
    grid,
    mesh::{self, CellHint},
    particle::{Particle, load, store},
    points,
    progress::{StepProgress, begin, follow, move_on, start},
    settle::{settle, settle_among_obstacles, settle_in_mesh},
    stages::{StepResult, rk_step},
    tables::{FIRST_SLOT, FIRST_STEP, FRAME_INTERVALS, INTERVAL_COUNT, STEPS},
    vec4,
    walls::wrap,
};
use crate::status::{ACTIVE, BROKEN_OFF, WAITING};
use burn_cubecl::cubecl::prelude::*;

/// Data that speeds up the next sample of a particle and never changes its value. A kernel keeps
/// only the part that its field uses.
#[derive(CubeType)]
pub(super) struct Hint<F: Float> {
    points: points::Hint<F>,
    mesh: CellHint<F>,
}

/// Restores a hint from a particle's record.
#[cube]
fn recall<F: Float>(ints: &[i32], cell: i32) -> Hint<F> {
    Hint::<F> { points: points::no_hint::<F>(), mesh: mesh::recall::<F>(ints, cell) }
}

/// Takes every particle through all steps of a segment.
#[cube(launch)]
pub(super) fn advance_kernel<F: Float, N: Size>(
    position: &mut [F],
    record: &mut [i32],
    fraction: &mut [F],
    log_index: &mut [i32],
    log_position: &mut [F],
    log_count: &mut [i32],
    rows: &[F],
    numbers: &[i32],
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    #[comptime] form: Form,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= fraction.len() {
        terminate!();
    }
    let slot = i as u32 + ints[FIRST_SLOT] as u32;
    let mut particle = load::<F>(position, record, fraction, i, form);
    let mut hint = recall::<F>(ints, particle.cell);
    let steps = ints[STEPS] as usize;
    let mut progress = start::<F>(&particle);
    let mut takes_part = true;
    if comptime!(form.reuses_slots) {
        let (p, s) = (&mut particle, &mut progress);
        takes_part = begin::<F>(p, s, log_index, log_position, rows, floats, ints, slot);
    }
    // One round more than the number of steps, to detect a loop that the device aborted.
    let mut is_done = false;
    while progress.j <= steps {
        let number = ints[FIRST_STEP] + progress.j as i32;
        let released = particle.status == WAITING && particle.step == number;
        progress.repeats = false;
        if progress.j == steps {
            is_done = true;
        } else if takes_part && (released || particle.status == ACTIVE) {
            take_step::<F, N>(
                &mut particle,
                &mut hint,
                &mut progress,
                rows,
                numbers,
                velocity,
                coords,
                index,
                floats,
                ints,
                slot,
                number,
                released,
                form,
            );
            if comptime!(form.reuses_slots) {
                let (p, s) = (&mut particle, &mut progress);
                if follow::<F>(p, s, log_index, log_position, rows, floats, ints, slot) {
                    points::forget::<F>(&mut hint.points);
                    mesh::forget::<F>(&mut hint.mesh);
                }
            }
        }
        move_on::<F>(&mut progress, particle.status == WAITING);
    }
    if comptime!(form.adaptive) {
        particle.fraction = select(particle.status == ACTIVE, progress.next_dt, particle.fraction);
    }
    if !is_done {
        particle.status = BROKEN_OFF;
    }
    store::<F>(position, record, fraction, i, &particle, form);
    if comptime!(form.reuses_slots) {
        log_count[i] = particle.logged;
    }
}

/// Takes the rest of a step, or as much of it as its error allows.
#[cube]
fn take_step<F: Float, N: Size>(
    particle: &mut Particle<F>,
    hint: &mut Hint<F>,
    progress: &mut StepProgress<F>,
    rows: &[F],
    numbers: &[i32],
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    slot: u32,
    number: i32,
    released: bool,
    #[comptime] form: Form,
) {
    let one = F::new(1.0_f32);
    let j = progress.j;
    let start = select(released, particle.fraction, progress.start_fraction);
    let full_dt = floats[FRAME_INTERVALS + ints[INTERVAL_COUNT] as usize + 2 * j + 1];
    let left = (one - start) * full_dt;
    let mut h = left;
    let mut until = one;
    if comptime!(form.adaptive) {
        progress.next_dt = select(released, F::new(0.0_f32), progress.next_dt);
        h = length::<F>(floats, progress.next_dt, left);
        until = select(h == left, one, start + h / full_dt);
    }
    let result = rk_step::<F, N>(
        velocity,
        coords,
        index,
        floats,
        ints,
        particle.position,
        slot,
        particle.generation,
        j,
        start,
        h,
        until,
        hint,
        form,
    );
    particle.status = i32::new(ACTIVE as i64);
    let mut is_accepted = true;
    if comptime!(form.adaptive) {
        is_accepted = control::<F>(particle, progress, floats, &result, start, h, full_dt);
    }
    if is_accepted {
        settle_anywhere::<F, N>(
            particle,
            rows,
            numbers,
            coords,
            index,
            floats,
            ints,
            &result,
            number,
            start,
            &mut hint.mesh,
            form,
        );
    } else {
        mesh::restore::<F>(&mut hint.mesh);
    }
    if comptime!(form.adaptive) {
        let continues = particle.status == ACTIVE && progress.start_fraction < one;
        progress.repeats = continues || !is_accepted;
    }
}

/// Accepts or rejects a step by its error, and updates the suggested length.
#[cube]
fn control<F: Float>(
    particle: &mut Particle<F>,
    progress: &mut StepProgress<F>,
    floats: &[F],
    result: &StepResult<F>,
    start: F,
    h: F,
    full_dt: F,
) -> bool {
    let verdict = judge::<F>(floats, particle.position, result.to, result.error, h, full_dt);
    let is_accepted = verdict.is_accepted;
    // A step shortened to end with the segment's step says little about the next one.
    let next = h * verdict.factor;
    let is_cut = result.until == F::new(1.0_f32) && progress.next_dt.abs() > next.abs();
    progress.next_dt = select(is_accepted && is_cut, progress.next_dt, next);
    progress.start_fraction = select(is_accepted, result.until, start);
    particle.accepted += select(is_accepted, 1i32, 0i32);
    particle.rejected += select(is_accepted, 0i32, 1i32);
    is_accepted
}

/// Velocity at positions, at the start of the first step.
#[cube(launch)]
pub(super) fn sample_kernel<F: Float, N: Size>(
    position: &[F],
    output: &mut [F],
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    #[comptime] form: Form,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= position.len() / 3 {
        terminate!();
    }
    let at = frame_pair::<F>(floats, ints, 0usize, F::new(0.0_f32), form);
    let p = vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]);
    let p = wrap::<F>(floats, ints, p, form);
    let mut hint = recall::<F>(ints, 0i32);
    let v = sample::<F, N>(velocity, coords, index, floats, ints, p, &at, &mut hint, form);
    #[unroll]
    for d in 0..3usize {
        output[3 * i + d] = v.extract(d);
    }
}

/// Velocity at a position and time.
#[cube]
pub(super) fn sample<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    position: Vec4<F>,
    pair: &FramePair<F>,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    if comptime!(form.kind.is_grid()) {
        let coords = coords.downcast::<F>();
        grid::sample::<F>(velocity, coords, floats, ints, position, pair, form)
    } else if comptime!(form.kind.is_mesh()) {
        let (coords, hint) = (coords.downcast::<Vec4<F>>(), &mut hint.mesh);
        mesh::sample::<F>(velocity, coords, index, floats, ints, position, pair, hint, form)
    } else {
        let (coords, hint) = (coords.downcast::<F>(), &mut hint.points);
        points::sample::<F>(velocity, coords, index, floats, ints, position, pair, hint, form)
    }
}

/// Applies a step's displacement and boundary conditions, in step `number` from its fraction
/// `start` on.
#[cube]
fn settle_anywhere<F: Float, N: Size>(
    particle: &mut Particle<F>,
    rows: &[F],
    numbers: &[i32],
    coords: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    result: &StepResult<F>,
    number: i32,
    start: F,
    hint: &mut CellHint<F>,
    #[comptime] form: Form,
) {
    if comptime!(form.obstacles) {
        let surfaces = comptime!(form.surfaces);
        settle_among_obstacles::<F>(
            particle, rows, numbers, floats, ints, result, number, start, surfaces,
        );
    } else if comptime!(form.kind.is_mesh()) {
        let coords = coords.downcast::<Vec4<F>>();
        settle_in_mesh::<F>(
            particle, coords, index, floats, ints, result, number, start, hint, form,
        );
    } else {
        settle::<F>(particle, floats, ints, result, number, start);
    }
}

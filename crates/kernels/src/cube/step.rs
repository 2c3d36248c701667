//! The kernels: a thread takes one particle through all steps of a segment.

use super::{
    Form, Vec4,
    adapt::{judge, length},
    cubecl,
    frame_pair::{FramePair, moment},
    grid,
    lives::{succeed, wake},
    mesh::{self, CellHint},
    particle::{Particle, load, store},
    points,
    settle::{settle, settle_among_obstacles, settle_in_mesh},
    stages::{StepResult, rk_step},
    tables::{FIRST_SLOT, FIRST_STEP, GAP_COUNT, GAPS, RESUMES, ROOM, STEPS},
    vec4,
    walls::wrap,
};
use crate::{
    MAX_LIVES_A_STEP,
    status::{ACTIVE, BROKEN_OFF, WAITING},
};
use burn_cubecl::cubecl::prelude::*;

/// What helps with the next sample of a particle, and never changes its value. A kernel keeps what
/// its kind of field uses.
#[derive(CubeType)]
pub(super) struct Hint<F: Float> {
    points: points::Hint<F>,
    mesh: CellHint<F>,
}

/// What a particle's record keeps of a hint.
#[cube]
fn recall<F: Float>(ints: &[i32], place: i32) -> Hint<F> {
    Hint::<F> { points: points::no_hint::<F>(), mesh: mesh::recall::<F>(ints, place) }
}

/// Takes every particle through all steps of a segment.
#[cube(launch)]
pub(super) fn advance_kernel<F: Float, N: Size>(
    position: &mut [F],
    record: &mut [i32],
    fraction: &mut [F],
    log_index: &mut [i32],
    log_place: &mut [F],
    log_count: &mut [i32],
    rows: &[F],
    numbers: &[i32],
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
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
    let mut hint = recall::<F>(ints, particle.place);
    let steps = ints[STEPS] as usize;
    let pace = select(particle.status == ACTIVE, particle.fraction, F::new(0.0_f32));
    let mut course =
        Course::<F> { j: 0usize, begun: F::new(0.0_f32), pace, lives: 0i32, again: false };
    let mut takes_part = true;
    if comptime!(form.lives) {
        takes_part =
            begin::<F>(&mut particle, &mut course, log_index, log_place, rows, floats, ints, slot);
    }
    // Once more than there are steps, to see that it gets so far: a device may break loops off.
    let mut is_done = false;
    while course.j <= steps {
        let number = ints[FIRST_STEP] + course.j as i32;
        let released = particle.status == WAITING && particle.step == number;
        course.again = false;
        if course.j == steps {
            is_done = true;
        } else if takes_part && (released || particle.status == ACTIVE) {
            take_step::<F, N>(
                &mut particle,
                &mut hint,
                &mut course,
                rows,
                numbers,
                velocity,
                places,
                index,
                floats,
                ints,
                slot,
                number,
                released,
                form,
            );
            if comptime!(form.lives) {
                let (p, c) = (&mut particle, &mut course);
                if follow::<F>(p, c, log_index, log_place, rows, floats, ints, slot) {
                    points::forget::<F>(&mut hint.points);
                    mesh::forget::<F>(&mut hint.mesh);
                }
            }
        }
        count_on::<F>(&mut course, particle.status == WAITING);
    }
    if comptime!(form.adaptive) {
        particle.fraction = select(particle.status == ACTIVE, course.pace, particle.fraction);
    }
    if !is_done {
        particle.status = BROKEN_OFF;
    }
    store::<F>(position, record, fraction, i, &particle, form);
    if comptime!(form.lives) {
        log_count[i] = particle.logged;
    }
}

/// How far a particle is on its way through a segment.
#[derive(CubeType)]
struct Course<F: Float> {
    /// The step.
    j: usize,
    /// The part of the step that is over.
    begun: F,
    /// The length that the next part of it should have, where that follows from errors.
    pace: F,
    /// Lives that have begun in the step.
    lives: i32,
    /// Whether more of the step remains.
    again: bool,
}

/// Goes on to the next step where nothing of this one remains.
#[cube]
fn count_on<F: Float>(course: &mut Course<F>, waits: bool) {
    if !course.again {
        course.j += 1;
        course.lives = select(waits, course.lives, 0i32);
        course.begun = F::new(0.0_f32);
    }
}

/// What follows in a slot after a step. Returns whether another life does.
#[cube]
fn follow<F: Float>(
    particle: &mut Particle<F>,
    course: &mut Course<F>,
    log_index: &mut [i32],
    log_place: &mut [F],
    rows: &[F],
    floats: &[F],
    ints: &[i32],
    slot: u32,
) -> bool {
    let number = ints[FIRST_STEP] + course.j as i32;
    let follows = succeed::<F>(particle, log_index, log_place, rows, floats, ints, slot);
    if follows {
        go_on::<F>(particle, course, number);
    } else if particle.logged > ints[ROOM] {
        // It waits for room; its image begins anew, so there is room for this.
        particle.image_x = course.lives;
    }
    follows
}

/// What follows ends of a launch before this one, and the first releases of sources. Returns whether
/// a particle takes part in the launch.
#[cube]
#[allow(clippy::identity_op)]
fn begin<F: Float>(
    particle: &mut Particle<F>,
    course: &mut Course<F>,
    log_index: &mut [i32],
    log_place: &mut [F],
    inlets: &[F],
    floats: &[F],
    ints: &[i32],
    slot: u32,
) -> bool {
    let mut takes_part = true;
    if ints[RESUMES] != 0 {
        takes_part = particle.status > ACTIVE;
    } else {
        wake::<F>(particle, inlets, floats, ints, slot);
    }
    if takes_part {
        // Added to, as what is read from a field changes with it.
        let (lives, number) = (particle.image_x + 0i32, particle.step + 0i32);
        if succeed::<F>(particle, log_index, log_place, inlets, floats, ints, slot) {
            course.lives = lives;
            go_on::<F>(particle, course, number);
            course.again = false;
        }
        takes_part = particle.status <= ACTIVE;
    }
    takes_part
}

/// Takes the rest of a step, or as much of it as its error allows.
#[cube]
fn take_step<F: Float, N: Size>(
    particle: &mut Particle<F>,
    hint: &mut Hint<F>,
    course: &mut Course<F>,
    rows: &[F],
    numbers: &[i32],
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    slot: u32,
    number: i32,
    released: bool,
    #[comptime] form: Form,
) {
    let one = F::new(1.0_f32);
    let j = course.j;
    let start = select(released, particle.fraction, course.begun);
    let whole = floats[GAPS + ints[GAP_COUNT] as usize + 2 * j + 1];
    let left = (one - start) * whole;
    let mut h = left;
    let mut until = one;
    if comptime!(form.adaptive) {
        course.pace = select(released, F::new(0.0_f32), course.pace);
        h = length::<F>(floats, course.pace, left);
        until = select(h == left, one, start + h / whole);
    }
    let leap = rk_step::<F, N>(
        velocity,
        places,
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
        is_accepted = control::<F>(particle, course, floats, &leap, start, h, whole);
    }
    if is_accepted {
        settle_anywhere::<F, N>(
            particle,
            rows,
            numbers,
            places,
            index,
            floats,
            ints,
            &leap,
            number,
            start,
            &mut hint.mesh,
            form,
        );
    } else {
        mesh::turn_back::<F>(&mut hint.mesh);
    }
    if comptime!(form.adaptive) {
        let goes_on = particle.status == ACTIVE && course.begun < one;
        course.again = goes_on || !is_accepted;
    }
}

/// Judges a step by its error, and says how long the next one should be.
#[cube]
fn control<F: Float>(
    particle: &mut Particle<F>,
    course: &mut Course<F>,
    floats: &[F],
    leap: &StepResult<F>,
    start: F,
    h: F,
    whole: F,
) -> bool {
    let verdict = judge::<F>(floats, particle.position, leap.to, leap.error, h, whole);
    let is_accepted = verdict.is_accepted;
    // A step that was cut short by the end of the segment's says little about the next one.
    let next = h * verdict.factor;
    let is_cut = leap.until == F::new(1.0_f32) && course.pace.abs() > next.abs();
    course.pace = select(is_accepted && is_cut, course.pace, next);
    course.begun = select(is_accepted, leap.until, start);
    particle.accepted += select(is_accepted, 1i32, 0i32);
    particle.rejected += select(is_accepted, 0i32, 1i32);
    is_accepted
}

/// Another life follows in a slot: whether it takes what is left of the step.
#[cube]
fn go_on<F: Float>(particle: &mut Particle<F>, course: &mut Course<F>, number: i32) {
    course.begun = F::new(0.0_f32);
    course.lives += 1;
    course.again = particle.step == number;
    if course.again && course.lives > comptime!(MAX_LIVES_A_STEP as i32) {
        course.again = false;
        particle.step = number + 1;
        particle.fraction = F::new(0.0_f32);
    }
    course.lives = select(course.again, course.lives, 0i32);
}

/// Velocity at positions, at the beginning of the first step.
#[cube(launch)]
pub(super) fn sample_kernel<F: Float, N: Size>(
    position: &[F],
    output: &mut [F],
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
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
    let at = moment::<F>(floats, ints, 0usize, F::new(0.0_f32), form);
    let p = vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]);
    let p = wrap::<F>(floats, ints, p, form);
    let mut hint = recall::<F>(ints, 0i32);
    let v = sample::<F, N>(velocity, places, index, floats, ints, p, &at, &mut hint, form);
    #[unroll]
    for d in 0..3usize {
        output[3 * i + d] = v.extract(d);
    }
}

/// Velocity at a position and a moment.
#[cube]
pub(super) fn sample<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    position: Vec4<F>,
    moment: &FramePair<F>,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    if comptime!(form.kind.is_grid()) {
        let places = places.downcast::<F>();
        grid::sample::<F>(velocity, places, floats, ints, position, moment, form)
    } else if comptime!(form.kind.is_mesh()) {
        let (places, hint) = (places.downcast::<Vec4<F>>(), &mut hint.mesh);
        mesh::sample::<F>(velocity, places, index, floats, ints, position, moment, hint, form)
    } else {
        let (places, hint) = (places.downcast::<F>(), &mut hint.points);
        points::sample::<F>(velocity, places, index, floats, ints, position, moment, hint, form)
    }
}

/// Writes what became of a particle in step `number`, from its fraction `start` on.
#[cube]
fn settle_anywhere<F: Float, N: Size>(
    particle: &mut Particle<F>,
    rows: &[F],
    numbers: &[i32],
    places: &[Vector<F, N>],
    index: &[i32],
    floats: &[F],
    ints: &[i32],
    leap: &StepResult<F>,
    number: i32,
    start: F,
    hint: &mut CellHint<F>,
    #[comptime] form: Form,
) {
    if comptime!(form.obstacles) {
        let surfaces = comptime!(form.surfaces);
        settle_among_obstacles::<F>(
            particle, rows, numbers, floats, ints, leap, number, start, surfaces,
        );
    } else if comptime!(form.kind.is_mesh()) {
        let places = places.downcast::<Vec4<F>>();
        settle_in_mesh::<F>(particle, places, index, floats, ints, leap, number, start, hint, form);
    } else {
        settle::<F>(particle, floats, ints, leap, number, start);
    }
}

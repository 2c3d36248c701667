//! The kernels: a thread takes one particle through all steps of a segment.

use super::{
    Form, Vec4,
    adapt::{judge, length},
    cubecl, grid,
    lives::{succeed, wake},
    mesh::{self, Whereabouts},
    moment::{Moment, moment},
    particle::{Particle, load, store},
    points,
    settle::{settle, settle_among_obstacles, settle_in_mesh},
    tables::{DRIFT, FIRST_STEP, GAP_COUNT, GAPS, RESUMES, STAGNANT, STEPS},
    vec4,
    walk::stray,
    walls::wrap,
};
use crate::{
    MOST_LIVES_A_STEP, Ratio,
    status::{ACTIVE, BROKEN_OFF, WAITING},
};
use burn_cubecl::cubecl::prelude::*;

/// What helps with the next sample of a particle, and never changes its value. A kernel keeps what
/// its kind of field uses.
#[derive(CubeType)]
pub(super) struct Hint<F: Float> {
    points: points::Hint<F>,
    mesh: Whereabouts<F>,
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
    inlets: &[F],
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
    index: &[i32],
    reals: &[F],
    wholes: &[i32],
    #[comptime] form: Form,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= fraction.len() {
        terminate!();
    }
    let slot = i as u32;
    let mut particle = load::<F>(position, record, fraction, i, form);
    let mut hint = Hint::<F> {
        points: points::no_hint::<F>(),
        mesh: mesh::recall::<F>(wholes, particle.place),
    };
    let steps = wholes[STEPS] as usize;
    let mut takes_part = true;
    if comptime!(form.lives) {
        if wholes[RESUMES] != 0 {
            takes_part = particle.status > ACTIVE;
        } else {
            wake::<F>(&mut particle, inlets, reals, wholes, slot);
        }
        if takes_part {
            succeed::<F>(&mut particle, log_index, log_place, inlets, reals, wholes, slot);
            takes_part = particle.status <= ACTIVE;
        }
    }
    // Once more than there are steps, to see that it gets so far: a device may break loops off.
    let mut is_done = false;
    let mut j = 0usize;
    let mut lives = 0usize;
    // The part of the step that is over, and the length that the next part of it should have.
    let mut begun = F::new(0.0_f32);
    let mut pace = F::new(0.0_f32);
    if comptime!(form.adaptive) {
        pace = select(particle.status == ACTIVE, particle.fraction, pace);
    }
    while j <= steps {
        let number = wholes[FIRST_STEP] + j as i32;
        let released = particle.status == WAITING && particle.step == number;
        let mut again = false;
        let mut was_accepted = true;
        if j == steps {
            is_done = true;
        } else if takes_part && (released || particle.status == ACTIVE) {
            let start = select(released, particle.fraction, begun);
            let whole = reals[GAPS + wholes[GAP_COUNT] as usize + 2 * j + 1];
            let left = (F::new(1.0_f32) - start) * whole;
            let mut h = left;
            let mut until = F::new(1.0_f32);
            if comptime!(form.adaptive) {
                pace = select(released, F::new(0.0_f32), pace);
                h = length::<F>(reals, pace, left);
                until = select(h == left, until, start + h / whole);
            }
            let step = rk_step::<F, N>(
                velocity,
                places,
                index,
                reals,
                wholes,
                particle.position,
                slot,
                particle.generation,
                j,
                start,
                h,
                until,
                &mut hint,
                form,
            );
            particle.status = ACTIVE;
            if comptime!(form.adaptive) {
                let (from, to) = (particle.position, step.to);
                let verdict = judge::<F>(reals, from, to, step.error, h, whole);
                was_accepted = verdict.is_accepted;
                // A step that was cut short by the end of the segment's says little about the next.
                let next = h * verdict.factor;
                let is_cut = until == F::new(1.0_f32) && pace.abs() > next.abs();
                pace = select(was_accepted && is_cut, pace, next);
                particle.accepted += select(was_accepted, 1i32, 0i32);
                particle.rejected += select(was_accepted, 0i32, 1i32);
                begun = select(was_accepted, until, start);
            }
            if was_accepted {
                settle_anywhere::<F, N>(
                    &mut particle,
                    places,
                    index,
                    reals,
                    wholes,
                    &step,
                    number,
                    start,
                    &mut hint.mesh,
                    form,
                );
            } else {
                mesh::turn_back::<F>(&mut hint.mesh);
            }
            if comptime!(form.lives) {
                again =
                    succeed::<F>(&mut particle, log_index, log_place, inlets, reals, wholes, slot);
                if again {
                    begun = F::new(0.0_f32);
                    points::forget::<F>(&mut hint.points);
                    mesh::forget::<F>(&mut hint.mesh);
                    lives += 1;
                }
                again = again && particle.step == number;
                if again && lives > MOST_LIVES_A_STEP {
                    again = false;
                    particle.step = number + 1;
                    particle.fraction = F::new(0.0_f32);
                }
            }
        }
        if comptime!(form.adaptive) {
            let goes_on = particle.status == ACTIVE && begun > F::new(0.0_f32);
            again = again || (goes_on && begun < F::new(1.0_f32)) || !was_accepted;
        }
        if !again {
            j += 1;
            lives = 0usize;
            begun = F::new(0.0_f32);
        }
    }
    if comptime!(form.adaptive) {
        particle.fraction = select(particle.status == ACTIVE, pace, particle.fraction);
    }
    if !is_done {
        particle.status = BROKEN_OFF;
    }
    store::<F>(position, record, fraction, i, &particle, form);
    if comptime!(form.lives) {
        log_count[i] = particle.logged;
    }
}

/// Velocity at positions, at the beginning of the first step.
#[cube(launch)]
pub(super) fn sample_kernel<F: Float, N: Size>(
    position: &[F],
    output: &mut [F],
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
    index: &[i32],
    reals: &[F],
    wholes: &[i32],
    #[comptime] form: Form,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= position.len() / 3 {
        terminate!();
    }
    let at = moment::<F>(reals, wholes, 0usize, F::new(0.0_f32), form);
    let p = vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]);
    let p = wrap::<F>(reals, wholes, p, form);
    let mut hint =
        Hint::<F> { points: points::no_hint::<F>(), mesh: mesh::recall::<F>(wholes, 0i32) };
    let v = sample::<F, N>(velocity, places, index, reals, wholes, p, &at, &mut hint, form);
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
    reals: &[F],
    wholes: &[i32],
    position: Vec4<F>,
    moment: &Moment<F>,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Vec4<F> {
    if comptime!(form.kind.is_grid()) {
        let places = places.downcast::<F>();
        grid::sample::<F>(velocity, places, reals, wholes, position, moment, form)
    } else if comptime!(form.kind.is_mesh()) {
        let (places, hint) = (places.downcast::<Vec4<F>>(), &mut hint.mesh);
        mesh::sample::<F>(velocity, places, index, reals, wholes, position, moment, hint, form)
    } else {
        let (places, hint) = (places.downcast::<F>(), &mut hint.points);
        points::sample::<F>(velocity, places, index, reals, wholes, position, moment, hint, form)
    }
}

/// Where a step led, before the boundary.
#[derive(CubeType)]
pub(super) struct Leap<F: Float> {
    pub to: Vec4<F>,
    pub slow: bool,
    /// The fraction of the step of the segment to which it led.
    pub until: F,
    /// How far it is from the embedded solution, where steps' lengths follow from that.
    pub error: Vec4<F>,
}

/// Writes what became of a particle in step `number`, from its fraction `start` on.
#[cube]
fn settle_anywhere<F: Float, N: Size>(
    particle: &mut Particle<F>,
    places: &[Vector<F, N>],
    index: &[i32],
    reals: &[F],
    wholes: &[i32],
    leap: &Leap<F>,
    number: i32,
    start: F,
    hint: &mut Whereabouts<F>,
    #[comptime] form: Form,
) {
    if comptime!(form.obstacles) {
        settle_among_obstacles::<F>(particle, reals, wholes, leap, number, start);
    } else if comptime!(form.kind.is_mesh()) {
        let places = places.downcast::<Vec4<F>>();
        settle_in_mesh::<F>(
            particle, places, index, reals, wholes, leap, number, start, hint, form,
        );
    } else {
        settle::<F>(particle, reals, wholes, leap, number, start);
    }
}

/// A scheme's coefficient.
#[cube]
pub(super) fn ratio<F: Float>(#[comptime] ratio: Ratio) -> F {
    F::cast_from(comptime!(ratio.0)) / F::cast_from(comptime!(ratio.1))
}

/// One Runge-Kutta step of length `h` from the fraction `start` of step `j` to the fraction `until`.
#[cube]
fn rk_step<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
    index: &[i32],
    reals: &[F],
    wholes: &[i32],
    from: Vec4<F>,
    slot: u32,
    generation: i32,
    j: usize,
    start: F,
    h: F,
    until: F,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Leap<F> {
    let tableau = comptime!(*form.scheme.tableau());
    let whole = reals[GAPS + wholes[GAP_COUNT] as usize + 2 * j + 1];
    let stages = comptime!(if form.adaptive { tableau.stages } else { tableau.solution_stages() });
    let drift = vec4::<F>(reals[DRIFT], reals[DRIFT + 1], reals[DRIFT + 2]);
    let mut k = Sequence::<Vec4<F>>::new();
    #[unroll]
    for s in 0..stages {
        let mut stage = from;
        #[unroll]
        for r in 0..s {
            let a = comptime!(tableau.a[s][r]);
            if comptime!(!a.is_zero()) {
                stage += Vec4::<F>::new(ratio::<F>(a) * h) * k[r];
            }
        }
        let offset = start * whole + ratio::<F>(comptime!(tableau.c[s])) * h;
        let at = moment::<F>(reals, wholes, j, offset, form);
        let p = wrap::<F>(reals, wholes, stage, form);
        let mut v =
            sample::<F, N>(velocity, places, index, reals, wholes, p, &at, hint, form) + drift;
        if comptime!(form.walk.varies) {
            v.insert(3usize, F::new(0.0_f32));
        }
        k.push(v);
    }
    let mut slope = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..comptime!(tableau.solution_stages()) {
        let b = comptime!(tableau.b[s]);
        if comptime!(!b.is_zero()) {
            slope += Vec4::<F>::new(ratio::<F>(b)) * k[s];
        }
    }
    let mut error = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..stages {
        let e = comptime!(tableau.error[s]);
        if comptime!(form.adaptive && !e.is_zero()) {
            error += Vec4::<F>::new(ratio::<F>(e) * h) * k[s];
        }
    }
    let mut to = from + Vec4::<F>::new(h) * slope;
    if comptime!(form.walk.is_on) {
        to = stray::<F, N>(
            velocity,
            places,
            index,
            reals,
            wholes,
            from,
            to,
            slot,
            generation,
            wholes[FIRST_STEP] + j as i32,
            j,
            start * whole,
            h,
            hint,
            form,
        );
    }
    let first = k[0];
    let speed = first.extract(0usize) * first.extract(0usize)
        + first.extract(1usize) * first.extract(1usize)
        + first.extract(2usize) * first.extract(2usize);
    Leap::<F> { to, slow: speed < reals[STAGNANT], until, error }
}

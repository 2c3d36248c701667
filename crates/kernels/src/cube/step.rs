//! The kernels: a thread takes one particle through all steps of a segment.

use super::{
    Form, Vec4, cubecl,
    edge::pass,
    grid,
    lives::{succeed, wake},
    mesh::{self, Whereabouts},
    moment::{Moment, moment},
    points,
    tables::{FIRST_STEP, GAP_COUNT, GAPS, RESUMES, STAGNANT, STEPS},
    vec4,
    walls::{contains, land, wrap},
};
use crate::{
    MOST_LIVES_A_STEP, RECORD, Ratio,
    status::{
        ACTIVE, BROKEN_OFF, EXITED, LEFT_MESH, NON_FINITE, STAGNANT as STAGNANT_STATUS, WAITING,
    },
};
use burn_cubecl::cubecl::prelude::*;

/// What helps with the next sample of a particle, and never changes its value. A kernel keeps what
/// its kind of field uses.
#[derive(CubeType)]
struct Hint<F: Float> {
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
    while j <= steps {
        let number = wholes[FIRST_STEP] + j as i32;
        let released = particle.status == WAITING && particle.step == number;
        let mut again = false;
        if j == steps {
            is_done = true;
        } else if takes_part && (released || particle.status == ACTIVE) {
            let start = select(released, particle.fraction, F::new(0.0_f32));
            let step = rk_step::<F, N>(
                velocity,
                places,
                index,
                reals,
                wholes,
                particle.position,
                j,
                start,
                &mut hint,
                form,
            );
            particle.status = ACTIVE;
            if comptime!(form.kind.is_mesh()) {
                settle_in_mesh::<F>(
                    &mut particle,
                    places.downcast::<Vec4<F>>(),
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
                settle::<F>(&mut particle, reals, wholes, &step, number, start);
            }
            if comptime!(form.lives) {
                again =
                    succeed::<F>(&mut particle, log_index, log_place, inlets, reals, wholes, slot);
                if again {
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
        if !again {
            j += 1;
            lives = 0usize;
        }
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
fn sample<F: Float, N: Size>(
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

/// A particle's state in registers.
#[derive(CubeType)]
pub(super) struct Particle<F: Float> {
    pub position: Vec4<F>,
    pub status: i32,
    pub step: i32,
    pub image_x: i32,
    pub image_y: i32,
    pub image_z: i32,
    /// What its record keeps of cells.
    pub place: i32,
    pub generation: i32,
    /// Ends that it has logged in this launch; one more than there is room for where the last one
    /// waits.
    pub logged: i32,
    pub fraction: F,
}

/// Where a step led, before the boundary.
#[derive(CubeType)]
struct Leap<F: Float> {
    to: Vec4<F>,
    slow: bool,
}

#[cube]
fn load<F: Float>(
    position: &mut [F],
    record: &mut [i32],
    fraction: &mut [F],
    i: usize,
    #[comptime] form: Form,
) -> Particle<F> {
    let row = i * RECORD;
    let mut place = 0i32;
    if comptime!(form.kind.is_mesh()) {
        place = record[row + 5];
    }
    Particle::<F> {
        position: vec4::<F>(position[3 * i], position[3 * i + 1], position[3 * i + 2]),
        status: record[row],
        step: record[row + 1],
        image_x: record[row + 2],
        image_y: record[row + 3],
        image_z: record[row + 4],
        place,
        generation: record[row + 6],
        logged: 0i32,
        fraction: fraction[i],
    }
}

#[cube]
fn store<F: Float>(
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
    if comptime!(form.kind.is_mesh()) {
        record[row + 5] = particle.place;
    }
    if comptime!(form.lives) {
        record[row + 6] = particle.generation;
    }
    fraction[i] = particle.fraction;
}

/// A scheme's coefficient.
#[cube]
pub(super) fn ratio<F: Float>(#[comptime] ratio: Ratio) -> F {
    F::cast_from(comptime!(ratio.0)) / F::cast_from(comptime!(ratio.1))
}

/// One Runge-Kutta step from the fraction `start` of step `j` to its end.
#[cube]
fn rk_step<F: Float, N: Size>(
    velocity: &[Vec4<F>],
    places: &[Vector<F, N>],
    index: &[i32],
    reals: &[F],
    wholes: &[i32],
    from: Vec4<F>,
    j: usize,
    start: F,
    hint: &mut Hint<F>,
    #[comptime] form: Form,
) -> Leap<F> {
    let tableau = comptime!(*form.scheme.tableau());
    let whole = reals[GAPS + wholes[GAP_COUNT] as usize + 2 * j + 1];
    let h = (F::new(1.0_f32) - start) * whole;
    let mut k = Sequence::<Vec4<F>>::new();
    #[unroll]
    for s in 0..comptime!(tableau.stages) {
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
        k.push(sample::<F, N>(velocity, places, index, reals, wholes, p, &at, hint, form));
    }
    let mut slope = Vec4::<F>::new(F::new(0.0_f32));
    #[unroll]
    for s in 0..comptime!(tableau.stages) {
        let b = comptime!(tableau.b[s]);
        if comptime!(!b.is_zero()) {
            slope += Vec4::<F>::new(ratio::<F>(b)) * k[s];
        }
    }
    let first = k[0];
    let speed = first.extract(0usize) * first.extract(0usize)
        + first.extract(1usize) * first.extract(1usize)
        + first.extract(2usize) * first.extract(2usize);
    Leap::<F> { to: from + Vec4::<F>::new(h) * slope, slow: speed < reals[STAGNANT] }
}

/// Writes what became of a particle in step `index`, from its fraction `start` on.
#[cube]
fn settle<F: Float>(
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
            let fraction = start + landing.fraction * (F::new(1.0_f32) - start);
            end::<F>(particle, EXITED + landing.face, index, fraction);
        }
    }
}

/// As [`settle`], in a mesh, which may end within its box.
#[cube]
fn settle_in_mesh<F: Float>(
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
            let fraction = start + passage.fraction * (F::new(1.0_f32) - start);
            end::<F>(particle, passage.status, index, fraction);
        }
        particle.place = passage.face;
    }
    if particle.status != LEFT_MESH {
        particle.place = hint.base;
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

//! The kernels: a thread takes one particle through all steps of a segment.

use super::{
    Vec4, cubecl,
    frame_pair::{frame_pair, from_value},
    launch::{EndLog, Launch, Rows},
    particle::{load, store},
    progress::{StepProgress, begin, follow, move_on, start},
    reinjection::count_of,
    sampler::{Hint, forget, image, recall, sample},
    settle::settle,
    stages::{Part, StepResult, along_axes, place_of, rk_step},
    vec4,
};
use crate::physics::particle::device::Particle;
use crate::{
    Adaptive,
    functions::POSITION,
    physics::{
        region::device::restore,
        settle::device::end,
        step_size::device::{TrialStep, control, judge, length, slack},
        tables::{
            CONTROL_MAX, FIRST_SLOT, FIRST_STEP, FRAME_INTERVALS, FRAME_SIZE, GROUP_SIZE,
            INTERVAL_COUNT, RADIUS, STEPS,
        },
    },
    record::{LOCATION, RECORD, STATUS},
    status::{ACTIVE, BROKEN_OFF, STEP_TOO_SMALL, WAITING},
};
use burn_cubecl::cubecl::prelude::*;

/// Takes every particle through all steps of a segment. Their number is an argument, as the memory of a buffer, and so its
/// length, may be longer than its tensor.
#[cube(launch)]
pub(super) fn advance_kernel<F: Float>(
    rows: &mut Rows<F>,
    log: &mut EndLog<F>,
    count: usize,
    launch: &Launch<F>,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= count {
        terminate!();
    }
    let slot = i as u32 + launch.int(FIRST_SLOT) as u32;
    let mut particle = load::<F>(launch, rows, i);
    let mut hint = recall::<F>(launch, particle.location);
    let steps = launch.int(STEPS) as usize;
    let mut progress = start::<F>(&particle, slot);
    let mut takes_part = true;
    if comptime!(launch.features.reuses_slots) {
        takes_part = begin::<F>(launch, &mut particle, &mut progress, log, slot);
    }
    // One round more than the number of steps, to detect a loop that the device aborted.
    let mut is_done = false;
    while progress.j <= steps {
        let number = launch.int(FIRST_STEP) + progress.j as i32;
        let released = particle.status == WAITING && particle.step == number;
        progress.repeats = false;
        if progress.j == steps {
            is_done = true;
        } else if takes_part && (released || particle.status == ACTIVE) {
            let mut gives_up = false;
            if comptime!(launch.features.adaptive) {
                progress.trials += 1;
                gives_up = progress.trials > comptime!(Adaptive::MAX_TRIALS as i32);
            }
            if gives_up {
                end::<F>(&mut particle, STEP_TOO_SMALL, number, progress.start_fraction);
            } else {
                take_step::<F>(launch, &mut particle, &mut hint, &mut progress, log);
            }
            let mut is_new = false;
            if comptime!(launch.features.reuses_slots) {
                is_new = follow::<F>(launch, &mut particle, &mut progress, log, slot);
            }
            if is_new {
                forget::<F>(&mut hint);
            }
        }
        move_on::<F>(&mut progress, particle.status == WAITING);
    }
    if comptime!(launch.features.adaptive) {
        particle.fraction = select(particle.status == ACTIVE, progress.next_dt, particle.fraction);
    }
    if !is_done {
        particle.status = BROKEN_OFF;
    }
    store::<F>(launch, rows, i, &particle);
    if comptime!(launch.features.logs()) {
        log.count[i] = count_of::<F>(&progress.noting);
    }
}

/// Takes the rest of a step, or as much of it as its error allows.
#[cube]
fn take_step<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    hint: &mut Hint<F>,
    progress: &mut StepProgress<F>,
    log: &mut EndLog<F>,
) {
    let one = F::new(1.0_f32);
    let j = progress.j;
    let number = launch.int(FIRST_STEP) + j as i32;
    let released = particle.status == WAITING;
    let start = select(released, particle.fraction, progress.start_fraction);
    let full_dt = launch.float(FRAME_INTERVALS + launch.int(INTERVAL_COUNT) as usize + 2 * j + 1);
    let left = (one - start) * full_dt;
    let mut part = Part::<F> { start, until: one, h: left, full_dt };
    if comptime!(launch.features.adaptive) {
        progress.next_dt = select(released, F::new(0.0_f32), progress.next_dt);
        part.h = length::<F>(launch.float(CONTROL_MAX), progress.next_dt, left);
        part.until = select(part.h == left, one, start + part.h / full_dt);
    }
    let result = rk_step::<F>(launch, particle, progress.noting.slot, j, &part, hint);
    particle.status = i32::new(ACTIVE as i64);
    let mut is_accepted = true;
    if comptime!(launch.features.adaptive) {
        is_accepted = accepts::<F>(launch, particle, progress, &result, &part);
    }
    if is_accepted {
        progress.noting.number = number;
        settle::<F>(launch, particle, &result, &part, hint, &mut progress.noting, log);
    } else {
        restore::<F>(&mut hint.mesh);
    }
    if comptime!(launch.features.adaptive) {
        let continues = particle.status == ACTIVE && progress.start_fraction < one;
        progress.repeats = continues || !is_accepted;
    }
}

/// Accepts or rejects a step by its error, and updates the suggested length.
#[cube]
fn accepts<F: Float>(
    launch: &Launch<F>,
    particle: &mut Particle<F>,
    progress: &mut StepProgress<F>,
    result: &StepResult<F>,
    part: &Part<F>,
) -> bool {
    let trial = TrialStep::<F> {
        suggested: progress.next_dt,
        h: part.h,
        is_last: part.until == F::new(1.0_f32),
        slack: slack::<F>(part.full_dt),
    };
    let control = control::<F>(launch);
    let mut from = particle.position;
    let mut to = result.to;
    if comptime!(launch.features.sphere) {
        from = Vec4::<F>::new(launch.float(RADIUS));
        to = from;
    }
    let verdict = judge::<F>(&control, from, to, result.error, &trial);
    let is_accepted = verdict.is_accepted;
    progress.next_dt = verdict.next_dt;
    if verdict.is_hopeless {
        // The next round ends it.
        progress.trials = i32::new(Adaptive::MAX_TRIALS as i64);
    }
    progress.start_fraction = select(is_accepted, part.until, part.start);
    particle.accepted += select(is_accepted, 1i32, 0i32);
    particle.rejected += select(is_accepted, 0i32, 1i32);
    is_accepted
}

/// The groups of values from a first one on at the particles' positions, at the start of the first
/// step.
#[cube(launch)]
pub(super) fn sample_kernel<F: Float>(
    position: &[F],
    record: &[i32],
    output: &mut [F],
    count: usize,
    first: usize,
    launch: &Launch<F>,
    #[define(F)] _dtype: ElemType,
) {
    let i = ABSOLUTE_POS;
    if i >= count {
        terminate!();
    }
    let at = frame_pair::<F>(launch, 0usize, F::new(0.0_f32));
    let p = POSITION * i;
    let p = vec4::<F>(position[p], position[p + 1], position[p + 2]);
    let p = image::<F>(launch, p);
    let status = record[RECORD * i + STATUS];
    let has_cell = status == ACTIVE || status == WAITING;
    let mut hint = recall::<F>(launch, select(has_cell, record[RECORD * i + LOCATION], 0i32));
    let size = launch.int(GROUP_SIZE) as usize;
    let groups = launch.int(FRAME_SIZE) as usize / size;
    for group in first..groups {
        let pair = from_value::<F>(&at, group * size);
        let mut v = sample::<F>(launch, p, &pair, &mut hint);
        if comptime!(launch.features.sphere) && group == 0 {
            v = along_axes::<F>(&place_of::<F>(launch, p), v);
        }
        #[unroll]
        for d in 0..4usize {
            output[4 * ((groups - first) * i + group - first) + d] = v.extract(d);
        }
    }
}

//! The fused engine: one launch per chunk of steps.

use super::{
    gates::{self, Gates, Room},
    reinjection::{End, Reinjection},
    slots,
    stepper::Stepper,
};
use crate::{
    Error, Floats, Result, Sampled, Scheme,
    field::{FrameWindow, evaluate},
    schedule::Chunk,
};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{
    Clock, LOG_INDEX, LOG_POSITION, Log, Particles, Segment, Step, status::CROSSED,
};
use std::sync::Arc;

/// Advances particles by a chunk of steps. Also returns the ends that are followed by a
/// re-injection.
pub(super) fn advance(
    stepper: &Stepper,
    field: &Sampled,
    (first_slot, particles): (u32, Particles),
    chunk: &Chunk,
    following: Option<&Reinjection>,
) -> Result<(Particles, Vec<End>)> {
    let spans = chunk.step_spans();
    let FrameWindow { tensors, clock, steps } = field.during(&spans)?;
    let mut segment = segment(stepper, clock, steps);
    (segment.first_step, segment.first_slot) = (chunk.first_step as i32, first_slot);
    if let Some(factors) = &stepper.factors {
        let first = first_slot as usize;
        segment.scaled = Some(factors.of_launch(first..first + particles.count())?);
    }
    segment.starts = stepper.tracks_releases && chunk.first_step == 0;
    segment.span_parts = stepper
        .span
        .map(|[t0, t1]| chunk.times.iter().map(|time| (time - t0) / (t1 - t0)).collect());
    (segment.reload, segment.batch) = (field.reload(&spans), stepper.batch);
    segment.reinjection = following.map(|following| following.reinjection.clone());
    let rows = slots::log_rows(particles.count());
    let mut ends = Vec::new();
    let particles =
        gates::launch(stepper, particles, (segment, rows), &mut ends, |particles, segment| {
            burntrace_kernels::advance(particles, &tensors, &stepper.geometry, segment)
        })?;
    Ok((particles, ends))
}

/// Reads the ends and the crossings that a launch has logged.
pub(super) fn read(log: Log, ends: &mut Vec<End>, gates: &Gates) -> Result<Room> {
    let counts = ints(log.count.try_into_data())?;
    if counts.iter().any(|count| *count < 0) {
        return Ok(Room::Lost);
    }
    let [rows, _] = log.index.dims();
    let size = rows / counts.len().max(1);
    let mut taken = Vec::new();
    for (part, count) in counts.iter().enumerate() {
        let first = part * size;
        taken.extend((first..first + size.min(*count as usize)).map(|row| row as i32));
    }
    if taken.is_empty() {
        return Ok(Room::Enough);
    }
    let (mut index, mut position) = (log.index, log.position);
    if taken.len() < rows {
        let count = taken.len();
        let taken = TensorData::new(taken, [count]);
        let taken = Tensor::<1, Int>::from_data(taken, (&index.device(), DType::I32));
        index = index.select(0, taken.clone());
        position = position.select(0, taken);
    }
    let index = ints(index.try_into_data())?;
    let position = position.try_into_data().map_err(failed)?.convert::<f64>();
    let position = position.try_into_vec::<f64>().map_err(failed)?;
    let rows = index.chunks_exact(LOG_INDEX).zip(position.chunks_exact(LOG_POSITION));
    let entry = |(index, position): (&[i32], &[f64])| End {
        slot: index[0] as u32,
        generation: index[1] as u32,
        status: index[2],
        step: index[3],
        location: index[4],
        fraction: position[0],
        position: [position[1], position[2], position[3]],
    };
    for entry in rows.map(entry) {
        match entry.status.abs() {
            CROSSED => gates.add(entry),
            _ => ends.push(entry),
        }
    }
    let is_enough = counts.iter().all(|count| *count as usize <= size);
    Ok(if is_enough { Room::Enough } else { Room::Waits })
}

fn ints<E: std::fmt::Debug>(data: std::result::Result<TensorData, E>) -> Result<Vec<i32>> {
    data.map_err(failed)?.convert::<i32>().try_into_vec::<i32>().map_err(failed)
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::Execution(format!("{error:?}"))
}

pub(super) fn velocity(
    stepper: &Stepper,
    field: &Sampled,
    position: Tensor<2>,
    time: f64,
) -> Result<Tensor<2>> {
    let segment = |clock, steps| segment(stepper, clock, steps);
    Ok(field.values(Particles::at(position), 0, time, segment)?.narrow(1, 0, 3))
}

pub(super) fn segment(stepper: &Stepper, clock: Arc<Clock>, steps: Vec<Step>) -> Segment {
    Segment {
        fields: stepper.field.sampled().map_or(1, Sampled::fields),
        formula: steps.first().and_then(|step| stepper.field.formula_start(step.since)),
        scheme: match stepper.inertia {
            // Its stages have the frames of those of particles with inertia.
            Some(_) => Scheme::Rk4,
            None => stepper.scheme,
        },
        inertia: stepper.inertia.as_ref().map(|inertia| inertia.launch),
        boundary: stepper.boundary.clone(),
        obstacles: stepper.obstacles.clone(),
        tracks_shapes: stepper.tracks_shapes,
        gates: stepper.gates.shapes.clone(),
        tallies: stepper.tallies.clone(),
        has_holes: stepper.has_holes(),
        stagnant_speed: match stepper.inertia {
            // One at rest may be accelerated.
            Some(_) => 0.0,
            None => stepper.stagnant_speed,
        },
        adaptive: stepper.adaptive,
        drift: stepper.drift,
        walk: stepper.walk,
        ..Segment::new(clock, steps)
    }
}

/// Which of the positions `[n, 3]`, measured from the origin, are in a hole of the field at a time.
pub(super) fn are_in_holes(
    stepper: &Stepper,
    sampled: &Sampled,
    position: Tensor<2>,
    time: f64,
) -> Result<Vec<bool>> {
    let velocity = match stepper.field.device().is_autodiff() {
        false => velocity(stepper, sampled, position, time)?,
        true => {
            sampled.during(&[(time, 0.0)])?;
            evaluate::velocity(stepper.field, position, time)?.detach()
        }
    };
    let velocity = Floats::from_tensor(velocity)?;
    let is_known = |i: usize| velocity.vector(i).iter().all(|x| x.is_finite());
    Ok((0..velocity.len() / 3).map(|i| !is_known(i)).collect())
}

//! The fused path: a chunk of steps is one launch.

use super::stepper::Stepper;
use crate::{Sampled, schedule::Chunk};
use burn::tensor::Tensor;
use burntrace_kernels::{Particles, Segment, Step};

pub(super) fn advance(
    stepper: &Stepper,
    field: &Sampled,
    particles: Particles,
    chunk: &Chunk,
) -> Particles {
    let steps = chunk.times.windows(2).map(|pair| field.time.place(pair[0], pair[1] - pair[0]));
    let segment = segment(stepper, field, steps.collect(), chunk.first_step);
    burntrace_kernels::advance(particles, &field.tensors, segment)
}

pub(super) fn velocity(
    stepper: &Stepper,
    field: &Sampled,
    particles: &Particles,
    time: f64,
) -> Tensor<2> {
    let segment = segment(stepper, field, vec![field.time.place(time, 0.0)], 0);
    burntrace_kernels::sample(particles.position.clone(), &field.tensors, segment)
}

fn segment(stepper: &Stepper, field: &Sampled, steps: Vec<Step>, first_step: u64) -> Segment {
    Segment {
        steps,
        first_step: first_step as i32,
        scheme: stepper.scheme,
        clock: field.time.clock().clone(),
        boundary: stepper.boundary,
        stagnant_speed: stepper.stagnant_speed,
    }
}

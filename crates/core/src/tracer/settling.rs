//! The ends of steps that this crate computes in tensor operations: what they meet, and what follows.

use super::{
    fused, gates,
    reinjection::{End, Reinjection},
    rows::{floats, ints},
    stepper::Stepper,
};
use crate::{Field, Result, device};
use burn::tensor::{DType, Int, Tensor};
use burntrace_kernels::{
    Clock, FieldShape, FieldTensors, FreeEnds, Particles, Placement, ReinjectionRules, Segment,
    Step, settling::WAKES,
};
use std::sync::Arc;

/// A step of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSpan {
    /// Its number.
    pub index: u64,
    /// Its start and end time.
    pub times: [f64; 2],
}

/// The particles of a launch, apart from their state.
#[derive(Clone, Copy)]
pub(super) struct Slotted<'a> {
    /// The slot of the first row.
    pub first: u32,
    /// The rules of re-injection, if slots are re-used.
    pub following: Option<&'a Reinjection>,
}

/// The tables of a field's mesh, or placeholders.
pub(super) fn surroundings(field: &dyn Field) -> FieldTensors {
    let (device, precision) = (device::plain(&field.device()), field.precision());
    let of_sampled = field.sampled().map(|sampled| &sampled.tensors);
    match (of_sampled, field.mesh()) {
        (Some(tensors), Some(_)) if matches!(tensors.shape, FieldShape::Mesh(_)) => tensors.clone(),
        (_, None) => FieldTensors::none(&device, precision.dtype()),
        (_, Some(mesh)) => {
            let records = mesh.records(None, Placement::Cells, precision);
            let shape = FieldShape::Mesh(records.shape);
            let (coordinates, index) = records.into_tensors(precision, &device);
            FieldTensors {
                coordinates,
                index,
                shape,
                ..FieldTensors::none(&device, precision.dtype())
            }
        }
    }
}

/// A segment of one step, which an engine takes.
pub(super) fn segment(stepper: &Stepper, step: &StepSpan) -> Segment {
    let [start, end] = step.times;
    let clock = Arc::new(Clock { frames: 1, ..Clock::default() });
    let steps = vec![Step { interval: 0, since: 0.0, h: end - start }];
    let first_step = step.index as i32;
    Segment { first_step, ..fused::segment(stepper, clock, steps) }
}

/// A segment in which an operation moves particles at the end of a step.
pub(super) fn displacement(stepper: &Stepper, step: &StepSpan) -> Segment {
    Segment {
        has_holes: false,
        stagnant_speed: 0.0,
        adaptive: None,
        walk: None,
        ..segment(stepper, step)
    }
}

impl Slotted<'_> {
    /// Settles particles, and adds the ends that are followed by a re-injection.
    pub fn settle(
        &self,
        stepper: &Stepper,
        (particles, free): (Particles, FreeEnds),
        segment: Segment,
        ends: &mut Vec<End>,
    ) -> Result<Particles> {
        let rules = |following: &Reinjection| ReinjectionRules {
            resumes: false,
            ..following.reinjection.clone()
        };
        let reinjection = self.following.map(rules);
        let segment = Segment { first_slot: self.first, reinjection, ..segment };
        let (field, geometry) = (&stepper.surroundings, &stepper.geometry);
        // A particle ends at most once.
        gates::launch(stepper, particles, (segment, 1), ends, |particles, segment| {
            burntrace_kernels::settle(particles, free.clone(), field, geometry, segment)
        })
    }

    /// Schedules the first release for idle slots of sources, before a step.
    pub fn wake(
        &self,
        stepper: &Stepper,
        particles: Particles,
        step: &StepSpan,
    ) -> Result<Particles> {
        if self.following.is_none() {
            return Ok(particles);
        }
        let free = resting(&particles, WAKES);
        self.settle(stepper, (particles, free), displacement(stepper, step), &mut Vec::new())
    }
}

/// The free ends of particles with the same flags, which are not displaced.
pub(super) fn resting(particles: &Particles, flags: i32) -> FreeEnds {
    let position = &particles.position;
    let (beside, count) = ((&position.device(), position.dtype()), particles.count());
    FreeEnds {
        displacement: Tensor::zeros([count, 3], beside),
        span: Tensor::ones([1, 2], beside),
        spread: Tensor::zeros([1, 4], beside),
        velocity_change: None,
        flags: Tensor::full([count], flags, (&position.device(), DType::I32)),
    }
}

/// The fractions of particles on the host.
pub(super) fn fractions(particles: &Particles) -> Result<Vec<f64>> {
    floats(&particles.fraction.clone().reshape([-1, 1]))
}

/// A column of integers on the host.
pub(super) fn column(numbers: Tensor<1, Int>) -> Result<Vec<i32>> {
    ints(&numbers.reshape([-1, 1]))
}

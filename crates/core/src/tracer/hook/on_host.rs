//! The operation after each step on particles in host memory, which stay in spatial order.
//!
//! Its arguments are copied from the rows of the particles, and its result to them. Tensor operations would read
//! and write all particles several times, in the order of slots.

use super::{Hook, Step, checked, in_tensors, pushed};
use crate::{
    Floats, Result, Sampled, Status,
    field::origin,
    schedule::Chunk,
    tracer::{
        fused,
        rows::{Rows, taken},
        settling::{self, Slotted, StepSpan},
        stepper::Stepper,
    },
};
use burn::tensor::{Bool, Device, Tensor, TensorData};
use burntrace_kernels::{POSITION, Particles, Real, Record, status::WAITING};
use rayon::prelude::*;

/// Advances particles by a chunk on the fused engine, one step per launch, with the operation after each.
pub(super) fn advance(
    stepper: &Stepper,
    hook: &Hook,
    field: &Sampled,
    (first_slot, particles): (u32, Particles),
    chunk: &Chunk,
) -> Result<Particles> {
    let device = particles.position.device();
    let mut rows = Rows::read(particles, true)?;
    let ranks = rows.ranks().unwrap_or_else(|| (0..rows.count() as u32).collect());
    let in_slots = InSlots { ranks, origin: origin(stepper.field), device: &device };
    for j in 0..chunk.steps() {
        let part = chunk.part(j..j + 1, false);
        let (index, times) = (part.first_step, [part.times[0], part.end()]);
        let before = in_slots.positions(&rows);
        let starts = in_slots.starts(stepper, &rows, index);
        let launch = (first_slot, rows.into_particles(&device));
        let (moved, _) = fused::advance(stepper, field, launch, &part, None)?;
        rows = Rows::read(moved, true)?;
        let after = in_slots.positions(&rows);
        let (active, dt) = in_slots.lengths(&rows, &starts, times[1] - times[0]);
        let first_slot = first_slot as usize;
        let step = Step { before, after, dt, active, times, first_slot, index };
        let (after, active) = (step.after.clone(), step.active.clone());
        let to = checked((hook.operation)(step), &after)?;
        let segment = settling::displacement(stepper, &StepSpan { index, times });
        let slotted = Slotted { first: first_slot as u32, following: None };
        let is_tracked = to.device().is_autodiff();
        if is_tracked {
            // A parameter of the operation tracks gradients.
            rows = rows.in_slot_order();
        }
        let particles = rows.into_particles(&device);
        let free = pushed(hook, &particles, [to, after], active);
        let settled = slotted.settle(stepper, (particles, free), segment, &mut Vec::new())?;
        if is_tracked {
            let rest = chunk.part(j + 1..chunk.steps(), false);
            let launch = (first_slot as u32, settled);
            return in_tensors(stepper, field, launch, &rest, None).map(|(moved, _)| moved);
        }
        rows = Rows::read(settled, true)?;
    }
    Ok(rows.into_particles(&device))
}

/// Arguments of the operation, in the order of slots.
struct InSlots<'a> {
    /// The row of each slot.
    ranks: Vec<u32>,
    origin: [f64; 3],
    device: &'a Device,
}

impl InSlots<'_> {
    /// Positions in the data's coordinates `[n, 3]`.
    fn positions(&self, rows: &Rows) -> Tensor<2> {
        let positions = match &rows.position {
            Floats::F32(table) => Floats::F32(self.shifted(table, |x| x as f32)),
            Floats::F64(table) => Floats::F64(self.shifted(table, |x| x)),
        };
        positions.into_tensor([self.ranks.len(), 3], self.device)
    }

    fn shifted<F: Real + Default>(&self, table: &[F], rounded: fn(f64) -> F) -> Vec<F> {
        if self.origin == [0.0; 3] {
            return taken(table, &self.ranks, |[x, y, z, ..]: &[F; POSITION]| [*x, *y, *z]);
        }
        let origin = self.origin.map(rounded);
        taken(table, &self.ranks, |p: &[F; POSITION]| [0, 1, 2].map(|d| p[d] + origin[d]))
    }

    /// The fractions of a step at which particles that still wait are released in it, and 0 for the others;
    /// nothing if none is.
    fn starts(&self, stepper: &Stepper, rows: &Rows, index: u64) -> Vec<f64> {
        if !stepper.releases.iter().any(|release| release.step == index) {
            return Vec::new();
        }
        let records = Record::from_numbers(&rows.record);
        let start = |row: &u32| match &records[*row as usize] {
            record if record.status != WAITING || record.step != index as i32 => 0.0,
            _ => rows.fraction.get(*row as usize),
        };
        self.ranks.par_iter().map(start).collect()
    }

    /// Which particles are active after a step `[n, 1]`, and by which time they were advanced `[n, 1]`.
    fn lengths(&self, rows: &Rows, starts: &[f64], whole: f64) -> (Tensor<2, Bool>, Tensor<2>) {
        let records = Record::from_numbers(&rows.record);
        let is_active = |row: &u32| records[*row as usize].status == Status::Active.code();
        let active: Vec<bool> = self.ranks.par_iter().map(is_active).collect();
        let length = |(slot, is_active): (usize, &bool)| match is_active {
            true => (1.0 - starts.get(slot).copied().unwrap_or(0.0)) * whole,
            false => 0.0,
        };
        let lengths = active.iter().enumerate().map(length);
        let lengths = Floats::from_f64(rows.position.precision(), lengths);
        let shape = [active.len(), 1];
        let active = Tensor::from_data(TensorData::new(active, shape), self.device);
        (active, lengths.into_tensor(shape, self.device))
    }
}

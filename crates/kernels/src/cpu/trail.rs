//! What gradients need of the steps of a tile.

use super::{
    Real,
    arrays::{Arrays, Position},
    reinjection::Restart,
    segment::SegmentContext,
};
use crate::{
    Record,
    status::{ACTIVE, WAITING},
};

/// The irregular steps of a tile, and the instances that started in them.
pub(super) struct Trail<F> {
    pub steps: Vec<AcceptedStep<F>>,
    pub restarts: Vec<Restart>,
}

/// An adaptive step of a particle, or a step in a slot that is re-used, and the particle's state before it.
pub(super) struct AcceptedStep<F> {
    /// The particle, and the step of the segment of which this is a part.
    pub i: usize,
    pub j: usize,
    /// The fraction of that step at which the part starts, and its length.
    pub start: F,
    pub h: F,
    pub position: Position<F>,
    pub record: Record,
}

/// The fraction of step `number` at which a particle starts to move, if it does.
#[inline(always)]
pub(super) fn start_in<F: Real>(record: &Record, fraction: F, number: i32) -> Option<F> {
    match record.status {
        ACTIVE => Some(F::zero()),
        WAITING if record.step == number => Some(fraction),
        _ => None,
    }
}

impl<F: Real> Trail<F> {
    pub fn new() -> Self {
        Trail { steps: Vec::new(), restarts: Vec::new() }
    }

    /// Assigns the first releases of a launch to slots of sources.
    pub fn assign_first_releases(&mut self, arrays: &mut Arrays<F>, context: &SegmentContext<F>) {
        for i in 0..arrays.position.len() {
            let row = arrays.slot(i).assign_first_release(&context.launch);
            let generation = arrays.record[i].generation;
            self.restarts.extend(row.map(|row| Restart { i, generation, row: Some(row) }));
        }
    }

    /// Keeps the states of the particles that take step `j`.
    pub fn push_step(&mut self, arrays: &Arrays<F>, j: usize, context: &SegmentContext<F>) {
        let number = context.segment.first_step + j as i32;
        let full_dt = F::of(context.segment.steps[j].h);
        for (i, record) in arrays.record.iter().enumerate() {
            if let Some(start) = start_in(record, arrays.fraction[i], number) {
                let h = (F::one() - start) * full_dt;
                let (position, record) = (arrays.position[i], *record);
                self.steps.push(AcceptedStep { i, j, start, h, position, record });
            }
        }
    }
}

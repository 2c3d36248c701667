//! Re-use of slots: re-injection after an end, and releases from sources.

use super::{Real, Record, walls::exact};
use crate::{
    NEVER, ReinjectionRules,
    status::{ACTIVE, WAITING},
};
use std::sync::{Mutex, PoisonError};

/// A particle instance that ended and was followed by another in its slot.
#[derive(Clone, Copy)]
pub(crate) struct Ended<F> {
    pub slot: u32,
    /// Its record at the end.
    pub record: Record,
    /// The fraction of its last step.
    pub fraction: F,
    pub position: [F; 3],
}

/// A row of the particle tensors.
pub(super) struct Slot<'a, F> {
    pub number: u32,
    pub position: &'a mut [F; 3],
    pub record: &'a mut Record,
    pub fraction: &'a mut F,
}

/// Re-injection rules of a launch, and the log of instances that have ended so far.
pub(super) struct ReinjectionTable<'a, F> {
    rules: &'a ReinjectionRules,
    inlets: &'a [[F; 3]],
    log: Mutex<Vec<Ended<F>>>,
}

impl<'a, F: Real> ReinjectionTable<'a, F> {
    pub fn new(rules: &'a ReinjectionRules, inlets: &'a [[F; 3]]) -> Self {
        let last = |rows: &crate::InletRows| (rows.first + rows.count) as usize;
        let limit = rules.slots.inlets.iter().map(last).max();
        assert!(
            limit.is_none_or(|limit| limit <= inlets.len()),
            "an inlet refers to a missing position"
        );
        ReinjectionTable { rules, inlets, log: Mutex::default() }
    }

    /// Assigns the first release of this launch, if any, to an idle slot of a source.
    pub fn assign_first_release(&self, slot: &mut Slot<F>) {
        if slot.record.status == WAITING && slot.record.step == NEVER {
            self.wait_for_release(slot, None);
        }
    }

    /// Prepares the instance that follows an ended one: it waits for its release. Returns the ended
    /// instance, or `None` if none follows.
    pub fn reinject(&self, slot: &mut Slot<F>) -> Option<Ended<F>> {
        let rules = &self.rules.slots;
        let (status, position) = (slot.record.status, exact(slot.position));
        let inlet = rules.inlet_after(status, position);
        if status <= ACTIVE || inlet.or_else(|| rules.source(slot.number)).is_none() {
            return None;
        }
        let ended = Ended {
            slot: slot.number,
            record: *slot.record,
            fraction: *slot.fraction,
            position: *slot.position,
        };
        let after = (slot.record.step, num_traits::ToPrimitive::to_f64(slot.fraction)?);
        slot.record.status = WAITING;
        slot.record.image = [0; 3];
        slot.record.cell = 0;
        slot.record.generation = slot.record.generation.wrapping_add(1);
        match inlet {
            Some(inlet) => self.place_at_inlet(slot, inlet, slot.number),
            None => self.wait_for_release(slot, Some(after)),
        }
        Some(ended)
    }

    /// Schedules the next release of a source's slot, at its position on the inlet.
    fn wait_for_release(&self, slot: &mut Slot<F>, after: Option<(i32, f64)>) {
        let rules = &self.rules.slots;
        slot.record.step = NEVER;
        let Some(number) = rules.source(slot.number) else { return };
        let source = &rules.sources[number];
        if let Some((step, fraction)) = self.rules.releases[number].next(source, slot.number, after)
        {
            slot.record.step = step;
            *slot.fraction = F::of(fraction);
            self.place_at_inlet(slot, source.inlet, slot.number - source.first);
        }
    }

    fn place_at_inlet(&self, slot: &mut Slot<F>, inlet: usize, number: u32) {
        let row = self.rules.slots.inlets[inlet].row(number, slot.record.generation as u32);
        *slot.position = self.inlets[row as usize];
    }

    /// Appends the log of a tile.
    pub fn append(&self, ended: &mut Vec<Ended<F>>) {
        if !ended.is_empty() {
            self.log.lock().unwrap_or_else(PoisonError::into_inner).append(ended);
        }
    }

    /// Number of instances that have ended so far.
    pub fn count(&self) -> usize {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn into_log(self) -> Vec<Ended<F>> {
        self.log.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

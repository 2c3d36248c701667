//! What follows the end of a life, in the slot that it leaves.

use super::{Real, Record, walls::exact};
use crate::{
    NEVER, ReinjectionRules,
    status::{ACTIVE, WAITING},
};
use std::sync::{Mutex, PoisonError};

/// A life that has ended and is followed by another one.
#[derive(Clone, Copy)]
pub(crate) struct Ended<F> {
    pub slot: u32,
    /// Its record at the end.
    pub record: Record,
    /// The fraction of its last step.
    pub fraction: F,
    pub position: [F; 3],
}

/// A row of the particles' tensors.
pub(super) struct Slot<'a, F> {
    pub number: u32,
    pub position: &'a mut [F; 3],
    pub record: &'a mut Record,
    pub fraction: &'a mut F,
}

/// What follows the ends of lives in a launch, and those that have ended so far.
pub(super) struct ReinjectionTable<'a, F> {
    reinjection: &'a ReinjectionRules,
    inlets: &'a [[F; 3]],
    log: Mutex<Vec<Ended<F>>>,
}

impl<'a, F: Real> ReinjectionTable<'a, F> {
    pub fn new(reinjection: &'a ReinjectionRules, inlets: &'a [[F; 3]]) -> Self {
        let last = |rows: &crate::InletRows| (rows.first + rows.count) as usize;
        let most = reinjection.lives.inlets.iter().map(last).max();
        assert!(most.is_none_or(|most| most <= inlets.len()), "places of inlets");
        ReinjectionTable { reinjection, inlets, log: Mutex::default() }
    }

    /// Gives a slot of a source that waits for nothing its first release in this launch, if it has
    /// one.
    pub fn wake(&self, slot: &mut Slot<F>) {
        if slot.record.status == WAITING && slot.record.step == NEVER {
            self.wait(slot, None);
        }
    }

    /// Begins the life that follows one that has ended: it waits for its release. What has ended
    /// is returned; nothing where nothing follows.
    pub fn succeed(&self, slot: &mut Slot<F>) -> Option<Ended<F>> {
        let lives = &self.reinjection.lives;
        let (status, place) = (slot.record.status, exact(slot.position));
        let inlet = lives.inlet_after(status, place);
        if status <= ACTIVE || inlet.or_else(|| lives.source(slot.number)).is_none() {
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
        slot.record.place = 0;
        slot.record.generation = slot.record.generation.wrapping_add(1);
        match inlet {
            Some(inlet) => self.enter(slot, inlet, slot.number),
            None => self.wait(slot, Some(after)),
        }
        Some(ended)
    }

    /// Has a slot of a source wait for its next release, at the place where that will be.
    fn wait(&self, slot: &mut Slot<F>, after: Option<(i32, f64)>) {
        let lives = &self.reinjection.lives;
        slot.record.step = NEVER;
        let Some(number) = lives.source(slot.number) else { return };
        let source = &lives.sources[number];
        if let Some((step, fraction)) =
            self.reinjection.releases[number].next(source, slot.number, after)
        {
            slot.record.step = step;
            *slot.fraction = F::of(fraction);
            self.enter(slot, source.inlet, slot.number - source.first);
        }
    }

    fn enter(&self, slot: &mut Slot<F>, inlet: usize, number: u32) {
        let row = self.reinjection.lives.inlets[inlet].row(number, slot.record.generation as u32);
        *slot.position = self.inlets[row as usize];
    }

    /// Takes over what a tile has logged.
    pub fn append(&self, ended: &mut Vec<Ended<F>>) {
        if !ended.is_empty() {
            self.log.lock().unwrap_or_else(PoisonError::into_inner).append(ended);
        }
    }

    /// How many lives have ended so far.
    pub fn count(&self) -> usize {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn into_log(self) -> Vec<Ended<F>> {
        self.log.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

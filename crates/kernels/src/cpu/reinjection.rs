//! Re-use of slots: the log of ends.

use super::{
    Real,
    arrays::{Arrays, Position},
    launch::Launch,
};
use crate::{
    NEVER, Record, ReinjectionRules, Segment,
    physics::{
        particle::host::Particle,
        prelude::host::Vec3,
        slots::host::{
            assign_first_release, inlet_after, is_followed, row_at_inlet, source, succeed,
        },
        tables::{SOURCE_COLUMNS, SOURCES_AT},
    },
    status::ACTIVE,
};
use std::sync::{Mutex, PoisonError};

/// A particle instance that ended and was followed by another in its slot, or the crossing of a gate.
#[derive(Clone, Copy)]
pub(crate) struct Ended<F> {
    pub slot: u32,
    /// Its record at the end.
    pub record: Record,
    /// The fraction of its last step.
    pub fraction: F,
    pub position: [F; 3],
}

/// The start of an instance within a launch, kept for its gradients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Restart {
    /// The particle in its tile.
    pub i: usize,
    pub generation: i32,
    /// The row of its release position; `None` if it is not released in the launch.
    pub row: Option<usize>,
}

/// A row of the particle tensors.
pub(super) struct Slot<'a, F> {
    pub number: u32,
    pub position: &'a mut Position<F>,
    pub record: &'a mut Record,
    pub fraction: &'a mut F,
}

impl<F: Real> Arrays<'_, F> {
    /// The row of a particle.
    pub(super) fn slot(&mut self, i: usize) -> Slot<'_, F> {
        Slot {
            number: self.slots.get(i),
            position: &mut self.position[i],
            record: &mut self.record[i],
            fraction: &mut self.fraction[i],
        }
    }
}

impl<F: Real> Slot<'_, F> {
    pub fn particle(&self) -> Particle<F> {
        let Record { status, step, image, location, generation, accepted, rejected } = *self.record;
        Particle {
            position: Vec3(self.position[0]),
            rest: Vec3(self.position[1]),
            status,
            step,
            image_x: image[0],
            image_y: image[1],
            image_z: image[2],
            location,
            generation,
            accepted,
            rejected,
            fraction: *self.fraction,
        }
    }

    pub fn put(&mut self, particle: &Particle<F>) {
        *self.position = [particle.position.0, particle.rest.0];
        *self.fraction = particle.fraction;
        *self.record = Record {
            status: particle.status,
            step: particle.step,
            image: [particle.image_x, particle.image_y, particle.image_z],
            location: particle.location,
            generation: particle.generation,
            accepted: particle.accepted,
            rejected: particle.rejected,
        };
    }

    /// Assigns the first release of this launch, if any, to an idle slot of a source. Returns the row of
    /// its position.
    pub fn assign_first_release(&mut self, launch: &Launch<F>) -> Option<usize> {
        let mut particle = self.particle();
        let was_idle = particle.step == NEVER;
        assign_first_release(launch, &mut particle, self.number);
        self.put(&particle);
        was_idle.then(|| self.start_row(launch, -1)).flatten()
    }

    /// The inlet of immediate re-injection if the particle has ended, or -1.
    pub fn inlet_after(&self, launch: &Launch<F>) -> i32 {
        let mut particle = self.particle();
        if particle.status > ACTIVE { inlet_after(launch, &mut particle) } else { -1 }
    }

    /// The row of the position at which a waiting instance starts: on an inlet, or for -1 on that of its source;
    /// `None` if it has no release in this launch.
    pub fn start_row(&self, launch: &Launch<F>, inlet: i32) -> Option<usize> {
        let Record { step, generation, .. } = *self.record;
        if inlet >= 0 {
            return Some(row_at_inlet(launch, inlet, self.number, generation));
        }
        let source = source(launch, self.number);
        if step == NEVER || source < 0 {
            return None;
        }
        let at = launch.int(SOURCES_AT) as usize + source as usize * SOURCE_COLUMNS;
        let number = self.number - launch.int(at) as u32;
        Some(row_at_inlet(launch, launch.int(at + 2), number, generation))
    }

    /// The instance, for the log.
    pub fn ended(&self) -> Ended<F> {
        Ended {
            slot: self.number,
            record: *self.record,
            fraction: *self.fraction,
            position: self.position[0],
        }
    }

    /// Prepares the instance that follows an ended one: it waits for its release. Returns the ended
    /// instance, or `None` if none follows.
    pub fn reinject(&mut self, launch: &Launch<F>) -> Option<Ended<F>> {
        let mut particle = self.particle();
        if !is_followed(launch, &mut particle, self.number) {
            return None;
        }
        let ended = self.ended();
        succeed(launch, &mut particle, self.number);
        self.put(&particle);
        Some(ended)
    }
}

/// The log of instances that have ended so far in a launch, and of crossings.
pub(super) struct EndLog<F>(Mutex<Vec<Ended<F>>>);

impl<F: Real> EndLog<F> {
    /// The log of a segment, if it has one. `positions` is the number of those of inlets.
    ///
    /// # Panics
    ///
    /// If an inlet refers to a position that does not exist.
    pub fn of(segment: &Segment, positions: usize) -> Option<Self> {
        match &segment.reinjection {
            None => (!segment.gates.is_empty()).then(|| EndLog(Mutex::default())),
            Some(rules) => Some(EndLog::new(rules, positions)),
        }
    }

    fn new(rules: &ReinjectionRules, positions: usize) -> Self {
        let last = |rows: &crate::InletRows| (rows.first + rows.count) as usize;
        let limit = rules.slots.inlets.iter().map(last).max();
        assert!(
            limit.is_none_or(|limit| limit <= positions),
            "an inlet refers to a missing position"
        );
        EndLog(Mutex::default())
    }

    /// Appends the log of a tile.
    pub fn append(&self, ended: &mut Vec<Ended<F>>) {
        if !ended.is_empty() {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).append(ended);
        }
    }

    /// Number of entries so far.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    pub fn into_log(self) -> Vec<Ended<F>> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

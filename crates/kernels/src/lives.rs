//! What follows the end of a particle's life: slots that are used again.
//!
//! A slot is a row of the particles' tensors, and a life is what happens in it from a release to an
//! end. Without any of this a slot has one life. A life can be followed by another one at once,
//! through an inlet, where its end has a status that says so; and slots of a source have releases
//! of their own, whatever has become of the life before.
//!
//! Nothing that follows depends on another slot: the place of a release is a function of slot and
//! generation, its time of the slot and the time at which the slot was free.

use crate::{MeshPatch, status::LEFT_MESH};
use std::sync::Arc;

/// A step number that never comes: a slot of a source waits for no release of this launch.
pub const NEVER: i32 = i32::MAX;

/// More lives than this do not begin in one step of a slot; the next one begins with the next step.
pub const MAX_LIVES_A_STEP: usize = 64;

/// How many codes of statuses there may be.
pub const STATUS_CODES: usize = 16;

/// Places of an inlet among the rows of the tensor of places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InletRows {
    /// The first row.
    pub first: u32,
    /// How many rows, at least one.
    pub count: u32,
    /// See [`InletRows::row`].
    pub scatter: u32,
    /// See [`InletRows::row`].
    pub stride: u32,
}

impl InletRows {
    /// The row of the place where life `generation` of slot `slot` begins.
    pub fn row(&self, slot: u32, generation: u32) -> u32 {
        let at = slot.wrapping_mul(self.scatter).wrapping_add(generation.wrapping_mul(self.stride));
        self.first + at % self.count
    }
}

/// A run of slots that a source fills: release `k` of the source belongs to slot `k % slots`, and
/// is dropped where that slot is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSlots {
    /// The first slot.
    pub first: u32,
    /// How many slots, at least one.
    pub slots: u32,
    /// The inlet where its particles begin.
    pub inlet: usize,
}

impl SourceSlots {
    /// The number of a slot among those of the source, if it is one of them.
    pub fn local(&self, slot: u32) -> Option<u32> {
        slot.checked_sub(self.first).filter(|local| *local < self.slots)
    }
}

/// What follows the ends of lives, the same for a whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lives {
    /// The inlets.
    pub inlets: Vec<InletRows>,
    /// The inlet through which a particle comes in again at once, by the code of the status with
    /// which its life has ended; slots are numbered over the whole run then.
    pub after: [Option<usize>; STATUS_CODES],
    /// Patches of a mesh's edge, as in [`Boundary::patches`](crate::Boundary::patches).
    pub patches: Vec<MeshPatch>,
    /// The inlet that follows where a particle has left the mesh through a patch, one for each of
    /// them; `after` does not count there.
    pub after_patch: Vec<Option<usize>>,
    /// The sources. No two share a slot.
    pub sources: Vec<SourceSlots>,
}

impl Lives {
    /// The source of a slot.
    pub fn source(&self, slot: u32) -> Option<usize> {
        self.sources.iter().position(|source| source.local(slot).is_some())
    }

    /// The inlet through which a particle comes in again at once after a life that has ended with
    /// this status at this place.
    pub fn inlet_after(&self, status: i32, place: [f64; 3]) -> Option<usize> {
        let patch = MeshPatch::at(&self.patches, place).filter(|_| status == LEFT_MESH);
        match patch {
            Some(patch) => self.after_patch.get(patch).copied().flatten(),
            None => self.after.get(usize::try_from(status).ok()?).copied().flatten(),
        }
    }

    /// Whether particles come in again through an inlet, and not only from a source.
    pub fn is_entered_again(&self, inlet: usize) -> bool {
        self.after.contains(&Some(inlet)) || self.after_patch.contains(&Some(inlet))
    }
}

/// The releases of a source in one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Releases {
    /// The number of the first one, counted from the begin of the run.
    pub first: u64,
    /// Steps of the run, and the fractions of them, which the kernel's precision can hold; in order.
    pub events: Vec<(i32, f64)>,
}

impl Releases {
    /// The first release that belongs to a slot of the source and comes after an event, if any.
    pub fn next(
        &self,
        source: &SourceSlots,
        slot: u32,
        after: Option<(i32, f64)>,
    ) -> Option<(i32, f64)> {
        let slots = u64::from(source.slots);
        let local = u64::from(source.local(slot)?);
        let first = (local + slots - self.first % slots) % slots;
        let mine = self.events.iter().skip(first as usize).step_by(slots as usize);
        mine.copied().find(|event| after.is_none_or(|after| *event > after))
    }
}

/// What follows the ends of lives, in one launch.
#[derive(Clone, Debug)]
pub struct ReinjectionRules {
    /// What is the same for the whole run.
    pub lives: Arc<Lives>,
    /// The releases of each source.
    pub releases: Vec<Releases>,
    /// How many ends of each slot the log has room for, on devices where that must be known
    /// beforehand. A slot that has more waits with the last of them for a launch that resumes.
    pub room: usize,
    /// Whether this launch goes on with what the one before had no room for, and with nothing else.
    pub resumes: bool,
}

/// Columns of [`Log::index`](crate::Log).
pub const LOG_INDEX: usize = 4;
/// Columns of [`Log::place`](crate::Log).
pub const LOG_PLACE: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_a_source_are_numbered_from_its_first() {
        let source = SourceSlots { first: 10, slots: 3, inlet: 0 };
        assert_eq!([9, 10, 12, 13].map(|slot| source.local(slot)), [None, Some(0), Some(2), None]);
    }

    #[test]
    fn a_slot_has_every_so_many_of_the_releases() {
        let source = SourceSlots { first: 10, slots: 3, inlet: 0 };
        let events = (0..7).map(|k| (k, 0.5)).collect();
        let releases = Releases { first: 4, events };
        // Numbers 4 to 10; slot 10 has 6 and 9, slot 11 has 4, 7 and 10.
        assert_eq!(releases.next(&source, 10, None), Some((2, 0.5)));
        assert_eq!(releases.next(&source, 10, Some((2, 0.4))), Some((2, 0.5)));
        assert_eq!(releases.next(&source, 10, Some((2, 0.5))), Some((5, 0.5)));
        assert_eq!(releases.next(&source, 10, Some((5, 0.5))), None);
        assert_eq!(releases.next(&source, 11, None), Some((0, 0.5)));
        assert_eq!(releases.next(&source, 13, None), None);
    }

    #[test]
    fn an_end_at_a_patch_is_followed_by_what_follows_there() {
        let open = f64::INFINITY;
        let patch = |low: f64| MeshPatch {
            low: [low, -open, -open],
            high: [open; 3],
            wall: crate::Wall::Leave,
        };
        let mut lives = Lives {
            patches: vec![patch(2.0), patch(1.0)],
            after_patch: vec![Some(4), None],
            ..Lives::default()
        };
        lives.after[LEFT_MESH as usize] = Some(7);
        let after = |x: f64| lives.inlet_after(LEFT_MESH, [x, 0.0, 0.0]);
        assert_eq!([after(0.5), after(1.0), after(2.5)], [Some(7), None, Some(4)]);
        assert_eq!(lives.inlet_after(LEFT_MESH + 1, [2.5, 0.0, 0.0]), None);
        assert!(lives.is_entered_again(4) && lives.is_entered_again(7));
        assert!(!lives.is_entered_again(0));
    }

    #[test]
    fn rows_stay_among_those_of_the_inlet_whatever_the_generation() {
        let rows = InletRows { first: 7, count: 5, scatter: 3, stride: 1 };
        for (slot, generation) in [(0, 0), (4, 9), (u32::MAX, u32::MAX)] {
            assert!((7..12).contains(&rows.row(slot, generation)));
        }
        let own = InletRows { first: 0, count: 4, scatter: 1, stride: 0 };
        assert_eq!([own.row(2, 0), own.row(2, 77)], [2, 2]);
    }
}

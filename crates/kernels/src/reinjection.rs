//! Re-use of slots: re-injection through inlets and releases from sources.
//!
//! A slot is a row of the particle tensors; a particle instance is its content between a release
//! and an end. By default a slot has one instance. An instance that ends with certain statuses is
//! followed immediately by another, injected through an inlet. Slots of a source have scheduled
//! releases, however the previous instance ended.
//!
//! Slots are independent: a release position is a function of slot and generation, a release time a
//! function of slot and the time at which the slot became free.

use crate::{MeshPatch, status::LEFT_MESH};
use std::sync::Arc;

/// A step that no launch reaches: a slot of a source with no release in this launch.
pub const NEVER: i32 = i32::MAX;

/// Maximum number of instances that start in one step of a slot; further ones start in the next
/// step.
pub const MAX_INSTANCES_PER_STEP: usize = 64;

/// Number of status codes.
pub const STATUS_CODES: usize = 16;

/// The positions of an inlet: a range of rows of the tensor of inlet positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InletRows {
    /// The first row.
    pub first: u32,
    /// Number of rows, at least one.
    pub count: u32,
    /// See [`InletRows::row`].
    pub scatter: u32,
    /// See [`InletRows::row`].
    pub stride: u32,
}

impl InletRows {
    /// The row of the position at which instance `generation` of slot `slot` starts.
    pub fn row(&self, slot: u32, generation: u32) -> u32 {
        let at = slot.wrapping_mul(self.scatter).wrapping_add(generation.wrapping_mul(self.stride));
        self.first + at % self.count
    }
}

/// A range of slots that a source fills. Release `k` of the source belongs to slot `k % slots` and
/// is dropped if that slot is occupied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceSlots {
    /// The first slot.
    pub first: u32,
    /// Number of slots, at least one.
    pub slots: u32,
    /// The inlet through which its particles are released.
    pub inlet: usize,
}

impl SourceSlots {
    /// The index of a slot within the source, if it belongs to it.
    pub fn local(&self, slot: u32) -> Option<u32> {
        slot.checked_sub(self.first).filter(|local| *local < self.slots)
    }
}

/// Re-use of slots, constant over a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotRules {
    /// The inlets.
    pub inlets: Vec<InletRows>,
    /// The inlet of re-injection by status code of the ended instance. If any is set, slots are
    /// numbered over the whole run.
    pub after: [Option<usize>; STATUS_CODES],
    /// Patches of the mesh boundary, as in [`Boundary::patches`](crate::Boundary::patches).
    pub patches: Vec<MeshPatch>,
    /// The inlet of re-injection for particles that leave the mesh through each patch; overrides
    /// `after`.
    pub after_patch: Vec<Option<usize>>,
    /// The sources. Their slots are disjoint.
    pub sources: Vec<SourceSlots>,
}

impl SlotRules {
    /// The source that a slot belongs to.
    pub fn source(&self, slot: u32) -> Option<usize> {
        self.sources.iter().position(|source| source.local(slot).is_some())
    }

    /// The inlet of immediate re-injection for an instance that ended with a status at a position.
    pub fn inlet_after(&self, status: i32, position: [f64; 3]) -> Option<usize> {
        let patch = MeshPatch::at(&self.patches, position).filter(|_| status == LEFT_MESH);
        match patch {
            Some(patch) => self.after_patch.get(patch).copied().flatten(),
            None => self.after.get(usize::try_from(status).ok()?).copied().flatten(),
        }
    }

    /// Whether particles are re-injected through an inlet (as opposed to released from a source
    /// only).
    pub fn is_reinjection_inlet(&self, inlet: usize) -> bool {
        self.after.contains(&Some(inlet)) || self.after_patch.contains(&Some(inlet))
    }
}

/// The releases of a source in one launch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Releases {
    /// Number of the first one, counted from the start of the run.
    pub first: u64,
    /// Step of the run and fraction of it, in order; the fractions are representable in the
    /// kernel's precision.
    pub events: Vec<(i32, f64)>,
}

impl Releases {
    /// The first release for a slot of the source after an event, if any.
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

/// Re-use of slots in one launch.
#[derive(Clone, Debug)]
pub struct ReinjectionRules {
    /// The part that is constant over the run.
    pub slots: Arc<SlotRules>,
    /// The releases of each source.
    pub releases: Vec<Releases>,
    /// Rows of the log per slot, on devices that need a fixed size. A slot with more ends stops at
    /// the last of them, until a launch that resumes.
    pub log_rows: usize,
    /// Whether this launch continues the slots that the previous one stopped for lack of room in
    /// the log, and only these.
    pub resumes: bool,
}

/// Columns of [`Log::index`](crate::Log).
pub const LOG_INDEX: usize = 4;
/// Columns of [`Log::position`](crate::Log).
pub const LOG_POSITION: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_a_source_are_numbered_from_its_first() {
        let source = SourceSlots { first: 10, slots: 3, inlet: 0 };
        assert_eq!([9, 10, 12, 13].map(|slot| source.local(slot)), [None, Some(0), Some(2), None]);
    }

    #[test]
    fn releases_are_dealt_to_slots_in_turn() {
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
    fn patch_inlet_overrides_status_inlet() {
        let open = f64::INFINITY;
        let patch = |low: f64| MeshPatch {
            low: [low, -open, -open],
            high: [open; 3],
            wall: crate::BoundaryCondition::Exit,
        };
        let mut rules = SlotRules {
            patches: vec![patch(2.0), patch(1.0)],
            after_patch: vec![Some(4), None],
            ..SlotRules::default()
        };
        rules.after[LEFT_MESH as usize] = Some(7);
        let after = |x: f64| rules.inlet_after(LEFT_MESH, [x, 0.0, 0.0]);
        assert_eq!([after(0.5), after(1.0), after(2.5)], [Some(7), None, Some(4)]);
        assert_eq!(rules.inlet_after(LEFT_MESH + 1, [2.5, 0.0, 0.0]), None);
        assert!(rules.is_reinjection_inlet(4) && rules.is_reinjection_inlet(7));
        assert!(!rules.is_reinjection_inlet(0));
    }

    #[test]
    fn rows_stay_within_the_inlet() {
        let rows = InletRows { first: 7, count: 5, scatter: 3, stride: 1 };
        for (slot, generation) in [(0, 0), (4, 9), (u32::MAX, u32::MAX)] {
            assert!((7..12).contains(&rows.row(slot, generation)));
        }
        let own = InletRows { first: 0, count: 4, scatter: 1, stride: 0 };
        assert_eq!([own.row(2, 0), own.row(2, 77)], [2, 2]);
    }
}

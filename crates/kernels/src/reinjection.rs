//! Re-use of slots: re-injection through inlets and releases from sources.
//!
//! A slot is a row of the particle tensors; a particle instance is its content between a release
//! and an end. By default a slot has one instance. An instance that ends with certain statuses is
//! followed immediately by another, injected through an inlet. Slots of a source have scheduled
//! releases, however the previous instance ended.
//!
//! Slots are independent: a release position is a function of slot and generation, a release time a
//! function of slot and the time at which the slot became free.

use crate::{FaceTags, MeshPatch};
use std::sync::Arc;

/// A step that no launch reaches: a slot of a source with no release in this launch.
pub const NEVER: i32 = i32::MAX;

/// Maximum number of instances that start in one step of a slot; further ones start in the next
/// step.
pub const MAX_INSTANCES_PER_STEP: usize = 64;

/// Number of status codes.
pub const STATUS_CODES: usize = 18;

/// The positions of an inlet: a range of rows of the tensor of inlet positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InletRows {
    /// The first row.
    pub first: u32,
    /// Number of rows, at least one.
    pub count: u32,
    /// Instance `g` of slot `s` starts at row `first + (s * scatter + g * stride) % count`.
    pub scatter: u32,
    /// See `scatter`.
    pub stride: u32,
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
    /// The tags of the faces of the mesh.
    pub faces: Arc<FaceTags>,
    /// The inlet of re-injection for particles that leave the mesh through each patch; overrides
    /// `after`.
    pub after_patch: Vec<Option<usize>>,
    /// The sources. Their slots are disjoint.
    pub sources: Vec<SourceSlots>,
}

impl SlotRules {
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

/// Re-use of slots in one launch.
#[derive(Clone, Debug)]
pub struct ReinjectionRules {
    /// The part that is constant over the run.
    pub slots: Arc<SlotRules>,
    /// The releases of each source.
    pub releases: Vec<Releases>,
    /// Whether this launch continues the slots that the previous one stopped for lack of room in
    /// the log, and only these.
    pub resumes: bool,
}

/// Columns of [`Log::index`](crate::Log).
pub const LOG_INDEX: usize = 5;
/// Columns of [`Log::position`](crate::Log).
pub const LOG_POSITION: usize = 4;

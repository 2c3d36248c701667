//! The work of one launch.

use crate::{Adaptive, Boundary, Clock, Obstacle, ReinjectionRules, Scheme, Step, Walk};
use std::sync::Arc;

/// A run of steps that all particles take in one launch, with all that is the same for them.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Number of the first step in the whole run, to which release and end events refer.
    pub first_step: i32,
    /// Number over the whole run of the slot in the first row of this launch: random numbers, places
    /// of inlets and sources go by it, and so does the log.
    pub first_slot: u32,
    /// How a step is taken.
    pub scheme: Scheme,
    /// The frames' places in time.
    pub clock: Arc<Clock>,
    /// The domain box and its faces.
    pub boundary: Boundary,
    /// Bodies and vessels in the box; none in the box of a field on a mesh.
    pub obstacles: Arc<[Obstacle]>,
    /// Speed below which a particle ends as stagnant; 0 for no threshold.
    pub stagnant_speed: f64,
    /// How the lengths of steps follow from their errors; nothing for those of the segment.
    pub adaptive: Option<Adaptive>,
    /// A velocity that is added to the field's everywhere, in the data's units; 0 along flat axes.
    pub drift: [f64; 3],
    /// A random walk beside the steps.
    pub walk: Option<Walk>,
    /// What follows the ends of lives, where slots are used again.
    pub reinjection: Option<ReinjectionRules>,
}

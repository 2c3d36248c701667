//! The work of one launch.

use crate::{Boundary, Clock, Scheme, Step, Succession};
use std::sync::Arc;

/// A run of steps that all particles take in one launch, with all that is the same for them.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Number of the first step in the whole run, to which release and end events refer.
    pub first_step: i32,
    /// How a step is taken.
    pub scheme: Scheme,
    /// The frames' places in time.
    pub clock: Arc<Clock>,
    /// The domain box and its faces.
    pub boundary: Boundary,
    /// Speed below which a particle ends as stagnant; 0 for no threshold.
    pub stagnant_speed: f64,
    /// What follows the ends of lives, where slots are used again.
    pub succession: Option<Succession>,
}

//! A second velocity of a field.

use std::sync::Arc;

/// A second velocity of a field, which is added to the first one after each particle has multiplied it by a factor of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledVelocity {
    /// The group of the field's values that it is.
    pub group: usize,
    /// The factor of each slot, counted from the first slot of the launch, or a single one of all particles.
    pub factors: Arc<[f64]>,
}

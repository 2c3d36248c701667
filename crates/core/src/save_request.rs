//! What a run saves.

use crate::{Field, Gate, SaveAt, SavedTally};

/// What a run saves: positions and statuses, by default at the end only.
///
/// Requests are equal if they save the same arrays of the same fields, which are compared by their address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaveRequest<'a> {
    /// When positions are saved.
    pub at: SaveAt,
    /// Whether the velocity at each position is saved, too.
    pub velocity: bool,
    /// Whether the gradient of the flow map is saved with each position, too: its derivatives by the coordinates
    /// at the release, as the array [`FLOW_MAP_GRADIENT`](crate::FLOW_MAP_GRADIENT) `[saves, n, 9]`
    /// ([`Tracks::array`](crate::Tracks::array)), those of x, then of y, then of z. It is the exact derivative of
    /// the steps taken, carried along with them; the lengths of adaptive steps count as constants. An ended
    /// particle has the derivatives of its end, a waiting one the identity, one that was not released NaN. The
    /// result has no gradients itself.
    pub flow_map_gradient: bool,
    /// Whether the field's velocity at each position is saved, too, as the array [`FLUID_VELOCITY`](crate::FLUID_VELOCITY)
    /// `[saves, n, 3]`: that of particles with inertia is another one.
    pub fluid_velocity: bool,
    /// Whether the sizes of particles with inertia are saved, too, as the arrays [`DIAMETER`](crate::DIAMETER) and [`MASS`](crate::MASS)
    /// `[saves, n, 1]`.
    pub sizes: bool,
    /// Gates whose crossings are noted.
    pub gates: Vec<Gate>,
    /// What adds up along the tracks, saved as arrays `[saves, n, 1]`; NaN before the release, and kept at the end of a particle.
    pub tallies: Vec<SavedTally>,
    /// Arrays that are sampled at the particles.
    pub arrays: Vec<SampledArray<'a>>,
}

/// An array of a field that is sampled where the particles are, at each save: of the field that is traced, or of
/// another one on the same device. The field interpolates it as its velocity.
///
/// An ended particle keeps the value at its end, at the time of the first save after it. A particle outside the
/// other field has NaN, as has an empty slot.
#[derive(Clone)]
pub struct SampledArray<'a> {
    /// Name of the array in its field.
    pub name: String,
    /// The field.
    pub field: &'a dyn Field,
}

impl std::fmt::Debug for SampledArray<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SampledArray").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for SampledArray<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && is_same(self.field, other.field)
    }
}

/// Whether two fields are one.
pub(crate) fn is_same(a: &dyn Field, b: &dyn Field) -> bool {
    std::ptr::addr_eq(a, b)
}

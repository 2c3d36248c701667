//! The domain box of a field.

use crate::{Error, Result};

/// An axis-aligned box, in the data's unit of length.
///
/// An axis is flat if `low == high`: particles do not move along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Minimum corner.
    pub low: [f64; 3],
    /// Maximum corner.
    pub high: [f64; 3],
}

impl Domain {
    /// A box between two corners. Axes with equal coordinates are flat.
    ///
    /// # Errors
    ///
    /// [`Error::Domain`] if `low > high`, or if a coordinate is NaN. Infinite sides are allowed.
    pub fn new(low: [f64; 3], high: [f64; 3]) -> Result<Self> {
        for d in 0..3 {
            // Negated, to refuse NaN too.
            if !matches!(low[d].partial_cmp(&high[d]), Some(order) if order.is_le()) {
                return Err(Error::Domain { axis: AXES[d], low: low[d], high: high[d] });
            }
        }
        Ok(Domain { low, high })
    }

    /// A box without bounds.
    pub fn unbounded() -> Self {
        Domain { low: [f64::NEG_INFINITY; 3], high: [f64::INFINITY; 3] }
    }

    /// Whether an axis is flat.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.low[axis] == self.high[axis]
    }

    /// Whether a point is in the box. On flat axes, any finite coordinate is.
    pub fn contains(&self, p: [f64; 3]) -> bool {
        (0..3).all(|d| {
            self.is_flat(d) && p[d].is_finite() || self.low[d] <= p[d] && p[d] <= self.high[d]
        })
    }

    /// Side lengths of the box; 0 along flat axes.
    pub fn size(&self) -> [f64; 3] {
        std::array::from_fn(|d| self.high[d] - self.low[d])
    }
}

/// Names of the axes.
pub(crate) const AXES: [char; 3] = ['x', 'y', 'z'];

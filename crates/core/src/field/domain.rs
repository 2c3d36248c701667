//! The domain box of a field.

use crate::{Error, Result, mesh::Bounds};

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

    /// The point from which devices measure positions in the box: the middle of an axis that is
    /// farther from 0 than it is long, because single precision represents few of its coordinates;
    /// 0 on the others.
    pub(crate) fn origin(&self) -> [f64; 3] {
        [0, 1, 2].map(|d| {
            let (low, high) = (self.low[d], self.high[d]);
            let is_far = low.abs().min(high.abs()) > high - low && low.signum() == high.signum();
            // Of as many digits as single precision holds.
            let middle = f64::from_bits((low + 0.5 * (high - low)).to_bits() & SINGLE_DIGITS);
            if is_far { middle } else { 0.0 }
        })
    }

    /// The box moved by an offset.
    pub(crate) fn moved(&self, by: [f64; 3]) -> Self {
        Domain { low: plain(by, self.low), high: plain(by, self.high) }
    }

    /// Side lengths of the box; 0 along flat axes.
    pub fn size(&self) -> [f64; 3] {
        std::array::from_fn(|d| self.high[d] - self.low[d])
    }
}

/// The bounding box of points.
///
/// # Errors
///
/// [`Error::Empty`] if there are none.
pub(crate) fn bounding_box(points: impl IntoIterator<Item = [f64; 3]>) -> Result<Domain> {
    let bounds = Bounds::of(points);
    if bounds.low[0] > bounds.high[0] {
        return Err(Error::Empty("there are no points"));
    }
    Domain::new(bounds.low, bounds.high)
}

/// Positions measured from an origin.
pub(crate) fn measured_from(origin: [f64; 3], positions: &[[f64; 3]]) -> Vec<[f64; 3]> {
    positions.iter().map(|p| measured(origin, *p)).collect()
}

/// A position measured from an origin.
pub(crate) fn measured(origin: [f64; 3], p: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| p[d] - origin[d])
}

/// A position that is measured from an origin, in the data's coordinates.
pub(crate) fn plain(origin: [f64; 3], p: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| p[d] + origin[d])
}

/// Mask of the bits of a double-precision number that single precision holds.
const SINGLE_DIGITS: u64 = !((1 << 29) - 1);

/// Names of the axes.
pub(crate) const AXES: [char; 3] = ['x', 'y', 'z'];

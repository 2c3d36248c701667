//! Straight lines and vectors.

use super::Real;

/// A straight line from a point.
pub(super) struct Line<F> {
    pub direction: [F; 3],
    pub length: F,
}

impl<F: Real> Line<F> {
    /// The line between two points; `None` if they coincide, or are too far apart.
    pub fn new(from: &[F; 3], to: &[F; 3]) -> Option<Self> {
        let displacement = minus(to, from);
        let size = displacement[0].abs().max(displacement[1].abs()).max(displacement[2].abs());
        // Scaled, so that the squares of short displacements do not underflow.
        let scaled = [displacement[0] / size, displacement[1] / size, displacement[2] / size];
        let norm = dot(&scaled, &scaled).sqrt();
        let length = size * norm;
        let direction = [scaled[0] / norm, scaled[1] / norm, scaled[2] / norm];
        (length > F::zero() && length <= F::max_value()).then_some(Line { direction, length })
    }
}

#[inline(always)]
pub(super) fn dot<F: Real>(a: &[F; 3], b: &[F; 3]) -> F {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
pub(super) fn minus<F: Real>(a: &[F; 3], b: &[F; 3]) -> [F; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `a + factor * b`.
#[inline(always)]
pub(super) fn plus<F: Real>(a: &[F; 3], b: &[F; 3], factor: F) -> [F; 3] {
    [a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]]
}

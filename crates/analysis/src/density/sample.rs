//! Selection of the particles on the host, with their weights, mean and covariance.

use super::domain::DensityDomain;
use crate::{Error, Result};

/// The particles of an estimate.
pub(super) struct Sample {
    /// Positions, wrapped into the box along periodic axes.
    pub positions: Vec<[f64; 3]>,
    /// Weights relative to the maximum weight.
    pub weights: Vec<f64>,
    /// The maximum weight; 1 if there are no particles or all weights are 0.
    pub unit: f64,
    /// Number of given particles that are omitted.
    pub left_out: usize,
    /// The sum of the weights.
    pub total: f64,
    /// Effective number of particles, `(sum w)^2 / sum w^2`; 0 if all weights are 0.
    pub effective: f64,
    /// Mean position.
    pub mean: [f64; 3],
    /// Unbiased covariance matrix; not finite for fewer than two particles.
    pub covariance: [[f64; 3]; 3],
}

impl Sample {
    /// Selects the particles with a finite position along the active axes, a selection flag (if flags are
    /// given) and a position inside the box.
    pub fn new(
        given: &[[f64; 3]],
        weights: Option<&[f64]>,
        selected: Option<&[bool]>,
        domain: &DensityDomain,
    ) -> Result<Self> {
        check(given, weights, selected)?;
        let mut positions = Vec::with_capacity(given.len());
        let mut relative = Vec::with_capacity(given.len());
        for (i, position) in given.iter().enumerate() {
            let is_selected = selected.is_none_or(|flags| flags[i]);
            if let Some(position) = domain.wrap(*position).filter(|_| is_selected) {
                positions.push(position);
                relative.push(weights.map_or(1.0, |weights| weights[i]));
            }
        }
        let max = relative.iter().copied().fold(0.0, f64::max);
        let unit = if max > 0.0 { max } else { 1.0 };
        relative.iter_mut().for_each(|weight| *weight /= unit);
        let sum: f64 = relative.iter().sum();
        let squares: f64 = relative.iter().map(|w| w * w).sum();
        let mean = mean(&positions, &relative, sum);
        Ok(Sample {
            left_out: given.len() - positions.len(),
            total: sum * unit,
            effective: if squares > 0.0 { sum * sum / squares } else { 0.0 },
            covariance: covariance(&positions, &relative, mean, sum, squares),
            positions,
            weights: relative,
            unit,
            mean,
        })
    }

    /// Whether particles with a weight above 0 have different coordinates along an axis.
    pub fn has_spread(&self, axis: usize) -> bool {
        let mut weighted = self.positions.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        let first = weighted.next().map(|(position, _)| position[axis]);
        weighted.any(|(position, _)| Some(position[axis]) != first)
    }
}

fn check(given: &[[f64; 3]], weights: Option<&[f64]>, selected: Option<&[bool]>) -> Result<()> {
    let expected = given.len();
    if let Some(found) = weights.map(<[f64]>::len).filter(|&found| found != expected) {
        return Err(Error::Count { what: "weights", found, expected });
    }
    if let Some(found) = selected.map(<[bool]>::len).filter(|&found| found != expected) {
        return Err(Error::Count { what: "selection flags", found, expected });
    }
    let mut weights = weights.unwrap_or_default().iter().copied().enumerate();
    match weights.find(|(_, w)| !w.is_finite() || *w < 0.0) {
        Some((index, value)) => Err(Error::Weight { index, value }),
        None => Ok(()),
    }
}

fn mean(positions: &[[f64; 3]], weights: &[f64], sum: f64) -> [f64; 3] {
    // Relative to the first particle, so that clouds far from the origin lose no digits.
    let from = positions.first().copied().unwrap_or_default();
    let mut offset = [0.0; 3];
    for (position, weight) in positions.iter().zip(weights) {
        for d in 0..3 {
            offset[d] += weight * (position[d] - from[d]);
        }
    }
    [0, 1, 2].map(|d| from[d] + offset[d] / sum)
}

/// `sum w (x - m)(x - m)^T / (sum w - sum w^2 / sum w)`, as `numpy.cov(aweights = w)`.
fn covariance(
    positions: &[[f64; 3]],
    weights: &[f64],
    mean: [f64; 3],
    sum: f64,
    squares: f64,
) -> [[f64; 3]; 3] {
    let mut products = [[0.0; 3]; 3];
    for (position, weight) in positions.iter().zip(weights) {
        let offset = [0, 1, 2].map(|d| position[d] - mean[d]);
        for d in 0..3 {
            for e in d..3 {
                products[d][e] += weight * offset[d] * offset[e];
            }
        }
    }
    let norm = sum - squares / sum;
    [0, 1, 2].map(|d: usize| [0, 1, 2].map(|e: usize| products[d.min(e)][d.max(e)] / norm))
}

//! The particles on the host: who counts, with which weight, and how they spread.

use super::domain::Within;
use crate::{Error, Result};

/// Particles that count.
pub(super) struct Sample {
    /// Positions, brought into the box along periodic axes.
    pub positions: Vec<[f64; 3]>,
    /// Their weights, in parts of the greatest one.
    pub weights: Vec<f64>,
    /// The greatest weight, or 1 where there is none.
    pub unit: f64,
    /// How many particles were given and do not count.
    pub left_out: usize,
    /// The sum of the weights.
    pub total: f64,
    /// `(sum w)^2 / sum w^2`; 0 where all weights are 0.
    pub effective: f64,
    /// Mean position.
    pub mean: [f64; 3],
    /// Covariance matrix, unbiased; not finite for less than two particles.
    pub covariance: [[f64; 3]; 3],
}

impl Sample {
    /// Takes those particles that have a position along the axes that count, are selected and lie in
    /// the box.
    pub fn new(
        given: &[[f64; 3]],
        weights: Option<&[f64]>,
        selected: Option<&[bool]>,
        within: &Within,
    ) -> Result<Self> {
        check(given, weights, selected)?;
        let mut positions = Vec::with_capacity(given.len());
        let mut kept = Vec::with_capacity(given.len());
        for (i, place) in given.iter().enumerate() {
            let is_selected = selected.is_none_or(|marks| marks[i]);
            if let Some(place) = within.place(*place).filter(|_| is_selected) {
                positions.push(place);
                kept.push(weights.map_or(1.0, |weights| weights[i]));
            }
        }
        let greatest = kept.iter().copied().fold(0.0, f64::max);
        let unit = if greatest > 0.0 { greatest } else { 1.0 };
        kept.iter_mut().for_each(|weight| *weight /= unit);
        let sum: f64 = kept.iter().sum();
        let squares: f64 = kept.iter().map(|w| w * w).sum();
        let mean = mean(&positions, &kept, sum);
        Ok(Sample {
            left_out: given.len() - positions.len(),
            total: sum * unit,
            effective: if squares > 0.0 { sum * sum / squares } else { 0.0 },
            covariance: covariance(&positions, &kept, mean, sum, squares),
            positions,
            weights: kept,
            unit,
            mean,
        })
    }

    /// Whether particles with a weight are at different places along an axis.
    pub fn spreads(&self, axis: usize) -> bool {
        let mut places = self.positions.iter().zip(&self.weights).filter(|(_, w)| **w > 0.0);
        let first = places.next().map(|(place, _)| place[axis]);
        places.any(|(place, _)| Some(place[axis]) != first)
    }
}

fn check(given: &[[f64; 3]], weights: Option<&[f64]>, selected: Option<&[bool]>) -> Result<()> {
    let expected = given.len();
    if let Some(found) = weights.map(<[f64]>::len).filter(|&found| found != expected) {
        return Err(Error::Count { what: "weights", found, expected });
    }
    if let Some(found) = selected.map(<[bool]>::len).filter(|&found| found != expected) {
        return Err(Error::Count { what: "marks of selected particles", found, expected });
    }
    let mut weights = weights.unwrap_or_default().iter().copied().enumerate();
    match weights.find(|(_, w)| !w.is_finite() || *w < 0.0) {
        Some((index, value)) => Err(Error::Weight { index, value }),
        None => Ok(()),
    }
}

fn mean(positions: &[[f64; 3]], weights: &[f64], sum: f64) -> [f64; 3] {
    // From the first one on, so that a cloud far from the origin loses no digits.
    let from = positions.first().copied().unwrap_or_default();
    let mut way = [0.0; 3];
    for (place, weight) in positions.iter().zip(weights) {
        for d in 0..3 {
            way[d] += weight * (place[d] - from[d]);
        }
    }
    [0, 1, 2].map(|d| from[d] + way[d] / sum)
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
    for (place, weight) in positions.iter().zip(weights) {
        let way = [0, 1, 2].map(|d| place[d] - mean[d]);
        for d in 0..3 {
            for e in d..3 {
                products[d][e] += weight * way[d] * way[e];
            }
        }
    }
    let norm = sum - squares / sum;
    [0, 1, 2].map(|d: usize| [0, 1, 2].map(|e: usize| products[d.min(e)][d.max(e)] / norm))
}

//! Diffusion between the nodes in a region.
//!
//! Finite volumes: a step moves weight between neighbouring nodes in the region, in proportion to the difference of their
//! densities, along one axis after another. Nothing is lost but for rounding, and densities stay positive. A step of variance
//! `2 a` in node spacings squared has the fourth cumulant `2 a (1 - 6 a)`: with `a = 1/6` it is that of a Gaussian, 0.

use super::nodes::{NodesAlong, WalledNodes, Widths};
use crate::{Error, Result};
use rayon::prelude::*;

/// The part of a difference that a step moves, with which the fourth cumulant is 0.
const EXACT_PART: f64 = 1.0 / 6.0;
/// Nodes in a bandwidth from which on steps are longer: the error of a step of another length is less there.
const MANY_NODES: f64 = 4.0;
/// Maximum number of changes of a value at a node: some minutes.
const MAX_CHANGES: f64 = 2e11;

/// The steps along an axis.
struct Steps {
    count: usize,
    /// Variance of all steps in node spacings squared; on a sphere at the equator.
    variance: f64,
    /// Variance of the clouds, of which there is that much less diffusion.
    own_variance: f64,
}

impl Steps {
    /// The part of a difference that each step moves for a variance of all.
    fn part(&self, variance: f64) -> f64 {
        (variance - self.own_variance).max(0.0) / (2.0 * self.count as f64)
    }
}

impl WalledNodes {
    /// The densities after a diffusion of Gaussians' width, less the variance in node spacings squared that they have already.
    ///
    /// # Errors
    ///
    /// [`Error::Bandwidth`] if it is so much wider than the distance of the nodes that this would take too long.
    pub fn diffused(
        &self,
        mut values: Vec<f64>,
        widths: &Widths,
        own_variance: f64,
    ) -> Result<Vec<f64>> {
        let steps = [0, 1, 2].map(|d| self.steps(d, widths, own_variance));
        let changes =
            steps.iter().map(|steps| steps.count as f64).sum::<f64>() * values.len() as f64;
        if changes > MAX_CHANGES {
            return Err(Error::Bandwidth(format!(
                "it is {:?}, in a region with walls on nodes {:?} apart, which takes {changes:.0e} steps between nodes; \
                 give fewer nodes or a smaller bandwidth",
                widths.lengths,
                [0, 1, 2].map(|d| self.along[d].pitch)
            )));
        }
        let rounds = steps.iter().map(|steps| steps.count).max().unwrap_or(0);
        let mut next = values.clone();
        for round in 0..rounds {
            for position in 0..3 {
                // The other order in every second round.
                let d = if round % 2 == 0 { position } else { 2 - position };
                let of_axis = &steps[d];
                if (round + 1) * of_axis.count / rounds == round * of_axis.count / rounds {
                    continue;
                }
                match d {
                    0 => self.step_in_rows(of_axis, &values, &mut next),
                    _ => self.step_across(d, of_axis.part(of_axis.variance), &values, &mut next),
                }
                std::mem::swap(&mut values, &mut next);
            }
        }
        Ok(values)
    }

    fn steps(&self, d: usize, widths: &Widths, own_variance: f64) -> Steps {
        let along = &self.along[d];
        if along.count < 2 {
            return Steps { count: 0, variance: 0.0, own_variance };
        }
        let variance = (widths.units[d] / along.pitch).powi(2);
        let longer = match self.is_on_sphere {
            // Cells at the poles are small.
            true => 1.0,
            false => (variance.sqrt() / MANY_NODES).clamp(1.0, 2.0),
        };
        let rest = (variance - own_variance).max(0.0);
        let count = (rest / (2.0 * EXACT_PART * longer)).ceil() as usize;
        let count = if self.is_on_sphere { count.max(1) } else { count };
        Steps { count, variance, own_variance }
    }

    /// A step along x, on a sphere in proportion to the number of meridians in a length.
    fn step_in_rows(&self, steps: &Steps, from: &[f64], to: &mut [f64]) {
        let (nx, ny) = (self.along[0].count, self.along[1].count);
        let rows = to.par_chunks_mut(nx).zip(from.par_chunks(nx)).zip(self.open.par_chunks(nx));
        rows.enumerate().for_each(|(row, ((to, from), open))| {
            let part = steps.part(match self.is_on_sphere {
                true => self.variance_in_row(row % ny, steps.variance),
                false => steps.variance,
            });
            // Meridians near the poles are close together: several steps.
            let times = (0.5 * part / EXACT_PART).ceil().max(1.0);
            self.step_in_row(part / times, from, to, open);
            let mut last = Vec::new();
            for _ in 1..times as usize {
                last.clear();
                last.extend_from_slice(to);
                self.step_in_row(part / times, &last, to, open);
            }
        });
    }

    /// A variance at the equator in a row of a sphere. Gaussians wider than half of the row are about the same everywhere in it.
    fn variance_in_row(&self, row: usize, variance: f64) -> f64 {
        let cos = self.along[1].position(row).to_radians().cos();
        (variance / (cos * cos)).min((0.5 * self.along[0].count as f64).powi(2))
    }

    fn step_in_row(&self, part: f64, from: &[f64], to: &mut [f64], open: &[f64]) {
        let along = &self.along[0];
        let last = along.count - 1;
        let change = |i: usize, below: usize, above: usize| {
            let differences =
                open[below] * (from[below] - from[i]) + open[above] * (from[above] - from[i]);
            from[i] + part * open[i] * differences / along.sizes[i]
        };
        for (i, to) in (1..last).zip(&mut to[1..]) {
            *to = change(i, i - 1, i + 1);
        }
        let [below, above] = if along.is_ring { [last, 0] } else { [0, last] };
        to[0] = change(0, below, 1.min(last));
        to[last] = change(last, last.saturating_sub(1), above);
    }

    /// A step along y or z.
    fn step_across(&self, d: usize, part: f64, from: &[f64], to: &mut [f64]) {
        let along = &self.along[d];
        let width: usize = self.counts()[..d].iter().product();
        to.par_chunks_mut(width).enumerate().for_each(|(row, to)| {
            let j = row % along.count;
            let [below, above] = self.neighbours(d, j);
            let nodes = |j: usize| {
                let start = (row - row % along.count + j) * width;
                start..start + width
            };
            let (here, low, high) = (nodes(j), nodes(below), nodes(above));
            let parts = [along.between[below], along.between[j]]
                .map(|metric| part * metric / along.sizes[j]);
            let values = from[here.clone()].iter().zip(&self.open[here]);
            let lower = from[low.clone()].iter().zip(&self.open[low]);
            let upper = from[high.clone()].iter().zip(&self.open[high]);
            for (((to, (value, open)), (lower, open_below)), (upper, open_above)) in
                to.iter_mut().zip(values).zip(lower).zip(upper)
            {
                let moved = parts[0] * open_below * (lower - value)
                    + parts[1] * open_above * (upper - value);
                *to = value + open * moved;
            }
        });
    }

    /// The neighbours of a node along an axis; the node itself at an end.
    fn neighbours(&self, d: usize, j: usize) -> [usize; 2] {
        let NodesAlong { count, is_ring, .. } = self.along[d];
        match is_ring {
            true => [(j + count - 1) % count, (j + 1) % count],
            false => [j.saturating_sub(1), (j + 1).min(count - 1)],
        }
    }
}

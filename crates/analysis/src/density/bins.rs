//! Histograms and clouds in cells, on the host.

use super::{
    Density, Method,
    domain::{Edge, Within, between},
    estimate::Estimate,
    functions::to_tensor,
    lattice::{Lattice, axis_name},
    sample::Sample,
};
use crate::{Error, Result};
use burn::tensor::Tensor;
use burntrace_core::Placement;

impl Density {
    /// The density in bins, or at nodes with clouds. Particles beyond the lattice do not count.
    pub(super) fn in_bins(&self, positions: &Tensor<2>, lattice: Lattice) -> Result<Estimate> {
        let is_histogram = matches!(self.method, Method::Histogram);
        let bins = Bins::new(&self.within, lattice, is_histogram)?;
        let sample = self.sample(positions, &self.within)?;
        let (mut sums, used, weight) = bins.sums(&sample);
        let total = weight * sample.unit;
        let given = sample.positions.len() + sample.left_out;
        if total == 0.0 && self.is_probability() {
            return Err(Error::NoParticles { given, left_out: given - used });
        }
        let unit = if self.is_probability() { 1.0 / weight } else { sample.unit };
        let volume: f64 = self.within.axes.numbers().map(|d| bins.width[d]).product();
        sums.iter_mut().for_each(|sum| *sum *= unit / volume);
        let integral = match is_histogram {
            true => sums.iter().sum::<f64>() * volume,
            false => lattice.integral(&sums),
        };
        Ok(Estimate {
            values: to_tensor(sums, positions),
            lattice: Some(lattice),
            placement: if is_histogram { Placement::Cells } else { Placement::Nodes },
            integral: Some(integral),
            bandwidth: bins.width,
            covariance: None,
            used,
            left_out: given - used,
            total,
            neglected: 0.0,
        })
    }
}

/// What particles are sorted into.
struct Bins<'a> {
    within: &'a Within,
    lattice: Lattice,
    is_histogram: bool,
    /// Of a bin, or between nodes; 0 along axes that do not count.
    width: [f64; 3],
}

/// The numbers of bins or nodes along an axis that a particle goes to, and its part there.
type Shares = Vec<(usize, f64)>;

impl<'a> Bins<'a> {
    fn new(within: &'a Within, lattice: Lattice, is_histogram: bool) -> Result<Self> {
        let mut width = [0.0; 3];
        for d in within.axes.numbers() {
            let least = if is_histogram { 1 } else { 2 };
            let span = lattice.high[d] - lattice.low[d];
            if lattice.counts[d] < least || span <= 0.0 {
                return Err(Error::Lattice(format!(
                    "along {} there are {} from {} to {}; give {least} or more, and a greater \
                     number as the end",
                    axis_name(d),
                    if is_histogram { "bins" } else { "nodes" },
                    lattice.low[d],
                    lattice.high[d]
                )));
            }
            width[d] = span / (lattice.counts[d] + 1 - least) as f64;
            within.check_images(d, lattice.low[d] - width[d], lattice.high[d] + width[d])?;
        }
        Ok(Bins { within, lattice, is_histogram, width })
    }

    /// The weights in all bins, how many particles lie in any, and their weight.
    fn sums(&self, sample: &Sample) -> (Vec<f64>, usize, f64) {
        let [nx, ny, _] = self.lattice.counts;
        let mut sums = vec![0.0; self.lattice.nodes()];
        let (mut used, mut total) = (0, 0.0);
        let mut shares = [vec![(0, 1.0)], vec![(0, 1.0)], vec![(0, 1.0)]];
        let mut images = Vec::new();
        for (place, weight) in sample.positions.iter().zip(&sample.weights) {
            for d in self.within.axes.numbers() {
                self.share(d, place[d], &mut images, &mut shares[d]);
            }
            let [xs, ys, zs] = &shares;
            for &(k, z) in zs {
                for &(j, y) in ys {
                    for &(i, x) in xs {
                        sums[(k * ny + j) * nx + i] += weight * x * y * z;
                    }
                }
            }
            if shares.iter().all(|shares| !shares.is_empty()) {
                used += 1;
                total += weight;
            }
        }
        (sums, used, total)
    }

    /// The shares of a coordinate along an axis.
    fn share(&self, d: usize, x: f64, images: &mut Vec<(f64, bool)>, shares: &mut Shares) {
        shares.clear();
        let (low, high, width) = (self.lattice.low[d], self.lattice.high[d], self.width[d]);
        let is_periodic = self.within.edges[d][0] == Edge::Periodic;
        if !is_periodic {
            // Mirror images lie beyond the lattice's ends, or count there by half of a node's volume.
            images.clear();
            images.extend(between(x, low, high).map(|x| (x, false)));
        } else if self.is_histogram {
            self.within.images(d, x, low, high, images);
            images.retain(|&(x, _)| x < high);
        } else {
            self.within.images(d, x, low - width, high + width, images);
        }
        for &(x, _) in images.iter() {
            if self.is_histogram {
                shares.push((self.bin(d, x), 1.0));
            } else {
                self.cloud(d, (x - low) / width, is_periodic, shares);
            }
        }
    }

    /// The bin of a coordinate between the ends, by its faces, whatever rounding does.
    fn bin(&self, d: usize, x: f64) -> usize {
        let (low, width, last) = (self.lattice.low[d], self.width[d], self.lattice.counts[d] - 1);
        let bin = (((x - low) / width) as usize).min(last);
        if x < low + bin as f64 * width {
            bin.saturating_sub(1)
        } else if x >= low + (bin + 1) as f64 * width {
            (bin + 1).min(last)
        } else {
            bin
        }
    }

    /// The shares of the nodes below and above a coordinate in widths.
    fn cloud(&self, d: usize, g: f64, is_periodic: bool, shares: &mut Shares) {
        let last = self.lattice.counts[d] - 1;
        let below = g.floor();
        for (node, share) in [(below, 1.0 - (g - below)), (below + 1.0, g - below)] {
            if node >= 0.0 && node <= last as f64 && share > 0.0 {
                let node = node as usize;
                let is_half = !is_periodic && (node == 0 || node == last);
                shares.push((node, if is_half { 2.0 * share } else { share }));
            }
        }
    }
}

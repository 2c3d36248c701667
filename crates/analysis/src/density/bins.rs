//! Histograms and cloud-in-cell densities, on the host.

use super::{
    Density, Method,
    domain::{DensityDomain, Edge, clamp_rounded},
    estimate::Estimate,
    lattice::{Lattice, axis_name},
    sample::Sample,
    tensors::to_tensor,
};
use crate::{Error, Result};
use burn::tensor::Tensor;
use burntrace_core::Placement;

impl Density {
    /// The density in bins, or at nodes for cloud-in-cell. Particles beyond the lattice are ignored.
    pub(super) fn in_bins(&self, positions: &Tensor<2>, lattice: Lattice) -> Result<Estimate> {
        let is_histogram = matches!(self.method, Method::Histogram);
        let bins = Bins::new(&self.domain, lattice, is_histogram)?;
        let sample = self.sample(&self.domain.positions(positions)?)?;
        let sizes = self.cell_sizes(&lattice, is_histogram)?;
        let (mut sums, used, weight) = bins.sums(&sample);
        let total = weight * sample.unit;
        let given = sample.positions.len() + sample.left_out;
        if total == 0.0 && self.is_probability() {
            return Err(Error::NoParticles { given, left_out: given - used });
        }
        let unit = if self.is_probability() { 1.0 / weight } else { sample.unit };
        let volume: f64 = self.domain.axes.indices().map(|d| bins.width[d]).product();
        let [nx, ny, _] = lattice.counts;
        let size = |row: usize| sizes.rows[row % ny] * sizes.layers[row / ny];
        let mut integral = 0.0;
        for (row, sums) in sums.chunks_mut(nx).enumerate() {
            integral += sums.iter().sum::<f64>() * unit;
            sums.iter_mut().for_each(|sum| *sum *= unit / (volume * size(row)));
        }
        if !is_histogram {
            integral = lattice.integral(&sums, &sizes);
        }
        Ok(Estimate {
            values: to_tensor(sums, positions),
            lattice: Some(lattice),
            placement: if is_histogram { Placement::Cells } else { Placement::Nodes },
            integral: Some(integral),
            bandwidth: if self.radius.is_some() { [0.0; 3] } else { bins.width },
            covariance: None,
            rule: None,
            used,
            left_out: given - used,
            total,
            neglected: 0.0,
        })
    }
}

/// The bins of a histogram, or the nodes of a cloud-in-cell density.
struct Bins<'a> {
    domain: &'a DensityDomain,
    lattice: Lattice,
    is_histogram: bool,
    /// Width of a bin, or node spacing; 0 along inactive axes.
    width: [f64; 3],
}

/// Indices of the bins or nodes along one axis that a particle contributes to, with its weights.
type AxisWeights = Vec<(usize, f64)>;

impl<'a> Bins<'a> {
    fn new(domain: &'a DensityDomain, lattice: Lattice, is_histogram: bool) -> Result<Self> {
        let mut width = [0.0; 3];
        for d in domain.axes.indices() {
            let min = if is_histogram { 1 } else { 2 };
            let span = lattice.high[d] - lattice.low[d];
            if lattice.counts[d] < min || span <= 0.0 {
                return Err(Error::Lattice(format!(
                    "there are {} {} along {} from {} to {}; give {min} or more, and a high end \
                     above the low end",
                    lattice.counts[d],
                    if is_histogram { "bins" } else { "nodes" },
                    axis_name(d),
                    lattice.low[d],
                    lattice.high[d]
                )));
            }
            width[d] = span / (lattice.counts[d] + 1 - min) as f64;
            domain.check_images(d, lattice.low[d] - width[d], lattice.high[d] + width[d])?;
        }
        Ok(Bins { domain, lattice, is_histogram, width })
    }

    /// The weights in all bins, the number of particles in any bin, and their total weight.
    fn sums(&self, sample: &Sample) -> (Vec<f64>, usize, f64) {
        let [nx, ny, _] = self.lattice.counts;
        let mut sums = vec![0.0; self.lattice.nodes()];
        let (mut used, mut total) = (0, 0.0);
        let mut parts = [vec![(0, 1.0)], vec![(0, 1.0)], vec![(0, 1.0)]];
        let mut images = Vec::new();
        for (position, weight) in sample.positions.iter().zip(&sample.weights) {
            for d in self.domain.axes.indices() {
                self.distribute(d, position[d], &mut images, &mut parts[d]);
            }
            let [xs, ys, zs] = &parts;
            for &(k, z) in zs {
                for &(j, y) in ys {
                    for &(i, x) in xs {
                        sums[(k * ny + j) * nx + i] += weight * x * y * z;
                    }
                }
            }
            if parts.iter().all(|parts| !parts.is_empty()) {
                used += 1;
                total += weight;
            }
        }
        (sums, used, total)
    }

    /// Distributes a coordinate over the bins or nodes along an axis.
    fn distribute(&self, d: usize, x: f64, images: &mut Vec<(f64, bool)>, parts: &mut AxisWeights) {
        parts.clear();
        let (low, high, width) = (self.lattice.low[d], self.lattice.high[d], self.width[d]);
        let is_periodic = self.domain.edges[d][0] == Edge::Periodic;
        if !is_periodic {
            // No mirror images: they are beyond the lattice, and end nodes have half the volume.
            images.clear();
            images.extend(clamp_rounded(x, [low, high], self.domain.origin[d]).map(|x| (x, false)));
        } else if self.is_histogram {
            self.domain.images(d, x, low, high, images);
            images.retain(|&(x, _)| x < high);
        } else {
            self.domain.images(d, x, low - width, high + width, images);
        }
        for &(x, _) in images.iter() {
            if self.is_histogram {
                parts.push((self.bin(d, x), 1.0));
            } else {
                self.cloud(d, (x - low) / width, is_periodic, parts);
            }
        }
    }

    /// The bin of a coordinate within the lattice. The comparison with the bin's faces makes the result
    /// exact in spite of rounding.
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

    /// The weights of the nodes below and above a coordinate given in node spacings.
    fn cloud(&self, d: usize, g: f64, is_periodic: bool, parts: &mut AxisWeights) {
        let last = self.lattice.counts[d] - 1;
        let below = g.floor();
        for (node, weight) in [(below, 1.0 - (g - below)), (below + 1.0, g - below)] {
            if node >= 0.0 && node <= last as f64 && weight > 0.0 {
                let node = node as usize;
                let is_half = !is_periodic && (node == 0 || node == last);
                parts.push((node, if is_half { 2.0 * weight } else { weight }));
            }
        }
    }
}

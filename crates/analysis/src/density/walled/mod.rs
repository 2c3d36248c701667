//! Densities in a region with walls: particles are distributed to the nodes of a lattice and diffused between them.
//!
//! A Gaussian of variance `h^2` is the solution of the heat equation at the time `h^2 / 2`. In a region without a flux through its
//! boundary, that solution is the kernel of which nothing is lost in walls and nothing gets past them.

mod clouds;
mod diffusion;
mod nodes;

use super::{
    Bandwidth, Density, Estimate, Method, Region, Rule,
    domain::{DensityDomain, Edge},
    lattice::{Axes, Lattice},
    tensors,
};
use crate::{Error, Result};
use burn::tensor::Tensor;
use burntrace_core::Placement;
use nodes::{WalledNodes, Widths};
use rayon::prelude::*;

/// Maximum number of nodes.
const MAX_NODES: f64 = 6.7e7;
/// Nodes that threads look at together.
const BLOCK: usize = 1 << 20;
/// Variance of a cloud along an axis, and of the interpolation between nodes, in node spacings squared, in the mean of the
/// positions between nodes.
const CLOUD_VARIANCE: f64 = 1.0 / 6.0;

/// Where a density is evaluated.
pub(super) enum WalledTargets<'a> {
    Lattice(&'a Lattice),
    Points(&'a [[f64; 3]]),
}

impl WalledTargets<'_> {
    /// The lattice, if it has several nodes along every axis: the nodes of the diffusion.
    fn whole(&self, axes: Axes) -> Option<&Lattice> {
        match self {
            WalledTargets::Lattice(lattice) => {
                axes.indices().all(|d| lattice.counts[d] > 1).then_some(lattice)
            }
            WalledTargets::Points(_) => None,
        }
    }

    fn points(&self) -> Vec<[f64; 3]> {
        match self {
            WalledTargets::Lattice(lattice) => lattice.node_positions().collect(),
            WalledTargets::Points(points) => points.to_vec(),
        }
    }
}

/// The kernel of an estimate in a region.
struct WalledKernel {
    widths: Widths,
    covariance: Option<[[f64; 3]; 3]>,
    rule: Rule,
}

impl Density {
    /// A kernel density estimate in a region. `None` for kernels that are not changed by walls: those that are not Gaussians,
    /// Gaussians with correlations, and all if the region has all nodes.
    pub(super) fn kde_inside(
        &self,
        region: &Region,
        positions: &Tensor<2>,
        targets: &WalledTargets,
    ) -> Result<Option<Estimate>> {
        let Method::Kde(bandwidth) = self.method else { return Ok(None) };
        if self.radius.is_some() && self.domain.axes != Axes::XY {
            return Ok(None);
        }
        let given = self.domain.positions(positions)?;
        let Some(kernel) = self.walled_kernel(bandwidth, &given)? else { return Ok(None) };
        let domain = self.walled_domain(targets);
        let inside = Density { domain: domain.clone(), ..self.clone() };
        let sample = inside.sample(&given)?;
        let axes = domain.axes;
        let nodes = match targets.whole(axes) {
            Some(lattice) => {
                WalledNodes::of_lattice(lattice, &domain, self.radius, Some(&kernel.widths))?
            }
            None => WalledNodes::around(&targets.points(), &domain, self.radius, &kernel.widths)?,
        };
        let nodes = nodes.in_region(region, &domain);
        if !nodes.has_walls {
            return Ok(None);
        }
        let clouds = nodes.clouds(&sample, &domain);
        if sample.total > 0.0 && clouds.lost_weight >= sample.weights.iter().sum::<f64>() {
            return Err(Error::NoParticles { given: given.len(), left_out: given.len() });
        }
        let is_interpolated = targets.whole(axes).is_none();
        let own_variance = CLOUD_VARIANCE * if is_interpolated { 2.0 } else { 1.0 };
        let density = nodes.diffused(clouds.densities, &kernel.widths, own_variance)?;
        let mut values = match targets.whole(axes) {
            Some(lattice) => nodes.cropped(&density, lattice, region, &domain),
            None => nodes.interpolated(&density, &targets.points(), region, &domain),
        };
        let lost = clouds.lost_weight * sample.unit;
        let total = sample.total - lost;
        let unit = if self.is_probability() { sample.unit / total } else { sample.unit };
        values.iter_mut().for_each(|value| *value *= unit);
        Ok(Some(Estimate {
            values: tensors::to_tensor(values, positions),
            lattice: None,
            placement: Placement::Nodes,
            integral: None,
            bandwidth: kernel.widths.lengths,
            covariance: kernel.covariance,
            rule: Some(kernel.rule),
            used: sample.positions.len() - clouds.lost,
            left_out: sample.left_out + clouds.lost,
            total,
            neglected: 0.0,
        }))
    }

    /// The widths of a bandwidth. `None` if it has correlations.
    fn walled_kernel(
        &self,
        bandwidth: Bandwidth,
        given: &[[f64; 3]],
    ) -> Result<Option<WalledKernel>> {
        if !(self.truncation.is_finite() && self.truncation >= 1.0) {
            return Ok(None);
        }
        if let Some(radius) = self.radius {
            let in_metres = self.in_metres();
            let sample = in_metres.sample(&super::globe::in_space(radius, given))?;
            let (length, rule) = bandwidth.on_surface(&sample)?;
            if !(length.is_finite() && length > 0.0) {
                return Ok(None);
            }
            let degrees = length / radius.to_radians();
            let widths = Widths {
                lengths: [length, length, 0.0],
                units: [degrees, degrees, 0.0],
                truncation: self.truncation,
            };
            return Ok(Some(WalledKernel { widths, covariance: None, rule }));
        }
        let sample = self.sample(given)?;
        let (bandwidth, rule) = bandwidth.measured(&sample, &self.domain)?;
        let matrix = bandwidth.covariance(&sample, self.domain.axes)?;
        if (0..3).any(|d| (0..d).any(|e| matrix[d][e] != 0.0)) {
            return Ok(None);
        }
        let lengths = [0, 1, 2].map(|d| matrix[d][d].sqrt());
        let widths = Widths { lengths, units: lengths, truncation: self.truncation };
        Ok(Some(WalledKernel { widths, covariance: Some(matrix), rule }))
    }

    /// The box of the nodes; on a sphere, longitudes are periodic and latitudes end at the poles.
    fn walled_domain(&self, targets: &WalledTargets) -> DensityDomain {
        if self.radius.is_none() {
            return self.domain.clone();
        }
        let west = match targets {
            WalledTargets::Lattice(lattice) => lattice.low[0],
            WalledTargets::Points(points) => {
                let known = points.iter().map(|point| point[0]).filter(|x| x.is_finite());
                known.reduce(f64::min).unwrap_or(0.0)
            }
        };
        DensityDomain {
            low: [west, -90.0, 0.0],
            high: [west + 360.0, 90.0, 0.0],
            edges: [[Edge::Periodic; 2], [Edge::Reflecting; 2], [Edge::Open; 2]],
            ..self.domain.clone()
        }
    }

    /// A cloud-in-cell density in a region.
    pub(super) fn clouds_inside(
        &self,
        region: &Region,
        positions: &Tensor<2>,
        lattice: Lattice,
    ) -> Result<Estimate> {
        let sample = self.sample(&self.domain.positions(positions)?)?;
        let nodes = WalledNodes::of_lattice(&lattice, &self.domain, self.radius, None)?;
        let nodes = nodes.in_region(region, &self.domain);
        let clouds = nodes.clouds(&sample, &self.domain);
        let given = sample.positions.len() + sample.left_out;
        if clouds.weight == 0.0 && self.is_probability() {
            return Err(Error::NoParticles { given, left_out: given - clouds.used });
        }
        let mut values = nodes.cropped(&clouds.densities, &lattice, region, &self.domain);
        let unit = if self.is_probability() { 1.0 / clouds.weight } else { sample.unit };
        values.iter_mut().for_each(|value| *value *= unit);
        let integral = lattice.integral(&values, &self.cell_sizes(&lattice, false)?);
        let widths = [0, 1, 2].map(|d| if self.radius.is_some() { 0.0 } else { lattice.pitch(d) });
        Ok(Estimate {
            values: tensors::to_tensor(values, positions),
            lattice: Some(lattice),
            placement: Placement::Nodes,
            integral: Some(integral),
            bandwidth: widths,
            covariance: None,
            rule: None,
            used: clouds.used,
            left_out: given - clouds.used,
            total: clouds.weight * sample.unit,
            neglected: 0.0,
        })
    }

    /// Removes the values of an estimate outside of a region; of bins only those without particles.
    pub(super) fn without_outside(
        &self,
        region: &Region,
        mut estimate: Estimate,
        mut points: impl Iterator<Item = [f64; 3]>,
        like: &Tensor<2>,
    ) -> Result<Estimate> {
        let mut values = estimate.numbers()?;
        let is_bins = estimate.placement == Placement::Cells;
        for block in values.chunks_mut(BLOCK) {
            let here: Vec<[f64; 3]> = points.by_ref().take(block.len()).collect();
            block.par_iter_mut().zip(here).for_each(|(value, point)| {
                let is_outside = || self.domain.wrap(point).is_some_and(|at| !region.contains(at));
                if !(is_bins && *value > 0.0) && is_outside() {
                    *value = f64::NAN;
                }
            });
        }
        if let (Some(lattice), false) = (&estimate.lattice, is_bins) {
            let sizes = self.cell_sizes(lattice, false)?;
            estimate.integral = Some(lattice.integral(&values, &sizes));
        }
        estimate.values = tensors::to_tensor(values, like);
        Ok(estimate)
    }
}

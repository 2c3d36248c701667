//! Particle density: kernel density estimates, SPH kernels, histograms and cloud-in-cell.
//!
//! A [`Density`] holds the method (Gaussian [kernel density estimate](Density::kde), kernels of [smoothed
//! particle hydrodynamics](Density::sph), [histogram](Density::histogram) or [cloud in
//! cell](Density::cloud_in_cell)), the active axes and the box around the particles. Evaluate it [on a
//! grid](Density::on_grid), [on a plane](Density::on_plane) or [at points](Density::at).
//!
//! ```
//! use burntrace_analysis::density::{Axes, Bandwidth, Density, Edge, Lattice};
//! use burn::tensor::{Device, Tensor};
//!
//! # fn main() -> Result<(), burntrace_analysis::Error> {
//! let positions = Tensor::<2>::from_data(
//!     [[0.2_f32, 0.1, 0.0], [0.6, 0.8, 0.0], [0.7, 0.3, 0.0]],
//!     &Device::flex(),
//! );
//! let density = Density::kde(Bandwidth::Scott)
//!     .axes(Axes::XY)
//!     .within([0.0; 3], [1.0, 1.0, 0.0], [[Edge::Reflecting; 2]; 3]);
//! let lattice = Lattice { counts: [65, 65, 1], low: [0.0; 3], high: [1.0, 1.0, 0.0] };
//! let estimate = density.on_grid(&positions, &lattice)?;
//! assert_eq!(estimate.values.dims(), [65 * 65]);
//! assert!(estimate.integral.is_some_and(|integral| (integral - 1.0).abs() < 1e-6));
//! # Ok(())
//! # }
//! ```
//!
//! # Algorithm
//!
//! Positions are read back once. The host computes their mean and covariance and sorts them, with their
//! images beyond the faces, by the cells of a search lattice, all in double precision. A fused operation
//! on the device of the positions, in their precision, then sums the kernels. On CPUs each particle is
//! spread over the nodes within reach, and points search the cells for particles; on other devices one
//! thread per node or point does the search. No matrix of particles by nodes is formed. Histograms
//! and cloud-in-cell densities are computed on the host, in less time than reading the positions takes. In a
//! [region](Density::inside) with walls, Gaussians are diffused on the host.

mod backends;
mod bandwidth;
mod bins;
mod cells;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod domain;
mod estimate;
mod evaluate;
mod globe;
mod kernel;
mod lattice;
mod ops;
mod profile;
mod radial;
mod region;
mod sample;
mod smoother;
mod smoothing;
mod spacing;
mod tensors;
mod walled;
mod wide;

pub use bandwidth::{Bandwidth, Factor, Rule};
pub use domain::Edge;
pub use estimate::Estimate;
pub use kernel::Kernel;
pub use lattice::{Axes, Lattice, Plane};
pub use region::Region;

use crate::{Error, Result};
use burn::tensor::Tensor;
use cells::Targets;
use domain::DensityDomain;
use sample::Sample;
use walled::WalledTargets;

/// The integral of a density over all space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// 1: a probability density.
    Probability,
    /// The sum of the weights, or the number of particles: a number density.
    Number,
}

/// A density estimator: method, active axes, box, weights and normalisation.
#[derive(Clone, Debug)]
pub struct Density {
    method: Method,
    domain: DensityDomain,
    weights: Option<Vec<f64>>,
    selected: Option<Vec<bool>>,
    normalization: Normalization,
    truncation: f64,
    /// Radius of the sphere that positions are on.
    radius: Option<f64>,
    /// The region in which particles can be; `None` for all of the box.
    region: Option<Region>,
}

#[derive(Clone, Copy, Debug)]
enum Method {
    Kde(Bandwidth),
    Sph(Kernel, f64),
    Histogram,
    CloudInCell,
}

impl Density {
    fn new(method: Method, normalization: Normalization) -> Self {
        Density {
            method,
            domain: DensityDomain::unbounded(Axes::XYZ),
            weights: None,
            selected: None,
            normalization,
            truncation: 6.0,
            radius: None,
            region: None,
        }
    }

    /// A Gaussian kernel density estimate, by default a probability density as in
    /// `scipy.stats.gaussian_kde`: `1/(sum w) sum w_j N(x - x_j; C)` with the covariance matrix `C` of
    /// the bandwidth.
    pub fn kde(bandwidth: Bandwidth) -> Self {
        Density::new(Method::Kde(bandwidth), Normalization::Probability)
    }

    /// The density of smoothed particle hydrodynamics, `sum w_j W(x - x_j, h)`, by default a number
    /// density; the smoothing length `h` is in the data's unit of length.
    pub fn sph(kernel: Kernel, h: f64) -> Self {
        Density::new(Method::Sph(kernel, h), Normalization::Number)
    }

    /// A histogram: the sum of the weights in each bin of a grid, divided by the bin volume; by default a
    /// number density.
    /// Bins are half-open `[low, high)`, and the last one is closed, as in `numpy.histogramdd`.
    pub fn histogram() -> Self {
        Density::new(Method::Histogram, Normalization::Number)
    }

    /// Cloud in cell: each particle is distributed trilinearly to the corner nodes of its cell, and sums
    /// are divided by the volume of a node; by default a number density. Nodes at the ends of a
    /// non-periodic axis have half the volume. See R. W. Hockney and J. W. Eastwood, Computer Simulation Using
    /// Particles, 1988.
    pub fn cloud_in_cell() -> Self {
        Density::new(Method::CloudInCell, Normalization::Number)
    }

    /// Replaces the bandwidth of a kernel density estimate; other estimates are unchanged.
    pub fn bandwidth(mut self, bandwidth: Bandwidth) -> Self {
        if let Method::Kde(own) = &mut self.method {
            *own = bandwidth;
        }
        self
    }

    /// Sets the active axes; all three by default. Particles are projected along the others.
    pub fn axes(mut self, axes: Axes) -> Self {
        self.domain.axes = axes;
        self
    }

    /// Sets a box from `low` to `high`, in the data's unit of length, and the effect of its faces on
    /// kernels that reach beyond: `edges[axis]` holds the low and the high face. By default there is no
    /// box. The corners are ignored along inactive axes and axes with two open faces.
    pub fn within(mut self, low: [f64; 3], high: [f64; 3], edges: [[Edge; 2]; 3]) -> Self {
        self.domain = DensityDomain { low, high, edges, ..self.domain };
        self
    }

    /// Sets the point from which tensors of positions and points are measured, 0 by default. Boxes,
    /// lattices and planes are in the data's coordinates. Far from 0, single precision holds distances to
    /// a point nearby, but not coordinates.
    pub fn measured_from(mut self, origin: [f64; 3]) -> Self {
        self.domain.origin = origin;
        self
    }

    /// Sets the weights `[n]` of the particles, 0 or more, for example masses; 1 by default.
    pub fn weights(mut self, weights: impl Into<Vec<f64>>) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// Selects particles by flags `[n]`; all by default. Particles with NaN positions are
    /// always omitted.
    pub fn select(mut self, flags: impl Into<Vec<bool>>) -> Self {
        self.selected = Some(flags.into());
        self
    }

    /// Sets the normalisation of the integral.
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// Sets the truncation of Gaussians in standard deviations from their centre: along each axis, or in
    /// all directions if the covariance matrix is not diagonal. The default is 6, which neglects 6e-9
    /// (along each axis) or 7e-8 (in all directions) of the integral in three dimensions, and less in
    /// fewer.
    pub fn truncation(mut self, deviations: f64) -> Self {
        self.truncation = deviations;
        self
    }

    /// Evaluates the density of particles at `positions` `[n, 3]` at the nodes of a lattice, or in its
    /// bins.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`], [`Error::Count`] and [`Error::Weight`] for positions, weights or flags of
    /// the wrong shape or value; [`Error::NoParticles`] for a probability without particles;
    /// [`Error::NoSpread`] if the particles do not determine a bandwidth; [`Error::Bandwidth`],
    /// [`Error::Domain`] and [`Error::Lattice`] for an unusable bandwidth, box or lattice;
    /// [`Error::Execution`] if the device fails.
    pub fn on_grid(&self, positions: &Tensor<2>, lattice: &Lattice) -> Result<Estimate> {
        self.domain.check()?;
        let lattice = lattice.restricted_to(self.domain.axes)?;
        match (self.method, &self.region) {
            (Method::CloudInCell, Some(region)) => self.clouds_inside(region, positions, lattice),
            (Method::Histogram, Some(region)) => {
                let estimate = self.in_bins(positions, lattice)?;
                self.without_outside(region, estimate, lattice.middles_of_bins(), positions)
            }
            (Method::Histogram | Method::CloudInCell, None) => self.in_bins(positions, lattice),
            (Method::Kde(_) | Method::Sph(..), _) => {
                let mut estimate = self.at_nodes(positions, &lattice)?;
                let values = estimate.numbers()?;
                let sizes = self.cell_sizes(&lattice, false)?;
                estimate.integral = Some(lattice.integral(&values, &sizes));
                estimate.lattice = Some(lattice);
                Ok(estimate)
            }
        }
    }

    /// Evaluates a kernel density at the nodes of a lattice.
    fn at_nodes(&self, positions: &Tensor<2>, lattice: &Lattice) -> Result<Estimate> {
        let Some(region) = &self.region else { return self.at_all_nodes(positions, lattice) };
        match self.kde_inside(region, positions, &WalledTargets::Lattice(lattice))? {
            Some(estimate) => Ok(estimate),
            None => {
                let estimate = self.at_all_nodes(positions, lattice)?;
                self.without_outside(region, estimate, lattice.node_positions(), positions)
            }
        }
    }

    fn at_all_nodes(&self, positions: &Tensor<2>, lattice: &Lattice) -> Result<Estimate> {
        if let Some(radius) = self.radius {
            return self.on_surface(radius, positions, lattice.node_positions().collect());
        }
        let given = self.domain.positions(positions)?;
        let factors = || self.domain.factors(lattice.node_positions(), lattice.nodes());
        let factors = self.domain.mirrors().then(factors).flatten();
        self.smooth(&given, positions, Targets::lattice(lattice), factors)
    }

    /// Evaluates the density of particles at `positions` `[n, 3]` at `points` `[m, 3]`; coordinates along
    /// inactive axes are ignored. The density is NaN at points with NaN coordinates.
    ///
    /// # Errors
    ///
    /// As [`on_grid`](Density::on_grid), and [`Error::Lattice`] for histograms and cloud-in-cell, which
    /// need a grid.
    pub fn at(&self, positions: &Tensor<2>, points: &Tensor<2>) -> Result<Estimate> {
        self.at_points(positions, self.domain.positions(points)?)
    }

    /// Evaluates the density of particles at `positions` `[n, 3]` at the nodes of a plane.
    ///
    /// # Errors
    ///
    /// As [`at`](Density::at).
    pub fn on_plane(&self, positions: &Tensor<2>, plane: &Plane) -> Result<Estimate> {
        self.at_points(positions, plane.nodes()?)
    }

    fn at_points(&self, positions: &Tensor<2>, points: Vec<[f64; 3]>) -> Result<Estimate> {
        self.domain.check()?;
        if matches!(self.method, Method::Histogram | Method::CloudInCell) {
            return Err(Error::Lattice(
                "histograms and cloud-in-cell densities need a grid; use a kernel for points and planes"
                    .into(),
            ));
        }
        if points.is_empty() {
            return Err(Error::Lattice("there are 0 points; give 1 or more".into()));
        }
        let Some(region) = &self.region else { return self.at_all_points(positions, points) };
        match self.kde_inside(region, positions, &WalledTargets::Points(&points))? {
            Some(estimate) => Ok(estimate),
            None => {
                let estimate = self.at_all_points(positions, points.clone())?;
                self.without_outside(region, estimate, points.into_iter(), positions)
            }
        }
    }

    fn at_all_points(&self, positions: &Tensor<2>, mut points: Vec<[f64; 3]>) -> Result<Estimate> {
        if let Some(radius) = self.radius {
            return self.on_surface(radius, positions, points);
        }
        let factors = self.domain.factors(points.iter().copied(), points.len());
        for point in &mut points {
            *point = self.domain.wrap(*point).unwrap_or([f64::NAN; 3]);
        }
        let given = self.domain.positions(positions)?;
        self.smooth(&given, positions, Targets::points(points), factors)
    }

    fn is_probability(&self) -> bool {
        self.normalization == Normalization::Probability
    }

    fn sample(&self, given: &[[f64; 3]]) -> Result<Sample> {
        let (weights, selected) = (self.weights.as_deref(), self.selected.as_deref());
        let sample = Sample::new(given, weights, selected, &self.domain)?;
        if sample.total == 0.0 && self.is_probability() {
            return Err(Error::NoParticles { given: given.len(), left_out: sample.left_out });
        }
        Ok(sample)
    }

    /// The factor on sums of relative weights.
    fn unit(&self, sample: &Sample) -> f64 {
        if self.is_probability() { sample.unit / sample.total } else { sample.unit }
    }
}

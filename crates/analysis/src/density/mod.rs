//! How many particles there are where.
//!
//! A [`Density`] says how: Gaussian [kernel density estimate](Density::kde), kernels of [smoothed
//! particle hydrodynamics](Density::sph), [histogram](Density::histogram) or [cloud in
//! cell](Density::cloud_in_cell); which axes count; which box bounds the particles. It is
//! evaluated [on a grid](Density::on_grid), [on a plane](Density::on_plane) or [at
//! points](Density::at).
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
//! # How it is computed
//!
//! Positions are read back once. On the host they are sorted by the cells of a lattice, together with their
//! images beyond faces, and their mean and covariance are taken, all in double precision. A fused
//! operation on the device of the positions, in their precision, then sums kernels: on CPUs
//! each particle is spread over the nodes that it reaches, and points look for particles through
//! the cells; on other devices a thread for each node or point does. There is no matrix of
//! particles by nodes anywhere. Histograms and clouds in cells, which take less time than reading the
//! positions, are made on the host.

mod backends;
mod bandwidth;
mod bins;
mod cells;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod domain;
mod estimate;
mod functions;
mod kernel;
mod lattice;
mod ops;
mod sample;
mod smoother;

pub use bandwidth::{Bandwidth, Factor};
pub use domain::Edge;
pub use estimate::Estimate;
pub use kernel::Kernel;
pub use lattice::{Axes, Lattice, Plane};

use crate::{Error, Result};
use burn::tensor::Tensor;
use burntrace_core::Placement;
use cells::{Sorted, Targets};
use domain::Within;
use functions::positions_on_host;
use sample::Sample;
use smoother::Smoother;

/// What the integral of a density over all space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// 1: the density of a probability.
    Probability,
    /// The sum of the weights, or the number of particles: how many there are per unit of volume.
    Number,
}

/// How a density is estimated.
#[derive(Clone, Debug)]
pub struct Density {
    method: Method,
    within: Within,
    weights: Option<Vec<f64>>,
    selected: Option<Vec<bool>>,
    normalization: Normalization,
    truncation: f64,
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
            within: Within::everywhere(Axes::XYZ),
            weights: None,
            selected: None,
            normalization,
            truncation: 6.0,
        }
    }

    /// A Gaussian kernel density estimate, by default of probability, as `scipy.stats.gaussian_kde`:
    /// `1/(sum w) sum w_j N(x - x_j; C)` with the covariance matrix `C` that the bandwidth gives.
    pub fn kde(bandwidth: Bandwidth) -> Self {
        Density::new(Method::Kde(bandwidth), Normalization::Probability)
    }

    /// The density of smoothed particle hydrodynamics, `sum w_j W(x - x_j, h)`, by default of number;
    /// `h` is in the data's unit of length.
    pub fn sph(kernel: Kernel, h: f64) -> Self {
        Density::new(Method::Sph(kernel, h), Normalization::Number)
    }

    /// Particles in each bin of a grid, by its volume, by default of number. A bin has its lower faces
    /// and not its upper ones, but the last bin has both, as in `numpy.histogramdd`.
    pub fn histogram() -> Self {
        Density::new(Method::Histogram, Normalization::Number)
    }

    /// Each particle shared among the nodes at the corners of its cell, trilinearly (cloud in cell:
    /// R. W. Hockney and J. W. Eastwood, Computer Simulation Using Particles, 1988), by the
    /// volume that belongs to a node, by default of number. A node at the end of the grid has half
    /// of the others' volume, unless the axis is periodic.
    pub fn cloud_in_cell() -> Self {
        Density::new(Method::CloudInCell, Normalization::Number)
    }

    /// The axes along which distances count; all three by default. Coordinates along the others are not
    /// looked at: particles are projected.
    pub fn axes(mut self, axes: Axes) -> Self {
        self.within.axes = axes;
        self
    }

    /// A box from `low` to `high`, in the data's unit of length, and what its faces do to kernels that
    /// reach beyond: `edges[axis]` has the lower and the upper face. By default there is none. Along
    /// axes with two open faces, and along those that do not count, the corners are not looked at.
    pub fn within(mut self, low: [f64; 3], high: [f64; 3], edges: [[Edge; 2]; 3]) -> Self {
        self.within = Within { axes: self.within.axes, low, high, edges };
        self
    }

    /// A weight for each particle `[n]`, 0 or more: its mass, say. 1 by default.
    pub fn weights(mut self, weights: impl Into<Vec<f64>>) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// Marks the particles that count `[n]`; all by default. Those whose positions are no numbers never
    /// do.
    pub fn select(mut self, marks: impl Into<Vec<bool>>) -> Self {
        self.selected = Some(marks.into());
        self
    }

    /// What the integral is.
    pub fn normalization(mut self, normalization: Normalization) -> Self {
        self.normalization = normalization;
        self
    }

    /// Where Gaussians are cut off: so many standard deviations from their middle, along each axis, or at
    /// that distance in all directions where a covariance matrix has other than variances. 6 by
    /// default, beyond which 6e-9 or 7e-8 of the integral lies in three dimensions, and less in fewer.
    pub fn truncation(mut self, deviations: f64) -> Self {
        self.truncation = deviations;
        self
    }

    /// The density at the nodes of a lattice, or in its bins, of particles at positions `[n, 3]`.
    ///
    /// # Errors
    ///
    /// [`Error::Positions`], [`Error::Count`] and [`Error::Weight`] for numbers that are not as stated
    /// here; [`Error::NoParticles`] for a probability without particles; [`Error::NoSpread`] where a
    /// bandwidth cannot follow from the particles; [`Error::Bandwidth`], [`Error::Domain`] and
    /// [`Error::Lattice`] for what cannot be used; [`Error::Execution`] where the device fails.
    pub fn on_grid(&self, positions: &Tensor<2>, lattice: &Lattice) -> Result<Estimate> {
        self.within.check()?;
        let lattice = lattice.along(self.within.axes)?;
        match self.method {
            Method::Histogram | Method::CloudInCell => self.in_bins(positions, lattice),
            Method::Kde(_) | Method::Sph(..) => {
                let factors = || self.within.factors(lattice.places(), lattice.nodes());
                let factors = self.within.mirrors().then(factors).flatten();
                let nodes = Targets::lattice(&lattice);
                let mut estimate = self.smooth(positions, nodes, factors)?;
                let values = functions::on_host(estimate.values.clone())?;
                estimate.integral = Some(lattice.integral(&values));
                estimate.lattice = Some(lattice);
                Ok(estimate)
            }
        }
    }

    /// The density at points `[m, 3]` of particles at positions `[n, 3]`; their coordinates along axes
    /// that do not count are not looked at. At a point that is no number it is NaN.
    ///
    /// # Errors
    ///
    /// As [`on_grid`](Density::on_grid), and [`Error::Lattice`] for histograms and clouds in cells,
    /// which need a grid.
    pub fn at(&self, positions: &Tensor<2>, points: &Tensor<2>) -> Result<Estimate> {
        self.at_places(positions, positions_on_host(points)?)
    }

    /// The density at the nodes of a plane, or of another parallelogram, of particles at positions
    /// `[n, 3]`.
    ///
    /// # Errors
    ///
    /// As [`at`](Density::at).
    pub fn on_plane(&self, positions: &Tensor<2>, plane: &Plane) -> Result<Estimate> {
        self.at_places(positions, plane.nodes()?)
    }
    fn at_places(&self, positions: &Tensor<2>, mut places: Vec<[f64; 3]>) -> Result<Estimate> {
        self.within.check()?;
        if matches!(self.method, Method::Histogram | Method::CloudInCell) {
            return Err(Error::Lattice(
                "histograms and clouds in cells are made on grids; use a kernel for points and planes"
                    .into(),
            ));
        }
        if places.is_empty() {
            return Err(Error::Lattice("there are no points; give 1 or more".into()));
        }
        let factors = self.within.factors(places.iter().copied(), places.len());
        for place in &mut places {
            *place = self.within.place(*place).unwrap_or([f64::NAN; 3]);
        }
        self.smooth(positions, Targets::points(places), factors)
    }

    fn is_probability(&self) -> bool {
        self.normalization == Normalization::Probability
    }

    fn sample(&self, positions: &Tensor<2>, within: &Within) -> Result<Sample> {
        let given = positions_on_host(positions)?;
        let sample =
            Sample::new(&given, self.weights.as_deref(), self.selected.as_deref(), within)?;
        if sample.total == 0.0 && self.is_probability() {
            return Err(Error::NoParticles { given: given.len(), left_out: sample.left_out });
        }
        Ok(sample)
    }

    /// What sums of weights, in parts of the greatest one, are multiplied by.
    fn unit(&self, sample: &Sample) -> f64 {
        if self.is_probability() { sample.unit / sample.total } else { sample.unit }
    }

    /// The sums of kernels, in the precision and on the device of a tensor.
    fn sums(
        &self,
        sample: &Sample,
        smoother: &Smoother,
        targets: &Targets,
        like: &Tensor<2>,
    ) -> Result<Tensor<1>> {
        let (unit, epsilon) = (self.unit(sample), functions::epsilon(like));
        let mut sums: Option<Tensor<1>> = None;
        for (tilt, smoother) in smoother.tilted(self.within.mirrors()) {
            let sorted = Sorted::new(sample, &self.within, &smoother, targets, tilt, epsilon)?;
            if sums.is_none() || sorted.cells.sources > 0 {
                let more = functions::evaluate(sorted, &smoother, targets, unit, like);
                sums = Some(match sums {
                    Some(sums) => sums + more,
                    None => more,
                });
            }
        }
        Ok(sums.unwrap_or_else(|| unreachable!("there is a kernel")))
    }

    fn smooth(
        &self,
        positions: &Tensor<2>,
        targets: Targets,
        factors: Option<Vec<f64>>,
    ) -> Result<Estimate> {
        let axes = self.within.axes;
        let sample = self.sample(positions, &self.within)?;
        let mut covariance = None;
        let smoother = match self.method {
            Method::Sph(kernel, h) => Smoother::sph(kernel, h, axes, self.truncation)?,
            Method::Kde(bandwidth) => {
                let matrix = bandwidth.covariance(&sample, axes)?;
                covariance = Some(matrix);
                Smoother::gaussian(&matrix, axes, self.truncation)?
            }
            Method::Histogram | Method::CloudInCell => unreachable!("made in bins"),
        };
        let mut values = self.sums(&sample, &smoother, &targets, positions)?;
        if let Some(factors) = factors {
            values = values * functions::to_tensor(factors, positions);
        }
        let bandwidth = [0, 1, 2].map(|d: usize| match (self.method, covariance) {
            (_, Some(matrix)) => matrix[d][d].sqrt(),
            (Method::Sph(_, h), _) if axes.counts()[d] => h,
            _ => 0.0,
        });
        Ok(Estimate {
            values,
            lattice: None,
            placement: Placement::Nodes,
            integral: None,
            bandwidth,
            covariance,
            used: sample.positions.len(),
            left_out: sample.left_out,
            total: sample.total,
            neglected: smoother.neglected,
        })
    }
}

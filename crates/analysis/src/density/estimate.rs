//! Results of a density estimate.

use super::{bandwidth::Rule, lattice::Lattice, tensors::on_host};
use crate::Result;
use burn::tensor::Tensor;
use burntrace_core::Placement;

/// A density at nodes or points, with the parameters of the estimate.
///
/// The unit is the unit of the weights (particles if there are no weights, 1 for a probability) per unit
/// of length, area or volume for 1, 2 or 3 active axes; on a sphere, per square or cubic kilometre.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The density at each node, bin or point `[m]`, NaN outside of the [region](super::Density::inside), on the device of the positions and in their
    /// precision. Nodes are ordered with x fastest, then y, as a tensor `[nz, ny, nx]`; nodes of a plane
    /// with its first edge fastest.
    pub values: Tensor<1>,
    /// The nodes or bins of [`on_grid`](super::Density::on_grid), with a single one along inactive axes.
    pub lattice: Option<Lattice>,
    /// Whether values belong to nodes (or points) or to cells: the bins of a histogram.
    pub placement: Placement,
    /// The integral over the lattice, summed in double precision: by the trapezoidal rule over the axes
    /// with more than one node, or for bins the sum times the bin volume. If the lattice covers the whole
    /// box, or everything within the kernels' reach, it is 1 for a probability and the sum of the weights
    /// for a number density. Nodes without a value do not count. `None` for points and planes.
    pub integral: Option<f64>,
    /// Width along x, y and z, 0 along inactive axes: the standard deviation of a Gaussian, the smoothing
    /// length of other kernels, or the width of bins and clouds. In the data's unit of length; on a sphere in metres, and 0 for
    /// bins and clouds, whose widths are those of the lattice in degrees.
    pub bandwidth: [f64; 3],
    /// The covariance matrix of a Gaussian, in the data's unit of length squared; zeros for inactive axes. `None` on a
    /// sphere.
    pub covariance: Option<[[f64; 3]; 3]>,
    /// The rule of the bandwidth of a Gaussian kernel density estimate; `None` for other methods.
    pub rule: Option<Rule>,
    /// Number of particles in the estimate.
    pub used: usize,
    /// Number of omitted particles: without a position, not selected, beyond a face of the box, or farther than four nodes from any
    /// node in the [region](super::Density::inside).
    pub left_out: usize,
    /// The sum of the weights of the particles in the estimate.
    pub total: f64,
    /// The fraction of a kernel's integral beyond its truncation; 0 for kernels with compact support.
    pub neglected: f64,
}

impl Estimate {
    /// Reads the values from the device.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn numbers(&self) -> Result<Vec<f64>> {
        on_host(self.values.clone())
    }
}

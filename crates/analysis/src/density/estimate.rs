//! What an estimate gives.

use super::lattice::Lattice;
use burn::tensor::Tensor;
use burntrace_core::Placement;

/// A density at nodes or points, and how it was made.
///
/// The unit is that of the weights (particles, without weights; 1 for a probability) per unit of length,
/// area or volume, as 1, 2 or 3 axes count.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The density at each node, bin or point `[m]`, on the device of the positions and in their
    /// precision. Nodes go with x fastest, then y: as a tensor `[nz, ny, nx]`; those of a plane
    /// go along its first edge fastest.
    pub values: Tensor<1>,
    /// The nodes or bins of [`on_grid`](super::Density::on_grid), with a single one along axes that
    /// do not count.
    pub lattice: Option<Lattice>,
    /// Whether values are at nodes (or points) or of the cells between: the bins of a histogram.
    pub placement: Placement,
    /// The integral over the lattice, summed in double precision: by the trapezoidal rule over the axes
    /// with more than one node; for bins the sum times their volume. For the whole box, or for all that
    /// kernels reach, it is 1 for a probability and the sum of the weights for a number. None for
    /// points and planes.
    pub integral: Option<f64>,
    /// Width along x, y and z, 0 along axes that do not count: the standard deviation of a Gaussian, the
    /// smoothing length of other kernels, or the width of bins and clouds.
    pub bandwidth: [f64; 3],
    /// The covariance matrix of a Gaussian; zeros for axes that do not count.
    pub covariance: Option<[[f64; 3]; 3]>,
    /// Particles that count.
    pub used: usize,
    /// Particles that do not: without a position, not selected, or beyond a face of the box.
    pub left_out: usize,
    /// The sum of the weights of those that count.
    pub total: f64,
    /// The part of a kernel's integral that lies beyond where it is cut off; 0 for kernels that end.
    pub neglected: f64,
}

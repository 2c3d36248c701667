//! Bandwidths of kernel density estimates.

use super::{
    domain::DensityDomain,
    lattice::{Axes, axis_name},
    sample::Sample,
    spacing,
};
use crate::{Error, Result};

/// The bandwidth of a Gaussian kernel density estimate.
///
/// Scott's factor is `n^(-1/(d+4))`, Silverman's `(n (d+2)/4)^(-1/(d+4))`, with `d` axes and `n`
/// particles; with weights `n` is the effective number `(sum w)^2 / sum w^2`. These are the factors of
/// `scipy.stats.gaussian_kde`; see D. W. Scott, Multivariate Density Estimation, 1992, and B. W.
/// Silverman, Density Estimation for Statistics and Data Analysis, 1986.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bandwidth {
    /// The median distance from a particle to its k-th neighbour, with `k = 0.64 n^(4/5)`, `0.25 n^(2/3)` or `0.081 n^(4/7)` along
    /// 1, 2 or 3 axes. A normal cloud gets Scott's bandwidth, one of several parts or of filaments a smaller one. Distances along
    /// different axes are in units of each: this distance along the axis alone, times `n^(1/5)`. If it is 0, as most particles are
    /// at few positions, Scott's rule is used, and [`Estimate::rule`](super::Estimate::rule) says so.
    Spacing,
    /// The standard deviation of the particles along each axis, times Scott's factor.
    Scott,
    /// The standard deviation of the particles along each axis, times Silverman's factor.
    Silverman,
    /// One standard deviation for all axes, in the data's unit of length.
    Fixed(f64),
    /// A standard deviation for each of x, y and z; values of inactive axes are ignored.
    PerAxis([f64; 3]),
    /// The covariance matrix of the particles times the square of a factor, as in
    /// `scipy.stats.gaussian_kde`.
    Full(Factor),
    /// A covariance matrix over x, y and z, in the data's unit of length squared; rows and columns of
    /// inactive axes are ignored.
    Covariance([[f64; 3]; 3]),
}

/// The rule of a bandwidth that was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The distance of neighbours.
    Spacing,
    /// Scott's factor times standard deviations or the covariance matrix.
    Scott,
    /// Silverman's factor times standard deviations or the covariance matrix.
    Silverman,
    /// None: the bandwidth or its factor is given.
    Given,
}

impl Rule {
    /// The name on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Spacing => "spacing",
            Rule::Scott => "scott",
            Rule::Silverman => "silverman",
            Rule::Given => "given",
        }
    }
}

/// The factor on standard deviations in [`Bandwidth::Full`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// Scott's factor.
    Scott,
    /// Silverman's factor.
    Silverman,
    /// A given factor, greater than 0.
    Given(f64),
}

impl Factor {
    fn value(self, sample: &Sample, dimension: usize) -> Result<f64> {
        let (n, d) = (sample.effective, dimension as f64);
        match self {
            Factor::Scott => Ok(n.powf(-1.0 / (d + 4.0))),
            Factor::Silverman => Ok((n * (d + 2.0) / 4.0).powf(-1.0 / (d + 4.0))),
            Factor::Given(factor) if factor.is_finite() && factor > 0.0 => Ok(factor),
            Factor::Given(factor) => {
                Err(Error::Bandwidth(format!("the factor is {factor}; give a number above 0")))
            }
        }
    }
}

impl Bandwidth {
    /// The rule that it is by itself.
    pub(super) fn rule(self) -> Rule {
        match self {
            Bandwidth::Spacing => Rule::Spacing,
            Bandwidth::Scott | Bandwidth::Full(Factor::Scott) => Rule::Scott,
            Bandwidth::Silverman | Bandwidth::Full(Factor::Silverman) => Rule::Silverman,
            Bandwidth::Fixed(_)
            | Bandwidth::PerAxis(_)
            | Bandwidth::Full(Factor::Given(_))
            | Bandwidth::Covariance(_) => Rule::Given,
        }
    }

    /// The bandwidth of the spacing as lengths, or Scott's rule where it is 0; others are unchanged. With the rule that is used.
    pub(super) fn measured(self, sample: &Sample, domain: &DensityDomain) -> Result<(Self, Rule)> {
        if self != Bandwidth::Spacing {
            return Ok((self, self.rule()));
        }
        spread(sample, domain.axes)?;
        Ok(match spacing::along_axes(sample, domain) {
            Some(widths) => (Bandwidth::PerAxis(widths), Rule::Spacing),
            None => (Bandwidth::Scott, Rule::Scott),
        })
    }

    /// The covariance matrix of the kernel; zeros for inactive axes.
    pub(super) fn covariance(self, sample: &Sample, axes: Axes) -> Result<[[f64; 3]; 3]> {
        match self {
            Bandwidth::Spacing => unreachable!("replaced by `measured`"),
            Bandwidth::Scott => diagonal(sample, axes, Factor::Scott),
            Bandwidth::Silverman => diagonal(sample, axes, Factor::Silverman),
            Bandwidth::Fixed(h) => fixed([h; 3], axes),
            Bandwidth::PerAxis(h) => fixed(h, axes),
            Bandwidth::Full(factor) => {
                let spread = spread(sample, axes)?;
                let factor = factor.value(sample, axes.dimension())?;
                Ok(spread.map(|row| row.map(|c| c * factor * factor)))
            }
            Bandwidth::Covariance(matrix) => given(matrix, axes),
        }
    }
}

/// The covariance of the particles along the active axes.
fn spread(sample: &Sample, axes: Axes) -> Result<[[f64; 3]; 3]> {
    if sample.effective < 1.0 + 1e-9 {
        return Err(Error::NoSpread(
            "a standard deviation needs two particles with a weight above 0".into(),
        ));
    }
    let mut spread = [[0.0; 3]; 3];
    for d in axes.indices() {
        if !sample.has_spread(d) {
            let (name, at) = (axis_name(d), sample.mean[d]);
            return Err(Error::NoSpread(format!(
                "all particles are at {name} = {at}, so their standard deviation along {name} is 0"
            )));
        }
        for e in axes.indices() {
            spread[d][e] = sample.covariance[d][e];
        }
    }
    Ok(spread)
}

fn diagonal(sample: &Sample, axes: Axes, factor: Factor) -> Result<[[f64; 3]; 3]> {
    let spread = spread(sample, axes)?;
    let factor = factor.value(sample, axes.dimension())?;
    let mut covariance = [[0.0; 3]; 3];
    for d in axes.indices() {
        covariance[d][d] = spread[d][d] * factor * factor;
    }
    Ok(covariance)
}

fn fixed(h: [f64; 3], axes: Axes) -> Result<[[f64; 3]; 3]> {
    let mut covariance = [[0.0; 3]; 3];
    for d in axes.indices() {
        if !(h[d].is_finite() && h[d] > 0.0) {
            let name = axis_name(d);
            return Err(Error::Bandwidth(format!(
                "it is {} along {name}; give a length above 0",
                h[d]
            )));
        }
        covariance[d][d] = h[d] * h[d];
    }
    Ok(covariance)
}

fn given(matrix: [[f64; 3]; 3], axes: Axes) -> Result<[[f64; 3]; 3]> {
    let mut covariance = [[0.0; 3]; 3];
    for d in axes.indices() {
        for e in axes.indices() {
            let (a, b) = (matrix[d][e], matrix[e][d]);
            if !a.is_finite() || (a - b).abs() > 1e-12 * (a.abs() + b.abs()) {
                return Err(Error::Bandwidth(format!(
                    "the covariance matrix {matrix:?} is not finite and symmetric; give finite numbers \
                     with c[i][j] = c[j][i]"
                )));
            }
            covariance[d][e] = a;
        }
    }
    Ok(covariance)
}

/// The whitening matrix of a covariance `C`: the upper triangular `A` with `|A x|^2 = x^T C^-1 x`.
/// In the whitened coordinates `A x` the kernel is isotropic. Zeros for inactive axes.
///
/// `C = U U^T` with `U` upper triangular (a Cholesky decomposition from the last axis); `A = U^-1`.
pub(super) fn whitening(covariance: &[[f64; 3]; 3], axes: Axes) -> Result<Whitening> {
    let active: Vec<usize> = axes.indices().collect();
    let mut u = [[0.0; 3]; 3];
    for &j in active.iter().rev() {
        for &i in active.iter().rev().filter(|&&i| i <= j) {
            let known: f64 = active.iter().filter(|&&k| k > j).map(|&k| u[i][k] * u[j][k]).sum();
            let rest = covariance[i][j] - known;
            if i == j {
                // The remaining variance may be rounding error.
                if rest.is_nan() || rest <= 1e-12 * covariance[i][i] {
                    return Err(singular(covariance, axes));
                }
                u[i][i] = rest.sqrt();
            } else {
                u[i][j] = rest / u[j][j];
            }
        }
    }
    let mut matrix = [[0.0; 3]; 3];
    for &j in &active {
        matrix[j][j] = 1.0 / u[j][j];
        for &i in active.iter().rev().filter(|&&i| i < j) {
            let sum: f64 =
                active.iter().filter(|&&k| i < k && k <= j).map(|&k| u[i][k] * matrix[k][j]).sum();
            matrix[i][j] = -sum / u[i][i];
        }
    }
    let root_determinant = active.iter().map(|&d| u[d][d]).product();
    Ok(Whitening { matrix, root_determinant })
}

/// The result of [`whitening`].
pub(super) struct Whitening {
    /// `A`.
    pub matrix: [[f64; 3]; 3],
    /// The square root of the determinant of `C`.
    pub root_determinant: f64,
}

fn singular(covariance: &[[f64; 3]; 3], axes: Axes) -> Error {
    let rows: Vec<Vec<f64>> =
        axes.indices().map(|d| axes.indices().map(|e| covariance[d][e]).collect()).collect();
    Error::NoSpread(format!(
        "the covariance matrix {rows:?} is singular or not positive, for example because all \
         particles are on a line or in a plane"
    ))
}

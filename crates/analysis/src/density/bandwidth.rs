//! How wide the kernels of an estimate are.

use super::{
    lattice::{Axes, axis_name},
    sample::Sample,
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
    /// Along each axis the particles' standard deviation there times Scott's factor.
    Scott,
    /// Along each axis the particles' standard deviation there times Silverman's factor.
    Silverman,
    /// The same standard deviation along all axes, in the data's unit of length.
    Fixed(f64),
    /// A standard deviation for each of x, y and z; those of axes that do not count are not used.
    PerAxis([f64; 3]),
    /// The particles' covariance matrix times the square of a factor: what
    /// `scipy.stats.gaussian_kde` does.
    Full(Factor),
    /// A covariance matrix over x, y and z, in the square of the data's unit of length; rows and columns
    /// of axes that do not count are not used.
    Covariance([[f64; 3]; 3]),
}

/// What [`Bandwidth::Full`] multiplies standard deviations by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// Scott's factor.
    Scott,
    /// Silverman's factor.
    Silverman,
    /// This one.
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
    /// The covariance matrix of the kernel; zeros for axes that do not count.
    pub(super) fn covariance(self, sample: &Sample, axes: Axes) -> Result<[[f64; 3]; 3]> {
        match self {
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

/// The covariance of the particles along the axes that count.
fn spread(sample: &Sample, axes: Axes) -> Result<[[f64; 3]; 3]> {
    if sample.effective < 1.0 + 1e-9 {
        return Err(Error::NoSpread(
            "it takes two particles with a weight to have a standard deviation".into(),
        ));
    }
    let mut spread = [[0.0; 3]; 3];
    for d in axes.numbers() {
        if !sample.spreads(d) {
            let (name, at) = (axis_name(d), sample.mean[d]);
            return Err(Error::NoSpread(format!(
                "all particles are at {name} = {at}, so that their standard deviation along {name} is 0"
            )));
        }
        for e in axes.numbers() {
            spread[d][e] = sample.covariance[d][e];
        }
    }
    Ok(spread)
}

fn diagonal(sample: &Sample, axes: Axes, factor: Factor) -> Result<[[f64; 3]; 3]> {
    let spread = spread(sample, axes)?;
    let factor = factor.value(sample, axes.dimension())?;
    let mut covariance = [[0.0; 3]; 3];
    for d in axes.numbers() {
        covariance[d][d] = spread[d][d] * factor * factor;
    }
    Ok(covariance)
}

fn fixed(h: [f64; 3], axes: Axes) -> Result<[[f64; 3]; 3]> {
    let mut covariance = [[0.0; 3]; 3];
    for d in axes.numbers() {
        if !(h[d].is_finite() && h[d] > 0.0) {
            let name = axis_name(d);
            return Err(Error::Bandwidth(format!(
                "along {name} it is {}; give a length above 0",
                h[d]
            )));
        }
        covariance[d][d] = h[d] * h[d];
    }
    Ok(covariance)
}

fn given(matrix: [[f64; 3]; 3], axes: Axes) -> Result<[[f64; 3]; 3]> {
    let mut covariance = [[0.0; 3]; 3];
    for d in axes.numbers() {
        for e in axes.numbers() {
            let (a, b) = (matrix[d][e], matrix[e][d]);
            if !a.is_finite() || (a - b).abs() > 1e-12 * (a.abs() + b.abs()) {
                return Err(Error::Bandwidth(format!(
                    "the covariance matrix {matrix:?} is not finite and symmetric"
                )));
            }
            covariance[d][e] = a;
        }
    }
    Ok(covariance)
}

/// The upper triangular `A` for which `|A x|^2 = x^T C^-1 x`, so that `A x` are coordinates in which
/// the kernel is round. Zeros for axes that do not count.
///
/// `C = U U^T` with `U` upper triangular (Cholesky's decomposition from the last axis on); `A = U^-1`.
pub(super) fn whitened(covariance: &[[f64; 3]; 3], axes: Axes) -> Result<Whitened> {
    let numbers: Vec<usize> = axes.numbers().collect();
    let mut u = [[0.0; 3]; 3];
    for &j in numbers.iter().rev() {
        for &i in numbers.iter().rev().filter(|&&i| i <= j) {
            let known: f64 = numbers.iter().filter(|&&k| k > j).map(|&k| u[i][k] * u[j][k]).sum();
            let rest = covariance[i][j] - known;
            if i == j {
                // What is left of a variance may be rounding.
                if rest.is_nan() || rest <= 1e-12 * covariance[i][i] {
                    return Err(singular(covariance, axes));
                }
                u[i][i] = rest.sqrt();
            } else {
                u[i][j] = rest / u[j][j];
            }
        }
    }
    let mut per_unit = [[0.0; 3]; 3];
    for &j in &numbers {
        per_unit[j][j] = 1.0 / u[j][j];
        for &i in numbers.iter().rev().filter(|&&i| i < j) {
            let sum: f64 = numbers
                .iter()
                .filter(|&&k| i < k && k <= j)
                .map(|&k| u[i][k] * per_unit[k][j])
                .sum();
            per_unit[i][j] = -sum / u[i][i];
        }
    }
    let determinant = numbers.iter().map(|&d| u[d][d]).product();
    Ok(Whitened { per_unit, determinant })
}

/// See [`whitened`].
pub(super) struct Whitened {
    /// `A`.
    pub per_unit: [[f64; 3]; 3],
    /// The square root of the determinant of `C`.
    pub determinant: f64,
}

fn singular(covariance: &[[f64; 3]; 3], axes: Axes) -> Error {
    let rows: Vec<Vec<f64>> =
        axes.numbers().map(|d| axes.numbers().map(|e| covariance[d][e]).collect()).collect();
    Error::NoSpread(format!(
        "the covariance matrix {rows:?} is singular or not positive, as of particles on a line or a \
         plane"
    ))
}

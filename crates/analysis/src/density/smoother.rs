//! A smoothing kernel with its width, independent of how it is evaluated.

use super::{
    bandwidth::{Whitening, whitening},
    kernel::Kernel,
    lattice::Axes,
    profile::Profile,
};
use crate::{Error, Result};

/// A smoothing kernel `scale profile(|A x|^2)`, truncated at `cutoff`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoother {
    pub(super) profile: Profile,
    /// The whitening matrix `A`, upper triangular; zeros for inactive axes.
    pub(super) whitening: [[f64; 3]; 3],
    /// Maximum length of `A x`; for [`Profile::Gaussian`], maximum of each coordinate.
    pub(super) cutoff: f64,
    /// Reach of the kernel along each axis; 0 along inactive axes.
    pub(super) reach: [f64; 3],
    /// The factor that normalises the integral of the untruncated kernel to 1.
    pub(super) scale: f64,
    /// The integral beyond the truncation.
    pub(super) neglected: f64,
}

impl Smoother {
    /// A Gaussian with a covariance matrix, truncated at a number of standard deviations from its centre:
    /// along each axis if the matrix is diagonal, otherwise at that distance in all directions.
    pub fn gaussian(covariance: &[[f64; 3]; 3], axes: Axes, truncation: f64) -> Result<Self> {
        if !(truncation.is_finite() && truncation >= 1.0) {
            return Err(Error::Bandwidth(format!(
                "Gaussians are truncated at {truncation} standard deviations from their centres; give 1 \
                 or more"
            )));
        }
        let Whitening { matrix, root_determinant } = whitening(covariance, axes)?;
        let dimension = axes.dimension();
        let is_correlated = (0..3).any(|d| (0..d).any(|e| covariance[d][e] != 0.0));
        let (profile, neglected) = match is_correlated {
            false => (Profile::Gaussian, beyond_box(truncation, dimension)),
            true => (Profile::RoundGaussian, beyond_ball(truncation, dimension)),
        };
        Ok(Smoother {
            profile,
            whitening: matrix,
            cutoff: truncation,
            // The half-width of the ellipsoid `x^T C^-1 x = t^2` along an axis; the box has the same.
            reach: [0, 1, 2].map(|d| truncation * covariance[d][d].sqrt()),
            scale: profile.norm(dimension) / root_determinant,
            neglected,
        })
    }

    /// A kernel of smoothed particle hydrodynamics.
    pub fn sph(kernel: Kernel, h: f64, axes: Axes, truncation: f64) -> Result<Self> {
        if !(h.is_finite() && h > 0.0) {
            return Err(Error::Bandwidth(format!(
                "the smoothing length is {h}; give a length above 0"
            )));
        }
        let dimension = axes.dimension();
        let profile = kernel.profile(dimension);
        let diagonal = |x: f64| {
            let mut matrix = [[0.0; 3]; 3];
            axes.indices().for_each(|d| matrix[d][d] = x);
            matrix
        };
        if kernel == Kernel::Gaussian {
            return Self::gaussian(&diagonal(0.5 * h * h), axes, truncation);
        }
        let reach =
            axes.active().map(|is_active| if is_active { kernel.support() * h } else { 0.0 });
        let scale = profile.norm(dimension) / h.powi(dimension as i32);
        let whitening = diagonal(1.0 / h);
        Ok(Smoother { profile, whitening, cutoff: kernel.support(), reach, scale, neglected: 0.0 })
    }

    /// The kernels of images for each mirror parity: a reflection changes signs of correlations. A single
    /// kernel without a parity if there are no correlations or reflecting faces.
    pub(super) fn mirrored(&self, has_mirrors: bool) -> Vec<(Option<MirrorParity>, Smoother)> {
        if !has_mirrors || self.profile != Profile::RoundGaussian {
            return vec![(None, *self)];
        }
        let sign = |is_mirrored: bool| if is_mirrored { -1.0 } else { 1.0 };
        let parities = [[false, false], [true, false], [false, true], [true, true]];
        let mirrored = parities.map(|parity: MirrorParity| {
            let mut smoother = *self;
            smoother.whitening[0][1] *= sign(parity[0]);
            smoother.whitening[0][2] *= sign(parity[1]);
            smoother.whitening[1][2] *= sign(parity[0] ^ parity[1]);
            (Some(parity), smoother)
        });
        mirrored.into()
    }

    /// Whether the kernel is separable: a product of functions of one coordinate each.
    pub(super) fn is_product(&self) -> bool {
        self.profile == Profile::Gaussian
    }
}

/// Whether an image is mirrored along exactly one of x and y, and along exactly one of x and z.
pub(super) type MirrorParity = [bool; 2];

/// The probability of a normal variate farther than `t` standard deviations from its mean:
/// `erfc(t / sqrt 2)` by its continued fraction (Abramowitz and Stegun 26.2.14), for `t >= 1`.
fn beyond(t: f64) -> f64 {
    let mut fraction = t;
    for k in (1..=200).rev() {
        fraction = t + f64::from(k) / fraction;
    }
    2.0 * (-0.5 * t * t).exp() / ((2.0 * std::f64::consts::PI).sqrt() * fraction)
}

/// The probability that any of `dimension` independent normal coordinates is beyond `t`.
fn beyond_box(t: f64, dimension: usize) -> f64 {
    // 1 - (1 - e)^d = e (1 + (1 - e) + ...), without cancellation.
    let beyond = beyond(t);
    (0..dimension).map(|d| beyond * (1.0 - beyond).powi(d as i32)).sum()
}

/// The probability of a distance beyond `t`: the tail of the chi distribution.
fn beyond_ball(t: f64, dimension: usize) -> f64 {
    let bell = (-0.5 * t * t).exp();
    match dimension {
        1 => beyond(t),
        2 => bell,
        _ => beyond(t) + (2.0 / std::f64::consts::PI).sqrt() * t * bell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_probabilities_match_tables() {
        // 1 - 0.6826894921..., and the tails beyond 5 and 6 standard deviations.
        for (t, tail) in [(1.0, 0.317310507862914), (5.0, 5.733031437e-7), (6.0, 1.973175290e-9)] {
            assert!((beyond(t) / tail - 1.0).abs() < 1e-9, "{t}: {}", beyond(t));
        }
        // Chi-squared tables: 11.345 is exceeded with probability 1 % for three degrees of freedom.
        assert!((beyond_ball(11.344866730144373_f64.sqrt(), 3) - 0.01).abs() < 1e-12);
        assert!((beyond_ball(9.210340371976182_f64.sqrt(), 2) - 0.01).abs() < 1e-12);
        assert!((beyond_box(6.0, 3) / (3.0 * beyond(6.0)) - 1.0).abs() < 1e-8);
    }
}

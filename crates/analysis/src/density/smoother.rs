//! A kernel and how wide it is: the same for all ways to evaluate it.

use super::{
    bandwidth::{Whitened, whitened},
    kernel::{Kernel, Profile},
    lattice::Axes,
};
use crate::{Error, Result};

/// A kernel `scale profile(|A x|^2)`, cut off where it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoother {
    pub(super) profile: Profile,
    /// `A`, upper triangular; zeros for axes that do not count.
    pub(super) per_unit: [[f64; 3]; 3],
    /// The profile counts where the length of `A x` is up to this, and for [`Profile::Gaussian`] where
    /// each coordinate is.
    pub(super) cut: f64,
    /// How far the kernel reaches along each axis; 0 along those that do not count.
    pub(super) reach: [f64; 3],
    /// What makes its integral 1, without what is cut off.
    pub(super) scale: f64,
    /// The integral of what is cut off.
    pub(super) neglected: f64,
}

impl Smoother {
    /// A Gaussian of a covariance matrix, cut off so many standard deviations from its middle: along each
    /// axis, or at that distance in all directions where the matrix has other than variances.
    pub fn gaussian(covariance: &[[f64; 3]; 3], axes: Axes, truncation: f64) -> Result<Self> {
        if !(truncation.is_finite() && truncation >= 1.0) {
            return Err(Error::Bandwidth(format!(
                "Gaussians are cut off {truncation} standard deviations from their middles; give 1 or \
                 more"
            )));
        }
        let Whitened { per_unit, determinant } = whitened(covariance, axes)?;
        let dimension = axes.dimension();
        let is_tilted = (0..3).any(|d| (0..d).any(|e| covariance[d][e] != 0.0));
        let (profile, neglected) = match is_tilted {
            false => (Profile::Gaussian, beyond_box(truncation, dimension)),
            true => (Profile::RoundGaussian, beyond_ball(truncation, dimension)),
        };
        Ok(Smoother {
            profile,
            per_unit,
            cut: truncation,
            // The farthest point of the ellipsoid `x^T C^-1 x = t^2` along an axis; of the box likewise.
            reach: [0, 1, 2].map(|d| truncation * covariance[d][d].sqrt()),
            scale: profile.norm(dimension) / determinant,
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
        let profile = Profile::of(kernel, dimension);
        let diagonal = |x: f64| {
            let mut matrix = [[0.0; 3]; 3];
            axes.numbers().for_each(|d| matrix[d][d] = x);
            matrix
        };
        if kernel == Kernel::Gaussian {
            return Self::gaussian(&diagonal(0.5 * h * h), axes, truncation);
        }
        let reach = axes.counts().map(|counts| if counts { kernel.support() * h } else { 0.0 });
        let scale = profile.norm(dimension) / h.powi(dimension as i32);
        let per_unit = diagonal(1.0 / h);
        Ok(Smoother { profile, per_unit, cut: kernel.support(), reach, scale, neglected: 0.0 })
    }

    /// The kernels of images, which mirrors tilt the other way, each with its tilt; a single one where
    /// nothing is tilted or mirrored.
    pub(super) fn tilted(&self, mirrors: bool) -> Vec<(Option<Tilt>, Smoother)> {
        if !mirrors || self.profile != Profile::RoundGaussian {
            return vec![(None, *self)];
        }
        let sign = |is_mirrored: bool| if is_mirrored { -1.0 } else { 1.0 };
        let tilts = [[false, false], [true, false], [false, true], [true, true]];
        let tilted = tilts.map(|tilt: Tilt| {
            let mut smoother = *self;
            smoother.per_unit[0][1] *= sign(tilt[0]);
            smoother.per_unit[0][2] *= sign(tilt[1]);
            smoother.per_unit[1][2] *= sign(tilt[0] ^ tilt[1]);
            (Some(tilt), smoother)
        });
        tilted.into()
    }

    /// Whether it is a product of functions of one coordinate each.
    pub(super) fn is_product(&self) -> bool {
        self.profile == Profile::Gaussian
    }
}

/// Whether an image is mirrored along x and not y, or the other way round, and the same of x and z.
pub(super) type Tilt = [bool; 2];

/// The part of a normal distribution farther than `t` standard deviations from its middle:
/// `erfc(t / sqrt 2)` by its continued fraction (Abramowitz and Stegun 26.2.14), for `t >= 1`.
fn beyond(t: f64) -> f64 {
    let mut fraction = t;
    for k in (1..=200).rev() {
        fraction = t + f64::from(k) / fraction;
    }
    2.0 * (-0.5 * t * t).exp() / ((2.0 * std::f64::consts::PI).sqrt() * fraction)
}

/// The part of a normal distribution in so many dimensions with any coordinate beyond `t`.
fn beyond_box(t: f64, dimension: usize) -> f64 {
    // 1 - (1 - e)^d = e (1 + (1 - e) + ...), without a difference of near numbers.
    let beyond = beyond(t);
    (0..dimension).map(|d| beyond * (1.0 - beyond).powi(d as i32)).sum()
}

/// The part at a distance beyond `t`: the tail of the chi distribution.
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
    fn tails_are_those_of_tables() {
        // 1 - 0.6826894921..., and those of 5 and 6 standard deviations.
        for (t, tail) in [(1.0, 0.317310507862914), (5.0, 5.733031437e-7), (6.0, 1.973175290e-9)] {
            assert!((beyond(t) / tail - 1.0).abs() < 1e-9, "{t}: {}", beyond(t));
        }
        // Tables of chi square: 11.345 is exceeded by 1 % with three degrees of freedom.
        assert!((beyond_ball(11.344866730144373_f64.sqrt(), 3) - 0.01).abs() < 1e-12);
        assert!((beyond_ball(9.210340371976182_f64.sqrt(), 2) - 0.01).abs() < 1e-12);
        assert!((beyond_box(6.0, 3) / (3.0 * beyond(6.0)) - 1.0).abs() < 1e-8);
    }
}

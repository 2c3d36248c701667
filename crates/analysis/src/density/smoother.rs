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
    /// The profile counts where each coordinate of `A x` is up to this.
    pub(super) cut: f64,
    /// How far the kernel reaches along each axis; 0 along those that do not count.
    pub(super) reach: [f64; 3],
    /// What makes its integral 1, without what is cut off.
    pub(super) scale: f64,
    /// The integral of what is cut off.
    pub(super) neglected: f64,
}

impl Smoother {
    /// A Gaussian of a covariance matrix, cut off so many standard deviations from its middle.
    pub fn gaussian(covariance: &[[f64; 3]; 3], axes: Axes, truncation: f64) -> Result<Self> {
        if !(truncation.is_finite() && truncation >= 1.0) {
            return Err(Error::Bandwidth(format!(
                "Gaussians are cut off {truncation} standard deviations from their middles; give 1 or \
                 more"
            )));
        }
        let Whitened { per_unit, reach, determinant } = whitened(covariance, axes)?;
        let dimension = axes.dimension();
        Ok(Smoother {
            profile: Profile::Gaussian,
            per_unit,
            cut: truncation,
            reach: reach.map(|reach| truncation * reach),
            scale: Profile::Gaussian.norm(dimension) / determinant,
            // 1 - (1 - e)^d = e (1 + (1 - e) + ...), without a difference of near numbers.
            neglected: {
                let beyond = beyond(truncation);
                (0..dimension).map(|d| beyond * (1.0 - beyond).powi(d as i32)).sum()
            },
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
        let [[_, xy, xz], [_, _, yz], _] = self.per_unit;
        if !mirrors || [xy, xz, yz] == [0.0; 3] {
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
        let [[_, a, b], [_, _, c], _] = self.per_unit;
        self.profile == Profile::Gaussian && [a, b, c] == [0.0; 3]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_tables() {
        // 1 - 0.6826894921..., and those of 5 and 6 standard deviations.
        for (t, tail) in [(1.0, 0.317310507862914), (5.0, 5.733031437e-7), (6.0, 1.973175290e-9)] {
            assert!((beyond(t) / tail - 1.0).abs() < 1e-9, "{t}: {}", beyond(t));
        }
    }
}

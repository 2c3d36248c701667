//! Radial profiles of kernels and their norms.

use std::f64::consts::PI;

/// A kernel as a function of the scaled distance, without its norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Profile {
    /// `exp(-q^2 / 2)`, truncated in each coordinate.
    Gaussian,
    /// The same, truncated at a distance.
    RoundGaussian,
    CubicSpline,
    QuinticSpline,
    WendlandC2,
    WendlandC4,
    WendlandC6,
    /// Wendland's functions in one dimension.
    LineC2,
    LineC4,
    LineC6,
}

impl Profile {
    /// The factor that normalises the integral over all space to 1, for `h = 1`.
    pub fn norm(self, dimension: usize) -> f64 {
        let norms = match self {
            Profile::Gaussian | Profile::RoundGaussian => {
                [1, 2, 3].map(|d| (2.0 * PI).sqrt().powi(-d))
            }
            Profile::CubicSpline => [2.0 / 3.0, 10.0 / (7.0 * PI), 1.0 / PI],
            Profile::QuinticSpline => [1.0 / 120.0, 7.0 / (478.0 * PI), 1.0 / (120.0 * PI)],
            // The published norms in H, divided by (H / h)^d = 2^d.
            Profile::LineC2 => [5.0 / 8.0; 3],
            Profile::LineC4 => [3.0 / 4.0; 3],
            Profile::LineC6 => [55.0 / 64.0; 3],
            Profile::WendlandC2 => [0.0, 7.0 / (4.0 * PI), 21.0 / (16.0 * PI)],
            Profile::WendlandC4 => [0.0, 9.0 / (4.0 * PI), 495.0 / (256.0 * PI)],
            Profile::WendlandC6 => [0.0, 78.0 / (28.0 * PI), 1365.0 / (512.0 * PI)],
        };
        norms[dimension - 1]
    }
}

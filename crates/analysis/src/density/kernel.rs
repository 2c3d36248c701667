//! Kernels of smoothed particle hydrodynamics (SPH).

use super::{profile::Profile, radial::profile_value};
use std::f64::consts::PI;

/// An SPH kernel `W(r, h)` with `q = r / h`, normalised to 1 in 1, 2 and 3 dimensions.
///
/// Splines: J. J. Monaghan, Rep. Prog. Phys. 68, 2005, 1703. Wendland functions: W. Dehnen and H. Aly,
/// MNRAS 425, 2012, 1068, table 1, with `H = 2 h`; in one dimension their polynomials differ from those
/// in two and three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Cubic spline M4 with support 2 h.
    CubicSpline,
    /// Quintic spline M6 with support 3 h.
    QuinticSpline,
    /// Wendland's function with two continuous derivatives and support 2 h.
    WendlandC2,
    /// Wendland's function with four continuous derivatives and support 2 h.
    WendlandC4,
    /// Wendland's function with six continuous derivatives and support 2 h.
    WendlandC6,
    /// `exp(-q^2) / (sqrt(pi) h)^d`: a Gaussian of standard deviation `h / sqrt(2)`, truncated at
    /// [`truncation`](super::Density::truncation).
    Gaussian,
}

impl Kernel {
    /// All kernels.
    pub const ALL: [Kernel; 6] = [
        Kernel::CubicSpline,
        Kernel::QuinticSpline,
        Kernel::WendlandC2,
        Kernel::WendlandC4,
        Kernel::WendlandC6,
        Kernel::Gaussian,
    ];

    /// Radius of the support in smoothing lengths; infinite for the Gaussian.
    pub fn support(self) -> f64 {
        match self {
            Kernel::QuinticSpline => 3.0,
            Kernel::Gaussian => f64::INFINITY,
            _ => 2.0,
        }
    }

    /// `W` for `h = 1` in 1, 2 or 3 dimensions; divide by `h^dimension`.
    pub fn value(self, q: f64, dimension: usize) -> f64 {
        match self.profile(dimension) {
            Profile::Gaussian => (-q * q).exp() / PI.sqrt().powi(dimension as i32),
            profile => profile.norm(dimension) * profile_value::<f64>(profile, q * q),
        }
    }

    /// The kernel's profile in 1, 2 or 3 dimensions.
    pub(super) fn profile(self, dimension: usize) -> Profile {
        match (self, dimension) {
            (Kernel::CubicSpline, _) => Profile::CubicSpline,
            (Kernel::QuinticSpline, _) => Profile::QuinticSpline,
            (Kernel::WendlandC2, 1) => Profile::LineC2,
            (Kernel::WendlandC4, 1) => Profile::LineC4,
            (Kernel::WendlandC6, 1) => Profile::LineC6,
            (Kernel::WendlandC2, _) => Profile::WendlandC2,
            (Kernel::WendlandC4, _) => Profile::WendlandC4,
            (Kernel::WendlandC6, _) => Profile::WendlandC6,
            (Kernel::Gaussian, _) => Profile::Gaussian,
        }
    }
}

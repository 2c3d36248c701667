//! The kernels of smoothed particle hydrodynamics.

use std::f64::consts::PI;

/// A kernel `W(r, h)` of smoothed particle hydrodynamics, with `q = r / h`, that integrates to 1 in 1,
/// 2 and 3 dimensions.
///
/// Splines: J. J. Monaghan, Rep. Prog. Phys. 68, 2005, 1703. Wendland functions: W. Dehnen and H. Aly,
/// MNRAS 425, 2012, 1068, table 1, with `H = 2 h`; those of one dimension are other polynomials
/// than those of two and three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Cubic spline M4; ends at 2 h.
    CubicSpline,
    /// Quintic spline M6; ends at 3 h.
    QuinticSpline,
    /// Wendland's function with two continuous derivatives; ends at 2 h.
    WendlandC2,
    /// Wendland's function with four continuous derivatives; ends at 2 h.
    WendlandC4,
    /// Wendland's function with six continuous derivatives; ends at 2 h.
    WendlandC6,
    /// `exp(-q^2) / (sqrt(pi) h)^d`: a Gaussian of standard deviation `h / sqrt(2)`, cut off where
    /// [`truncation`](super::Density::truncation) says.
    Gaussian,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Kernel; 6] = [
        Kernel::CubicSpline,
        Kernel::QuinticSpline,
        Kernel::WendlandC2,
        Kernel::WendlandC4,
        Kernel::WendlandC6,
        Kernel::Gaussian,
    ];

    /// Where it ends, in smoothing lengths; infinite for the Gaussian.
    pub fn support(self) -> f64 {
        match self {
            Kernel::QuinticSpline => 3.0,
            Kernel::Gaussian => f64::INFINITY,
            _ => 2.0,
        }
    }

    /// `W` for `h = 1` in so many dimensions (1, 2 or 3); divide by `h^dimension`.
    pub fn value(self, q: f64, dimension: usize) -> f64 {
        match Profile::of(self, dimension) {
            Profile::Gaussian => (-q * q).exp() / PI.sqrt().powi(dimension as i32),
            profile => profile.norm(dimension) * profile.at(q * q),
        }
    }
}

/// The course of a kernel over the distance, without its norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Profile {
    /// `exp(-q^2 / 2)`, cut off where a coordinate is too great.
    Gaussian,
    /// The same, cut off where the distance is.
    RoundGaussian,
    CubicSpline,
    QuinticSpline,
    WendlandC2,
    WendlandC4,
    WendlandC6,
    /// Wendland's functions of one dimension.
    LineC2,
    LineC4,
    LineC6,
}

impl Profile {
    pub fn of(kernel: Kernel, dimension: usize) -> Self {
        match (kernel, dimension) {
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

    /// What makes the integral over all space 1, for `h = 1`.
    pub fn norm(self, dimension: usize) -> f64 {
        let norms = match self {
            Profile::Gaussian | Profile::RoundGaussian => {
                [1, 2, 3].map(|d| (2.0 * PI).sqrt().powi(-d))
            }
            Profile::CubicSpline => [2.0 / 3.0, 10.0 / (7.0 * PI), 1.0 / PI],
            Profile::QuinticSpline => [1.0 / 120.0, 7.0 / (478.0 * PI), 1.0 / (120.0 * PI)],
            // Those in H, divided by (H / h)^d = 2^d.
            Profile::LineC2 => [5.0 / 8.0; 3],
            Profile::LineC4 => [3.0 / 4.0; 3],
            Profile::LineC6 => [55.0 / 64.0; 3],
            Profile::WendlandC2 => [0.0, 7.0 / (4.0 * PI), 21.0 / (16.0 * PI)],
            Profile::WendlandC4 => [0.0, 9.0 / (4.0 * PI), 495.0 / (256.0 * PI)],
            Profile::WendlandC6 => [0.0, 78.0 / (28.0 * PI), 1365.0 / (512.0 * PI)],
        };
        norms[dimension - 1]
    }

    /// The profile as a function of `q^2`, in double precision.
    pub fn at(self, square: f64) -> f64 {
        let course = super::cpu::course::<f64>;
        course(self, square)
    }
}

//! Analytic flows, many with known solutions.

mod formulas;
#[cfg(test)]
mod tests;

use super::{Expression, Formula, domain::Domain};
use burn::tensor::Tensor;
use std::f64::consts::{SQRT_2, TAU};

/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// Square root of 3, which the standard library lacks.
const SQRT_3: f64 = 1.732_050_807_568_877_2;

/// An analytic flow.
///
/// [`named`](Flow::named) returns each with its usual parameters. Units are those of the
/// parameters: metres and seconds for the eddies, the peninsula and the Stommel gyre, none for the
/// others. A planar flow has w = 0 and does not depend on z.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Uniform and steady velocity.
    Uniform {
        /// The velocity.
        velocity: [f64; 3],
    },
    /// Solid-body rotation in the plane, clockwise for a positive rate: u = w (y - yc), v = -w (x -
    /// xc).
    Rotation {
        /// Centre (xc, yc) of the rotation.
        centre: [f64; 2],
        /// Angular velocity w, in radians per unit of time.
        rate: f64,
    },
    /// Uniform velocity, linear in time: a + b t.
    LinearInTime {
        /// Velocity at time 0.
        a: [f64; 3],
        /// The acceleration.
        b: [f64; 3],
    },
    /// Inertial oscillation, uniform in space: u = u0 cos ft, v = -u0 sin ft (N. Fabbroni,
    /// *Numerical simulations of passive tracers dispersion in the sea*, 2009, also for the two
    /// other eddies).
    StationaryEddy {
        /// Speed u0.
        speed: f64,
        /// Coriolis parameter f, radians per unit of time.
        coriolis: f64,
    },
    /// An inertial oscillation in a steady current: u = ug + (u0 - ug) cos ft,
    /// v = -(u0 - ug) sin ft.
    MovingEddy {
        /// Speed u0 at time 0.
        speed: f64,
        /// Speed ug of the current.
        current: f64,
        /// Coriolis parameter f, radians per unit of time.
        coriolis: f64,
    },
    /// A decaying oscillation in a decaying current:
    /// u = ug exp(-gg t) + (u0 - ug) exp(-g t) cos ft, v = -(u0 - ug) exp(-g t) sin ft.
    DecayingEddy {
        /// Speed u0 at time 0.
        speed: f64,
        /// Speed ug of the current at time 0.
        current: f64,
        /// Coriolis parameter f, radians per unit of time.
        coriolis: f64,
        /// Decay rate g of the oscillation.
        decay: f64,
        /// Decay rate gg of the current.
        current_decay: f64,
    },
    /// Steady Taylor-Green vortices (1937), planar: u = sin x cos y, v = -cos x sin y. The stream
    /// function sin x sin y is conserved.
    TaylorGreen,
    /// The double gyre of S. C. Shadden, F. Lekien and J. E. Marsden (*Definition and properties
    /// of Lagrangian coherent structures*, 2005): u = -pi A sin(pi phi) cos(pi y),
    /// v = pi A cos(pi phi) sin(pi y) dphi/dx, with phi = a x^2 + (1 - 2a) x and
    /// a = epsilon sin(omega t).
    DoubleGyre {
        /// Amplitude A; the maximum speed is pi A.
        amplitude: f64,
        /// Amplitude of the motion of the wall between the gyres; 0 gives a steady flow.
        epsilon: f64,
        /// Angular frequency of the wall.
        omega: f64,
    },
    /// Arnold-Beltrami-Childress flow (T. Dombre et al., *Chaotic streamlines in the ABC flows*,
    /// 1986): u = A sin z + C cos y, v = B sin x + A cos z, w = C sin y + B cos x.
    Abc {
        /// A.
        a: f64,
        /// B.
        b: f64,
        /// C.
        c: f64,
    },
    /// Hill's spherical vortex at the origin, in the frame of the vortex, with a uniform stream
    /// along z (M. J. M. Hill, *On a spherical vortex*, 1894). With r the distance from the axis
    /// and R the distance from the origin: inside u_r = -(3U/2a^2) r z, u_z = -(3U/2)(1 - (2r^2 +
    /// z^2)/a^2); outside u_r = -(3U/2) a^3 r z/R^5, u_z = U(1 - a^3/R^3 + 3 a^3 r^2/(2 R^5)).
    Hill {
        /// Radius a of the vortex.
        radius: f64,
        /// Speed U of the stream at infinity.
        speed: f64,
    },
    /// Potential flow along a coast y = 0 with a semicircular peninsula (E. W. North, A. Gallego
    /// and P. Petitgas, editors, *Manual of recommended practices for modelling physical-biological
    /// interactions during fish early life*, ICES report 295, 2009): the stream function of a
    /// cylinder, P = u0 R^2 y/((x - x0)^2 + y^2) - u0 y, u = -dP/dy, v = dP/dx. The velocity is
    /// zero on land, within R of (x0, 0).
    Peninsula {
        /// Speed u0 at infinity.
        speed: f64,
        /// Centre x0 of the peninsula.
        centre: f64,
        /// Radius R of the peninsula.
        radius: f64,
    },
    /// Wind-driven gyre in a square basin of side a (H. Stommel, *The westward intensification of
    /// wind-driven ocean currents*, 1948): P = s pi (1 - exp(-x/l) - x/a) sin(pi y/a), u = -a
    /// dP/dy, v = a dP/dx.
    Stommel {
        /// Side a of the basin.
        side: f64,
        /// Strength s of the wind, a speed.
        strength: f64,
        /// Width l of the boundary layer: friction divided by the gradient of the Coriolis
        /// parameter, r/beta.
        layer: f64,
    },
    /// A planar saddle: u = l x, v = -l y. Its finite-time Lyapunov exponent is l.
    Saddle {
        /// Strain rate l.
        rate: f64,
    },
    /// A planar shear: u = g y.
    Shear {
        /// Shear rate g.
        rate: f64,
    },
    /// A formula of one's own, in an unbounded domain.
    Formula(Formula),
}

impl Flow {
    /// The names that [`named`](Flow::named) accepts.
    pub const NAMES: [&'static str; 14] = [
        "uniform",
        "rotation",
        "linear-in-time",
        "stationary-eddy",
        "moving-eddy",
        "decaying-eddy",
        "taylor-green",
        "double-gyre",
        "abc",
        "hill",
        "peninsula",
        "stommel",
        "saddle",
        "shear",
    ];

    /// A flow with its usual parameters; `None` if the name is not one of [`NAMES`](Flow::NAMES).
    pub fn named(name: &str) -> Option<Flow> {
        Some(match name {
            "uniform" => Flow::Uniform { velocity: [1.0, 0.0, 0.0] },
            "rotation" => Flow::Rotation { centre: [30.0; 2], rate: TAU / DAY },
            "linear-in-time" => Flow::LinearInTime { a: [1.0, 0.0, 0.0], b: [0.0, 1.0, 0.0] },
            "stationary-eddy" => Flow::StationaryEddy { speed: 0.3, coriolis: 1e-4 },
            "moving-eddy" => Flow::MovingEddy { speed: 0.3, current: 0.04, coriolis: 1e-4 },
            "decaying-eddy" => Flow::DecayingEddy {
                speed: 0.3,
                current: 0.04,
                coriolis: 1e-4,
                decay: 1.0 / (2.89 * DAY),
                current_decay: 1.0 / (28.9 * DAY),
            },
            "taylor-green" => Flow::TaylorGreen,
            "double-gyre" => Flow::DoubleGyre { amplitude: 0.1, epsilon: 0.25, omega: TAU / 10.0 },
            "abc" => Flow::Abc { a: SQRT_3, b: SQRT_2, c: 1.0 },
            "hill" => Flow::Hill { radius: 1.0, speed: 1.0 },
            "peninsula" => Flow::Peninsula { speed: 1.0, centre: 5e4, radius: 1.6e4 },
            // Friction 1/(11.6 days), beta 2e-11 per metre and second.
            "stommel" => {
                Flow::Stommel { side: 1e7, strength: 0.05, layer: 1.0 / (11.6 * DAY) / 2e-11 }
            }
            "saddle" => Flow::Saddle { rate: 1.0 },
            "shear" => Flow::Shear { rate: 1.0 },
            _ => return None,
        })
    }

    /// The name of the flow; `formula` for one's own.
    pub fn name(&self) -> &'static str {
        match self {
            Flow::Uniform { .. } => "uniform",
            Flow::Rotation { .. } => "rotation",
            Flow::LinearInTime { .. } => "linear-in-time",
            Flow::StationaryEddy { .. } => "stationary-eddy",
            Flow::MovingEddy { .. } => "moving-eddy",
            Flow::DecayingEddy { .. } => "decaying-eddy",
            Flow::TaylorGreen => "taylor-green",
            Flow::DoubleGyre { .. } => "double-gyre",
            Flow::Abc { .. } => "abc",
            Flow::Hill { .. } => "hill",
            Flow::Peninsula { .. } => "peninsula",
            Flow::Stommel { .. } => "stommel",
            Flow::Saddle { .. } => "saddle",
            Flow::Shear { .. } => "shear",
            Flow::Formula(_) => "formula",
        }
    }

    /// The domain of the flow, or a finite part of an unbounded flow. Flat along z, at 0, for
    /// planar flows.
    pub fn domain(&self) -> Domain {
        let (low, high) = match *self {
            Flow::Formula(_) => return Domain::unbounded(),
            Flow::Uniform { .. } => ([0.0; 3], [1.0; 3]),
            Flow::LinearInTime { .. } => ([-10.0; 3], [10.0; 3]),
            Flow::Rotation { centre: [x, y], .. } => {
                ([x - 50.0, y - 50.0, 0.0], [x + 50.0, y + 50.0, 0.0])
            }
            Flow::StationaryEddy { .. } | Flow::MovingEddy { .. } | Flow::DecayingEddy { .. } => {
                ([0.0; 3], [3e4, 3e4, 0.0])
            }
            Flow::TaylorGreen => ([0.0; 3], [TAU, TAU, 0.0]),
            Flow::DoubleGyre { .. } => ([0.0; 3], [2.0, 1.0, 0.0]),
            Flow::Abc { .. } => ([0.0; 3], [TAU; 3]),
            Flow::Hill { radius, .. } => ([-2.0 * radius; 3], [2.0 * radius; 3]),
            Flow::Peninsula { .. } => ([0.0; 3], [1e5, 5e4, 0.0]),
            Flow::Stommel { side, .. } => ([0.0; 3], [side, side, 0.0]),
            Flow::Saddle { .. } | Flow::Shear { .. } => ([-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]),
        };
        Domain { low, high }
    }

    /// Whether the flow is periodic along an axis, with its [`domain`](Flow::domain) as one period.
    pub fn is_periodic(&self, axis: usize) -> bool {
        match self {
            Flow::TaylorGreen => axis < 2,
            Flow::Abc { .. } => axis < 3,
            _ => false,
        }
    }

    /// Whether the velocity is independent of time.
    pub fn is_steady(&self) -> bool {
        match *self {
            Flow::LinearInTime { b, .. } => b == [0.0; 3],
            Flow::DoubleGyre { epsilon, omega, .. } => epsilon == 0.0 || omega == 0.0,
            Flow::StationaryEddy { .. } | Flow::MovingEddy { .. } | Flow::DecayingEddy { .. } => {
                false
            }
            Flow::Formula(ref formula) => formula.is_steady(),
            _ => true,
        }
    }

    /// The velocity as a formula.
    pub fn formula(&self) -> Formula {
        let velocity = match *self {
            Flow::Uniform { velocity } => velocity.map(Expression::from),
            Flow::LinearInTime { a, b } => formulas::linear_in_time(a, b),
            Flow::StationaryEddy { speed, coriolis } => {
                formulas::eddy(speed.into(), 0.0.into(), coriolis)
            }
            Flow::MovingEddy { speed, current, coriolis } => {
                formulas::eddy((speed - current).into(), current.into(), coriolis)
            }
            Flow::DecayingEddy { speed, current, coriolis, decay, current_decay } => {
                let decayed = |x: f64, rate: f64| (Expression::time() * -rate).exp() * x;
                let current_now = decayed(current, current_decay);
                formulas::eddy(decayed(speed - current, decay), current_now, coriolis)
            }
            Flow::DoubleGyre { amplitude, epsilon, omega } => {
                formulas::double_gyre(amplitude, (Expression::time() * omega).sin() * epsilon)
            }
            Flow::Rotation { centre, rate } => formulas::rotation(centre, rate),
            Flow::TaylorGreen => formulas::taylor_green(),
            Flow::Abc { a, b, c } => formulas::abc(a, b, c),
            Flow::Hill { radius, speed } => formulas::hill(radius, speed),
            Flow::Peninsula { speed, centre, radius } => formulas::peninsula(speed, centre, radius),
            Flow::Stommel { side, strength, layer } => formulas::stommel(side, strength, layer),
            Flow::Saddle { rate } => formulas::saddle(rate),
            Flow::Shear { rate } => formulas::shear(rate),
            Flow::Formula(ref formula) => return formula.clone(),
        };
        // Built-in flows are short.
        Formula::new(velocity).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Velocity `[n, 3]` at positions `[n, 3]` and a time.
    ///
    /// # Panics
    ///
    /// If the positions have another shape.
    pub fn velocity(&self, position: Tensor<2>, time: f64) -> Tensor<2> {
        self.formula().velocity_at(&position, &[time])
    }
}

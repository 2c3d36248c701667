//! Particles with inertia.

use crate::{error::short, random};
use burn::tensor::Tensor;
use std::sync::Arc;

/// The inertia of small spheres: sediment, droplets, aerosols, bubbles. A particle has a velocity v of its own, in a field of
/// the velocity u (Maxey and Riley 1983, Phys. Fluids 26:883, without the history force):
///
/// ```text
/// dx/dt = v,    dv/dt = beta Du/Dt + f (u - v) / tau + (1 - beta) g
/// ```
///
/// with the relaxation time tau, the ratio of densities beta (0 for a heavy particle, 1 for one as dense as the fluid, 3 for a
/// bubble), the gravity g and the factor f of the [drag](Drag). Du/Dt is the acceleration of the fluid: differences of the field
/// along the fluid's path and in time over quarters of a step.
///
/// A step is exact for what the drag makes of a target velocity that is a parabola in time, and finds the parabola in sweeps (exponential
/// collocation, Hochbruck and Ostermann 2010, Acta Numerica 19:209): of order 4, with six stages. It is stable for any tau, and for
/// tau -> 0 the path is that of particles that move with the field.
///
/// At a reflecting surface the velocity is reflected, with [coefficients of restitution](Inertia::restitution), at one with `slide` or `clamp` it keeps its tangential part.
///
/// ```
/// use burntrace_core::{Drag, Inertia, Sphere};
///
/// let sand = Sphere { diameter: 2e-4.into(), density: 2650.0.into(), fluid_density: 1000.0, viscosity: 1e-3 };
/// let sand = Inertia::of_spheres(sand).gravity([0.0, 0.0, -9.81]).drag(Drag::SchillerNaumann);
/// assert_ne!(sand, Inertia::new(0.01, 0.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Inertia {
    pub(crate) body: Body,
    pub(crate) drag: Drag,
    pub(crate) gravity: [f64; 3],
    pub(crate) initial_velocity: InitialVelocity,
    pub(crate) restitution: [f64; 2],
}

/// What the response of a particle follows from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    Response { relaxation_time: PerParticle, beta: PerParticle },
    Sphere(Sphere),
}

/// Spheres in a fluid: tau = d^2 (2 rho_p + rho_f) / (36 mu), beta = 3 rho_f / (2 rho_p + rho_f). All numbers are in one system of
/// units with the field, such as SI.
#[derive(Clone, Debug, PartialEq)]
pub struct Sphere {
    /// Diameter d, a length.
    pub diameter: PerParticle,
    /// Density rho_p of the particle, mass per volume.
    pub density: PerParticle,
    /// Density rho_f of the fluid, mass per volume.
    pub fluid_density: f64,
    /// Dynamic viscosity mu of the fluid, mass per length and time.
    pub viscosity: f64,
}

/// The factor of the drag of a sphere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drag {
    /// f = 1, for Reynolds numbers much smaller than 1.
    #[default]
    Stokes,
    /// f = 1 + 0.15 Re^0.687, for Reynolds numbers up to about 800; Re = d |u - v| rho_f / mu. It needs the sizes of
    /// [spheres](Inertia::of_spheres).
    SchillerNaumann,
}

/// The velocity of particles where they are released.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum InitialVelocity {
    /// The field's.
    #[default]
    Fluid,
    /// A velocity, in length per time: `[0.0; 3]` for particles at rest.
    Uniform([f64; 3]),
    /// One for each slot: for the seeds, then for the slots of sources. Later particles in a slot have the field's velocity.
    Each(Arc<[[f64; 3]]>),
}

impl Inertia {
    /// Particles with a relaxation time and a ratio beta of densities, each one number or one for each particle.
    pub fn new(relaxation_time: impl Into<PerParticle>, beta: impl Into<PerParticle>) -> Self {
        Inertia::of(Body::Response { relaxation_time: relaxation_time.into(), beta: beta.into() })
    }

    /// Spheres in a fluid.
    pub fn of_spheres(sphere: Sphere) -> Self {
        Inertia::of(Body::Sphere(sphere))
    }

    fn of(body: Body) -> Self {
        let (drag, initial_velocity) = (Drag::Stokes, InitialVelocity::Fluid);
        Inertia { body, drag, gravity: [0.0; 3], initial_velocity, restitution: [1.0; 2] }
    }

    /// Sets the acceleration of gravity, in length per time squared; 0 along flat axes.
    pub fn gravity(self, gravity: [f64; 3]) -> Self {
        Inertia { gravity, ..self }
    }

    /// Sets the factor of the drag.
    pub fn drag(self, drag: Drag) -> Self {
        Inertia { drag, ..self }
    }

    /// Sets the coefficients of restitution, 0 to 1: the parts of the velocity across and along a surface that a particle keeps when it
    /// is reflected. 1 and 1, the default, are an elastic bounce; 0 and 1 a contact without friction.
    pub fn restitution(self, across: f64, along: f64) -> Self {
        Inertia { restitution: [across, along], ..self }
    }

    /// Sets the velocity of particles where they are released.
    pub fn initial_velocity(self, initial_velocity: InitialVelocity) -> Self {
        Inertia { initial_velocity, ..self }
    }
}

/// A number for all particles, or one for each slot: for the seeds, then for the slots of sources. As a tensor `[n]` that is
/// tracked, it has gradients.
///
/// Plain numbers are compared by value, tensors by identity.
#[derive(Clone, Debug)]
pub enum PerParticle {
    /// The same for all.
    Number(f64),
    /// One for each slot.
    Numbers(Arc<[f64]>),
    /// A tensor `[1]`, or `[n]` with one for each slot.
    Tensor(Arc<Tensor<1>>),
    /// One for each slot of a distribution: a function of the seed of random numbers and the slot.
    Drawn(Distribution, u64),
}

/// A distribution of the sizes of particles, by their number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Logarithms are normal.
    LogNormal {
        /// The median size.
        median: f64,
        /// The geometric standard deviation, 1 or more: 68 % are between the median divided by it and the median times it.
        deviation: f64,
    },
    /// The part exp(-(x / scale)^spread) is larger than x (Rosin and Rammler 1933, J. Inst. Fuel 7:29; Weibull).
    RosinRammler {
        /// The size below which 63 % are.
        scale: f64,
        /// The exponent.
        spread: f64,
    },
}

impl Distribution {
    /// The size in a slot.
    pub(crate) fn size(self, seed: u64, slot: u64) -> f64 {
        match self {
            Distribution::LogNormal { median, deviation } => {
                let [normal, _] = random::normals(seed, slot, 0, DRAW);
                median * deviation.powf(normal)
            }
            Distribution::RosinRammler { scale, spread } => {
                let larger = 1.0 - random::uniform(seed, slot, 0, DRAW);
                scale * (-larger.ln()).powf(1.0 / spread)
            }
        }
    }

    /// Why it is none, if so.
    pub(crate) fn flaw(self) -> Option<String> {
        let is_positive = |x: f64| x > 0.0 && x < 1e30;
        let (is_one, text) = match self {
            Distribution::LogNormal { median, deviation } => (
                is_positive(median) && (1.0..1e3).contains(&deviation),
                format!(
                    "a median of {} and a geometric standard deviation of {}; give a median above 0 and a deviation of 1 or more",
                    short(median),
                    short(deviation)
                ),
            ),
            Distribution::RosinRammler { scale, spread } => (
                is_positive(scale) && (1e-2..1e3).contains(&spread),
                format!(
                    "a scale of {} and a spread of {}; give numbers above 0",
                    short(scale),
                    short(spread)
                ),
            ),
        };
        (!is_one).then_some(text)
    }
}

/// The number of the draw, as other numbers of a slot are drawn with the same seed.
const DRAW: u32 = 0x5125;

impl From<f64> for PerParticle {
    fn from(number: f64) -> Self {
        PerParticle::Number(number)
    }
}

impl From<Vec<f64>> for PerParticle {
    fn from(numbers: Vec<f64>) -> Self {
        PerParticle::Numbers(numbers.into())
    }
}

impl From<Tensor<1>> for PerParticle {
    fn from(tensor: Tensor<1>) -> Self {
        PerParticle::Tensor(Arc::new(tensor))
    }
}

impl PartialEq for PerParticle {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (PerParticle::Number(a), PerParticle::Number(b)) => a == b,
            (PerParticle::Numbers(a), PerParticle::Numbers(b)) => a == b,
            (PerParticle::Tensor(a), PerParticle::Tensor(b)) => Arc::ptr_eq(a, b),
            (PerParticle::Drawn(a, s), PerParticle::Drawn(b, t)) => (a, s) == (b, t),
            _ => false,
        }
    }
}

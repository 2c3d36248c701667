//! Particles with inertia.

mod per_particle;
mod turbulence;

pub use per_particle::{Distribution, PerParticle};
pub use turbulence::{Quantity, Turbulence, TurbulentTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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
    pub(crate) turbulence: Option<Turbulence>,
    pub(crate) contact: Contact,
    pub(crate) lift: Lift,
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

/// The factor of the drag of a sphere. All but that of Stokes need the sizes of [spheres](Inertia::of_spheres).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Drag {
    /// f = 1, for Reynolds numbers much smaller than 1.
    #[default]
    Stokes,
    /// f = 1 + 0.15 Re^0.687, for Reynolds numbers up to about 800; Re = d |u - v| rho_f / mu.
    SchillerNaumann,
    /// f = C Re / 24: a drag coefficient C that does not depend on Re, such as 0.44 for Reynolds numbers from 800 to 2e5.
    Coefficient(f64),
    /// f = 1 / (1 + Kn (1.257 + 0.4 exp(-1.1 / Kn))), with Kn = 2 l / d by the mean free path l of the fluid: the slip of aerosols that
    /// are not much larger (Davies 1945, Proc. Phys. Soc. 57:259). Tau is longer by it, as if the viscosity was lower. l is a length:
    /// 6.6e-8 m in air at 20 degrees and 1 bar.
    Cunningham(f64),
}

impl Drag {
    /// The factor as a + b Re^p; `None` for 1.
    pub(crate) fn law(self) -> Option<[f64; 3]> {
        match self {
            Drag::Stokes | Drag::Cunningham(_) => None,
            Drag::SchillerNaumann => Some([1.0, 0.15, 0.687]),
            Drag::Coefficient(coefficient) => Some([0.0, coefficient / 24.0, 1.0]),
        }
    }

    /// The mean free path of the slip of Cunningham, or 0.
    pub(crate) fn mean_free_path(self) -> f64 {
        match self {
            Drag::Cunningham(mean_free_path) => mean_free_path,
            _ => 0.0,
        }
    }
}

/// The lift of a sphere in a shear flow.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lift {
    /// No lift.
    #[default]
    None,
    /// The force 1.615 d^2 (mu rho_f / |omega|)^(1/2) (u - v) x omega, with the vorticity omega (Saffman 1965, J. Fluid Mech. 22:385, and 31:624): for Reynolds
    /// numbers of the slip much smaller than the root of that of the shear, which is much smaller than 1. It needs
    /// [spheres](Inertia::of_spheres) in a fluid with a density.
    Saffman,
}

impl Lift {
    /// The acceleration as `lift` of [`InertialLaunch`](burntrace_kernels::InertialLaunch), in a fluid of a density and a viscosity.
    pub(crate) fn coefficient(self, fluid_density: f64, viscosity: f64) -> f64 {
        match self {
            Lift::None => 0.0,
            // The force over the mass with the added one, pi d^3 (2 rho_p + rho_f) / 12.
            Lift::Saffman => {
                12.0 * 1.615 / (3.0 * std::f64::consts::PI) / (viscosity / fluid_density).sqrt()
            }
        }
    }
}

/// What of a particle touches walls.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contact {
    /// Its centre.
    #[default]
    Centre,
    /// Its surface: its centre stays at one radius from faces of the domain box that are walls (reflect, slide, clamp or stick), and from
    /// spheres, cylinders and boxes. For [spheres](Inertia::of_spheres) of one diameter; not with meshes, surfaces of triangles
    /// and land. The outer edges of boxes and of cylinders with caps are not rounded.
    Surface,
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
        Inertia {
            body,
            drag: Drag::Stokes,
            gravity: [0.0; 3],
            initial_velocity: InitialVelocity::Fluid,
            restitution: [1.0; 2],
            turbulence: None,
            contact: Contact::Centre,
            lift: Lift::None,
        }
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

    /// Sets the lift.
    pub fn lift(self, lift: Lift) -> Self {
        Inertia { lift, ..self }
    }

    /// Sets what of a particle touches walls.
    pub fn contact(self, contact: Contact) -> Self {
        Inertia { contact, ..self }
    }

    /// Adds the turbulence that the field does not resolve.
    pub fn turbulence(self, turbulence: Turbulence) -> Self {
        Inertia { turbulence: Some(turbulence), ..self }
    }
}

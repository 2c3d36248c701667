//! What moves particles, and how steps are taken.

use super::keys::{Keys, Section};
use super::{KeyError, or_auto, schema};
use burntrace_core::{
    Contact, Engine, Lift, Quantity, Solver, Span, StopCondition, WalkScheme, names,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The steps of a run, and what is added to the velocity of the field.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
#[schemars(default, deny_unknown_fields)]
pub struct Trace {
    /// Scheme and tolerances.
    #[serde(flatten)]
    pub solver: Solver,
    /// Start, end and steps.
    #[serde(flatten)]
    pub span: Span,
    /// A constant velocity added to the field's, in length per time.
    pub drift: [f64; 3],
    /// What computes the steps; by default (`None`) `"auto"`: fused where possible.
    #[schemars(schema_with = "schema::or_auto::<Engine>")]
    pub engine: Option<Engine>,
    /// Particles that move slower than this in a step end as stagnant; 0 disables it.
    pub stagnant_speed: f64,
    /// Conditions that end particles as stopped, such as `"age > 3"`, `"T < 273"` or `"integral(shear_rate) > 100"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_when: Vec<StopCondition>,
}

section!(Trace {
    solver: part(),
    span: part(),
    drift: or_default("drift"),
    engine: by("engine", or_auto, Some(None)),
    stagnant_speed: or_default("stagnant_speed"),
    stop_when: or_default("stop_when"),
});

/// The motion of particles with inertia: small spheres, by their size and density or by their relaxation time.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Motion {
    /// The kind of motion.
    pub kind: MotionKind,
    /// Diameter of the particles, a length; the distribution of their diameters; or a column of the seeds.
    pub diameter: Option<Diameter>,
    /// Density of the particles, mass per volume, or a column of the seeds.
    pub density: Option<PerParticle>,
    /// Density of the fluid, mass per volume.
    pub fluid_density: Option<f64>,
    /// Dynamic viscosity of the fluid, mass per length and time.
    pub viscosity: Option<f64>,
    /// Relaxation time of the particles, in place of diameter, densities and viscosity.
    pub relaxation_time: Option<f64>,
    /// 3 rho_f / (2 rho_p + rho_f) of the densities of fluid and particles, beside a relaxation time: 0 for heavy particles.
    pub beta: Option<f64>,
    /// The factor of the drag.
    #[serde(default)]
    pub drag: Drag,
    /// Acceleration of gravity, in length per time squared.
    #[serde(default)]
    pub gravity: [f64; 3],
    /// Velocity where particles are released.
    #[serde(default)]
    pub initial_velocity: InitialVelocity,
    /// Coefficients of restitution, 0 to 1: the parts of the velocity across and along a surface that are kept in a reflection.
    #[serde(default = "elastic")]
    pub restitution: [f64; 2],
    /// The lift in a shear flow.
    #[serde(default)]
    pub lift: Lift,
    /// What of a particle touches walls.
    #[serde(default)]
    pub contact: Contact,
    /// Turbulence that the field does not resolve.
    pub turbulence: Option<Turbulence>,
}

fn elastic() -> [f64; 2] {
    [1.0; 2]
}

/// A quantity of particles.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "give a number, or the name of a column of the seeds")]
pub enum PerParticle {
    /// The same for all.
    Number(f64),
    /// The column of this name in the files of the seeds.
    Column(String),
}

/// A drag.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "give \"stokes\", \"schiller-naumann\", { coefficient = ... } or { mean_free_path = ... }"
)]
pub enum Drag {
    /// By its name.
    Named(DragLaw),
    /// A drag coefficient that does not depend on the Reynolds number.
    Coefficient {
        /// The coefficient.
        coefficient: f64,
    },
    /// That of Stokes, with the slip of Cunningham.
    Slip {
        /// The mean free path of the fluid, a length.
        mean_free_path: f64,
    },
}

impl Default for Drag {
    fn default() -> Self {
        Drag::Named(DragLaw::Stokes)
    }
}

/// The name of a drag.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DragLaw {
    /// For Reynolds numbers much smaller than 1.
    Stokes,
    /// For Reynolds numbers up to about 800.
    SchillerNaumann,
}

/// Turbulence that the field does not resolve: its kinetic energy, and one of the keys that its time scale follows from.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Turbulence {
    /// Kinetic energy, in length squared per time squared.
    pub k: Quantity,
    /// Dissipation rate, in length squared per time cubed.
    pub epsilon: Option<Quantity>,
    /// Specific dissipation rate, per time.
    pub omega: Option<Quantity>,
    /// Time scale.
    pub time_scale: Option<Quantity>,
    /// Seed of the random numbers.
    #[serde(default = "one")]
    pub seed: u64,
}

/// A diameter, or a distribution by number.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(
    untagged,
    expecting = "give a number, the name of a column of the seeds, { median = ..., deviation = ... }, { scale = ..., spread = ... } or { sizes = [...], smaller = [...] }"
)]
pub enum Diameter {
    /// The same for all, or one for each seed.
    One(PerParticle),
    /// Log-normal.
    LogNormal(LogNormal),
    /// Rosin and Rammler.
    RosinRammler(RosinRammler),
    /// A table.
    Table(SizeTable),
}

/// A log-normal distribution.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// The median.
    pub median: f64,
    /// The geometric standard deviation, 1 or more.
    pub deviation: f64,
    /// Seed of the random numbers.
    #[serde(default = "one")]
    pub seed: u64,
}

/// The distribution of Rosin and Rammler.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RosinRammler {
    /// The size below which 63 % are.
    pub scale: f64,
    /// The exponent.
    pub spread: f64,
    /// Seed of the random numbers.
    #[serde(default = "one")]
    pub seed: u64,
}

/// A distribution as a table.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SizeTable {
    /// Sizes, increasing.
    pub sizes: Vec<f64>,
    /// The part of the particles that is smaller than each, increasing from 0 to 1; linear in between.
    pub smaller: Vec<f64>,
    /// Seed of the random numbers.
    #[serde(default = "one")]
    pub seed: u64,
}

/// The kind of motion.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MotionKind {
    /// With a velocity of its own.
    Inertial,
}

/// The velocity of particles where they are released.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(
    untagged,
    expecting = "give \"fluid\", \"zero\", [u, v, w], or the names of three columns of the seeds"
)]
pub enum InitialVelocity {
    /// By its name.
    Named(Released),
    /// Along x, y and z, in length per time.
    Uniform([f64; 3]),
    /// Columns of the seeds along x, y and z, in length per time.
    Columns([String; 3]),
}

/// A name of the velocity of particles where they are released.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Released {
    /// The field's.
    Fluid,
    /// At rest.
    Zero,
}

impl Default for InitialVelocity {
    fn default() -> Self {
        InitialVelocity::Named(Released::Fluid)
    }
}

/// A random walk with a given diffusivity, or with the diffusivity of the files, of a profile or of the flow's deformation, times
/// factors.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// Diffusivity, in length squared per time, 0 or more; default: `field.diffusivity`.
    pub diffusivity: Option<Diffusivity>,
    /// Diffusivities at heights, for a walk along z in a field on a grid or a mesh.
    pub profile: Option<Profile>,
    /// The coefficient of a diffusivity that follows from the deformation of the flow, such as 0.1, for a walk along x and y in a
    /// field on a grid or a mesh.
    pub smagorinsky: Option<f64>,
    /// Factors along x, y and z of a diffusivity that varies; default: 1 for `field.diffusivity`, [0, 0, 1] for a profile, [1, 1, 0]
    /// for a deformation.
    pub factors: Option<[f64; 3]>,
    /// Scheme for a variable diffusivity.
    #[serde(default, with = "names::WalkScheme")]
    pub scheme: WalkScheme,
    /// Seed of the random numbers.
    #[serde(default = "one")]
    pub seed: u64,
}

fn one() -> u64 {
    1
}

/// Diffusivities at heights: linear in between, constant beyond.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Heights, increasing, in the unit of length.
    pub z: Vec<f64>,
    /// The diffusivity at each height, in length squared per time.
    pub diffusivity: Vec<f64>,
}

/// One diffusivity, or one for each axis.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "give a number, or [kx, ky, kz]")]
pub enum Diffusivity {
    /// The same along all axes.
    Isotropic(f64),
    /// Along x, y and z.
    PerAxis([f64; 3]),
}

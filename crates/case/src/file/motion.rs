//! What moves particles, and how steps are taken.

use super::keys::{Keys, Section};
use super::{KeyError, or_auto};
use burntrace_core::{Engine, Solver, Span, WalkScheme, names};
use serde::{Deserialize, Serialize};

/// The steps of a run, and what is added to the velocity of the field.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Trace {
    #[serde(flatten)]
    pub solver: Solver,
    #[serde(flatten)]
    pub span: Span,
    pub drift: [f64; 3],
    /// `None` leaves it to burntrace.
    pub engine: Option<Engine>,
    pub stagnant_speed: f64,
}

section!(Trace {
    solver: part(),
    span: part(),
    drift: or_default("drift"),
    engine: by("engine", or_auto, Some(None)),
    stagnant_speed: or_default("stagnant_speed"),
});

/// A random walk with a given diffusivity, or with the diffusivity of the files times factors.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    pub diffusivity: Option<Diffusivity>,
    pub factors: Option<[f64; 3]>,
    #[serde(default, with = "names::WalkScheme")]
    pub scheme: WalkScheme,
    #[serde(default = "one")]
    pub seed: u64,
}

fn one() -> u64 {
    1
}

/// One diffusivity, or one for each axis.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(untagged, expecting = "give a number, or [kx, ky, kz]")]
pub enum Diffusivity {
    Isotropic(f64),
    PerAxis([f64; 3]),
}

//! Random walks, and tolerances of steps.

use serde::{Deserialize, Serialize};

names!(WalkScheme -> burntrace::WalkScheme {
    EulerMaruyama => burntrace::WalkScheme::EulerMaruyama,
    Milstein => burntrace::WalkScheme::Milstein,
});

/// Error tolerance of adaptive steps, and limits of their length.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    pub relative: f64,
    pub absolute: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_step: Option<f64>,
}

/// A random walk with a given diffusivity, or with the diffusivity of the files times factors.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diffusivity: Option<Diffusivity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factors: Option<[f64; 3]>,
    #[serde(default)]
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

//! Turbulence at particles with inertia.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Turbulence that a field does not resolve: a particle meets the velocity u + u', where each component of the fluctuation u' is an
/// Ornstein-Uhlenbeck process (Langevin's equation; Thomson 1987, J. Fluid Mech. 180:529) with the variance 2 k / 3 and the time scale T,
/// both where the particle is:
///
/// ```text
/// du' = -u' dt / T + (4 k / (3 T))^(1/2) dW
/// ```
///
/// u' is constant within a step, with a variance such that the diffusivity 2 k T / 3 of many steps is exact for any length of the step. The
/// random numbers are a function of (seed, slot, generation, step). In a field of one k particles stay well mixed; there is no term for
/// gradients of k, so that the lightest of them gather where k is small.
#[derive(Clone, Debug, PartialEq)]
pub struct Turbulence {
    pub(crate) energy: Quantity,
    pub(crate) time: TurbulentTime,
    pub(crate) seed: u64,
}

/// The time scale T of turbulence.
#[derive(Clone, Debug, PartialEq)]
pub enum TurbulentTime {
    /// T itself, a time.
    Scale(Quantity),
    /// By the dissipation rate epsilon (length squared per time cubed): T = 0.15 k / epsilon.
    Dissipation(Quantity),
    /// By the specific dissipation rate omega (per time): T = 0.15 / (0.09 omega), as epsilon = 0.09 k omega.
    Frequency(Quantity),
}

/// A number for the whole field, or an array of it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "give a number, or the name of an array of the files")]
pub enum Quantity {
    /// The same everywhere.
    Number(f64),
    /// The array of this name, which the traced field interpolates as its velocity.
    Array(String),
}

impl Turbulence {
    /// Turbulence of the kinetic energy k, in length squared per time squared.
    pub fn new(energy: impl Into<Quantity>, time: TurbulentTime, seed: u64) -> Self {
        Turbulence { energy: energy.into(), time, seed }
    }

    /// The energy, and what the time scale follows from, with their names.
    pub(crate) fn quantities(&self) -> [(&'static str, &Quantity); 2] {
        let time = match &self.time {
            TurbulentTime::Scale(time) => ("time scale", time),
            TurbulentTime::Dissipation(rate) => ("dissipation rate", rate),
            TurbulentTime::Frequency(rate) => ("specific dissipation rate", rate),
        };
        [("kinetic energy", &self.energy), time]
    }

    /// The names of the arrays that it needs.
    pub fn arrays(&self) -> impl Iterator<Item = &str> {
        self.quantities().into_iter().filter_map(|(_, quantity)| match quantity {
            Quantity::Array(name) => Some(name.as_str()),
            Quantity::Number(_) => None,
        })
    }
}

impl From<f64> for Quantity {
    fn from(number: f64) -> Self {
        Quantity::Number(number)
    }
}

impl From<&str> for Quantity {
    fn from(name: &str) -> Self {
        Quantity::Array(name.into())
    }
}

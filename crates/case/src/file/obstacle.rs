//! Solid bodies and vessels in the domain.

use super::keys::{Keys, Section};
use super::{Condition, KeyError, condition, kinds};
use burntrace_core::{Allowed, BoundaryCondition, names};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An obstacle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Obstacle {
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: ObstacleShape,
    #[serde(with = "names::Allowed")]
    pub allowed: Allowed,
    pub surface: Condition,
}

section!(Obstacle {
    shape: kind("kind", None),
    allowed: by("allowed", names::Allowed::deserialize, Some(Allowed::Outside)),
    surface: by("surface", condition::on_surface, Some(Condition::Of(BoundaryCondition::Reflect))),
});

/// The shape of an obstacle.
#[rustfmt::skip] // A kind a line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObstacleShape {
    Sphere { centre: [f64; 3], radius: f64 },
    Cylinder { radius: f64, base: [f64; 3], axis: [f64; 3], capped: Option<bool> },
    Box { low: [f64; 3], high: [f64; 3] },
    /// Triangles from a file, scaled and then shifted, whose points are merged within a distance.
    Surface { path: PathBuf, scale: Option<f64>, shift: Option<[f64; 3]>, weld: Option<f64> },
}

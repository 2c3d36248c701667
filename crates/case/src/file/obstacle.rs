//! Solid bodies and vessels in the domain.

use super::keys::{Keys, Section};
use super::{Condition, KeyError, condition, kinds, schema};
use burntrace_core::{Allowed, BoundaryCondition, names};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An obstacle.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields, extend("required" = []))]
pub struct Obstacle {
    /// Shape.
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: ObstacleShape,
    /// The side of the particles; default: `"outside"`.
    #[serde(with = "names::Allowed")]
    pub allowed: Allowed,
    /// Condition at the surface; default: `"reflect"`.
    #[schemars(schema_with = "condition::schema_on_surface")]
    pub surface: Condition,
}

section!(Obstacle {
    shape: kind("kind", None),
    allowed: by("allowed", names::Allowed::deserialize, Some(Allowed::Outside)),
    surface: by("surface", condition::on_surface, Some(Condition::Of(BoundaryCondition::Reflect))),
});

/// The shape of an obstacle.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub enum ObstacleShape {
    /// A sphere; a circle in two dimensions.
    Sphere {
        /// Centre.
        centre: [f64; 3],
        /// Radius, a length.
        radius: f64,
    },
    /// A circular cylinder.
    Cylinder {
        /// Radius, a length.
        radius: f64,
        /// Centre of the base.
        base: [f64; 3],
        /// Axis from the base, a vector as long as the cylinder.
        axis: [f64; 3],
        /// Whether it ends at its base and top, or is as long as the domain; default: `true`.
        capped: Option<bool>,
    },
    /// A box along the axes.
    Box {
        /// Minimum corner; `-inf` is an open side.
        #[schemars(with = "schema::Corner")]
        low: [f64; 3],
        /// Maximum corner; `inf` is an open side.
        #[schemars(with = "schema::Corner")]
        high: [f64; 3],
    },
    /// A closed triangulated surface from a file; three dimensions only.
    Surface {
        /// An `.stl` or `.vtp` file.
        path: PathBuf,
        /// Factor of the points; default: `1.0`.
        scale: Option<f64>,
        /// Displacement of the points after scaling; default: none.
        shift: Option<[f64; 3]>,
        /// Distance within which points are merged after the shift; default: 0.
        weld: Option<f64>,
    },
}

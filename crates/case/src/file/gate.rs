//! Gates: surfaces and regions whose crossings are noted.

use super::keys::{Keys, Section};
use super::{KeyError, kinds, schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A gate.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields, extend("required" = ["name", "kind"]))]
pub struct Gate {
    /// A name that no other gate has.
    pub name: String,
    /// Shape.
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: GateShape,
}

section!(Gate { name: get("name"), shape: kind("kind", None) });

/// The shape of a gate.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub enum GateShape {
    /// A plane, or the part of it in a box.
    Plane {
        /// A point on it.
        origin: [f64; 3],
        /// The direction that counts as forward, normal to it.
        normal: [f64; 3],
        /// Minimum corner of the part; `-inf` is an open side. Default: unbounded.
        #[schemars(with = "Option<schema::Corner>")]
        low: Option<[f64; 3]>,
        /// Maximum corner of the part; `inf` is an open side. Default: unbounded.
        #[schemars(with = "Option<schema::Corner>")]
        high: Option<[f64; 3]>,
    },
    /// A disc.
    Disc {
        /// Centre.
        centre: [f64; 3],
        /// The direction that counts as forward, normal to it.
        normal: [f64; 3],
        /// Radius, a length.
        radius: f64,
    },
    /// A polygon in a plane; the side from which its corners are counter-clockwise counts as forward.
    Polygon {
        /// Its corners, in order.
        corners: Vec<[f64; 3]>,
    },
    /// The inside of a sphere; of a circle in two dimensions.
    Sphere {
        /// Centre.
        centre: [f64; 3],
        /// Radius, a length.
        radius: f64,
    },
    /// The inside of a circular cylinder.
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
    /// The inside of a box along the axes.
    Box {
        /// Minimum corner; `-inf` is an open side.
        #[schemars(with = "schema::Corner")]
        low: [f64; 3],
        /// Maximum corner; `inf` is an open side.
        #[schemars(with = "schema::Corner")]
        high: [f64; 3],
    },
    /// The inside of a closed triangulated surface from a file; three dimensions only.
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
    /// A patch of the mesh boundary, which particles cross when they leave through it.
    Patch {
        /// The name of the patch.
        patch: String,
    },
}

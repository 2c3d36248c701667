//! Inlets and sources of particles.

use super::keys::{Keys, Section};
use super::{KeyError, kinds, schema};
use burntrace_core::{Face, Pattern, names};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An inlet.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Inlet {
    /// Shape.
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: InletShape,
    #[serde(flatten, serialize_with = "kinds::by_pattern")]
    /// Distribution of the release positions; default: `"lattice"`.
    pub pattern: Pattern,
}

section!(Inlet { shape: kind("kind", None), pattern: kind("pattern", Some("lattice")) });

/// The shape of an inlet.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub enum InletShape {
    /// A face of the domain.
    Face {
        /// The face.
        #[serde(with = "names::Face")]
        face: Face,
    },
    /// A parallelogram.
    Rectangle {
        /// A corner.
        origin: [f64; 3],
        /// Edge from the corner, a vector.
        edge1: [f64; 3],
        /// The other edge from the corner, a vector.
        edge2: [f64; 3],
    },
    /// A disc.
    Disc {
        /// Centre.
        centre: [f64; 3],
        /// Normal, of any length, in the direction of the inflow.
        normal: [f64; 3],
        /// Radius, a length.
        radius: f64,
    },
    /// A planar polygon.
    Polygon {
        /// Corners in order, 3 or more.
        corners: Vec<[f64; 3]>,
    },
    /// A list of points.
    Points {
        /// Positions.
        points: Vec<[f64; 3]>,
    },
    /// The points of a file.
    File {
        /// A `.csv`, `.npy` or VTK file.
        path: PathBuf,
    },
    /// A patch of the mesh boundary.
    Patch {
        /// The name of the patch.
        patch: String,
    },
}

/// A source of particles during a run.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Source {
    /// Release rate.
    #[serde(flatten, serialize_with = "kinds::by_presence")]
    pub rate: SourceRate,
    /// The inlet where particles are released.
    pub inlet: Inlet,
}

/// Release rate of a source.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(untagged, transform = schema::one_of)]
pub enum SourceRate {
    /// A constant rate.
    Rate {
        /// Particles per time, above 0.
        rate: f64,
        /// Maximum number of particles of the source at a time.
        capacity: usize,
        /// Start time; default: the start of the run.
        begin: Option<f64>,
        /// End time; default: the end of the run.
        end: Option<f64>,
    },
    /// A rate that varies.
    Table {
        /// Times with the rates there, in particles per time, linear in between.
        table: Vec<[f64; 2]>,
        /// Maximum number of particles of the source at a time.
        capacity: usize,
    },
    /// All particles at once.
    Burst {
        /// A number of particles at one time.
        burst: Burst,
    },
}

section!(Source { rate: one_of(), inlet: section("inlet") });

impl Source {
    /// The maximum number of its particles at a time.
    pub fn capacity(&self) -> usize {
        match self.rate {
            SourceRate::Rate { capacity, .. } | SourceRate::Table { capacity, .. } => capacity,
            SourceRate::Burst { burst } => burst.count,
        }
    }
}

/// A number of particles at one time.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Release time.
    pub time: f64,
    /// Number of particles.
    pub count: usize,
}

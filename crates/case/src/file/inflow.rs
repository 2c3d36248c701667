//! Inlets and sources of particles.

use super::keys::{Keys, Section};
use super::{KeyError, kinds};
use burntrace_core::{Face, Pattern, names};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An inlet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inlet {
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: InletShape,
    #[serde(flatten, serialize_with = "kinds::by_pattern")]
    pub pattern: Pattern,
}

section!(Inlet { shape: kind("kind", None), pattern: kind("pattern", Some("lattice")) });

/// The shape of an inlet.
#[rustfmt::skip] // A kind a line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InletShape {
    Face { #[serde(with = "names::Face")] face: Face },
    Rectangle { origin: [f64; 3], edge1: [f64; 3], edge2: [f64; 3] },
    Disc { centre: [f64; 3], normal: [f64; 3], radius: f64 },
    Polygon { corners: Vec<[f64; 3]> },
    Points { points: Vec<[f64; 3]> },
    File { path: PathBuf },
    /// The name of a patch of the mesh boundary.
    Patch { patch: String },
}

/// A source of particles during a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    #[serde(flatten, serialize_with = "kinds::by_presence")]
    pub rate: SourceRate,
    pub inlet: Inlet,
}

/// Release rate of a source. `capacity` is the maximum number of its particles
/// at a time.
#[rustfmt::skip] // A kind a line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceRate {
    /// Particles per time, from `begin` to `end`, by default during the whole run.
    Rate { rate: f64, capacity: usize, begin: Option<f64>, end: Option<f64> },
    /// Times with the rates there, linear in between.
    Table { table: Vec<[f64; 2]>, capacity: usize },
    Burst { burst: Burst },
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
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    pub time: f64,
    pub count: usize,
}

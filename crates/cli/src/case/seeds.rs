//! Seeds: positions and release times.

use super::keys::{Keys, Kinds, Section};
use super::{KeyError, Placement};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

names!(SeedsOutside -> burntrace::SeedsOutside {
    Error => burntrace::SeedsOutside::Error,
    NotLocated => burntrace::SeedsOutside::NotLocated,
});

/// The seeds of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seeds {
    #[serde(flatten)]
    pub shape: SeedShape,
    /// Release time of all seeds.
    pub release: Option<f64>,
    pub outside: SeedsOutside,
}

impl Section for Seeds {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        let kind = keys.kind::<SeedShape>()?;
        keys.allow(&["release", "outside"]);
        keys.check()?;
        Ok(Seeds {
            shape: SeedShape::read(kind, keys)?,
            release: keys.get("release")?,
            outside: keys.or_default("outside")?,
        })
    }
}

kinds! {
    /// Positions of seeds. `low` and `high` default to the corners of the domain, `seed` to 1.
    SeedShape by "kind" {
        "grid" => Grid {
            counts: [usize; 3],
            placement: Option<Placement>,
            /// If given, each grid position has two seeds along each axis, at this distance on either
            /// side, instead of one at the position.
            auxiliary: Option<f64>,
            low: Option<[f64; 3]>,
            high: Option<[f64; 3]>,
        },
        "uniform" => Uniform {
            count: usize,
            low: Option<[f64; 3]>,
            high: Option<[f64; 3]>,
            seed: Option<u64>,
        },
        "sobol" => Sobol { count: usize, low: Option<[f64; 3]>, high: Option<[f64; 3]> },
        "gaussian" => Gaussian {
            count: usize,
            seed: Option<u64>,
            centre: [f64; 3],
            deviation: [f64; 3],
        },
        "line" => Line { count: usize, from: [f64; 3], to: [f64; 3] },
        "plane" => Plane {
            counts: [usize; 2],
            origin: [f64; 3],
            edge1: [f64; 3],
            edge2: [f64; 3],
        },
        "disc" => Disc { count: usize, centre: [f64; 3], radius: f64, normal: [f64; 3] },
        "sphere" => Sphere { count: usize, centre: [f64; 3], radius: f64 },
        "ball" => Ball { count: usize, seed: Option<u64>, centre: [f64; 3], radius: f64 },
        "list" => List { points: Vec<[f64; 3]> },
        "file" => File { path: PathBuf },
    }
}

impl SeedShape {
    /// The number of seeds; 0 for a file, which is not read here.
    pub fn count(&self) -> usize {
        use SeedShape::*;
        let product = |counts: &[usize]| counts.iter().fold(1, |n: usize, m| n.saturating_mul(*m));
        match self {
            Grid { counts, .. } => product(counts),
            Plane { counts, .. } => product(counts),
            Uniform { count, .. }
            | Sobol { count, .. }
            | Gaussian { count, .. }
            | Line { count, .. }
            | Disc { count, .. }
            | Sphere { count, .. }
            | Ball { count, .. } => *count,
            List { points } => points.len(),
            File { .. } => 0,
        }
    }
}

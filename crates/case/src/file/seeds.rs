//! Seeds: positions and release times.

use super::keys::{Keys, Section};
use super::{KeyError, kinds};
use burntrace_core::{GridPlacement, SeedsOutside};
use serde::{Deserialize, Serialize, Serializer};
use std::path::PathBuf;

/// A block of seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seeds {
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: SeedShape,
    /// Release time of all seeds.
    pub release: Option<f64>,
    pub repeat: Option<Repeat>,
    pub outside: SeedsOutside,
}

/// The quantity that the number of seeds on a patch is proportional to.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatchDensity {
    #[default]
    Area,
    /// The inward flux at the start of the run.
    Flux,
}

/// Further releases of the same seeds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The time from one release to the next.
    pub every: f64,
    /// The time of the last release.
    pub until: f64,
}

impl Seeds {
    /// The number of seeds in all releases; 0 for a file and a run, which are not read here. Without its `start`,
    /// the first release only.
    pub fn count(&self, start: Option<f64>) -> usize {
        let releases = self.repeat.zip(self.release.or(start)).map_or(1, |(repeat, start)| {
            burntrace_core::Seeds::num_releases(start, repeat.every, repeat.until)
        });
        self.shape.count().saturating_mul(releases)
    }
}

/// Writes a single block as `[seeds]`, and several as `[[seeds]]`.
pub fn write<S: Serializer>(blocks: &[Seeds], serializer: S) -> Result<S::Ok, S::Error> {
    match blocks {
        [only] => only.serialize(serializer),
        _ => blocks.serialize(serializer),
    }
}

section!(Seeds {
    shape: kind("kind", None).and_then(SeedShape::checked),
    release: option("release"),
    repeat: option("repeat"),
    outside: or_default("outside"),
});

/// Positions of seeds. `low` and `high` default to the corners of the domain, `seed` to another number in each block.
#[rustfmt::skip] // A kind a line.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeedShape {
    Grid {
        counts: [usize; 3],
        #[serde(default)]
        placement: GridPlacement,
        /// If given, each grid position has two seeds along each axis, at this distance on either
        /// side, instead of one at the position.
        auxiliary: Option<f64>,
        low: Option<[f64; 3]>,
        high: Option<[f64; 3]>,
    },
    Uniform { count: usize, low: Option<[f64; 3]>, high: Option<[f64; 3]>, seed: Option<u64> },
    Sobol { count: usize, low: Option<[f64; 3]>, high: Option<[f64; 3]> },
    Gaussian { count: usize, seed: Option<u64>, centre: [f64; 3], deviation: [f64; 3] },
    Line { count: usize, from: [f64; 3], to: [f64; 3] },
    Plane { counts: [usize; 2], origin: [f64; 3], edge1: [f64; 3], edge2: [f64; 3] },
    Disc { count: usize, centre: [f64; 3], radius: f64, normal: [f64; 3] },
    Sphere { count: usize, centre: [f64; 3], radius: f64 },
    Ball { count: usize, seed: Option<u64>, centre: [f64; 3], radius: f64 },
    List { points: Vec<[f64; 3]> },
    Mesh {
        count: usize,
        low: Option<[f64; 3]>,
        high: Option<[f64; 3]>,
        seed: Option<u64>,
        /// The name of a patch of the mesh boundary, whose faces have the seeds instead of the cells.
        patch: Option<String>,
        by: Option<PatchDensity>,
    },
    File { path: PathBuf },
    Run { path: PathBuf },
}

impl SeedShape {
    /// Refuses keys that need a patch, or that a patch excludes.
    fn checked(self) -> Result<Self, KeyError> {
        let SeedShape::Mesh { low, high, patch, by, .. } = &self else { return Ok(self) };
        match patch {
            None if by.is_some() => Err(KeyError::keys(
                "has `by` and no `patch`; add the name of a [[patch]], or remove `by`",
            )),
            Some(_) if low.is_some() || high.is_some() => Err(KeyError::keys(
                "has a `patch`, and `low` or `high`; give the box in the [[patch]] instead",
            )),
            _ => Ok(self),
        }
    }

    /// The number of seeds; 0 for a file and a run, which are not read here.
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
            | Ball { count, .. }
            | Mesh { count, .. } => *count,
            List { points } => points.len(),
            File { .. } | Run { .. } => 0,
        }
    }
}

//! Seeds: positions and release times.

use super::keys::{Keys, Kinds, Section};
use super::{KeyError, Placement};
use serde::{Deserialize, Serialize, Serializer};
use std::path::PathBuf;

names!(SeedsOutside -> burntrace::SeedsOutside {
    Error => burntrace::SeedsOutside::Error,
    NotLocated => burntrace::SeedsOutside::NotLocated,
});

/// A block of seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seeds {
    #[serde(flatten)]
    pub shape: SeedShape,
    /// Release time of all seeds.
    pub release: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
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
            burntrace::Seeds::num_releases(start, repeat.every, repeat.until)
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

impl Section for Seeds {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        let kind = keys.kind::<SeedShape>()?;
        keys.allow(&["release", "repeat", "outside"]);
        keys.check()?;
        let shape = SeedShape::read(kind, keys)?;
        shape.check()?;
        Ok(Seeds {
            shape,
            release: keys.get("release")?,
            repeat: keys.get("repeat")?,
            outside: keys.or_default("outside")?,
        })
    }
}

kinds! {
    /// Positions of seeds. `low` and `high` default to the corners of the domain, `seed` to another number in each block.
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
        "mesh" => Mesh {
            count: usize,
            low: Option<[f64; 3]>,
            high: Option<[f64; 3]>,
            seed: Option<u64>,
            /// The name of a patch of the mesh boundary, whose faces have the seeds instead of the cells.
            patch: Option<String>,
            by: Option<PatchDensity>,
        },
        "file" => File { path: PathBuf },
        "run" => Run { path: PathBuf },
    }
}

impl SeedShape {
    /// Refuses keys that need a patch, or that a patch excludes.
    fn check(&self) -> Result<(), KeyError> {
        let SeedShape::Mesh { low, high, patch, by, .. } = self else { return Ok(()) };
        match patch {
            None if by.is_some() => Err(KeyError::keys(
                "has `by` and no `patch`; add the name of a [[patch]], or remove `by`",
            )),
            Some(_) if low.is_some() || high.is_some() => Err(KeyError::keys(
                "has a `patch`, and `low` or `high`; give the box in the [[patch]] instead",
            )),
            _ => Ok(()),
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

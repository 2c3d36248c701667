//! Seeds: positions and release times.

use super::keys::{Keys, Section};
use super::{KeyError, kinds};
use burntrace_core::{GridPlacement, SeedsOutside};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::path::PathBuf;

/// A block of seeds.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Seeds {
    /// Positions.
    #[serde(flatten, serialize_with = "kinds::by_kind")]
    pub shape: SeedShape,
    /// Release time of all seeds; default: the start of the run, or the times in the list or the file.
    pub release: Option<f64>,
    /// Further releases of the same seeds.
    pub repeat: Option<Repeat>,
    /// Seeds outside the domain, the mesh or the field, or on the wrong side of an obstacle.
    #[schemars(default)]
    pub outside: SeedsOutside,
}

/// The part of a box that has seeds.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeedPlacement {
    /// All of it.
    #[default]
    Box,
    /// The water in it, where the field has land.
    Sea,
}

/// The quantity that the number of seeds on a patch is proportional to.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatchDensity {
    /// The area (the length in two dimensions).
    #[default]
    Area,
    /// The inward flux at the start of the run.
    Flux,
}

/// Further releases of the same seeds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Repeat {
    /// The time from one release to the next.
    pub every: f64,
    /// The time until which seeds are released, inclusive; default: the end of the run, at which none are.
    pub until: Option<f64>,
}

impl Repeat {
    /// The time until which seeds are released in a run that ends at a time, and goes in the direction of a sign.
    pub fn until(&self, end: f64, sign: f64) -> f64 {
        // Before the end by more than the rounding that releases are counted with.
        self.until.unwrap_or(end - (1e-6 * self.every).copysign(sign))
    }
}

impl Seeds {
    /// The number of seeds in all releases; 0 for a file and a run, which are not read here. Where the times of the run
    /// that it depends on are unknown, the first release only.
    pub fn count(&self, span: [Option<f64>; 2]) -> usize {
        let releases = self.repeat.zip(self.releases(span)).map_or(1, |(repeat, [from, until])| {
            burntrace_core::Seeds::num_releases(from, repeat.every, until)
        });
        self.shape.count().saturating_mul(releases)
    }

    /// The first and the last time of repeated releases, by the start and the end of the run, if they are known.
    pub fn releases(&self, [start, end]: [Option<f64>; 2]) -> Option<[f64; 2]> {
        let repeat = self.repeat?;
        let from = self.release.or(start)?;
        let at_end = |end: f64| repeat.until(end, end - from);
        Some([from, repeat.until.or(end.map(at_end))?])
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

/// Positions of seeds.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "kind")]
pub enum SeedShape {
    /// A grid in a box, x fastest.
    Grid {
        /// Number of positions along x, y and z, 1 or more each.
        counts: [usize; 3],
        /// Whether the outermost positions are on the faces of the box; default: `"centres"`.
        #[serde(default)]
        placement: GridPlacement,
        /// If given, each grid position has two seeds along each axis, at this distance on either
        /// side, instead of one at the position.
        auxiliary: Option<f64>,
        /// Minimum corner of the box; default: that of the domain.
        low: Option<[f64; 3]>,
        /// Maximum corner of the box; default: that of the domain.
        high: Option<[f64; 3]>,
    },
    /// Uniformly random positions in a box.
    Uniform {
        /// Number of seeds.
        count: usize,
        /// Minimum corner of the box; default: that of the domain.
        low: Option<[f64; 3]>,
        /// Maximum corner of the box; default: that of the domain.
        high: Option<[f64; 3]>,
        /// Seed of the random numbers; default: 1, and another one in each further block.
        seed: Option<u64>,
        /// The part of the box that has the seeds; default: `"box"`.
        #[serde(default)]
        placement: SeedPlacement,
    },
    /// Evenly spread positions in a box (Sobol sequence).
    Sobol {
        /// Number of seeds.
        count: usize,
        /// Minimum corner of the box; default: that of the domain.
        low: Option<[f64; 3]>,
        /// Maximum corner of the box; default: that of the domain.
        high: Option<[f64; 3]>,
        /// The part of the box that has the seeds; default: `"box"`.
        #[serde(default)]
        placement: SeedPlacement,
    },
    /// Normally distributed positions.
    Gaussian {
        /// Number of seeds.
        count: usize,
        /// Seed of the random numbers; default: 1, and another one in each further block.
        seed: Option<u64>,
        /// Mean position.
        centre: [f64; 3],
        /// Standard deviations along x, y and z, lengths.
        deviation: [f64; 3],
    },
    /// Evenly spaced positions on a line.
    Line {
        /// Number of seeds.
        count: usize,
        /// First position.
        from: [f64; 3],
        /// Last position.
        to: [f64; 3],
    },
    /// A grid on a parallelogram, sides included.
    Plane {
        /// Number of positions along both edges.
        counts: [usize; 2],
        /// A corner.
        origin: [f64; 3],
        /// Edge from the corner, a vector.
        edge1: [f64; 3],
        /// The other edge from the corner, a vector.
        edge2: [f64; 3],
    },
    /// Evenly spread positions on a disc.
    Disc {
        /// Number of seeds.
        count: usize,
        /// Centre.
        centre: [f64; 3],
        /// Radius, a length.
        radius: f64,
        /// Normal, of any length.
        normal: [f64; 3],
    },
    /// Evenly spread positions on a sphere.
    Sphere {
        /// Number of seeds.
        count: usize,
        /// Centre.
        centre: [f64; 3],
        /// Radius, a length.
        radius: f64,
    },
    /// Uniformly random positions in a ball.
    Ball {
        /// Number of seeds.
        count: usize,
        /// Seed of the random numbers; default: 1, and another one in each further block.
        seed: Option<u64>,
        /// Centre.
        centre: [f64; 3],
        /// Radius, a length.
        radius: f64,
    },
    /// A list of positions.
    List {
        /// Positions.
        points: Vec<[f64; 3]>,
        /// A release time for each of them; default: the same for all.
        times: Option<Vec<f64>>,
    },
    /// Random positions in the cells of the field's mesh, or on a patch of its boundary.
    Mesh {
        /// Number of seeds.
        count: usize,
        /// Minimum corner of the box; default: that of the domain. Not with `patch`.
        low: Option<[f64; 3]>,
        /// Maximum corner of the box; default: that of the domain. Not with `patch`.
        high: Option<[f64; 3]>,
        /// Seed of the random numbers; default: 1, and another one in each further block.
        seed: Option<u64>,
        /// The name of a patch of the mesh boundary, whose faces have the seeds instead of the cells.
        patch: Option<String>,
        /// With `patch`: the quantity that the number of seeds is proportional to; default: `"area"`.
        by: Option<PatchDensity>,
    },
    /// The points of a file, with its times as release times.
    File {
        /// A `.csv`, `.npy` or VTK file.
        path: PathBuf,
    },
    /// The active particles at the end of another run.
    Run {
        /// The folder of the run.
        path: PathBuf,
    },
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
            List { points, .. } => points.len(),
            File { .. } | Run { .. } => 0,
        }
    }
}

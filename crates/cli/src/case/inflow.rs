//! Inlets and sources of particles.

use super::KeyError;
use super::keys::{Keys, Kinds, Section};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

names!(Face -> burntrace::Face {
    XLow => burntrace::Face::XLow,
    XHigh => burntrace::Face::XHigh,
    YLow => burntrace::Face::YLow,
    YHigh => burntrace::Face::YHigh,
    ZLow => burntrace::Face::ZLow,
    ZHigh => burntrace::Face::ZHigh,
});

/// An inlet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inlet {
    #[serde(flatten)]
    pub shape: InletShape,
    #[serde(flatten)]
    pub pattern: Pattern,
}

impl Section for Inlet {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        let kind = keys.kind::<InletShape>()?;
        let pattern = keys.kind::<Pattern>()?;
        keys.check()?;
        Ok(Inlet {
            shape: InletShape::read(kind, keys)?,
            pattern: Pattern::read(pattern, keys)
                .map_err(|error| error.hint("the standard deviation, a length"))?,
        })
    }
}

kinds! {
    /// The shape of an inlet.
    InletShape by "kind" {
        "face" => Face { face: Face },
        "rectangle" => Rectangle { origin: [f64; 3], edge1: [f64; 3], edge2: [f64; 3] },
        "disc" => Disc { centre: [f64; 3], normal: [f64; 3], radius: f64 },
        "polygon" => Polygon { corners: Vec<[f64; 3]> },
        "points" => Points { points: Vec<[f64; 3]> },
        "file" => File { path: PathBuf },
        "patch" => Patch {
            /// The name of a patch of the mesh boundary.
            patch: String
        },
    }
}

kinds! {
    /// Patterns of release positions on an inlet.
    Pattern by "pattern" or "lattice" {
        "lattice" => Lattice {},
        "uniform" => Uniform {},
        "gaussian" => Gaussian { deviation: f64 },
        "flux" => Flux {},
    }
}

/// A source of particles during a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    #[serde(flatten)]
    pub rate: SourceRate,
    pub inlet: Inlet,
}

/// Release rate of a source. `capacity` is the maximum number of its particles
/// at a time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum SourceRate {
    /// Particles per time, from `begin` to `end`, by default during the whole run.
    Constant {
        rate: f64,
        capacity: usize,
        begin: Option<f64>,
        end: Option<f64>,
    },
    /// Times with the rates there, linear in between.
    Table {
        table: Vec<[f64; 2]>,
        capacity: usize,
    },
    Burst {
        burst: Burst,
    },
}

/// The keys of each kind of rate.
const RATES: [(&str, &[&str]); 3] =
    [("rate", &["capacity", "begin", "end"]), ("table", &["capacity"]), ("burst", &[])];

/// Hint about the capacity of a source.
const CAPACITY: &str = "give the maximum number of its particles at a time, the rate times the \
                        longest residence time and a little more";

impl Section for Source {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        let chosen = keys.one_of(&RATES)?;
        keys.allow(&["inlet"]);
        keys.check()?;
        let capacity = || keys.get("capacity").map_err(|error| error.hint(CAPACITY));
        let rate = match chosen {
            "rate" => SourceRate::Constant {
                rate: keys.get("rate")?,
                capacity: capacity()?,
                begin: keys.get("begin")?,
                end: keys.get("end")?,
            },
            "table" => SourceRate::Table { table: keys.get("table")?, capacity: capacity()? },
            _ => SourceRate::Burst { burst: keys.get("burst")? },
        };
        Ok(Source { rate, inlet: keys.section("inlet")? })
    }
}

impl Source {
    /// The maximum number of its particles at a time.
    pub fn capacity(&self) -> usize {
        match self.rate {
            SourceRate::Constant { capacity, .. } | SourceRate::Table { capacity, .. } => capacity,
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

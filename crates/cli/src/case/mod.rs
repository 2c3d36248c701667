//! The case file: what a run is asked to do.

#[macro_use]
mod names;
mod inflow;
mod motion;
mod obstacle;
mod read;
mod run;
mod units;

pub use inflow::{Burst, Inlet, InletKind, Pattern, Source};
pub use motion::{Diffusivity, Tolerance, Walk};
pub use obstacle::{Obstacle, ObstacleKind, Surface};
pub use read::{Misuse, from_text, read};
pub use run::Run;
pub use units::Units;

use burntrace::io;
use serde::{Deserialize, Serialize};
use std::path::{Path as FilePath, PathBuf};

/// The case that `burntrace init` prints, with comments; its values are the defaults.
pub const TEMPLATE: &str = include_str!("template.toml");

/// A whole case.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    #[serde(default)]
    pub field: Field,
    #[serde(default)]
    pub domain: Domain,
    #[serde(default)]
    pub boundary: Boundary,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<Patch>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub obstacle: Vec<Obstacle>,
    /// Where particles come in that have left through an outlet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inlet: Option<Inlet>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<Seeds>,
    #[serde(default)]
    pub trace: Trace,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<Walk>,
    #[serde(default)]
    pub save: Save,
    #[serde(default, skip_serializing_if = "is_default")]
    pub units: Units,
    #[serde(default)]
    pub run: Run,
}

/// Whether a section is as if it had been left out.
fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

impl Case {
    /// The same case, with relative names of files in a folder.
    pub fn within(mut self, folder: &FilePath) -> Self {
        self.field.files = self.field.files.map(|files| files.within(folder));
        let of_sources = self.source.iter_mut().map(|source| &mut source.inlet);
        let inlets = self.inlet.iter_mut().chain(of_sources);
        let of_inlets = inlets.filter_map(|inlet| inlet.path.as_mut());
        let of_seeds = self.seeds.iter_mut().filter_map(|seeds| seeds.path.as_mut());
        let of_obstacles = self.obstacle.iter_mut().filter_map(|given| given.path.as_mut());
        for path in of_seeds.chain(of_inlets).chain(of_obstacles) {
            *path = folder.join(&*path);
        }
        self
    }

    /// Files of points: those of seeds and inlets.
    pub fn point_files(self) -> impl Iterator<Item = PathBuf> {
        let of_sources = self.source.into_iter().map(|source| source.inlet);
        let of_inlets = self.inlet.into_iter().chain(of_sources).filter_map(|inlet| inlet.path);
        self.seeds.and_then(|seeds| seeds.path).into_iter().chain(of_inlets)
    }
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Field {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<io::Files>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<io::VelocityName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer: Option<io::Association>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diffusivity: Option<String>,
    pub ignore_file_times: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_dt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<io::CaseTimes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<io::Frames>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    pub interpolation: Interpolation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell_velocity: Option<CellVelocity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_cells: Option<io::OtherCells>,
    pub in_time: TimeInterpolation,
    pub outside_time: OutsideTime,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period: Option<f64>,
    pub not_finite: NotFinite,
}

/// How a flow is sampled onto a grid.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    pub nodes: [usize; 3],
    #[serde(default)]
    pub start: f64,
    #[serde(default)]
    pub stop: f64,
    #[serde(default = "one")]
    pub frames: usize,
}

fn one() -> usize {
    1
}

names!(TimeInterpolation -> burntrace::TimeInterpolation {
    Linear => burntrace::TimeInterpolation::Linear,
    Nearest => burntrace::TimeInterpolation::Nearest,
});
names!(NotFinite -> burntrace::NotFinite {
    Error => burntrace::NotFinite::Error,
    Zero => burntrace::NotFinite::Zero,
});
names!(Scheme -> burntrace::Scheme {
    Rk4 => burntrace::Scheme::Rk4,
    Euler => burntrace::Scheme::Euler,
    Midpoint => burntrace::Scheme::Midpoint,
    Heun => burntrace::Scheme::Heun,
    DormandPrince => burntrace::Scheme::DormandPrince,
});
// An outlet is an exit that an inlet goes with, and so is the edge of a mesh.
names!(Condition -> burntrace::Condition {
    Exit => burntrace::Condition::Exit,
    Reflect => burntrace::Condition::Reflect,
    Clamp => burntrace::Condition::Clamp,
    Periodic => burntrace::Condition::Periodic,
    Outlet => burntrace::Condition::Exit,
});
names!(Wall -> burntrace::Wall {
    Leave => burntrace::Wall::Leave,
    Reflect => burntrace::Wall::Reflect,
    Slide => burntrace::Wall::Slide,
    Outlet => burntrace::Wall::Leave,
});
names!(CellVelocity -> burntrace::CellVelocity {
    Constant => burntrace::CellVelocity::Constant,
    Averaged => burntrace::CellVelocity::Averaged,
});
names!(SeedsOutside -> burntrace::SeedsOutside {
    Error => burntrace::SeedsOutside::Error,
    NotLocated => burntrace::SeedsOutside::NotLocated,
});
names!(Precision -> burntrace::Precision {
    F32 => burntrace::Precision::F32,
    F64 => burntrace::Precision::F64,
});
names!(Engine -> Option<burntrace::Engine> {
    Auto => None,
    Fused => Some(burntrace::Engine::Fused),
    Tensor => Some(burntrace::Engine::Tensor),
});
names!(Placement -> burntrace::GridPlacement {
    Centres => burntrace::GridPlacement::Centres,
    Corners => burntrace::GridPlacement::Corners,
});

/// What lies between the places of the values in files; `neighbours` and `power`, `cell_velocity`
/// and `other_cells` stand beside it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    #[default]
    Grid,
    Mesh,
    Nearest,
    InverseDistance,
}

/// What a field is worth outside its frames; `period` stands beside it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutsideTime {
    #[default]
    Error,
    Hold,
    Zero,
    Periodic,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Domain {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
}

/// Conditions at the low and the high face of each axis, and at the edge of a mesh.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Boundary {
    pub x: [Condition; 2],
    pub y: [Condition; 2],
    pub z: [Condition; 2],
    pub mesh: Wall,
}

/// A part of the edge of a mesh with a wall of its own; a corner that is left out is nowhere.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
    pub wall: Wall,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trace {
    pub scheme: Scheme,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t0: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
    pub drift: [f64; 3],
    pub path: Engine,
    pub stagnant_speed: f64,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Save {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_time: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Vec<f64>>,
    pub velocity: bool,
    pub vtk: Vec<VtkOutput>,
    pub report: Reporting,
}

/// Whether a run ends with a report and pictures.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reporting {
    /// Where making it is short beside the run.
    #[default]
    Auto,
    Always,
    Never,
}

/// Files for ParaView.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VtkOutput {
    Lines,
    Clouds,
}

/// Where particles start; which keys go with which kind is said in `crate::job`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Seeds {
    pub kind: SeedKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Seeds at this distance on both sides of each place, in place of one seed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auxiliary: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centre: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge1: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge2: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<[f64; 3]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<f64>,
    #[serde(default)]
    pub outside: SeedsOutside,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeedKind {
    Grid,
    Uniform,
    Sobol,
    Gaussian,
    Line,
    Plane,
    Disc,
    Sphere,
    Ball,
    List,
    File,
}

//! The case file: the sections of a run, with their keys and defaults.

#[macro_use]
mod names;
mod condition;
mod devices;
mod error;
mod field;
mod flow;
mod inflow;
mod keys;
mod motion;
mod obstacle;
mod patch;
mod read;
mod run;
mod save;
mod seeds;
mod set;
mod units;
mod value;

pub use condition::Condition;
pub use devices::DeviceNames;
pub use error::KeyError;
pub use field::{
    CellVelocity, Field, FieldSource, FileField, FlowField, Interpolation, OutsideTime, Sample,
};
pub use flow::{GivenFlow, OwnFormula};
pub use inflow::{Inlet, InletShape, Pattern, Source, SourceRate};
pub use keys::Kinds;
pub use motion::{Diffusivity, Tolerance, Walk};
pub use obstacle::{Allowed, Obstacle, ObstacleShape};
pub use patch::Patch;
pub use read::{Misuse, from_text, read};
pub use run::{AtOnce, Run};
pub use save::{Reporting, SampledArray, Save, VtkOutput};
pub use seeds::{PatchDensity, Repeat, SeedShape, Seeds, SeedsOutside};
pub use set::Assignment;
pub use units::Units;

use error::Step;
use keys::Keys;
use serde::{Deserialize, Serialize};
use std::path::{Path as FilePath, PathBuf};
use toml::{Table, Value};

/// The case that `burntrace init` prints, with comments; its values are the defaults.
pub const TEMPLATE: &str = include_str!("template.toml");

/// The cases of `burntrace init --for`, with the usual keys for a kind of field.
pub const MESH_TEMPLATE: &str = include_str!("template_mesh.toml");
pub const GRID_TEMPLATE: &str = include_str!("template_grid.toml");
pub const POINTS_TEMPLATE: &str = include_str!("template_points.toml");

/// A case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    pub field: Field,
    pub domain: Domain,
    pub boundary: Boundary,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patch: Vec<Patch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obstacle: Vec<Obstacle>,
    /// Re-injection of particles that left through an outlet.
    pub inlet: Option<Inlet>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source: Vec<Source>,
    /// Blocks of seeds, which add up.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "seeds::write")]
    pub seeds: Vec<Seeds>,
    pub trace: Trace,
    pub walk: Option<Walk>,
    pub save: Save,
    #[serde(skip_serializing_if = "is_default")]
    pub units: Units,
    pub run: Run,
    /// Warnings about keys that were renamed or have no effect.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// Whether a section is equal to an omitted one.
fn is_default<T: Default + PartialEq>(section: &T) -> bool {
    *section == T::default()
}

/// Refuses a value that is NaN, or has one in it: no key has a use for it.
fn refuse_nan(step: Step, value: &Value) -> Result<(), KeyError> {
    let found = match value {
        Value::Float(number) if number.is_nan() => Err(KeyError::value("give a number")),
        Value::Table(table) => {
            table.iter().try_for_each(|(key, inner)| refuse_nan(Step::Key(key.clone()), inner))
        }
        Value::Array(items) => items.iter().enumerate().try_for_each(|(i, inner)| {
            let step = match inner {
                Value::Table(_) => Step::Section(i, items.len()),
                _ => Step::Item(i),
            };
            refuse_nan(step, inner)
        }),
        _ => Ok(()),
    };
    found.map_err(|error| error.under(step, value))
}

/// The sections of a case.
const SECTIONS: [&str; 13] = [
    "field", "domain", "boundary", "patch", "obstacle", "inlet", "source", "seeds", "trace",
    "walk", "save", "units", "run",
];

impl Case {
    /// Reads a case from its sections, with the current names of keys.
    fn of(table: &Table) -> Result<Self, KeyError> {
        let mut keys = Keys::of(table);
        keys.allow(&SECTIONS);
        keys.check()?;
        let case = Case {
            field: keys.section("field")?,
            domain: keys.or_default("domain")?,
            boundary: keys.or_default("boundary")?,
            patch: keys.list("patch")?,
            obstacle: keys.list("obstacle")?,
            inlet: keys.optional("inlet")?,
            source: keys.list("source")?,
            seeds: keys.one_or_more("seeds")?,
            trace: keys.or_default("trace")?,
            walk: keys.get("walk")?,
            save: keys.or_default("save")?,
            units: keys.or_default("units")?,
            run: keys.or_default("run")?,
            notes: keys.notes,
        };
        // After the errors of keys, which say more; keys without effect included.
        table.iter().try_for_each(|(key, value)| refuse_nan(Step::Key(key.clone()), value))?;
        Ok(case)
    }

    /// The same case, with relative file names resolved in a folder.
    pub fn within(mut self, folder: &FilePath) -> Self {
        if let FieldSource::Files(field) = &mut self.field.source {
            field.files = field.files.clone().within(folder);
        }
        for given in &mut self.obstacle {
            if let ObstacleShape::Surface { path, .. } = &mut given.shape {
                *path = folder.join(&*path);
            }
        }
        for sampled in &mut self.save.fields {
            sampled.files = sampled.files.take().map(|files| files.within(folder));
        }
        for given in &mut self.seeds {
            if let SeedShape::File { path } | SeedShape::Run { path } = &mut given.shape {
                *path = folder.join(&*path);
            }
        }
        let of_sources = self.source.iter_mut().map(|source| &mut source.inlet);
        for inlet in self.inlet.iter_mut().chain(of_sources) {
            if let InletShape::File { path } = &mut inlet.shape {
                *path = folder.join(&*path);
            }
        }
        self
    }

    /// Files of points: seeds and inlets.
    pub fn point_files(self) -> impl Iterator<Item = PathBuf> {
        let of_seeds = self.seeds.into_iter().filter_map(|seeds| match seeds.shape {
            SeedShape::File { path } => Some(path),
            _ => None,
        });
        let inlets = self.inlet.into_iter().chain(self.source.into_iter().map(|of| of.inlet));
        let of_inlets = inlets.filter_map(|inlet| match inlet.shape {
            InletShape::File { path } => Some(path),
            _ => None,
        });
        of_seeds.chain(of_inlets)
    }

    /// Whether the field is on a mesh.
    pub fn is_on_mesh(&self) -> bool {
        match &self.field.source {
            FieldSource::Files(field) => matches!(field.interpolation, Interpolation::Mesh { .. }),
            FieldSource::Flow(_) => false,
        }
    }
}

names!(Scheme -> burntrace::Scheme {
    Rk4 => burntrace::Scheme::Rk4,
    Euler => burntrace::Scheme::Euler,
    Midpoint => burntrace::Scheme::Midpoint,
    Heun => burntrace::Scheme::Heun,
    DormandPrince => burntrace::Scheme::DormandPrince,
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

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Domain {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
}

/// Conditions at the low and the high face of each axis, and at the boundary of a mesh.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Boundary {
    #[serde(deserialize_with = "condition::both_faces")]
    pub x: [Condition; 2],
    #[serde(deserialize_with = "condition::both_faces")]
    pub y: [Condition; 2],
    #[serde(deserialize_with = "condition::both_faces")]
    pub z: [Condition; 2],
    #[serde(deserialize_with = "condition::on_surface")]
    pub mesh: Condition,
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
    pub engine: Engine,
    pub stagnant_speed: f64,
}

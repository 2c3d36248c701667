//! What a run saves.

use super::KeyError;
use super::keys::{Keys, Section};
use burntrace_core::SaveAt;
use burntrace_io as io;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run saves, and when.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize)]
#[schemars(default, deny_unknown_fields)]
pub struct Save {
    /// Times of the saves; default: the end only.
    #[serde(flatten, skip_serializing_if = "super::is_default")]
    #[schemars(with = "Option<SaveAt>")]
    pub at: SaveAt,
    /// Whether to save the velocity at each position.
    pub velocity: bool,
    /// Whether to save the field's velocity at each position; that of particles with inertia is another one.
    pub fluid_velocity: bool,
    /// Whether to save the diameter and the mass of each particle with inertia.
    pub sizes: bool,
    /// Whether to save the derivatives of each position by its release position.
    pub flow_map_gradient: bool,
    /// Arrays that are sampled along the tracks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<SampledArray>,
    /// Whether to compress the tracks.
    pub compress: bool,
    /// Longitudes of saved positions, for files in degrees.
    pub longitude: Longitude,
    /// Additional files for ParaView.
    pub vtk: Vec<VtkOutput>,
    /// Whether to write a report and pictures at the end.
    pub report: Reporting,
}

section!(Save {
    at: any_of(false).map(Option::unwrap_or_default),
    velocity: or_default("velocity"),
    fluid_velocity: or_default("fluid_velocity"),
    sizes: or_default("sizes"),
    flow_map_gradient: or_default("flow_map_gradient"),
    fields: or_default("fields"),
    compress: or_default("compress"),
    longitude: or_default("longitude"),
    vtk: or_default("vtk"),
    report: or_default("report"),
});

/// Longitudes of particles that go around the earth.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Longitude {
    /// In the domain.
    #[default]
    Wrapped,
    /// Without a jump: they go on beyond the domain.
    Continuous,
}

/// Whether a run ends with a report and pictures.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reporting {
    /// If the saved positions take less than 256 MiB.
    #[default]
    Auto,
    /// At the end of each run.
    Always,
    /// Only `burntrace report` writes them.
    Never,
}

/// Files for ParaView.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VtkOutput {
    /// The tracks as lines: `tracks.vtp`.
    Lines,
    /// The particles of each save: `clouds/clouds.pvd`.
    Clouds,
}

/// An array that is sampled along the tracks.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(from = "GivenArray")]
pub struct SampledArray {
    /// Its name in the files.
    pub array: String,
    /// Its name in the results.
    pub name: String,
    /// The files; those of the velocity if omitted.
    pub files: Option<io::Files>,
    /// Point or cell array, if both have the name.
    pub prefer: Option<io::Association>,
}

impl SampledArray {
    /// An array of the files of the velocity, by its name.
    pub fn of(name: &str) -> SampledArray {
        SampledArray { array: name.into(), name: name.into(), files: None, prefer: None }
    }

    /// The array with its name in the results.
    pub fn named(&self) -> io::NamedArray {
        io::NamedArray { array: self.array.clone(), name: self.name.clone() }
    }
}

/// A sampled array in a case file: its name, or its keys.
#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "give the name of an array, or { array = \"T\" } with the optional keys name, files and prefer"
)]
enum GivenArray {
    Name(String),
    Keys(ArrayKeys),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArrayKeys {
    /// Its name in the files.
    array: String,
    /// Its name in the results; default: that in the files.
    name: Option<String>,
    /// The files; default: those of the velocity.
    files: Option<io::Files>,
    /// Point or cell array, if both have the name.
    prefer: Option<io::Association>,
}

impl From<GivenArray> for SampledArray {
    fn from(given: GivenArray) -> Self {
        match given {
            GivenArray::Name(array) => SampledArray::of(&array),
            GivenArray::Keys(ArrayKeys { array, name, files, prefer }) => {
                SampledArray { name: name.unwrap_or_else(|| array.clone()), array, files, prefer }
            }
        }
    }
}

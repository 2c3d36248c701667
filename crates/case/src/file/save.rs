//! What a run saves.

use super::KeyError;
use super::keys::{Keys, Section};
use burntrace_core::SaveAt;
use burntrace_io as io;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Save {
    #[serde(flatten, skip_serializing_if = "super::is_default")]
    pub at: SaveAt,
    pub velocity: bool,
    pub flow_map_gradient: bool,
    /// Arrays that are sampled along the tracks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<SampledArray>,
    pub compress: bool,
    pub vtk: Vec<VtkOutput>,
    pub report: Reporting,
}

section!(Save {
    at: any_of(false).map(Option::unwrap_or_default),
    velocity: or_default("velocity"),
    flow_map_gradient: or_default("flow_map_gradient"),
    fields: or_default("fields"),
    compress: or_default("compress"),
    vtk: or_default("vtk"),
    report: or_default("report"),
});

/// Whether a run ends with a report and pictures.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reporting {
    /// If it takes little time compared with the run.
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

/// An array that is sampled along the tracks.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
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
    /// The array with its name in the results.
    pub fn named(&self) -> io::NamedArray {
        io::NamedArray { array: self.array.clone(), name: self.name.clone() }
    }
}

/// A sampled array in a case file: its name, or its keys.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "give the name of an array, or { array = \"T\" } with the optional keys name, files and prefer"
)]
enum GivenArray {
    Name(String),
    Keys(ArrayKeys),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArrayKeys {
    array: String,
    name: Option<String>,
    files: Option<io::Files>,
    prefer: Option<io::Association>,
}

impl From<GivenArray> for SampledArray {
    fn from(given: GivenArray) -> Self {
        match given {
            GivenArray::Name(array) => {
                SampledArray { name: array.clone(), array, files: None, prefer: None }
            }
            GivenArray::Keys(ArrayKeys { array, name, files, prefer }) => {
                SampledArray { name: name.unwrap_or_else(|| array.clone()), array, files, prefer }
            }
        }
    }
}

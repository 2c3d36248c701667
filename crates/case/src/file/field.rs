//! The velocity field: from files or from a formula.

use super::keys::{Keys, Section, keys_of_part};
use super::{KeyError, flow::GivenFlow, kinds};
use burntrace_core::{CellVelocity, NotFinite, OutsideTime, TimeInterpolation, names};
use burntrace_io as io;
use serde::{Deserialize, Serialize};

/// A velocity field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    #[serde(flatten, serialize_with = "kinds::by_presence")]
    pub source: FieldSource,
    /// How files are read.
    #[serde(flatten)]
    pub options: io::SeriesOptions,
    /// Axes of a grid of files whose last layer of nodes is not repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub periodic_axes: Vec<AxisName>,
    #[serde(flatten, serialize_with = "kinds::by_interpolation")]
    pub interpolation: Interpolation,
    #[serde(with = "names::TimeInterpolation")]
    pub in_time: TimeInterpolation,
    #[serde(flatten, serialize_with = "kinds::by_outside_time")]
    pub outside_time: OutsideTime,
    /// An error if omitted, or land where positions are in degrees.
    pub not_finite: Option<NotFinite>,
    /// Radius of the earth in metres, of files in degrees.
    pub radius: Option<f64>,
}

/// An axis.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisName {
    X,
    Y,
    Z,
}

/// Where a field is from.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldSource {
    Files {
        files: io::Files,
    },
    /// A formula, which may be sampled onto a grid.
    Flow {
        flow: GivenFlow,
        sample: Option<Sample>,
    },
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

/// Interpolation in space between the values of files.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interpolation {
    Grid,
    Mesh {
        #[serde(default)]
        cell_velocity: CellVelocity,
        #[serde(default)]
        other_cells: io::OtherCells,
    },
    Nearest,
    InverseDistance {
        neighbours: Option<usize>,
        power: Option<f64>,
    },
}

impl Interpolation {
    /// On a mesh, with the defaults.
    pub fn mesh() -> Self {
        let (cell_velocity, other_cells) = Default::default();
        Interpolation::Mesh { cell_velocity, other_cells }
    }

    /// The treatment of cells that cannot be part of a mesh.
    pub fn other_cells(&self) -> io::OtherCells {
        match self {
            Interpolation::Mesh { other_cells, .. } => *other_cells,
            _ => io::OtherCells::default(),
        }
    }
}

section!(Field {
    source: one_of(),
    options: part(),
    periodic_axes: or_default("periodic_axes"),
    interpolation: kind("interpolation", Some("grid")),
    in_time: by("in_time", names::TimeInterpolation::deserialize, Some(TimeInterpolation::Linear)),
    outside_time: kind("outside_time", Some("error")),
    not_finite: option("not_finite"),
    radius: option("radius"),
});

impl Field {
    /// A field with the defaults of all other keys.
    pub fn new(source: FieldSource) -> Self {
        Field {
            source,
            options: io::SeriesOptions::default(),
            periodic_axes: Vec::new(),
            interpolation: Interpolation::Grid,
            in_time: TimeInterpolation::default(),
            outside_time: OutsideTime::default(),
            not_finite: None,
            radius: None,
        }
    }

    /// The keys that belong to files and have no effect with a formula.
    pub fn keys_of_files() -> Vec<&'static str> {
        let options = keys_of_part::<io::SeriesOptions>().iter().copied();
        options.filter(|key| *key != "diffusivity").chain(["periodic_axes", "radius"]).collect()
    }
}

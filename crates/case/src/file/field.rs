//! The velocity field: from files or from a formula.

use super::keys::{Keys, Section, keys_of_part};
use super::{
    KeyError, flow::GivenFlow, kinds, motion::PerParticle, own::OwnField, schema, value::Reader,
};
use burntrace_core::{
    CellVelocity, NotFinite, OutsideField, OutsideTime, Slip, TimeInterpolation, names,
};
use burntrace_io as io;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use toml::Value;

/// A velocity field.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Field {
    /// Files, or a flow.
    #[serde(flatten, serialize_with = "kinds::by_presence")]
    pub source: FieldSource,
    /// How files are read.
    #[serde(flatten)]
    pub options: io::SeriesOptions,
    /// The part of a grid of files that is read: a box, or `"auto"` for what the particles can reach; the whole grid if omitted.
    #[schemars(default, schema_with = "schema::or_auto::<io::Crop>")]
    pub crop: Option<GivenCrop>,
    /// Axes of a grid of files whose last layer of nodes is not repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub periodic_axes: Vec<AxisName>,
    /// Interpolation in space; default: `"grid"`.
    #[serde(flatten, serialize_with = "kinds::by_interpolation")]
    pub interpolation: Interpolation,
    /// Interpolation between frames.
    #[serde(with = "names::TimeInterpolation")]
    #[schemars(default)]
    pub in_time: TimeInterpolation,
    /// The velocity before the first and after the last frame; default: `"error"`.
    #[serde(flatten, serialize_with = "kinds::by_outside_time")]
    pub outside_time: OutsideTime,
    /// Velocities that are not finite; default: `"error"`, or `"land"` where positions are in degrees.
    pub not_finite: Option<NotFinite>,
    /// The velocity beside land; default: `"no"`.
    pub slip: Option<Slip>,
    /// The components of velocities that are land, besides those that are not finite, such as 0.
    pub land_value: Option<f64>,
    /// Radius of the earth in metres, for files in degrees; default: 6371008.8.
    pub radius: Option<f64>,
    /// Of a further field: the factor of its velocity, a number for all particles or the name of a column of the seeds; default: 1.
    pub factor: Option<PerParticle>,
    /// Of a further field: the angle in degrees by which its velocity is turned to the right (clockwise seen from above), negative
    /// to the left; default: 0.
    pub rotate: Option<f64>,
    /// Of a further field: its velocity at nodes of the first one that are outside it; default: `"error"`.
    pub outside: Option<OutsideField>,
    /// Further fields, the velocities of which are added to that of the first one at its nodes.
    #[serde(skip)]
    #[schemars(skip)]
    pub added: Vec<Field>,
}

/// The part of a grid that is read.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GivenCrop {
    /// What the particles can reach, found before the run.
    Auto,
    /// A box.
    #[serde(untagged)]
    Box(io::Crop),
}

impl GivenCrop {
    fn read(reader: Reader) -> Result<Option<Self>, KeyError> {
        match reader {
            Reader::Value(Value::String(text)) if text == "auto" => Ok(Some(GivenCrop::Auto)),
            Reader::Value(Value::Table(_)) => {
                io::Crop::deserialize(reader).map(|crop| Some(GivenCrop::Box(crop)))
            }
            _ => Err(KeyError::value("give { low = [x, y, z], high = [x, y, z] }, or \"auto\"")),
        }
    }
}

/// An axis.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisName {
    /// The x axis.
    X,
    /// The y axis.
    Y,
    /// The z axis.
    Z,
}

/// Where a field is from.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(untagged, transform = schema::one_of)]
pub enum FieldSource {
    /// Files of a simulation or measurement.
    Files {
        /// A path, a pattern, a list of them, a `.pvd` or a `.series` file; VTK, NetCDF or Zarr.
        files: io::Files,
    },
    /// A formula, which may be sampled onto a grid.
    Flow {
        /// The name of a built-in flow, or formulas.
        flow: GivenFlow,
        /// A grid over the domain on which the flow is evaluated; default: evaluate it at each position.
        sample: Option<Sample>,
    },
    /// A field that a program makes; it cannot be written to a file.
    #[serde(skip)]
    Own(OwnField),
}

/// How a flow is sampled onto a grid.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Number of nodes along x, y and z; 1 along a flat axis.
    pub nodes: [usize; 3],
    /// Time of the first frame.
    #[serde(default)]
    pub start: f64,
    /// Time of the last frame.
    #[serde(default)]
    pub stop: f64,
    /// Number of frames; 1 for a steady flow.
    #[serde(default = "one")]
    pub frames: usize,
}

fn one() -> usize {
    1
}

/// Interpolation in space between the values of files.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(tag = "interpolation")]
pub enum Interpolation {
    /// Linear between the nodes of a grid, constant in its cells.
    #[schemars(extend("required" = []))]
    Grid,
    /// The shape functions of the cells of an unstructured or structured grid.
    Mesh {
        /// Velocities in cells: constant in each cell, or averaged to the points.
        #[serde(default)]
        cell_velocity: CellVelocity,
        /// Unsupported cells: an error, or skipped.
        #[serde(default)]
        other_cells: io::OtherCells,
    },
    /// The velocity of the nearest point.
    Nearest,
    /// The mean of the nearest points, weighted by 1 / distance^power.
    InverseDistance {
        /// Number of points, 1 to 16; default: 8, or all if there are fewer.
        neighbours: Option<usize>,
        /// Exponent of the distance, above 0; default: `2.0`.
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
    crop: by("crop", GivenCrop::read, Some(None)),
    periodic_axes: or_default("periodic_axes"),
    interpolation: kind("interpolation", Some("grid")),
    in_time: by("in_time", names::TimeInterpolation::deserialize, Some(TimeInterpolation::Linear)),
    outside_time: kind("outside_time", Some("error")),
    not_finite: option("not_finite"),
    slip: option("slip"),
    land_value: option("land_value"),
    radius: option("radius"),
    factor: option("factor"),
    rotate: option("rotate"),
    outside: option("outside"),
} added: Vec::new());

/// Writes a single field as `[field]`, and several as `[[field]]`.
pub fn write<S: Serializer>(field: &Field, serializer: S) -> Result<S::Ok, S::Error> {
    match field.added[..] {
        [] => field.serialize(serializer),
        _ => field.all().collect::<Vec<_>>().serialize(serializer),
    }
}

impl Field {
    /// A field with the defaults of all other keys.
    pub fn new(source: FieldSource) -> Self {
        Field {
            source,
            options: io::SeriesOptions::default(),
            crop: None,
            periodic_axes: Vec::new(),
            interpolation: Interpolation::Grid,
            in_time: TimeInterpolation::default(),
            outside_time: OutsideTime::default(),
            not_finite: None,
            slip: None,
            land_value: None,
            radius: None,
            factor: None,
            rotate: None,
            outside: None,
            added: Vec::new(),
        }
    }

    /// The first of several fields, with the others.
    pub(super) fn joined(mut fields: Vec<Field>) -> Result<Self, KeyError> {
        match fields.is_empty() {
            true => Err(KeyError::missing("field", "give [field] with `files` or `flow`")),
            false => {
                let mut first = fields.remove(0);
                first.added = fields;
                Ok(first)
            }
        }
    }

    /// The field and the further ones.
    pub fn all(&self) -> impl Iterator<Item = &Field> {
        std::iter::once(self).chain(&self.added)
    }

    /// The further field with a factor for each particle: its number, and the column of the seeds with the factors.
    pub fn windage(&self) -> Option<(usize, &str)> {
        (1..).zip(&self.added).find_map(|(i, field)| match &field.factor {
            Some(PerParticle::Column(name)) => Some((i, name.as_str())),
            _ => None,
        })
    }

    /// How files are read.
    pub fn series_options(&self) -> io::SeriesOptions {
        let crop = match self.crop {
            Some(GivenCrop::Box(crop)) => Some(crop),
            Some(GivenCrop::Auto) | None => None,
        };
        io::SeriesOptions { crop, land_value: self.land_value, ..self.options.clone() }
    }

    /// The keys that belong to files and have no effect with a formula.
    pub fn keys_of_files() -> Vec<&'static str> {
        let options = keys_of_part::<io::SeriesOptions>().iter().copied();
        options
            .filter(|key| *key != "diffusivity")
            .chain(["crop", "periodic_axes", "slip", "land_value", "radius"])
            .collect()
    }
}

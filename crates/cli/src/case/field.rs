//! The velocity field: from files or from a formula.

use super::keys::{Keys, Kinds, Section};
use super::{KeyError, flow::GivenFlow};
use burntrace::io;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeStruct};

names!(TimeInterpolation -> burntrace::TimeInterpolation {
    Linear => burntrace::TimeInterpolation::Linear,
    Nearest => burntrace::TimeInterpolation::Nearest,
});
names!(NotFinite -> burntrace::NotFinite {
    Error => burntrace::NotFinite::Error,
    Zero => burntrace::NotFinite::Zero,
    Outside => burntrace::NotFinite::Outside,
});
names!(CellVelocity -> burntrace::CellVelocity {
    Constant => burntrace::CellVelocity::Constant,
    Averaged => burntrace::CellVelocity::Averaged,
});

/// A velocity field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Field {
    #[serde(flatten)]
    pub source: FieldSource,
    pub in_time: TimeInterpolation,
    #[serde(flatten)]
    pub outside_time: OutsideTime,
    pub not_finite: NotFinite,
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FieldSource {
    Files(Box<FileField>),
    Flow(FlowField),
}

/// A field from files, and how they are read.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileField {
    pub files: io::Files,
    pub velocity: Option<io::VelocityName>,
    pub prefer: Option<io::Association>,
    pub diffusivity: Option<String>,
    pub ignore_file_times: bool,
    pub file_dt: Option<f64>,
    pub times: Option<io::CaseTimes>,
    /// Which of two files gives the frames at the times that both have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_times: Option<io::series::SameTimes>,
    pub frames: Option<io::Frames>,
    /// The box of which a grid is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub crop: Option<io::Crop>,
    /// Every how many nodes of a grid are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<[usize; 3]>,
    /// Whether to use hidden values of grids and points.
    #[serde(skip_serializing_if = "super::is_default")]
    pub ignore_hidden: bool,
    /// Axes of a grid whose last layer of nodes is not repeated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub periodic_axes: Vec<AxisName>,
    #[serde(flatten)]
    pub interpolation: Interpolation,
}

/// A field from a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowField {
    pub flow: GivenFlow,
    pub sample: Option<Sample>,
}

/// With the defaults of two keys of files, which have always been written and are accepted.
impl Serialize for FlowField {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = serializer.serialize_struct("FlowField", 4)?;
        keys.serialize_field("ignore_file_times", &false)?;
        keys.serialize_field("flow", &self.flow)?;
        keys.serialize_field("sample", &self.sample)?;
        keys.serialize_field("interpolation", "grid")?;
        keys.end()
    }
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

kinds! {
    /// Interpolation in space between the values of files.
    Interpolation by "interpolation" or "grid" {
        "grid" => Grid {},
        "mesh" => Mesh {
            cell_velocity: Option<CellVelocity>,
            other_cells: Option<io::OtherCells>,
        },
        "nearest" => Nearest {},
        "inverse-distance" => InverseDistance { neighbours: Option<usize>, power: Option<f64> },
    }
}

kinds! {
    /// The field before its first frame and after its last one.
    OutsideTime by "outside_time" or "error" {
        "error" => Error {},
        "hold" => Hold {},
        "zero" => Zero {},
        "periodic" => Periodic { period: Option<f64> },
    }
}

/// The keys for reading files, accepted without effect with a flow.
const READING: [&str; 11] = [
    "velocity",
    "prefer",
    "ignore_file_times",
    "file_dt",
    "times",
    "same_times",
    "frames",
    "crop",
    "every",
    "ignore_hidden",
    "periodic_axes",
];

/// The keys of each source of a field.
const SOURCES: [(&str, &[&str]); 2] = [("files", &["diffusivity"]), ("flow", &["sample"])];

impl Section for Field {
    fn read(keys: &mut Keys) -> Result<Self, KeyError> {
        let is_files = keys.one_of(&SOURCES)? == "files";
        if is_files {
            keys.allow(&READING);
            keys.ignore(&["sample"]);
        } else {
            keys.ignore(&READING);
        }
        let interpolation = keys.kind::<Interpolation>()?;
        let outside_time = keys.kind::<OutsideTime>()?;
        keys.allow(&["in_time", "not_finite"]);
        keys.check()?;
        let source = match is_files {
            true => FieldSource::Files(Box::new(file_field(interpolation, keys)?)),
            false => FieldSource::Flow(flow_field(interpolation, keys)?),
        };
        Ok(Field {
            source,
            in_time: keys.or_default("in_time")?,
            outside_time: OutsideTime::read(outside_time, keys)?,
            not_finite: keys.or_default("not_finite")?,
        })
    }
}

fn file_field(interpolation: &str, keys: &mut Keys) -> Result<FileField, KeyError> {
    if keys.has("sample") {
        keys.notes.push("`field.sample` has no effect: it belongs to `field.flow`".into());
    }
    Ok(FileField {
        files: keys.get("files")?,
        velocity: keys.get("velocity")?,
        prefer: keys.get("prefer")?,
        diffusivity: keys.get("diffusivity")?,
        ignore_file_times: keys.or_default("ignore_file_times")?,
        file_dt: keys.get("file_dt")?,
        times: keys.get("times")?,
        same_times: keys.get("same_times")?,
        frames: keys.get("frames")?,
        crop: keys.get("crop")?,
        every: keys.get("every")?,
        ignore_hidden: keys.or_default("ignore_hidden")?,
        periodic_axes: keys.or_default("periodic_axes")?,
        interpolation: Interpolation::read(interpolation, keys)?,
    })
}

fn flow_field(interpolation: &str, keys: &mut Keys) -> Result<FlowField, KeyError> {
    if interpolation != "grid" {
        return Err(KeyError::keys(format!(
            "has `flow` and interpolation = {interpolation:?}, which needs `files`; omit the \
             interpolation, or give `files` instead of `flow`"
        )));
    }
    for key in READING {
        let is_default = key == "ignore_file_times" && !keys.or_default::<bool>(key)?;
        if keys.has(key) && !is_default {
            let note = format!("`field.{key}` has no effect: it belongs to `field.files`");
            keys.notes.push(note);
        }
    }
    Ok(FlowField { flow: keys.get("flow")?, sample: keys.get("sample")? })
}

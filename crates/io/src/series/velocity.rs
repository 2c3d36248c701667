//! The arrays that a series reads: the velocity, the diffusivity, and others.

use crate::listing::list;
use crate::{Error, Result};
use burntrace_core::{FieldArray, Placement};
use burntrace_vtk::{ArrayInfo, VtkFile};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the velocity array.
///
/// In a case file: nothing, a name, or a list of two or three names.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "give the name of an array, or of its components: [\"u\", \"v\"] or [\"u\", \"v\", \"w\"]"
)]
pub enum VelocityName {
    /// The only vector. Floats have priority over integers, three components over two; normals and
    /// texture coordinates are ignored.
    #[default]
    #[schemars(skip)]
    Auto,
    /// An array of three components, or of two (then w = 0).
    Array(String),
    /// Three arrays with the components u, v and w.
    Components([String; 3]),
    /// Two arrays with the components of a plane velocity; the third component is 0. They are
    /// along the two axes of the plane of a flat grid or mesh, otherwise along x and y.
    Plane([String; 2]),
    /// No velocity: the series has only the arrays that the options name.
    #[serde(skip)]
    None,
}

/// Whether the values of an array are at points or in cells.
#[derive(Clone, Copy, Debug, JsonSchema, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Association {
    /// The points (nodes).
    Point,
    /// The cells.
    Cell,
}

/// `point` or `cell`.
impl std::fmt::Display for Association {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Association::Point => "point",
            Association::Cell => "cell",
        })
    }
}

impl Association {
    /// The association of an array of points or cells.
    pub(super) fn of(array: &ArrayInfo) -> Option<Association> {
        match array.association {
            burntrace_vtk::Association::Point => Some(Association::Point),
            burntrace_vtk::Association::Cell => Some(Association::Cell),
            _ => None,
        }
    }
}

/// The arrays of the velocity and of the diffusivity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VelocityInfo {
    /// One name, the names of u, v and w, or those of two components.
    pub arrays: Vec<String>,
    /// Whether the velocities are at points or in cells.
    pub association: Association,
    /// The array of the diffusivity, of the same association, if one is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diffusivity: Option<String>,
    /// Other arrays of the frames.
    #[serde(skip)]
    pub(super) sampled: SampledArrays,
}

/// For example `U (point)`.
impl std::fmt::Display for VelocityInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.arrays.join(", "), self.association)
    }
}

impl VelocityInfo {
    /// A velocity, without other quantities.
    pub(super) fn new(arrays: Vec<String>, association: Association) -> Self {
        VelocityInfo { arrays, association, diffusivity: None, sampled: SampledArrays::default() }
    }

    /// The placement of the velocities on a grid or mesh.
    pub(super) fn placement(&self) -> Placement {
        match self.association {
            Association::Point => Placement::Nodes,
            Association::Cell => Placement::Cells,
        }
    }
}

/// The point or cell array with a name.
pub(super) fn with_name<'a>(
    arrays: &'a [ArrayInfo],
    name: &str,
    on: Association,
) -> Option<&'a ArrayInfo> {
    arrays.iter().find(|array| array.name == name && Association::of(array) == Some(on))
}

/// The point or cell array with a name, of which a file must not have two.
pub(super) fn with_unique_name<'a>(
    file: &'a VtkFile,
    name: &str,
    on: Association,
) -> Result<Option<&'a ArrayInfo>> {
    let is_it = |array: &&ArrayInfo| array.name == name && Association::of(array) == Some(on);
    let mut found = file.arrays().iter().filter(is_it);
    match (found.next(), found.next()) {
        (_, Some(_)) => Err(error(file, twice(name, on))),
        (found, None) => Ok(found),
    }
}

/// The problem of a file with two arrays of the same name.
pub(super) fn twice(name: &str, on: Association) -> String {
    format!("it has two {on} arrays `{name}`; rename one of them")
}

/// An error of a velocity array, which lists the arrays of the file.
pub(super) fn error(file: &VtkFile, problem: String) -> Error {
    let arrays: Vec<String> = file.arrays().iter().map(describe).collect();
    let notes = file.notes().iter().filter(|note| note.contains("array"));
    let notes: String = notes.map(|note| format!("; {note}")).collect();
    Error::Velocity { path: file.path().into(), problem, arrays: list(&arrays) + &notes }
}

/// For example `` `U` (point, 3 x Float32) ``.
fn describe(array: &ArrayInfo) -> String {
    let association = Association::of(array).map_or("field".into(), |on| on.to_string());
    format!("`{}` ({association}, {} x {})", array.name, array.components, array.scalar)
}

/// The arrays beside the velocity that frames have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SampledArrays {
    /// Names in the files.
    pub in_files: Vec<String>,
    /// Names in the field, and components.
    pub arrays: Vec<FieldArray>,
}

//! Options for reading a series.

use super::{
    find::file_error,
    frames::Frames,
    geometry::whole_turns,
    mask::LandMask,
    times::{CaseTimes, SameTimes},
    velocity::{Association, VelocityName},
};
use crate::{Error, Result};
use burntrace_cf::{Clock, Convention, Corners, Staggering};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Options for reading a series.
///
/// The times are taken from the first of these sources that is available: the `.pvd` or `.series` file;
/// `TimeValue` (or `TIME`) field data in every file, or the times in NetCDF files and Zarr groups; the
/// number in each file name times `file_dt`; `times`. A single frame without any of them is at time 0.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SeriesOptions {
    /// The velocity array.
    #[serde(skip_serializing_if = "is_default")]
    pub velocity: VelocityName,
    /// Point or cell array, if both have the name of the velocity.
    pub prefer: Option<Association>,
    /// The diffusivity array of a random walk, if any: one number per point or cell, with the same
    /// association as the velocity, in length squared per time.
    pub diffusivity: Option<String>,
    /// Ignores the times in all files.
    pub ignore_file_times: bool,
    /// Time between files whose numbers differ by one, in the data's unit of time. The number is the
    /// last one in the file name, before the extension, with its decimals.
    pub file_dt: Option<f64>,
    /// Times of the files, one per file, in the data's unit of time.
    pub times: Option<CaseTimes>,
    /// The frames to use where the times of two files overlap; an error if omitted.
    pub same_times: Option<SameTimes>,
    /// The frames to read.
    #[serde(skip_serializing_if = "is_default")]
    pub frames: Frames,
    /// Other arrays of the frames, with the same association as the velocity: scalars, vectors or
    /// tensors, which can be sampled along tracks.
    #[serde(skip)]
    pub arrays: Vec<NamedArray>,
    /// The date of time 0, of files with times from a date; their first time if omitted.
    #[serde(skip)]
    pub clock: Option<Clock>,
    /// Longitudes to which those of a grid in degrees are turned: by whole turns, and around the earth to begin before the first of
    /// them. As in the files if omitted.
    #[serde(skip)]
    pub longitudes: Option<[f64; 2]>,
    /// The box of which a grid is read, whose longitudes may be in any turn; the whole grid if omitted. Only for grids.
    #[serde(skip)]
    pub crop: Option<Crop>,
    /// Every how many nodes along x, y and z of a grid with values at the nodes are read, from the first node
    /// on; all if omitted. Only for grids.
    pub every: Option<[usize; 3]>,
    /// A variable that is 0 or missing on land and 1 in the water, on the grid of the velocity: what is land is hidden. Only for grids.
    pub mask: Option<LandMask>,
    /// Where the components of the velocity of an ocean model are: `"a"` at the same points, `"c"` on the faces of cells; known by
    /// the names in the files if omitted. Only for meshes.
    pub staggering: Option<Staggering>,
    /// The convention by which a C-grid is numbered; known by the names in the files if omitted. Only for meshes.
    pub convention: Option<Convention>,
    /// The variables of the corners of the cells of a C-grid, or of the points of an A-grid; known by the names in the files if
    /// omitted. Only for meshes.
    pub corners: Option<Corners>,
    /// Whether particles move along levels that follow the bottom, of an ocean model without a vertical velocity; at a constant height
    /// if not. Only for meshes.
    #[serde(skip_serializing_if = "is_default")]
    pub follow_levels: bool,
    /// Components of velocities that are land, besides missing ones; only for the grids of ocean models.
    #[serde(skip)]
    pub land_value: Option<f64>,
    /// Whether to use the values of points and cells that `vtkGhostType` hides; not for
    /// meshes.
    #[serde(skip_serializing_if = "is_default")]
    pub ignore_hidden: bool,
    /// The treatment of cells that cannot be part of a mesh; only for a [`MeshSeries`](super::MeshSeries). Case files
    /// have it with `interpolation = "mesh"` only.
    #[serde(skip)]
    pub other_cells: OtherCells,
    /// Faces of the boundary that become groups of the mesh; only for a [`MeshSeries`](super::MeshSeries).
    #[serde(skip)]
    pub faces: Vec<NamedFaces>,
}

fn is_default<T: Default + PartialEq>(option: &T) -> bool {
    *option == T::default()
}

impl SeriesOptions {
    /// The longitudes to which those of a grid in degrees are turned: those of the crop, by whole turns as near as possible to the
    /// requested ones.
    pub(super) fn turned_to(&self) -> Option<[f64; 2]> {
        let crop = self.crop.and_then(|crop| Some([crop.low?[0], crop.high?[0]]));
        let Some(crop) = crop.filter(|ends| ends.iter().all(|x| x.is_finite())) else {
            return self.longitudes;
        };
        let turns = self.longitudes.map_or(0.0, |ends| whole_turns(crop, ends));
        Some(crop.map(|x| x + turns))
    }

    /// Refuses to prefer values of cells, of a file that has none.
    pub(super) fn check_at_nodes(&self, path: &Path) -> Result<()> {
        match self.prefer {
            Some(Association::Cell) => Err(file_error(
                path,
                "its values are at the nodes, and `prefer` asks for those of cells; omit it",
            )),
            _ => Ok(()),
        }
    }

    /// Whether an option is given that only the grids of ocean models have.
    pub fn is_of_model(&self) -> bool {
        let is_placed = self.staggering.is_some() || self.convention.is_some();
        is_placed || self.corners.is_some() || self.follow_levels
    }

    /// Refuses options for the grids of ocean models, of other fields.
    pub(super) fn check_without_model(&self) -> Result<()> {
        match self.is_of_model() {
            false => Ok(()),
            true => Err(Error::Files(
                "`staggering`, `convention`, `corners` and `follow_levels` are for NetCDF files and Zarr groups of ocean models with \
                 `interpolation = \"mesh\"`; omit them"
                    .into(),
            )),
        }
    }

    /// Refuses options for grids, of fields without one.
    pub(super) fn check_without_grid(&self) -> Result<()> {
        if self.crop.is_none() && self.every.is_none() && self.mask.is_none() {
            return Ok(());
        }
        let reason = "`crop`, `every` and `mask` are of the nodes of a grid; omit them, or use \
                      `interpolation = \"grid\"`";
        Err(Error::Files(reason.into()))
    }
}

/// A box of which the field is read, in the data's unit of length: the cells of the grid that it touches.
#[derive(Clone, Copy, Debug, Default, JsonSchema, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Crop {
    /// Minimum corner; unbounded if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<[f64; 3]>,
    /// Maximum corner; unbounded if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<[f64; 3]>,
}

/// An array of files, and the name under which it is sampled.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedArray {
    /// Its name in the files.
    pub array: String,
    /// Its name in the results.
    pub name: String,
}

impl NamedArray {
    /// An array that keeps its name.
    pub fn new(array: impl Into<String>) -> Self {
        let array = array.into();
        NamedArray { name: array.clone(), array }
    }
}

/// Treatment of cells that cannot be part of a mesh: kinds that
/// [`CellKind`](burntrace_core::CellKind) does not include, and two-dimensional cells in a file with
/// three-dimensional ones.
#[derive(Clone, Copy, Debug, Default, JsonSchema, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherCells {
    /// They are an error; the message counts them.
    #[default]
    Error,
    /// They are skipped, together with their velocities.
    Skip,
}

/// Faces of the boundary of a mesh, by the cells that a file has there.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[schemars(untagged)]
pub enum NamedFaces {
    /// Those of a block of a `.vtm`, `.vtpd` or `.vtpc` file, or of a part of a `.pvd` file: its name, or
    /// the last part of it (`outlet` for `boundary/outlet`).
    Block {
        /// The name.
        block: String,
    },
    /// Those with a value in a cell array, in the file itself or in its blocks of the next lower dimension.
    Array {
        /// The name of an array with one component.
        array: String,
        /// The value.
        value: i64,
    },
}

/// The name of the group of faces: `outlet`, or `BoundaryID = 3`.
impl std::fmt::Display for NamedFaces {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NamedFaces::Block { block } => f.write_str(block),
            NamedFaces::Array { array, value } => write!(f, "{array} = {value}"),
        }
    }
}

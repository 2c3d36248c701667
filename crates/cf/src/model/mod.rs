//! Grids of structured ocean models, as meshes: curvilinear A- and B-grids, and C-grids.

mod agrid;
mod cgrid;
mod conventions;
mod dims;
mod grid;
mod land;
mod lattice;
mod layers;
mod levels;
mod positions;
mod repeats;
mod through;
mod turn;
mod vertical;
mod window;

use crate::Result;
use crate::grid::Request;
use crate::mesh::CfMesh;
use crate::store::{Store, Variable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Where the components of a velocity are in the cells of a model.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Staggering {
    /// All at the same points; also those of B-grids, at the corners of cells.
    A,
    /// On the faces of cells.
    C,
}

/// How a model numbers the faces of a C-grid, and names its corners, levels and masks.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Convention {
    /// NEMO: corners at f-points; `u[j, i]` and `v[j, i]` are on the east and the north face of cell `[j, i]`.
    Nemo,
    /// ROMS and CROCO: corners at psi-points, levels that follow the bottom.
    Roms,
    /// MITgcm: corners `XG`, `YG`; `u[j, i]` and `v[j, i]` are on the west and the south face of cell `[j, i]`.
    Mitgcm,
}

/// The variables that hold the corners of the cells, which are the nodes of an A-grid.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Corners {
    /// Another file, which has the corners, and masks and depths of the bottom; those of the velocity if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<PathBuf>,
    /// Their x or longitude, with one or two dimensions; found by names and attributes if omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// Their y or latitude.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// Their levels, which are those of `w` on a C-grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<String>,
}

/// What is read of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshRequest {
    /// The variables.
    pub variables: Request,
    /// Where the components are; by the names in the files if omitted.
    pub staggering: Option<Staggering>,
    /// The convention of a C-grid; by the names in the files if omitted.
    pub convention: Option<Convention>,
    /// The corners.
    pub corners: Corners,
    /// A variable that is 0 or missing on land, and the file that has it, if not that of the velocity.
    pub mask: Option<(String, Option<PathBuf>)>,
    /// Components that are land, besides missing ones.
    pub land_value: Option<f64>,
    /// Whether a velocity without a vertical component is along levels that follow the bottom.
    pub follow_levels: bool,
    /// The box that is read.
    pub crop: [Option<[f64; 3]>; 2],
    /// The longitude where a turn of longitudes begins, around the earth; and others are near.
    pub west: Option<f64>,
}

impl CfMesh {
    /// The mesh of a structured model in an open file.
    ///
    /// # Errors
    ///
    /// If variables are missing or ambiguous, their grid is not known, or their coordinates cannot be used.
    pub(crate) fn of_model(store: &dyn Store, request: &MeshRequest) -> Result<CfMesh> {
        let corners = request.corners.files.as_ref().map(crate::open).transpose()?;
        let files = Files { own: store, grid: corners.as_deref() };
        conventions::mesh(&files, request)
    }
}

/// Whether a variable is in the middle of the cells with velocities on their faces.
pub(crate) fn is_in_cells(
    store: &dyn Store,
    variable: &Variable,
    on_faces: [&Variable; 2],
) -> bool {
    let [u, v] = on_faces.map(|of| dims::Dims::of(store, of));
    match (dims::Dims::of(store, variable), u, v) {
        (Ok(dims), Ok(u), Ok(v)) => dims::is_in_cells(&dims, [&u, &v]),
        _ => false,
    }
}

/// The file of the velocity, and that of its grid.
#[derive(Clone, Copy)]
pub(crate) struct Files<'a> {
    pub own: &'a dyn Store,
    pub grid: Option<&'a dyn Store>,
}

impl<'a> Files<'a> {
    /// The stores, that of the grid first.
    fn all(self) -> impl Iterator<Item = &'a dyn Store> {
        self.grid.into_iter().chain([self.own])
    }

    /// The first of these variables that a file has.
    fn find(self, names: &[&str]) -> Option<(&'a dyn Store, &'a Variable)> {
        let in_file = |name: &&str| self.all().find_map(|store| Some((store, store.find(name)?)));
        names.iter().find_map(in_file)
    }
}

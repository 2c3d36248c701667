//! Meshes of unstructured ocean and atmosphere models: triangles, or wedges between levels, of FVCOM, SCHISM, ICON,
//! and of files with UGRID conventions.

mod build;
mod columns;
mod land;
mod levels;
mod parts;
mod polygon;
mod sigma;
mod topology;
mod variable;

use crate::axis::UnitCheck;
use crate::choose::choice;
use crate::join::Joined;
use crate::layout::time_of;
use crate::mesh::{CellShape, CfMesh, MeshPlacement};
use crate::model::MeshRequest;
use crate::store::Store;
use crate::time::TimeAxis;
use crate::{Error, Result};

use build::Built;
use columns::Columns;
use land::Land;
use levels::{Levels, single_height};
use parts::{Parts, Places};
use topology::Topology;

/// Sides of which the file does not tell whether they are coast or open.
const SIDES: &str = "sides";

/// Whether a file has an unstructured mesh: a topology of UGRID, the tables of FVCOM (`nv`), SCHISM or ICON, or
/// positions of cells with `bounds` of three or more corners; or the file of `corners` has one.
///
/// # Errors
///
/// If the file of `corners` cannot be opened.
pub(crate) fn is_unstructured(store: &dyn Store, request: &MeshRequest) -> Result<bool> {
    let grid = request.corners.files.as_ref().map(crate::open).transpose()?;
    Ok(topology::is_in(store) || grid.is_some_and(|grid| topology::is_in(&*grid)))
}

impl CfMesh {
    /// The mesh of an unstructured model in an open file: triangles, or wedges where the velocity has layers, with
    /// the values in cells or at nodes. z of levels is that of the first time, or of the sea at rest. A file of
    /// `corners` has what the first one lacks: nodes and faces, depths and levels.
    ///
    /// # Errors
    ///
    /// If the file has no unstructured mesh or no velocity on it, its levels have no known heights, units are
    /// unknown, or the request has what only grids have.
    pub(crate) fn of_unstructured(file: &dyn Store, request: &MeshRequest) -> Result<CfMesh> {
        check(file, request)?;
        let grid = request.corners.files.as_ref().map(crate::open).transpose()?;
        let both = grid.as_deref().map(|grid| Joined::of(vec![file, grid]));
        let store = both.as_ref().map_or(file, |both| both);
        let units = &mut UnitCheck::default();
        let topology = Topology::read(store, units)?;
        let parts =
            Parts::find(store, (&request.variables, request.follow_levels), &topology, units)?;
        let first = parts.first().ok_or_else(|| choice(store, "no variable of it is read"))?;
        // Its numbers are read before anything of their size is made.
        let values = first.first(store, parts.quantity(), 0)?;
        let levels = Levels::read(store, first, &topology, units)?;
        let levels = levels.as_ref();
        let height = if levels.is_none() { single_height(store, first, units)? } else { 0.0 };
        let columns = Columns::of(&topology, request, units);
        let land = Land { store, topology: &topology, levels, parts: &parts, first, request };
        let is_land = land.find(values, units)?;
        let built = Built::of(&topology, &columns, (levels, height), &is_land);
        if built.cells.is_empty() {
            let reason = "no cell of its mesh has a velocity at the first time, in the box of `crop`; check both";
            return Err(Error::variable(store.path(), &first.variable.name, reason));
        }
        note_sides(&built, units);
        let places = Places { store, topology: &topology, levels, built: &built, first };
        let (velocity, diffusivity, arrays) = parts.gather(&places, units)?;
        let upward = parts.upward(store, request.follow_levels, levels)?;
        let mut sea = places.sea(upward, velocity[2].is_some(), units)?;
        for part in sea.iter_mut().flat_map(|sea| &mut sea.elevation) {
            part.close_missing(store, units)?;
        }
        let (_, layout) = time_of(store, &first.variable);
        let time = TimeAxis::read(store, &first.variable, &layout, units)?;
        units.check(store)?;
        let mesh = CfMesh {
            shape: if levels.is_some() { CellShape::Wedge } else { CellShape::Triangle },
            placement: if first.is_on_faces { MeshPlacement::Cells } else { MeshPlacement::Points },
            is_in_degrees: topology.is_in_degrees,
            global: columns.global,
            positions: positions(&topology, levels),
            dries: land.dries(),
            time,
            velocity,
            diffusivity,
            arrays,
            turn: None,
            rest: None,
            units: std::mem::take(units),
            points: built.points,
            cells: built.cells,
            boundary: built.boundary,
        };
        Ok(mesh.with_rest(upward, sea))
    }
}

/// Refuses what a request has of grids.
fn check(store: &dyn Store, request: &MeshRequest) -> Result<()> {
    let corners = &request.corners;
    let given = [
        ("staggering", request.staggering.is_some()),
        ("convention", request.convention.is_some()),
        ("corners.x", corners.x.is_some()),
        ("corners.y", corners.y.is_some()),
        ("corners.z", corners.z.is_some()),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((name, _)) => Err(Error::file(
            store.path(),
            format!(
                "its mesh is unstructured, and `{name}` is for grids with rows and columns; omit it"
            ),
        )),
    }
}

/// The variables that tell the mesh.
fn positions(topology: &Topology, levels: Option<&Levels>) -> Vec<String> {
    let of_levels = levels.map_or(&[][..], |levels| &levels.variables);
    topology.variables.iter().chain(of_levels).cloned().collect()
}

fn note_sides(built: &Built, units: &mut UnitCheck) {
    if built.boundary.iter().any(|(name, _)| name == SIDES) {
        units.notes.push(format!(
            "the file does not tell which sides of its mesh are coast and which are open: they are the faces `{SIDES}`"
        ));
    }
}

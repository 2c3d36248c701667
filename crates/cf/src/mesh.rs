//! A velocity on a mesh: the points and cells of curvilinear, staggered and unstructured grids.

use crate::Result;
use crate::axis::UnitCheck;
use crate::fingerprint::Recorder;
pub(crate) use crate::gather::{Gather, Weights, decode, found};
use crate::grid::{CfFrame, Request};
use crate::model::MeshRequest;
use crate::parallel::{is_large, read_each};
use crate::rest::{AtPoints, Rest, Upward};
use crate::store::{Store, Variable};
use crate::time::{TimeAxis, times};
use crate::unstructured::is_unstructured;
use crate::values::Values;

/// Where the values of a [`CfMesh`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPlacement {
    /// At the points.
    Points,
    /// In the cells.
    Cells,
    /// On the faces of a staggered C-grid: `u`, `v` and `w` of a point are the velocities through the faces of the
    /// cell of which it is node 0: through the face from node 0 to node 3 towards node 1, through that from node 0 to
    /// node 1 towards node 3, and upward through the bottom.
    Faces,
}

/// The shape of all cells of a mesh, with their nodes in VTK's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CellShape {
    Triangle,
    Quadrilateral,
    Wedge,
    Hexahedron,
}

impl CellShape {
    /// Number of nodes.
    pub fn nodes(self) -> usize {
        match self {
            CellShape::Triangle => 3,
            CellShape::Quadrilateral => 4,
            CellShape::Wedge => 6,
            CellShape::Hexahedron => 8,
        }
    }
}

/// The name of sides against land, and of the bottom.
pub const COAST: &str = "coast";
/// The name of the edge of the file.
pub(crate) const OPEN: &str = "open";
/// The name of the surface of the sea.
pub const SURFACE: &str = "surface";

/// No node, value or face.
pub const NONE: u32 = u32::MAX;

/// A mesh in NetCDF files or Zarr groups, which frames of its variables are read on.
#[derive(Clone, Debug)]
pub struct CfMesh {
    /// x, y and z in metres, or longitude, continuous within each cell, and latitude in degrees and z in metres; z is
    /// upward, and that of the sea at rest where levels follow the bottom.
    pub points: Vec<[f64; 3]>,
    /// Shape of the cells.
    pub shape: CellShape,
    /// Indices of points, [`CellShape::nodes`] for each cell.
    pub cells: Vec<u32>,
    /// Where the values are.
    pub placement: MeshPlacement,
    /// Whether x is the longitude and y the latitude in degrees.
    pub is_in_degrees: bool,
    /// The western end of one turn of longitudes, of a mesh around the earth: its cells there are repeated at the
    /// eastern end.
    pub global: Option<f64>,
    /// Faces of the boundary by their name, such as `coast`: the points of each, and [`NONE`] after the last of fewer
    /// than four.
    pub boundary: Vec<(String, Vec<[u32; 4]>)>,
    /// The variables of positions, which all files must have with the same values.
    pub(crate) positions: Vec<String>,
    /// Whether values that are missing are 0 at any time, as those of cells that are dry at times.
    pub(crate) dries: bool,
    /// The times; `None` if the variables do not depend on time.
    pub time: Option<TimeAxis>,
    pub(crate) velocity: [Option<Gather>; 3],
    pub(crate) diffusivity: Option<Gather>,
    pub(crate) arrays: Vec<Gather>,
    /// Cosine and sine of the angle from east to the direction of `u`, of each value; `None` if the components are
    /// those of the mesh.
    pub(crate) turn: Option<Vec<[f64; 2]>>,
    /// How vertical velocities become those in the sea at rest, if they are of a sea whose levels move, or through levels.
    pub(crate) rest: Option<Box<Rest>>,
    pub(crate) units: UnitCheck,
}

impl CfMesh {
    /// Opens the mesh of a file.
    ///
    /// # Errors
    ///
    /// If variables are missing or ambiguous, their grid is not known, or their coordinates cannot be used.
    pub fn of(store: &dyn Store, request: &MeshRequest) -> Result<CfMesh> {
        let recorder = Recorder::new(store);
        let is_unstructured = is_unstructured(store, request)?;
        let mut mesh = match is_unstructured {
            true => CfMesh::of_unstructured(&recorder, request)?,
            false => CfMesh::of_model(&recorder, request)?,
        };
        if is_unstructured && !mesh.dries {
            mesh.close_missing(store)?;
        }
        mesh.add_positions(recorder);
        Ok(mesh)
    }

    /// Makes 0 what is missing at the first time. What is missing later is not a number.
    fn close_missing(&mut self, store: &dyn Store) -> Result<()> {
        let mut parts = self.velocity.iter_mut().flatten().chain(&mut self.diffusivity);
        parts.try_for_each(|part| part.close_missing(store, &mut self.units))
    }

    /// How the variables are read.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Gather> {
        self.velocity.iter().flatten().chain(&self.diffusivity).chain(&self.arrays)
    }

    /// Number of values of a variable: of points or cells.
    pub(crate) fn values(&self) -> usize {
        self.parts().next().map_or(0, |part| part.weights.len())
    }

    /// The names of the variables of a file that are at the points of the first component of the velocity, and of a C-grid in the
    /// cells.
    pub fn at_values(&self, store: &dyn Store) -> Vec<String> {
        let part = |d: usize| store.find(&self.velocity[d].as_ref()?.variable);
        let (Some(u), Some(v)) = (part(0), part(1)) else { return Vec::new() };
        let is_there = |variable: &&Variable| match self.placement {
            MeshPlacement::Faces => crate::model::is_in_cells(store, variable, [u, v]),
            _ => variable.dimensions == u.dimensions,
        };
        store.variables().iter().filter(is_there).map(|variable| variable.name.clone()).collect()
    }

    /// Reads the other variables of the same mesh.
    pub fn set_arrays(&mut self, other: CfMesh) {
        self.arrays = other.arrays;
    }

    /// The names of the variables of the velocity.
    pub fn velocity(&self) -> Vec<String> {
        self.velocity.iter().flatten().map(|part| part.variable.clone()).collect()
    }

    /// What is converted or assumed, as [`CfGrid::notes`](crate::CfGrid::notes).
    pub fn notes(&self) -> &[String] {
        &self.units.notes
    }

    /// Those of the notes that say how the file is read by its own attributes.
    pub fn conversions(&self) -> &[String] {
        &self.units.conversions
    }

    /// The times of another file of the mesh; `None` if its variables do not depend on time.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn times_of(&self, other: &dyn Store) -> Result<Option<TimeAxis>> {
        let parts = self.velocity.iter().flatten().chain(&self.arrays);
        let velocity = parts.take(1).map(|part| part.variable.clone()).collect();
        times(other, &Request { velocity, ..Request::default() })
    }

    /// Moves the longitudes by whole turns.
    pub fn turn(&mut self, degrees: f64) {
        self.points.iter_mut().for_each(|point| point[0] += degrees);
        self.global = self.global.map(|west| west + degrees);
    }

    /// The mesh, whose vertical velocities become those in the sea at rest, if it is known there.
    pub(crate) fn with_rest(mut self, upward: Upward, sea: Option<AtPoints>) -> CfMesh {
        self.rest = sea.map(|sea| Box::new(Rest::of(&self, upward, sea)));
        self
    }

    /// Whether vertical velocities need the rate at which the surface rises.
    pub fn needs_rise(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.needs_rise())
    }

    /// The height of the surface at one time of a file, in metres, at places of which [`read`](CfMesh::read) needs the rates; empty
    /// if it needs none.
    ///
    /// # Errors
    ///
    /// As [`read`](CfMesh::read).
    pub fn elevation(&self, store: &dyn Store, time: usize) -> Result<Vec<f64>> {
        self.rest.as_ref().map_or(Ok(Vec::new()), |rest| rest.elevation(store, time))
    }

    /// Reads the values of one time of a file that has the variables of the mesh. Values that are missing at the first time
    /// are 0, and others NaN; all are 0 if cells of it are dry at times. `rise` is the rate at which the surface rises, in m/s, where
    /// [`elevation`](CfMesh::elevation) has heights; 0 if it is empty.
    ///
    /// # Errors
    ///
    /// If the file lacks a variable or has it in another shape, the time does not exist, or the data cannot be read.
    pub fn read(&self, store: &dyn Store, time: usize, rise: &[f64]) -> Result<CfFrame> {
        let read = |part: &Gather| part.read(store, time, self.dries);
        let is_large = is_large(size_of::<f32>() * self.values());
        let of_velocity = |part: &Option<Gather>| part.as_ref().map(read).transpose();
        let parts: Vec<Option<Values>> = read_each(&self.velocity, is_large, of_velocity)?;
        let mut velocity = match parts.iter().all(Option::is_none) {
            true => Values::F32(Vec::new()),
            false => triples(&parts, self.values(), self.turn.as_deref()),
        };
        if let Some(rest) = self.rest.as_ref().filter(|_| !velocity.is_empty()) {
            rest.apply(&mut velocity, &rest.elevation(store, time)?, rise);
        }
        Ok(CfFrame {
            velocity,
            missing: None,
            diffusivity: self.diffusivity.as_ref().map(read).transpose()?,
            arrays: self.arrays.iter().map(read).collect::<Result<_>>()?,
        })
    }
}

/// `u, v, w` of each value, turned to east and north by an angle; 0 where there is no component.
fn triples(parts: &[Option<Values>], count: usize, turn: Option<&[[f64; 2]]>) -> Values {
    let at = |component: usize, i: usize| parts[component].as_ref().map_or(0.0, |part| part.at(i));
    let vector = |i: usize| {
        let (u, v, w) = (at(0, i), at(1, i), at(2, i));
        match turn {
            None => [u, v, w],
            Some(turn) => {
                let [cos, sin] = turn[i];
                [u * cos - v * sin, u * sin + v * cos, w]
            }
        }
    };
    let is_single = parts.iter().flatten().all(Values::is_single);
    Values::collect(is_single, 3 * count, (0..count).flat_map(vector))
}

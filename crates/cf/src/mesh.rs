//! A velocity on a mesh: the points and cells of curvilinear, staggered and unstructured grids.

use crate::axis::UnitCheck;
use crate::directions::{DOWNWARD, points};
use crate::grid::{CfFrame, Request};
use crate::model::MeshRequest;
use crate::packing::{Decoded, Packing};
use crate::store::{Dimension, Span, Store, Variable};
use crate::time::{TimeAxis, times};
use crate::units::Quantity;
use crate::unstructured::is_unstructured;
use crate::values::Values;
use crate::{Error, Result};

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
pub const OPEN: &str = "open";
/// The name of the surface of the sea.
pub const SURFACE: &str = "surface";

/// No node, value or face.
pub const NONE: u32 = u32::MAX;

/// A mesh in NetCDF files or Zarr groups, which frames of its variables are read on.
#[derive(Clone, Debug)]
pub struct CfMesh {
    /// x, y and z in metres, or longitude, continuous within each cell, and latitude in degrees and z in metres; z is
    /// upward.
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
    pub positions: Vec<String>,
    /// Whether values that are missing are 0 at any time, as those of cells that are dry at times.
    pub dries: bool,
    /// The times; `None` if the variables do not depend on time.
    pub time: Option<TimeAxis>,
    pub(crate) velocity: [Option<Gather>; 3],
    pub(crate) diffusivity: Option<Gather>,
    pub(crate) arrays: Vec<Gather>,
    /// Cosine and sine of the angle from east to the direction of `u`, of each value; `None` if the components are
    /// those of the mesh.
    pub(crate) turn: Option<Vec<[f64; 2]>>,
    pub(crate) units: UnitCheck,
}

/// How the values of a mesh are taken from a variable.
#[derive(Clone, Debug)]
pub(crate) struct Gather {
    pub variable: String,
    pub quantity: Option<Quantity>,
    /// The indices of each dimension that are read; those of the time are replaced.
    pub slab: Vec<Span>,
    /// The dimension of time.
    pub time: Option<usize>,
    pub weights: Weights,
}

/// The values of a mesh by those of a slab.
#[derive(Clone, Debug)]
pub(crate) enum Weights {
    /// The value with an index, times 1 or -1; 0 for [`NONE`].
    One { index: Vec<u32>, sign: f64 },
    /// The mean of `count` values with weights, where [`NONE`] is 0; those that are missing are left out, and the others
    /// count for more.
    Mean { count: usize, index: Vec<u32>, weights: Vec<f32> },
}

impl Weights {
    /// No values.
    pub const NOTHING: Weights = Weights::One { index: Vec::new(), sign: 1.0 };

    /// Number of values.
    fn len(&self) -> usize {
        match self {
            Weights::One { index, .. } => index.len(),
            Weights::Mean { count, index, .. } => index.len() / count.max(&1),
        }
    }
}

impl CfMesh {
    /// Opens the mesh of a file.
    ///
    /// # Errors
    ///
    /// If variables are missing or ambiguous, their grid is not known, or their coordinates cannot be used.
    pub fn of(store: &dyn Store, request: &MeshRequest) -> Result<CfMesh> {
        let mut mesh = match is_unstructured(store, request)? {
            true => CfMesh::of_unstructured(store, request)?,
            false => CfMesh::of_model(store, request)?,
        };
        if !mesh.dries {
            mesh.close_missing(store)?;
        }
        Ok(mesh)
    }

    /// Makes 0 what is missing at the first time. What is missing later is not a number.
    fn close_missing(&mut self, store: &dyn Store) -> Result<()> {
        for part in self.velocity.iter_mut().flatten().chain(&mut self.diffusivity) {
            let count = part.close_missing(store)?;
            if count > 0 {
                self.units.convert(format!(
                    "`{}` is missing at {count} places of the mesh at the first time, and 0 there",
                    part.variable
                ));
            }
        }
        Ok(())
    }

    /// Number of values of a variable: of points or cells.
    pub fn values(&self) -> usize {
        let parts = self.velocity.iter().flatten().chain(&self.arrays);
        parts.map(|part| part.weights.len()).next().unwrap_or(0)
    }

    /// The names of the variables of a file that are at the points of the first component of the velocity; none of a C-grid.
    pub fn at_values(&self, store: &dyn Store) -> Vec<String> {
        let first = self.velocity[0].as_ref().and_then(|part| store.find(&part.variable));
        let Some(first) = first.filter(|_| self.placement != MeshPlacement::Faces) else {
            return Vec::new();
        };
        let is_same = |variable: &&Variable| variable.dimensions == first.dimensions;
        store.variables().iter().filter(is_same).map(|variable| variable.name.clone()).collect()
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

    /// Whether another file has the variables of the mesh, and the same positions, levels and masks.
    ///
    /// # Errors
    ///
    /// If a variable is missing or has another shape, or cannot be read.
    pub fn is_of(&self, first: &dyn Store, other: &dyn Store) -> Result<bool> {
        let parts = self.velocity.iter().flatten().chain(&self.diffusivity).chain(&self.arrays);
        for part in parts {
            let [own, others] = [found(first, &part.variable)?, found(other, &part.variable)?];
            let sizes = own.dimensions.iter().zip(&others.dimensions).enumerate();
            let is_same =
                |(d, (a, b)): (usize, (&Dimension, &Dimension))| Some(d) == part.time || a == b;
            if own.dimensions.len() != others.dimensions.len() || !sizes.into_iter().all(is_same) {
                return Ok(false);
            }
        }
        for name in &self.positions {
            let (Some(own), Some(others)) = (first.find(name), other.find(name)) else { continue };
            if first.read_all(own)?.into_f64() != other.read_all(others)?.into_f64() {
                return Ok(false);
            }
        }
        Ok(true)
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

    /// Reads the values of one time of a file that has the variables of the mesh. Values that are missing at the first time
    /// are 0, and others NaN; all are 0 if it [dries](CfMesh::dries).
    ///
    /// # Errors
    ///
    /// If the file lacks a variable or has it in another shape, the time does not exist, or the data cannot be read.
    pub fn read(&self, store: &dyn Store, time: usize) -> Result<CfFrame> {
        let read = |part: &Gather| part.read(store, time, self.dries);
        let parts = self.velocity.iter().map(|part| part.as_ref().map(read).transpose());
        let parts: Vec<Option<Values>> = parts.collect::<Result<_>>()?;
        let velocity = match parts.iter().all(Option::is_none) {
            true => Values::F32(Vec::new()),
            false => triples(parts, self.values(), self.turn.as_deref()),
        };
        Ok(CfFrame {
            velocity,
            missing: None,
            diffusivity: self.diffusivity.as_ref().map(read).transpose()?,
            arrays: self.arrays.iter().map(read).collect::<Result<_>>()?,
        })
    }
}

/// `u, v, w` of each value, turned to east and north by an angle; 0 where there is no component.
fn triples(parts: Vec<Option<Values>>, count: usize, turn: Option<&[[f64; 2]]>) -> Values {
    let is_single = parts.iter().flatten().all(|part| matches!(part, Values::F32(_)));
    let parts: Vec<Option<Vec<f64>>> =
        parts.into_iter().map(|part| part.map(Values::into_f64)).collect();
    let at = |component: usize, i: usize| parts[component].as_ref().map_or(0.0, |part| part[i]);
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
    let all = (0..count).flat_map(vector);
    match is_single {
        true => Values::F32(all.map(|x| x as f32).collect()),
        false => Values::F64(all.collect()),
    }
}

impl Gather {
    fn read(&self, store: &dyn Store, time: usize, dries: bool) -> Result<Values> {
        let decoded = self.decoded(store, time)?;
        let Decoded { values, missing } = if dries { filled(decoded) } else { decoded };
        let missing = missing.as_deref();
        let is_missing = |i: usize| missing.is_some_and(|missing| missing[i]);
        Ok(match &self.weights {
            Weights::One { index, sign } => values.taken(index, *sign),
            Weights::Mean { count, index, weights } => {
                let is_single = matches!(values, Values::F32(_));
                let values = values.into_f64();
                let mean = |(index, weights): (&[u32], &[f32])| {
                    let pairs = index.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
                    let known = pairs.filter(|(i, _)| **i == NONE || !is_missing(**i as usize));
                    let (sum, total) = known.fold((0.0, 0.0), |(sum, total), (i, weight)| {
                        let value = if *i == NONE { 0.0 } else { values[*i as usize] };
                        (sum + f64::from(*weight) * value, total + f64::from(*weight))
                    });
                    if total > 0.0 { sum / total } else { f64::NAN }
                };
                let all = index.chunks(*count).zip(weights.chunks(*count)).map(mean);
                match is_single {
                    true => Values::F32(all.map(|x| x as f32).collect()),
                    false => Values::F64(all.collect()),
                }
            }
        })
    }

    /// Makes 0 the values that are missing at the first time, and returns their number.
    fn close_missing(&mut self, store: &dyn Store) -> Result<usize> {
        let Some(missing) = self.decoded(store, 0)?.missing else { return Ok(0) };
        let is_missing = |i: &u32| *i != NONE && missing[*i as usize];
        let mut closed = 0;
        match &mut self.weights {
            Weights::One { index, .. } => {
                for i in index.iter_mut().filter(|i| is_missing(i)) {
                    (*i, closed) = (NONE, closed + 1);
                }
            }
            Weights::Mean { count, index, weights } => {
                let means = index.chunks_mut(*count).zip(weights.chunks(*count));
                for (index, weights) in means {
                    let mut used = index.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
                    if used.all(|(i, _)| is_missing(i)) {
                        index.fill(NONE);
                        closed += 1;
                    }
                }
            }
        }
        Ok(closed)
    }

    /// The decoded numbers of the slab at a time, in m/s or m²/s if they are of such a quantity.
    pub fn decoded(&self, store: &dyn Store, time: usize) -> Result<Decoded> {
        let variable = found(store, &self.variable)?;
        let mut slab = self.slab.clone();
        if let Some(span) = self.time.and_then(|d| slab.get_mut(d)) {
            *span = Span::one(time);
        }
        let mut decoded = decode(store, variable, &slab, self.quantity)?;
        if self.quantity == Some(Quantity::Speed) && points(variable, DOWNWARD) {
            decoded.values = decoded.values.map(|x| -x);
        }
        Ok(decoded)
    }
}

impl Values {
    /// The values with these indices, times 1 or -1; 0 for [`NONE`].
    fn taken(&self, index: &[u32], sign: f64) -> Values {
        let used = |i: u32| (i != NONE).then_some(i as usize);
        match self {
            Values::F32(values) => {
                let at = |i: &u32| used(*i).map_or(0.0, |i| sign as f32 * values[i]);
                Values::F32(index.iter().map(at).collect())
            }
            Values::F64(values) => {
                let at = |i: &u32| used(*i).map_or(0.0, |i| sign * values[i]);
                Values::F64(index.iter().map(at).collect())
            }
        }
    }
}

/// Numbers with 0 where they are missing.
fn filled(Decoded { mut values, missing }: Decoded) -> Decoded {
    let at = missing.iter().flatten().enumerate().filter(|(_, is_missing)| **is_missing);
    for (i, _) in at {
        match &mut values {
            Values::F32(values) => values[i] = 0.0,
            Values::F64(values) => values[i] = 0.0,
        }
    }
    Decoded { values, missing: None }
}

/// The variable with a name.
pub(crate) fn found<'a>(store: &'a dyn Store, name: &str) -> Result<&'a Variable> {
    let missing = || crate::choose::choice(store, format!("it has no variable `{name}`"));
    store.find(name).ok_or_else(missing)
}

/// The decoded numbers of a slab, in metres and seconds if they are of a quantity and have units.
pub(crate) fn decode(
    store: &dyn Store,
    variable: &Variable,
    slab: &[Span],
    quantity: Option<Quantity>,
) -> Result<Decoded> {
    let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
    let packing = Packing::of(store, variable).map_err(fail)?;
    let text = variable.text("units").filter(|text| !text.is_empty());
    let unit = text.zip(quantity).map(|(text, quantity)| quantity.unit(text));
    packing.decode(store.read(variable, slab)?, unit.transpose().map_err(fail)?).map_err(fail)
}

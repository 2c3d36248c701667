//! Heights of the levels between the layers of an unstructured model.

use super::topology::Topology;
use super::variable::{OnMesh, with_units};
use crate::axis::{self, UnitCheck};
use crate::layout::{axis_of, coordinate_of};
use crate::mesh::{NONE, decode};
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// Heights at the nodes.
#[derive(Debug)]
pub(super) struct Levels {
    /// Number of levels.
    pub count: usize,
    /// z in metres, node by node, or once if they are flat, from the bottom upward; equal ones have no water between
    /// them.
    z: Vec<f64>,
    /// Whether the levels of the file are from the surface to the bottom.
    is_downward: bool,
    /// Whether they are the same at all nodes.
    pub are_flat: bool,
    /// The names of the variables that tell them, if they do not depend on time.
    pub variables: Vec<String>,
    /// The surface with which they move, of sigma levels.
    pub surface: Option<Surface>,
}

/// The surface of a sea with sigma levels, at the nodes.
#[derive(Debug)]
pub(super) struct Surface {
    /// The height of the surface, if the file has it.
    pub elevation: Option<OnMesh>,
}

/// Heights in the order of the file, node by node or of all nodes.
#[derive(Default)]
pub(super) struct Heights {
    pub z: Vec<f64>,
    /// The names of the variables that tell them, if they do not depend on time.
    pub variables: Vec<String>,
    pub surface: Option<Surface>,
}

impl Levels {
    /// The levels of a velocity: those around its layers on faces, and those of its values at nodes; `None` if it has
    /// one layer.
    ///
    /// # Errors
    ///
    /// If no variable has their heights, or levels cross.
    pub fn read(
        store: &dyn Store,
        velocity: &OnMesh,
        topology: &Topology,
        units: &mut UnitCheck,
    ) -> Result<Option<Levels>> {
        let Some(d) = velocity.vertical else { return Ok(None) };
        let layers = velocity.levels();
        let source =
            Source { store, topology, layers, count: layers + usize::from(velocity.is_on_faces) };
        let name = &velocity.variable.dimensions[d].name;
        let fail = |reason: String| Error::variable(store.path(), &velocity.variable.name, reason);
        let places = topology.nodes.len().max(topology.triangles.len());
        if places.saturating_mul(source.count) >= NONE as usize {
            return Err(fail(format!(
                "its mesh has {places} nodes or triangles with {} levels along `{name}`, and at most {NONE} values can be \
                 read; select some of the levels",
                source.count
            )));
        }
        let follow_bottom = match source.heights(units)? {
            Some(heights) => Some(heights),
            None => source.sigma(units)?,
        };
        let (found, are_flat) = match follow_bottom {
            Some(heights) => (Some(heights), false),
            None => (source.axis(velocity, d, units)?, true),
        };
        let Heights { z, variables, surface } = found.ok_or_else(|| {
            fail(format!(
                "the heights of its {layers} layers along `{name}` are not known; needed are sigma at {0} levels \
                 (`siglev`, or a variable of `ocean_sigma_coordinate`) with the depth of the bottom (`h`), heights at the nodes \
                 (`zcor`), or a coordinate `{name}` in metres. Of heights in cells, as those over terrain, select one layer (in \
                 xarray: `ds.isel({name}=0)`)",
                source.count
            ))
        })?;
        let levels = Levels::upward(source.count, z, are_flat).map_err(fail)?;
        Ok(Some(Levels { variables, surface, ..levels }))
    }

    /// Turns levels upward; those below the lowest known one of their node are there, too.
    fn upward(
        count: usize,
        mut z: Vec<f64>,
        are_flat: bool,
    ) -> std::result::Result<Levels, String> {
        let rise = |column: &[f64]| {
            let known = || column.iter().filter(|z| z.is_finite());
            Some(known().next_back()? - known().next()?)
        };
        let is_downward = z.chunks(count).filter_map(rise).sum::<f64>() < 0.0;
        for (node, column) in z.chunks_mut(count).enumerate() {
            if is_downward {
                column.reverse();
            }
            let known = column.iter().position(|z| z.is_finite());
            let lowest = known.map_or(0.0, |known| column[known]);
            column[..known.unwrap_or(count)].fill(lowest);
            let is_wrong = |pair: &&[f64]| !pair[1].is_finite() || pair[0] > pair[1];
            let wrong = column.windows(2).find(is_wrong);
            if let Some([low, high]) = wrong.and_then(|pair| pair.first_chunk()) {
                let node =
                    if are_flat { String::new() } else { format!(" at the node {node} (from 0)") };
                return Err(match high.is_finite() {
                    true => {
                        format!(
                            "levels cross{node}: z = {high} above {low}; correct their variable"
                        )
                    }
                    false => {
                        format!("a level is missing{node} above z = {low}; correct their variable")
                    }
                });
            }
        }
        Ok(Levels { count, z, is_downward, are_flat, variables: Vec::new(), surface: None })
    }

    /// z of a level of a node, from the bottom upward.
    pub fn z(&self, node: u32, level: usize) -> f64 {
        let first = if self.are_flat { 0 } else { node as usize * self.count };
        self.z[first + level]
    }

    /// The lowest and the highest level with the same height as this one.
    pub fn equal(&self, node: u32, level: usize) -> [usize; 2] {
        let is_equal = |other: &usize| self.z(node, *other) == self.z(node, level);
        let below = (0..level).rev().take_while(is_equal).count();
        let above = (level + 1..self.count).take_while(is_equal).count();
        [level - below, level + above]
    }

    /// The index in the file of one of a number of layers or levels, from the bottom upward.
    pub fn in_file(&self, level: usize, count: usize) -> usize {
        if self.is_downward { count - 1 - level } else { level }
    }
}

/// Whether a coordinate is in units of length.
fn is_length(coordinate: &Variable) -> bool {
    coordinate.text("units").is_some_and(|text| Quantity::Length.unit(text).is_ok())
}

/// z of the only layer of a velocity: that of its coordinate in units of length, else 0.
pub(super) fn single_height(
    store: &dyn Store,
    velocity: &OnMesh,
    units: &mut UnitCheck,
) -> Result<f64> {
    let OnMesh { variable, horizontal, .. } = velocity;
    let others = (0..variable.dimensions.len()).filter(|d| d != horizontal);
    let mut coordinates = others.filter_map(|d| coordinate_of(store, variable, d));
    let is_vertical = |of: &&Variable| of.shape() == [1] && axis_of(of) == Some(2) && is_length(of);
    let Some(coordinate) = coordinates.find(is_vertical) else { return Ok(0.0) };
    match axis::nodes(store, coordinate, 2, units)?.first() {
        Some(z) if z.is_finite() => Ok(*z),
        _ => {
            let reason = "the height of the only layer is missing; add it";
            Err(Error::variable(store.path(), &coordinate.name, reason))
        }
    }
}

/// What tells heights of levels.
pub(super) struct Source<'a> {
    pub store: &'a dyn Store,
    pub topology: &'a Topology,
    pub layers: usize,
    /// Number of levels.
    pub count: usize,
}

/// Heights at the nodes, by SCHISM.
const HEIGHTS: [&str; 2] = ["zcor", "zCoordinates"];

impl Source<'_> {
    /// Heights at the nodes at the first time.
    fn heights(&self, units: &mut UnitCheck) -> Result<Option<Heights>> {
        let Some(variable) = HEIGHTS.iter().find_map(|name| self.store.find(name)) else {
            return Ok(None);
        };
        let on_mesh = OnMesh::of(self.store, variable, self.topology)?;
        if on_mesh.is_on_faces || on_mesh.levels() != self.count {
            return Ok(None);
        }
        if on_mesh.has_times() {
            units.notes.push(format!(
                "levels are those of `{}` at the first time, and do not move",
                variable.name
            ));
        }
        let decoded = on_mesh.first(self.store, Some(Quantity::Length), 0)?;
        let values = decoded.values.into_f64();
        let places = (0..self.topology.nodes.len() as u32)
            .flat_map(|node| (0..self.count).map(move |level| (node, level)));
        let mut z: Vec<f64> =
            places.map(|(node, level)| values[on_mesh.index(node, level) as usize]).collect();
        let is_dry = |column: &&mut [f64]| column.iter().all(|z| !z.is_finite());
        let mut dry =
            z.chunks_mut(self.count).enumerate().filter(|(_, column)| is_dry(column)).peekable();
        if dry.peek().is_some() {
            let depths = self.depths(None)?;
            let count = dry.map(|(node, column)| column.fill(-depths[node])).count();
            units.notes.push(format!(
                "{count} nodes without heights are dry, with all levels at the bottom"
            ));
        }
        let is_static = !on_mesh.has_times();
        let variables = is_static.then(|| variable.name.clone()).into_iter().collect();
        Ok(Some(Heights { z, variables, surface: None }))
    }

    /// Heights of levels that are the same at all nodes: a coordinate in metres, its bounds around layers.
    fn axis(&self, velocity: &OnMesh, d: usize, units: &mut UnitCheck) -> Result<Option<Heights>> {
        let coordinate = coordinate_of(self.store, &velocity.variable, d);
        let Some(coordinate) = coordinate.filter(|of| is_length(of)) else { return Ok(None) };
        let centers = axis::nodes(self.store, coordinate, 2, units)?;
        let levels = match self.count > self.layers {
            false => centers,
            true => match self.bounds(coordinate, &centers)? {
                Some(levels) => levels,
                None => {
                    units
                        .notes
                        .push(format!("levels are midway between those of `{}`", coordinate.name));
                    let ends = [[0, 1], [self.layers - 1, self.layers - 2]];
                    between(
                        &centers,
                        ends.map(|[end, next]| 1.5 * centers[end] - 0.5 * centers[next]),
                    )
                }
            },
        };
        let variables = vec![coordinate.name.clone()];
        Ok(Some(Heights { z: levels, variables, surface: None }))
    }

    /// The bounds of layers without gaps, by the attribute `bounds`.
    fn bounds(&self, coordinate: &Variable, centers: &[f64]) -> Result<Option<Vec<f64>>> {
        let bounds = coordinate.text("bounds").and_then(|name| self.store.find(name));
        let Some(bounds) = bounds.filter(|of| of.shape() == [self.layers, 2]) else {
            return Ok(None);
        };
        let (bounds, slab) =
            (with_units(bounds, coordinate), [Span::all(self.layers), Span::all(2)]);
        let values = decode(self.store, &bounds, &slab, Some(Quantity::Length))?.values.into_f64();
        // On the side of the axis where the coordinate is.
        let is_around = |sign: f64| {
            let pairs = values.chunks(2).zip(centers);
            pairs.into_iter().all(|(of, z)| (sign * of[0] - z) * (sign * of[1] - z) <= 0.0)
        };
        let Some(sign) = [1.0, -1.0].into_iter().find(|sign| is_around(*sign)) else {
            return Ok(None);
        };
        let is_joined = (1..self.layers).all(|layer| values[2 * layer] == values[2 * layer - 1]);
        let starts = values.iter().step_by(2).chain(values.last());
        Ok(is_joined.then(|| starts.map(|z| sign * z).collect()))
    }
}

/// The ends, and the middles of neighbours between them.
pub(super) fn between(centers: &[f64], ends: [f64; 2]) -> Vec<f64> {
    let [first, last] = match centers {
        [a, .., b] if (a < b) != (ends[0] < ends[1]) => [ends[1], ends[0]],
        _ => ends,
    };
    let middles = centers.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    std::iter::once(first).chain(middles).chain([last]).collect()
}

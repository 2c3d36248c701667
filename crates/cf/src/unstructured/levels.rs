//! Heights of the levels between the layers of an unstructured model.

use super::topology::Topology;
use super::variable::OnMesh;
use crate::axis::{self, UnitCheck};
use crate::layout::coordinate_of;
use crate::mesh::decode;
use crate::packing::Packing;
use crate::store::{Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};

/// Heights at the nodes.
#[derive(Debug)]
pub(super) struct Levels {
    /// Number of levels.
    pub count: usize,
    /// z in metres, node by node, from the bottom upward; equal ones have no water between them.
    z: Vec<f64>,
    /// Whether the levels of the file are from the surface to the bottom.
    is_downward: bool,
    /// Whether they are the same at all nodes.
    pub are_flat: bool,
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
        let found = match source.heights(units)? {
            Some(z) => Some((z, false)),
            None => match source.sigma(units)? {
                Some(z) => Some((z, false)),
                None => source.axis(velocity, d, units)?.map(|z| (z, true)),
            },
        };
        let name = &velocity.variable.dimensions[d].name;
        let fail = |reason: String| Error::variable(store.path(), &velocity.variable.name, reason);
        let (z, are_flat) = found.ok_or_else(|| {
            fail(format!(
                "the heights of its {layers} layers along `{name}` are not known; needed are sigma at {0} levels \
                 (`siglev`, or a variable of `ocean_sigma_coordinate`) with the depth of the bottom (`h`), heights at the nodes \
                 (`zcor`), or a coordinate `{name}` in metres. Of heights in cells, as those over terrain, select one layer (in \
                 xarray: `ds.isel({name}=0)`)",
                source.count
            ))
        })?;
        Levels::upward(source.count, z, are_flat).map(Some).map_err(fail)
    }

    /// Turns levels upward; those that are missing are at the lowest known one of their node.
    fn upward(
        count: usize,
        mut z: Vec<f64>,
        are_flat: bool,
    ) -> std::result::Result<Levels, String> {
        let mean = |level: usize| -> f64 {
            let columns = z.chunks(count).filter(|column| column.iter().all(|z| z.is_finite()));
            columns.map(|column| column[level]).sum()
        };
        let is_downward = mean(0) > mean(count - 1);
        for (node, column) in z.chunks_mut(count).enumerate() {
            if is_downward {
                column.reverse();
            }
            let lowest = column.iter().copied().find(|z| z.is_finite()).unwrap_or(0.0);
            for level in 0..count {
                match level.checked_sub(1).map(|below| column[below]) {
                    _ if !column[level].is_finite() => column[level] = lowest,
                    Some(below) if column[level] < below => {
                        return Err(format!(
                            "levels cross at the node {node} (from 0): z = {} above {below}; correct their variable",
                            column[level]
                        ));
                    }
                    _ => {}
                }
            }
        }
        Ok(Levels { count, z, is_downward, are_flat })
    }

    /// z of a level of a node, from the bottom upward.
    pub fn z(&self, node: u32, level: usize) -> f64 {
        self.z[node as usize * self.count + level]
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

/// What tells heights of levels.
struct Source<'a> {
    store: &'a dyn Store,
    topology: &'a Topology,
    layers: usize,
    /// Number of levels.
    count: usize,
}

/// Heights at the nodes, by SCHISM.
const HEIGHTS: [&str; 2] = ["zcor", "zCoordinates"];
const SIGMA: [&str; 3] = ["siglev", "siglay", "sigma"];
/// The depth of the bottom.
const DEPTH: [&str; 2] = ["h", "depth"];

impl Source<'_> {
    /// Heights at the nodes at the first time.
    fn heights(&self, units: &mut UnitCheck) -> Result<Option<Vec<f64>>> {
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
        let decoded = on_mesh.first(self.store, Some(Quantity::Length))?;
        let values = decoded.values.into_f64();
        let places = (0..self.topology.nodes.len() as u32)
            .flat_map(|node| (0..self.count).map(move |level| (node, level)));
        let mut z: Vec<f64> =
            places.map(|(node, level)| values[on_mesh.index(node, level) as usize]).collect();
        let is_dry = |column: &&mut [f64]| column.iter().all(|z| !z.is_finite());
        let mut dry =
            z.chunks_mut(self.count).enumerate().filter(|(_, column)| is_dry(&column)).peekable();
        if dry.peek().is_some() {
            let depths = self.depths(None)?;
            let count = dry.map(|(node, column)| column.fill(-depths[node])).count();
            units.notes.push(format!(
                "{count} nodes without heights are dry, with all levels at the bottom"
            ));
        }
        Ok(Some(z))
    }

    /// z by sigma, from 0 at the surface to -1 at the bottom, and the depth of the bottom; of SCHISM, with its stretching.
    fn sigma(&self, units: &mut UnitCheck) -> Result<Option<Vec<f64>>> {
        let is_sigma = |of: &&Variable| {
            let standard = of.text("standard_name").unwrap_or_default();
            SIGMA.contains(&of.name.as_str()) || standard.starts_with("ocean_sigma")
        };
        let all = || self.store.variables().iter().filter(is_sigma);
        let with = |levels: usize| all().find_map(|of| Some((of, self.sigma_layout(of, levels)?)));
        let (variable, by_node, is_between) = match (with(self.count), with(self.layers)) {
            (Some((of, by_node)), _) => (of, by_node, false),
            (None, Some((of, by_node))) => (of, by_node, true),
            (None, None) => return Ok(None),
        };
        let slab: Vec<Span> = variable.shape().into_iter().map(Span::all).collect();
        let stored = self.store.read(variable, &slab)?;
        let fail = |reason: String| Error::variable(self.store.path(), &variable.name, reason);
        let packing = Packing::of(self.store, variable).map_err(fail)?.without_limits();
        let sigma = packing.decode(stored, None).map_err(fail)?.values.into_f64();
        let depths = self.depths(variable.text("formula_terms"))?;
        let stretching = Stretching::read(self.store, variable, sigma.len(), &depths)?;
        let negative = depths.iter().filter(|depth| **depth < 0.0).count();
        if negative > 0 {
            units.notes.push(format!(
                "{negative} nodes are above the level of the sea; their depth is taken as 0"
            ));
        }
        units.notes.push(format!(
            "levels are those of `{}` with the surface at z = 0, and do not move",
            variable.name
        ));
        if is_between {
            units.notes.push(format!("levels are midway between those of `{}`", variable.name));
        }
        let mut z = Vec::with_capacity(depths.len() * self.count);
        for (node, depth) in depths.iter().enumerate() {
            let at = |level: usize| match by_node {
                Some([of_level, of_node]) => sigma[level * of_level + node * of_node],
                None => sigma[level],
            };
            let own: Vec<f64> = match is_between {
                true => between(&(0..self.layers).map(at).collect::<Vec<_>>(), [0.0, -1.0]),
                false => (0..self.count).map(at).collect(),
            };
            let height =
                |(level, sigma): (usize, f64)| stretching.height(level, sigma, depth.max(0.0));
            z.extend(own.into_iter().enumerate().map(height));
        }
        match z.iter().all(|z| z.is_finite()) {
            true => Ok(Some(z)),
            false => Err(fail("it is missing at some nodes, and needed at all of them".into())),
        }
    }

    /// The strides of level and node, of a variable at nodes; `Some(None)` of one that depends on the level only.
    fn sigma_layout(&self, variable: &Variable, levels: usize) -> Option<Option<[usize; 2]>> {
        let nodes = self.topology.node_dimension.as_ref();
        match variable.dimensions.as_slice() {
            [only] if only.len == levels => Some(None),
            [level, node] if level.len == levels && Some(node) == nodes => {
                Some(Some([node.len, 1]))
            }
            [node, level] if level.len == levels && Some(node) == nodes => {
                Some(Some([1, level.len]))
            }
            _ => None,
        }
    }

    /// The depth of the bottom at the nodes, positive downward: named by `formula_terms`, or `h`, or `depth`.
    fn depths(&self, terms: Option<&str>) -> Result<Vec<f64>> {
        let nodes = self.topology.node_dimension.as_ref();
        let is_at_nodes =
            |of: &&Variable| matches!(of.dimensions.as_slice(), [only] if Some(only) == nodes);
        let mut words = terms.unwrap_or_default().split_ascii_whitespace();
        let term = words.find(|word| *word == "depth:").and_then(|_| words.next());
        let names = term.into_iter().chain(DEPTH);
        let found = names.filter_map(|name| self.store.find(name)).find(is_at_nodes);
        let missing = || {
            let reason = "it has no depth of the bottom at the nodes of its mesh (`h` or `depth`), which heights of its levels need";
            Error::file(self.store.path(), reason)
        };
        let variable = found.ok_or_else(missing)?;
        let slab = [Span::all(self.topology.nodes.len())];
        let decoded = decode(self.store, variable, &slab, Some(Quantity::Length))?;
        let sign = if variable.text("positive") == Some("up") { -1.0 } else { 1.0 };
        let depths: Vec<f64> =
            decoded.values.into_f64().into_iter().map(|depth| sign * depth).collect();
        match depths.iter().all(|depth| depth.is_finite()) {
            true => Ok(depths),
            false => Err(Error::variable(
                self.store.path(),
                &variable.name,
                "the depth is missing at some nodes",
            )),
        }
    }

    /// Heights of levels that are the same at all nodes: a coordinate in metres, its bounds around layers.
    fn axis(&self, velocity: &OnMesh, d: usize, units: &mut UnitCheck) -> Result<Option<Vec<f64>>> {
        let Some(coordinate) = coordinate_of(self.store, &velocity.variable, d) else {
            return Ok(None);
        };
        let is_length =
            coordinate.text("units").is_some_and(|text| Quantity::Length.unit(text).is_ok());
        if !is_length {
            return Ok(None);
        }
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
        Ok(Some(self.topology.nodes.iter().flat_map(|_| levels.iter().copied()).collect()))
    }

    /// The bounds of layers without gaps, by the attribute `bounds`.
    fn bounds(&self, coordinate: &Variable, centers: &[f64]) -> Result<Option<Vec<f64>>> {
        let bounds = coordinate.text("bounds").and_then(|name| self.store.find(name));
        let Some(bounds) = bounds.filter(|of| of.shape() == [self.layers, 2]) else {
            return Ok(None);
        };
        // Of the units of the coordinate, and on its side of the axis.
        let slab = [Span::all(self.layers), Span::all(2)];
        let unit = coordinate.text("units").and_then(|text| Quantity::Length.unit(text).ok());
        let values = decode(self.store, bounds, &slab, None)?.values.into_f64();
        let values: Vec<f64> =
            values.into_iter().map(|z| unit.map_or(z, |unit| unit.convert(z))).collect();
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
fn between(centers: &[f64], ends: [f64; 2]) -> Vec<f64> {
    let [first, last] = match centers {
        [a, .., b] if (a < b) != (ends[0] < ends[1]) => [ends[1], ends[0]],
        _ => ends,
    };
    let middles = centers.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
    std::iter::once(first).chain(middles).chain([last]).collect()
}

/// The stretching of the levels of SCHISM, z = hc sigma + (h - hc) C where h > hc (Song and Haidvogel 1994); else
/// z = sigma h.
struct Stretching {
    critical: f64,
    curve: Vec<f64>,
}

impl Stretching {
    fn read(
        store: &dyn Store,
        sigma: &Variable,
        levels: usize,
        depths: &[f64],
    ) -> Result<Stretching> {
        let none = Stretching { critical: f64::INFINITY, curve: Vec::new() };
        let Some(curve) = store.find("Cs").filter(|of| of.dimensions == sigma.dimensions) else {
            return Ok(none);
        };
        let number = |names: [&str; 2]| -> Result<Option<f64>> {
            let Some(variable) = names.iter().find_map(|name| store.find(name)) else {
                return Ok(None);
            };
            let slab: Vec<Span> = variable.shape().iter().map(|_| Span::one(0)).collect();
            let values = decode(store, variable, &slab, None)?.values.into_f64();
            Ok(values.first().copied())
        };
        let fail = |reason: String| Error::variable(store.path(), &sigma.name, reason);
        let critical = number(["sigma_h_c", "h_c"])?;
        let critical = critical.ok_or_else(|| {
            fail(
                "it has the stretching `Cs`, and no critical depth `sigma_h_c`; add it, or `zcor`"
                    .into(),
            )
        })?;
        let deepest = depths.iter().copied().fold(0.0, f64::max);
        if let Some(limit) = number(["sigma_maxdepth", "h_s"])?.filter(|limit| *limit < deepest) {
            return Err(fail(format!(
                "its levels end at {limit} m, and the bottom is at {deepest} m: give the heights of all levels as `zcor`"
            )));
        }
        let curve = decode(store, curve, &[Span::all(levels)], None)?.values.into_f64();
        Ok(Stretching { critical, curve })
    }

    fn height(&self, level: usize, sigma: f64, depth: f64) -> f64 {
        match self.curve.get(level) {
            Some(curve) if depth > self.critical => {
                self.critical * sigma + (depth - self.critical) * curve
            }
            _ => sigma * depth,
        }
    }
}

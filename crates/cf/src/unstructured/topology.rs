//! The horizontal mesh of an unstructured model: nodes and triangles.

use super::polygon::divide;
use super::variable::with_units;
use crate::axis::UnitCheck;
use crate::degrees::{CIRCLE, are_axes, check_latitudes};
use crate::kinds;
use crate::layout::axis_of;
use crate::mesh::{COAST, NONE, OPEN, decode};
use crate::store::{Dimension, Span, Store, Variable};
use crate::units::Quantity;
use crate::{Error, Result};
use std::collections::HashMap;

/// Nodes and triangles.
#[derive(Debug)]
pub(super) struct Topology {
    /// The dimension of the nodes; `None` if corners are given face by face.
    pub node_dimension: Option<Dimension>,
    pub face_dimension: Dimension,
    /// Longitude and latitude in degrees, or x and y in metres.
    pub nodes: Vec<[f64; 2]>,
    pub is_in_degrees: bool,
    /// Counter-clockwise.
    pub triangles: Vec<[u32; 3]>,
    /// The face of the file of each triangle.
    pub faces: Vec<u32>,
    /// The names of the variables of nodes and faces.
    pub variables: Vec<String>,
    /// The names of edges of the boundary, by their nodes in increasing order.
    pub edges: HashMap<[u32; 2], &'static str>,
}

/// The variables of a horizontal mesh.
struct Source<'a> {
    /// x and y of the nodes, or of the faces.
    positions: [&'a Variable; 2],
    corners: Corners<'a>,
    /// The description of the mesh by UGRID.
    mesh: Option<&'a Variable>,
}

#[derive(Clone, Copy)]
enum Corners<'a> {
    /// Indices of the nodes of each face.
    Table(&'a Variable),
    /// x and y of the corners of each face.
    Positions([&'a Variable; 2]),
}

/// The names of x, y and the table of corners in files of SCHISM, FVCOM and ICON that have no description by
/// UGRID.
const KNOWN: [[&str; 3]; 4] = [
    ["SCHISM_hgrid_node_x", "SCHISM_hgrid_node_y", "SCHISM_hgrid_face_nodes"],
    ["lon", "lat", "nv"],
    ["x", "y", "nv"],
    ["vlon", "vlat", "vertex_of_cell"],
];

/// Whether a file has the nodes and faces of an unstructured mesh.
pub(super) fn is_in(store: &dyn Store) -> bool {
    !sources(store).is_empty()
}

fn sources(store: &dyn Store) -> Vec<Source<'_>> {
    let of_ugrid = |mesh| {
        let named = |attribute| -> Option<Vec<&Variable>> {
            let names = Variable::text(mesh, attribute)?.split_ascii_whitespace();
            names.map(|name| store.find(name)).collect()
        };
        let [a, b, ..] = named("node_coordinates")?[..] else { return None };
        let table = *named("face_node_connectivity")?.first()?;
        let positions = if axis_of(a) == Some(1) { [b, a] } else { [a, b] };
        Some(Source { positions, corners: Corners::Table(table), mesh: Some(mesh) })
    };
    let is_mesh = |variable: &&Variable| variable.text("cf_role") == Some("mesh_topology");
    let ugrid = store.variables().iter().filter(is_mesh).filter_map(of_ugrid);
    let known = KNOWN.iter().filter_map(|names| {
        let [x, y, table] = names.map(|name| store.find(name));
        Some(Source { positions: [x?, y?], corners: Corners::Table(table?), mesh: None })
    });
    let all = ugrid.chain(known).filter(Source::is_consistent);
    all.chain(of_bounds(store)).collect()
}

/// Positions of faces with the attribute `bounds`: those of three or more corners.
fn of_bounds(store: &dyn Store) -> Option<Source<'_>> {
    let of = |axis: usize| {
        store.variables().iter().filter_map(move |center| {
            let bounds = store.find(center.text("bounds")?)?;
            let [face] = center.dimensions.as_slice() else { return None };
            let [first, corners] = bounds.dimensions.as_slice() else { return None };
            let fits = axis_of(center) == Some(axis) && first == face && corners.len >= 3;
            fits.then_some((center, bounds))
        })
    };
    let (x, x_bounds) = of(0).next()?;
    let (y, y_bounds) = of(1).find(|(y, _)| y.dimensions == x.dimensions)?;
    let corners = Corners::Positions([x_bounds, y_bounds]);
    Some(Source { positions: [x, y], corners, mesh: None })
}

impl Source<'_> {
    /// The positions of the nodes, or of the corners of all faces, and whether they are in degrees.
    fn nodes(&self, store: &dyn Store, units: &mut UnitCheck) -> Result<(Vec<[f64; 2]>, bool)> {
        match self.corners {
            Corners::Table(_) => positions_of(store, self.positions, self.positions, units),
            Corners::Positions(bounds) => positions_of(store, bounds, self.positions, units),
        }
    }

    fn variables(&self) -> Vec<String> {
        let of_corners = match self.corners {
            Corners::Table(table) => self.positions.into_iter().chain([table]).collect(),
            Corners::Positions(bounds) => bounds.to_vec(),
        };
        of_corners.into_iter().map(|variable: &Variable| variable.name.clone()).collect()
    }

    /// Whether the nodes have one dimension, and the table two.
    fn is_consistent(&self) -> bool {
        let [x, y] = self.positions;
        let is_table =
            |of: &Corners| matches!(of, Corners::Table(table) if table.dimensions.len() == 2);
        x.dimensions.len() == 1 && x.dimensions == y.dimensions && is_table(&self.corners)
    }
}

impl Topology {
    /// Reads the nodes and faces of a file. Faces with more than three corners are divided.
    ///
    /// # Errors
    ///
    /// If there are none, or they cannot be used.
    pub fn read(store: &dyn Store, units: &mut UnitCheck) -> Result<Topology> {
        let all = sources(store);
        for (number, source) in all.iter().enumerate() {
            let (nodes, is_in_degrees) = source.nodes(store, units)?;
            // FVCOM writes 0 for the coordinates that it does not use.
            let is_constant = nodes.windows(2).all(|pair| pair[0] == pair[1]);
            if !is_constant || number + 1 == all.len() {
                return Topology::of(store, source, (nodes, is_in_degrees), units);
            }
        }
        let reason = "it has no nodes and faces of an unstructured mesh, by UGRID or as FVCOM, SCHISM and ICON write them";
        Err(kinds::error(store).unwrap_or_else(|| Error::file(store.path(), reason)))
    }

    fn of(
        store: &dyn Store,
        source: &Source,
        (mut nodes, is_in_degrees): (Vec<[f64; 2]>, bool),
        units: &mut UnitCheck,
    ) -> Result<Topology> {
        let [x, y] = source.positions;
        let (node_dimension, (face_dimension, width, table)) = match source.corners {
            Corners::Table(table) => {
                let faces = source.mesh.and_then(|mesh| mesh.text("face_dimension"));
                (x.dimensions.first().cloned(), indices(store, table, nodes.len(), faces)?)
            }
            Corners::Positions([bounds, _]) => {
                let [faces, corners] = [0, 1].map(|d| bounds.dimensions[d].clone());
                (None, (faces, corners.len, merged(&mut nodes, is_in_degrees)))
            }
        };
        units.convert(format!(
            "its mesh has nodes at `{}` and `{}`, and {} faces",
            x.name, y.name, face_dimension.len
        ));
        let mut topology = Topology {
            node_dimension,
            face_dimension,
            nodes,
            is_in_degrees,
            triangles: Vec::new(),
            faces: Vec::new(),
            variables: source.variables(),
            edges: HashMap::new(),
        };
        topology.divide(store, &table, width, units)?;
        topology.name_edges(store, source.mesh)?;
        Ok(topology)
    }

    /// Adds the triangles of the faces.
    fn divide(
        &mut self,
        store: &dyn Store,
        table: &[u32],
        width: usize,
        units: &mut UnitCheck,
    ) -> Result<()> {
        let mut divided = 0;
        for (face, corners) in table.chunks(width.max(1)).enumerate() {
            let mut used: Vec<u32> = corners.iter().copied().filter(|node| *node != NONE).collect();
            used.dedup();
            while used.len() > 1 && used.first() == used.last() {
                used.pop();
            }
            let positions =
                used.iter().map(|node| self.near(self.nodes[used[0] as usize], *node)).collect();
            let triangles = divide(positions).ok_or_else(|| {
                let (dimension, count) = (&self.face_dimension.name, used.len());
                Error::file(
                    store.path(),
                    format!(
                        "the face {face} (from 0) of `{dimension}` with {count} corners cannot be divided into triangles \
                         at one of its corners; three or more are needed, around a polygon without deep notches: check \
                         `start_index` and `_FillValue` of its table"
                    ),
                )
            })?;
            divided += usize::from(triangles.len() > 1);
            self.faces.extend(triangles.iter().map(|_| face as u32));
            self.triangles
                .extend(triangles.iter().map(|corners| corners.map(|corner| used[corner])));
        }
        if divided > 0 {
            units.notes.push(format!(
                "{divided} faces with more than three corners are divided into triangles"
            ));
        }
        Ok(())
    }

    /// The position of a node, with the longitude that is nearest to another one.
    fn near(&self, start: [f64; 2], node: u32) -> [f64; 2] {
        let [x, y] = self.nodes[node as usize];
        let turns = if self.is_in_degrees { ((x - start[0]) / CIRCLE).round() } else { 0.0 };
        [x - CIRCLE * turns, y]
    }

    /// Names the edges that UGRID's `boundary_node_connectivity` lists, by the variable of their types.
    fn name_edges(&mut self, store: &dyn Store, mesh: Option<&Variable>) -> Result<()> {
        let table = mesh.and_then(|mesh| store.find(mesh.text("boundary_node_connectivity")?));
        let Some(table) = table.filter(|table| table.dimensions.len() == 2) else { return Ok(()) };
        let (edges, width, nodes) = indices(store, table, self.nodes.len(), None)?;
        let types = store.variables().iter().find(|variable| {
            let meanings = variable.text("flag_meanings").unwrap_or_default();
            variable.dimensions == std::slice::from_ref(&edges)
                && meanings.contains("open_boundary")
        });
        let Some(types) = types else { return Ok(()) };
        let fail = |reason: String| Error::variable(store.path(), &types.name, reason);
        let flags =
            types.typed_numbers("flag_values").map_err(fail)?.map_or(&[][..], |(_, flags)| flags);
        let meanings: Vec<&str> =
            types.text("flag_meanings").unwrap_or_default().split_whitespace().collect();
        let values = decode(store, types, &[Span::all(edges.len)], None)?.values.into_f64();
        for (pair, value) in nodes.chunks(width.max(1)).zip(values) {
            let flag = flags.iter().position(|flag| *flag == value);
            let name = match flag.and_then(|flag| meanings.get(flag)) {
                Some(&"open_boundary") => OPEN,
                Some(&"closed_boundary") => COAST,
                _ => continue,
            };
            if let [a, b] = *pair {
                self.edges.insert([a.min(b), a.max(b)], name);
            }
        }
        Ok(())
    }
}

/// The positions of `values` in degrees or metres, with the units of `named` if they have none, and whether they are
/// degrees.
fn positions_of(
    store: &dyn Store,
    values: [&Variable; 2],
    named: [&Variable; 2],
    units: &mut UnitCheck,
) -> Result<(Vec<[f64; 2]>, bool)> {
    let values = [0, 1].map(|axis| with_units(values[axis], named[axis]));
    let is_radian = |of: &Variable| {
        of.text("units").is_some_and(|text| text.to_ascii_lowercase().starts_with("rad"))
    };
    let are_radians = values.iter().all(is_radian);
    let is_in_degrees = are_radians || are_axes(store, named.map(Some))?;
    let mut read = [const { Vec::new() }; 2];
    for (axis, numbers) in read.iter_mut().enumerate() {
        let variable = &values[axis];
        let fail = |reason: String| Error::variable(store.path(), &variable.name, reason);
        let quantity = (!is_in_degrees).then_some(Quantity::Length);
        if let Some(quantity) = quantity {
            units.unit(store, variable, quantity)?;
        }
        let slab: Vec<Span> = variable.shape().into_iter().map(Span::all).collect();
        *numbers = decode(store, variable, &slab, quantity)?.values.into_f64();
        if are_radians {
            units.convert(format!("`{}` is converted from radians to degrees", variable.name));
            numbers.iter_mut().for_each(|angle| *angle = angle.to_degrees());
        }
        if let Some(at) = numbers.iter().position(|number| !number.is_finite()) {
            return Err(fail(format!("its value {at} is missing, and all nodes need a position")));
        }
        if is_in_degrees && axis == 1 {
            check_latitudes(numbers).map_err(fail)?;
        }
    }
    let [x, y] = read;
    Ok((x.into_iter().zip(y).map(|(x, y)| [x, y]).collect(), is_in_degrees))
}

/// The dimension of the faces of a table, its number of corners, and the corners face by face, [`NONE`] where a face
/// has fewer.
fn indices(
    store: &dyn Store,
    table: &Variable,
    nodes: usize,
    faces: Option<&str>,
) -> Result<(Dimension, usize, Vec<u32>)> {
    let fail = |reason: String| Error::variable(store.path(), &table.name, reason);
    let [first, second] = [0, 1].map(|d| table.dimensions[d].clone());
    let is_by_corner = match faces {
        Some(name) if name == first.name => false,
        Some(name) if name == second.name => true,
        Some(name) => {
            return Err(fail(format!(
                "the `face_dimension` of its mesh is `{name}`, which {table} does not have; correct it"
            )));
        }
        None => is_of_faces(store, table, &second) && !is_of_faces(store, table, &first),
    };
    let decoded = decode(store, table, &[Span::all(first.len), Span::all(second.len)], None)?;
    let (missing, values) = (decoded.missing, decoded.values.into_f64());
    let is_missing =
        |i: usize| missing.as_ref().is_some_and(|missing| missing[i]) || values[i].is_nan();
    let start = match table.typed_numbers("start_index").map_err(fail)? {
        Some((_, [start, ..])) => *start,
        // UGRID counts from 0, and models that have no description by it from 1.
        _ => f64::from(u8::from(KNOWN.iter().any(|[.., known]| *known == table.name))),
    };
    let (faces, corners) = if is_by_corner { (second, first) } else { (first, second) };
    let mut all = Vec::with_capacity(values.len());
    for at in 0..values.len() {
        let (face, corner) = (at / corners.len, at % corners.len);
        let i = if is_by_corner { corner * faces.len + face } else { at };
        let node = values[i] - start;
        all.push(match () {
            // -1, 0 and other numbers below the first index fill tables, as fill values do.
            () if is_missing(i) || node < 0.0 => NONE,
            () if node.fract() == 0.0 && node < nodes as f64 => node as u32,
            () => {
                let last = start + nodes as f64 - 1.0;
                return Err(fail(format!(
                    "it has the node {}, and there are nodes {start} to {last}; check its attributes `start_index` ({start} \
                     if it has none) and `_FillValue`",
                    values[i]
                )));
            }
        });
    }
    Ok((faces, corners.len, all))
}

/// Whether other variables have a dimension of a table of corners without its other one.
fn is_of_faces(store: &dyn Store, table: &Variable, dimension: &Dimension) -> bool {
    store.variables().iter().any(|variable| {
        let is_of = |of: &Dimension| table.dimensions.contains(of);
        let has_other = variable.dimensions.iter().any(|of| is_of(of) && of != dimension);
        variable.dimensions.contains(dimension) && !has_other
    })
}

/// Keeps each position once, and returns their indices.
fn merged(positions: &mut Vec<[f64; 2]>, is_in_degrees: bool) -> Vec<u32> {
    let mut known = HashMap::new();
    let mut kept = Vec::new();
    let key = |[x, y]: [f64; 2]| match is_in_degrees {
        true if y.abs() == 90.0 => [0.0_f64.to_bits(), y.to_bits()],
        true => [x.rem_euclid(CIRCLE), y + 0.0].map(f64::to_bits),
        false => [x + 0.0, y + 0.0].map(f64::to_bits),
    };
    let index = |position: &[f64; 2]| {
        *known.entry(key(*position)).or_insert_with(|| {
            kept.push(*position);
            kept.len() as u32 - 1
        })
    };
    let indices = positions.iter().map(index).collect();
    *positions = kept;
    indices
}

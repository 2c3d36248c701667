//! Velocities on the faces of cells (Arakawa's C-grid), as kernels read them; see [`MeshShape`](burntrace_kernels::MeshShape).

use super::domain::AXES;
use crate::{
    Error, Result,
    mesh::{Cells, Location, Mesh, mean},
};
use burntrace_kernels::CellKind;

/// The numbers of nodes around a cell that faces have in common: the face r = 0 is over the edge from node 0 to node 3, and so on.
const EDGES_R: [[usize; 2]; 2] = [[0, 3], [1, 2]];
const EDGES_S: [[usize; 2]; 2] = [[0, 1], [3, 2]];

/// Part of a cell's extent by which its sides may be off the vertical.
const SLANT: f64 = 1e-9;

/// The lengths of the faces that begin at each node of a mesh.
#[derive(Debug)]
pub(crate) struct Faces {
    /// Of the faces r = 0 and s = 0 of the cell that begins with the node, in the unit of coordinates, or on a sphere in degrees of
    /// latitude; 0 if there is none.
    lengths: Vec<[f64; 2]>,
}

impl Faces {
    /// Those of a mesh, which may be on a sphere.
    ///
    /// # Errors
    ///
    /// [`Error::Mesh`] for cells of other types than quadrilaterals in a plane z = const and hexahedra, and for sides that are
    /// not vertical.
    pub fn new(mesh: &Mesh, is_on_sphere: bool) -> Result<Self> {
        let mut lengths = vec![[0.0; 2]; mesh.points().len()];
        for cell in 0..mesh.cells().len() {
            let nodes = mesh.cells().nodes(cell);
            check(mesh, cell)?;
            let point = |k: usize| mesh.point(nodes[k] as usize);
            for (axis, edges) in [EDGES_R, EDGES_S].into_iter().enumerate() {
                for [first, last] in edges {
                    let [x, y] = edge(point(first), point(last), is_on_sphere);
                    lengths[nodes[first] as usize][axis] = x.hypot(y);
                }
            }
        }
        Ok(Faces { lengths })
    }

    /// The fluxes of a node, and its vertical velocity.
    pub fn row(&self, node: usize, [u, v, w]: [f64; 3]) -> [f64; 4] {
        let [r, s] = self.lengths[node];
        [u * r, v * s, w, 0.0]
    }
}

/// Where the numbers of each node of a mesh are, if velocities are on faces.
pub(super) struct FacePlaces {
    /// The middles of the faces r = 0 and s = 0 of the cell that begins with the node, and that of its bottom; NaN if there is none.
    pub middles: Vec<[[f64; 3]; 3]>,
    /// The horizontal directions of the velocities through both faces.
    pub normals: Vec<[[f64; 2]; 2]>,
}

impl FacePlaces {
    /// Those of hexahedra or quadrilaterals.
    pub fn new(points: &[[f64; 3]], cells: &Cells, is_on_sphere: bool) -> Self {
        let middles = vec![[[f64::NAN; 3]; 3]; points.len()];
        let mut places = FacePlaces { middles, normals: vec![[[0.0; 2]; 2]; points.len()] };
        for cell in 0..cells.len() {
            let nodes = cells.nodes(cell);
            let mean = |of: &[usize]| mean(of.iter().map(|k| nodes[*k]), points);
            // Two layers of nodes, or one.
            let layers = nodes.len() / 4;
            for (axis, edges) in [EDGES_R, EDGES_S].into_iter().enumerate() {
                for [first, last] in edges {
                    let corners = [first, last, first + 4, last + 4];
                    let middle = mean(&corners[..2 * layers]);
                    let [from, to] = [first, last].map(|k| points[nodes[k] as usize]);
                    let [x, y] = edge(from, to, is_on_sphere);
                    let normal = if axis == 0 { [y, -x] } else { [-y, x] };
                    let node = nodes[first] as usize;
                    places.middles[node][axis] = middle;
                    places.normals[node][axis] = normal.map(|component| component / x.hypot(y));
                }
            }
            for layer in 0..layers {
                let corners = [0, 1, 2, 3].map(|k| 4 * layer + k);
                places.middles[nodes[4 * layer] as usize][2] = mean(&corners);
            }
        }
        places
    }
}

/// The horizontal vector from one point to another: in the unit of coordinates, or on a sphere in degrees of latitude, at the latitude
/// of its middle.
fn edge(from: [f64; 3], to: [f64; 3], is_on_sphere: bool) -> [f64; 2] {
    let middle = 0.5 * (from[1] + to[1]);
    let scale = if is_on_sphere { middle.to_radians().cos() } else { 1.0 };
    [scale * (to[0] - from[0]), to[1] - from[1]]
}

/// Refuses cells of other types than hexahedra and quadrilaterals.
pub(super) fn check_kind(cell: usize, kind: CellKind) -> Result<()> {
    match kind {
        CellKind::Hexahedron | CellKind::Quad => Ok(()),
        _ => Err(Error::Mesh(format!(
            "cell {cell} is a {kind:?}, and values are on faces; give hexahedra, or quadrilaterals in a plane z = const"
        ))),
    }
}

fn check(mesh: &Mesh, cell: usize) -> Result<()> {
    check_kind(cell, mesh.cells().kinds[cell])?;
    let fail = |text: String| Err(Error::Mesh(text));
    let is_flat = match mesh.flat_axis() {
        Some(axis) if axis != 2 => {
            return fail(format!(
                "cells are in a plane {} = const, and values are on faces; give a plane z = const",
                AXES[axis]
            ));
        }
        flat => flat.is_some(),
    };
    let nodes = mesh.cells().nodes(cell);
    let point = |k: usize| mesh.point(nodes[k] as usize);
    let extent =
        |d: usize| (point(2)[d] - point(0)[d]).abs().max((point(3)[d] - point(1)[d]).abs());
    let slack = SLANT * extent(0).max(extent(1));
    let is_off = |k: usize| (0..2).any(|d| (point(k + 4)[d] - point(k)[d]).abs() > slack);
    if !is_flat && (0..4).any(is_off) {
        return fail(format!(
            "the sides of cell {cell} are not vertical, and values are on faces; give x and y of its upper nodes as \
             those of the lower ones"
        ));
    }
    Ok(())
}

/// A number and its derivatives: with respect to the coordinates in a cell, or along the axes.
type Jet = [f64; 4];

fn product(a: Jet, b: Jet) -> Jet {
    [a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + a[0] * b[2], a[3] * b[0] + a[0] * b[3]]
}

fn quotient(a: Jet, b: Jet) -> Jet {
    let value = a[0] / b[0];
    [
        value,
        (a[1] - value * b[1]) / b[0],
        (a[2] - value * b[2]) / b[0],
        (a[3] - value * b[3]) / b[0],
    ]
}

fn difference(a: Jet, b: Jet) -> Jet {
    [0, 1, 2, 3].map(|k| a[k] - b[k])
}

fn negative(a: Jet) -> Jet {
    a.map(|x| -x)
}

/// A part of a velocity: a number of a node, and the components by it in a row of the field, with derivatives along the axes.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub node: usize,
    /// Which of the three numbers of the node it is.
    pub number: usize,
    pub by: [Jet; 4],
}

/// The parts of the velocity at a location in a mesh, which is on a sphere or not: the reference for kernels.
pub(super) fn parts(mesh: &Mesh, location: &Location, is_on_sphere: bool) -> [Part; 6] {
    let nodes = mesh.cells().nodes(location.cell);
    let zero = [0.0; 4];
    let [along_r, along_s] = directions(mesh, location);
    let [r, s, t] = location.coordinates;
    let [r, s, t] = [[r, 1.0, 0.0, 0.0], [s, 0.0, 1.0, 0.0], [t, 0.0, 0.0, 1.0]];
    let rest = |x: Jet| difference([1.0, 0.0, 0.0, 0.0], x);
    let map = mesh.coordinate_gradients(location);
    let along_axes = |jet: Jet| {
        let by = |d: usize| (0..3).map(|k| jet[k + 1] * map[k][d]).sum();
        [jet[0], by(0), by(1), by(2)]
    };
    let place = mesh.position(location);
    let part = |k: usize, number: usize, weight: Jet| {
        let velocity = match number {
            0 => [product(weight, along_r[0]), product(weight, along_r[1]), zero],
            1 => [product(weight, along_s[0]), product(weight, along_s[1]), zero],
            _ => [zero, zero, weight],
        };
        let [u, v, w] = velocity.map(along_axes);
        let by = if is_on_sphere { in_space(place, [u, v, w]) } else { [u, v, w, zero] };
        Part { node: nodes[k] as usize, number, by }
    };
    // In two dimensions nothing moves along z.
    let top = if mesh.flat_axis().is_some() { 0 } else { 4 };
    [
        part(0, 0, rest(r)),
        part(1, 0, r),
        part(0, 1, rest(s)),
        part(3, 1, s),
        part(0, 2, rest(t)),
        part(top, 2, t),
    ]
}

/// The horizontal velocities by fluxes of 1 along r and along s.
fn directions(mesh: &Mesh, location: &Location) -> [[Jet; 2]; 2] {
    let nodes = mesh.cells().nodes(location.cell);
    let x = |k: usize, d: usize| mesh.points_from_origin()[nodes[k] as usize][d];
    let [r, s, _] = location.coordinates;
    let by_r = |d: usize| {
        let (low, high) = (x(1, d) - x(0, d), x(2, d) - x(3, d));
        [low + s * (high - low), 0.0, high - low, 0.0]
    };
    let by_s = |d: usize| {
        let (low, high) = (x(3, d) - x(0, d), x(2, d) - x(1, d));
        [low + r * (high - low), high - low, 0.0, 0.0]
    };
    let (by_r, by_s) = ([by_r(0), by_r(1)], [by_s(0), by_s(1)]);
    let area = difference(product(by_r[0], by_s[1]), product(by_r[1], by_s[0]));
    [by_r, by_s].map(|by| by.map(|component| quotient(component, area)))
}

/// A velocity at a longitude and a latitude as a row: a vector in space, and upwards. Towards the north it is multiplied by the
/// cosine of the latitude.
fn in_space([lon, lat, _]: [f64; 3], [east, north, up]: [Jet; 3]) -> [Jet; 4] {
    let degree = 1_f64.to_radians();
    let turn = |angle: f64, axis: usize| {
        let (sin, cos) = angle.to_radians().sin_cos();
        let mut jets = [[sin, 0.0, 0.0, 0.0], [cos, 0.0, 0.0, 0.0]];
        (jets[0][axis], jets[1][axis]) = (cos * degree, -sin * degree);
        jets
    };
    let ([sin_lon, cos_lon], [sin_lat, cos_lat]) = (turn(lon, 1), turn(lat, 2));
    let north = quotient(north, cos_lat);
    let away = negative(product(sin_lat, north));
    let x = difference(product(away, cos_lon), product(east, sin_lon));
    let y = difference(product(away, sin_lon), negative(product(east, cos_lon)));
    [x, y, product(cos_lat, north), up]
}

//! Boundary faces of a mesh, and uniformly distributed positions on them.
//!
//! A face is drawn in proportion to an upper bound of its area, then a position in the unit square or
//! triangle of its parametric coordinates. It is accepted with the probability (area of the surface
//! element / bound). The result is uniform by area, also on curved and distorted faces, and no area
//! has to be computed. In two dimensions faces are edges, and areas are lengths.

use super::{
    bounds::Bounds,
    shape::{Shape, apply, cross},
    structure::Mesh,
};
use crate::vectors::length;
use burntrace_kernels::{CellKind, MeshPatch};

/// Maximum distance by which a position is moved into its cell, as a fraction of the mesh's
/// tolerance, and as a fraction of the distance to the cell's centre.
const OF_TOLERANCE: f64 = 0.5;
const OF_CELL: f64 = 1e-3;

impl Mesh {
    /// The boundary faces: a cell, and the number of its face, for each.
    pub(crate) fn open_faces(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.cells.len()).flat_map(move |cell| {
            let faces = self.neighbours(cell).iter().enumerate();
            faces.filter(|(_, neighbour)| **neighbour < 0).map(move |(face, _)| (cell, face))
        })
    }

    /// The tag of a face, for its groups.
    pub(crate) fn face_tag(&self, cell: usize, face: usize) -> i32 {
        self.face_tags().of((8 * cell + face) as i32)
    }

    /// The bounding box of a face's corners, measured from the origin.
    pub(crate) fn corner_bounds(&self, cell: usize, face: usize) -> Bounds {
        let nodes = self.cells.nodes(cell);
        let mut bounds = Bounds::EMPTY;
        for corner in self.cells.kinds[cell].table().faces[face] {
            bounds.add(self.points[nodes[*corner] as usize]);
        }
        bounds
    }

    /// A box that contains a face, measured from the origin.
    fn face_bounds(&self, cell: usize, face: usize) -> Bounds {
        match self.cells.kinds[cell].is_quadratic() {
            true => self.boxes[cell],
            false => self.corner_bounds(cell, face),
        }
    }
}

/// A point of a boundary face, at which to sample an integral over it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FacePoint {
    /// In the data's coordinates, moved into the cell by less than the mesh's tolerance.
    pub position: [f64; 3],
    /// The part of the face around it, as a vector out of the mesh; of an edge in two dimensions a length.
    pub area: [f64; 3],
}

impl Mesh {
    /// Points of a boundary face: those of Gauss in both directions, two in cells of first order and else three. Integrals of the
    /// flux of what a cell interpolates are exact in cells of first order; on triangles the square of the points is collapsed.
    pub(crate) fn face_points(&self, cell: usize, face: usize) -> Vec<FacePoint> {
        let Some(shape) = self.shape(cell) else { return Vec::new() };
        let map = FaceMap::new(shape.kind, face);
        let line = gauss(shape.kind.is_quadratic());
        let across: &[[f64; 2]] = if map.is_edge { &[[0.0, 1.0]] } else { line };
        let mut points = Vec::with_capacity(line.len() * across.len());
        for [u, of_u] in line {
            for [v, of_v] in across {
                let side = if map.is_triangle { 1.0 - u } else { 1.0 };
                let at = map.at([*u, v * side]);
                let part = of_u * of_v * side * shape.face_scale();
                points.push(FacePoint {
                    position: self.plain(self.moved(&shape, at)),
                    area: map.normal(&shape, at).map(|x| -part * x),
                });
            }
        }
        points
    }

    /// A position on a face, moved into its cell and measured from the origin.
    fn moved(&self, shape: &Shape, at: [f64; 3]) -> [f64; 3] {
        let inward = shape.to_centre(at);
        let distance = shape.size * length(apply(&shape.jacobian(at), inward));
        let part = (OF_TOLERANCE * self.tolerance / distance).min(OF_CELL);
        shape.point([0, 1, 2].map(|k| at[k] + part * inward[k]))
    }
}

/// Parts along each side of a face that is not flat, of which each is taken as two triangles.
const PARTS: usize = 4;

impl Mesh {
    /// Triangles that make up a boundary face, in the data's coordinates: exactly if it is flat. An edge in two dimensions is a strip
    /// that extends along the flat axis, as far as `reach`, to both sides.
    pub(crate) fn face_triangles(
        &self,
        cell: usize,
        face: usize,
        reach: f64,
    ) -> Vec<[[f64; 3]; 3]> {
        let Some(shape) = self.shape(cell) else { return Vec::new() };
        let map = FaceMap::new(shape.kind, face);
        let parts = if self.is_flat(&shape, &map) { 1 } else { PARTS };
        let at = |i: usize, j: usize| {
            let [u, v] = [i, j].map(|k| k as f64 / parts as f64);
            let side = if map.is_triangle { 1.0 - u } else { 1.0 };
            let mut point = self.plain(shape.point(map.at([u, v * side])));
            if let Some(axis) = self.flat_axis().filter(|_| map.is_edge) {
                point[axis] += (2.0 * v - 1.0) * reach;
            }
            point
        };
        let across = if map.is_edge { 1 } else { parts };
        let mut triangles = Vec::with_capacity(2 * parts * across);
        for (i, j) in (0..parts).flat_map(|i| (0..across).map(move |j| (i, j))) {
            // Along an edge the second number is 0 or 1.
            let end = if map.is_edge { parts } else { j + 1 };
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, end), at(i, end)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles
    }

    /// Whether a face is flat, and an edge straight.
    fn is_flat(&self, shape: &Shape, map: &FaceMap) -> bool {
        let [a, b, c] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]].map(|at| shape.point(map.at(at)));
        let arm = |p: [f64; 3]| [0, 1, 2].map(|d| p[d] - a[d]);
        let [first, second] = [arm(b), arm(c)];
        let normal = if map.is_edge { [0.0; 3] } else { cross(&first, &second) };
        let is_near = |at: [f64; 2]| {
            let from = arm(shape.point(map.at(at)));
            let off = match map.is_edge {
                true => length(cross(&from, &first)) / length(first),
                false => (0..3).map(|d| from[d] * normal[d]).sum::<f64>() / length(normal),
            };
            off.abs() <= 1e-9 * shape.size
        };
        [[0.5, 0.0], [0.0, 0.5], [0.5, 0.5], [1.0, 1.0]].into_iter().all(is_near)
    }
}

/// The points and weights of Gauss on [0, 1].
pub(crate) fn gauss(is_quadratic: bool) -> &'static [[f64; 2]] {
    /// 1/2 - sqrt(3)/6, and 1/2 - sqrt(15)/10.
    const TWO: f64 = 0.211_324_865_405_187_1;
    const THREE: f64 = 0.112_701_665_379_258_3;
    match is_quadratic {
        false => &[[TWO, 0.5], [1.0 - TWO, 0.5]],
        true => &[[THREE, 5.0 / 18.0], [0.5, 4.0 / 9.0], [1.0 - THREE, 5.0 / 18.0]],
    }
}

/// A position on a boundary face.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FacePosition {
    /// In the data's coordinates, moved into the cell by less than the mesh's tolerance.
    pub position: [f64; 3],
    /// Unit normal of the face into the mesh.
    pub inward: [f64; 3],
}

/// Draws positions on the boundary faces of a mesh.
pub(crate) struct FaceSampler<'a> {
    mesh: &'a Mesh,
    region: MeshPatch,
    faces: Vec<BoundedFace>,
    /// The sum of the bounds of the areas up to and with each face.
    sums: Vec<f64>,
}

/// A face, and the upper bound of the area for a unit of its parametric coordinates.
struct BoundedFace {
    cell: u32,
    face: u32,
    bound: f64,
}

impl<'a> FaceSampler<'a> {
    /// A sampler of the part of the boundary in a patch; `None` if no face meets its box.
    pub fn new(mesh: &'a Mesh, region: MeshPatch) -> Option<Self> {
        let (mut faces, mut sums, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for (cell, face) in mesh.open_faces() {
            let is_apart = || !mesh.face_bounds(cell, face).meets(region.low, region.high);
            if !region.has_faces(mesh.face_tag(cell, face)) || is_apart() {
                continue;
            }
            let Some(shape) = mesh.shape(cell) else { continue };
            let map = FaceMap::new(shape.kind, face);
            let bound = map.largest_area(&shape);
            sum += bound * map.parametric_area();
            faces.push(BoundedFace { cell: cell as u32, face: face as u32, bound });
            sums.push(sum);
        }
        (sum > 0.0 && sum.is_finite()).then_some(FaceSampler { mesh, region, faces, sums })
    }

    /// A position from four uniform numbers in [0, 1); `None` if they are rejected.
    pub fn position(&self, [face, u, v, accept]: [f64; 4]) -> Option<FacePosition> {
        let total = self.sums.last()?;
        let chosen = self.sums.partition_point(|sum| *sum <= face * total);
        let BoundedFace { cell, face, bound } = *self.faces.get(chosen)?;
        let shape = self.mesh.shape(cell as usize)?;
        let map = FaceMap::new(shape.kind, face as usize);
        let at = map.at([u, v]);
        let normal = map.normal(&shape, at);
        let area = length(normal);
        if shape.face_scale() * area <= accept * bound {
            return None;
        }
        let tag = self.mesh.face_tag(cell as usize, face as usize);
        MeshPatch::at(std::slice::from_ref(&self.region), shape.point(at), tag)?;
        Some(FacePosition {
            position: self.mesh.plain(self.moved_in(&shape, at)?),
            inward: normal.map(|x| x / area),
        })
    }

    /// A position on a face, moved into its cell and measured from the origin; `None` if it is not
    /// located there.
    fn moved_in(&self, shape: &Shape, at: [f64; 3]) -> Option<[f64; 3]> {
        let position = self.mesh.moved(shape, at);
        let rounded = position.map(|x| self.mesh.locator.precision.round(x));
        self.mesh.locate_from_origin(rounded).map(|_| position)
    }
}

/// A face in the parametric coordinates of its cell: `start + u first + v second`, with (u, v) in the
/// unit square or in the triangle `u + v <= 1`. An edge has the axis t as its second direction.
struct FaceMap {
    start: [f64; 3],
    first: [f64; 3],
    second: [f64; 3],
    is_edge: bool,
    is_triangle: bool,
}

impl FaceMap {
    fn new(kind: CellKind, face: usize) -> Self {
        let table = kind.table();
        let corners = table.faces[face];
        let start = table.nodes[corners[0]];
        let edge = |k: usize| [0, 1, 2].map(|d| table.nodes[corners[k]][d] - start[d]);
        // A side of a pyramid is a square with one edge collapsed to the apex.
        let second = match (corners.len(), kind) {
            (2, _) | (3, CellKind::Pyramid) => [0.0, 0.0, 1.0],
            (3, _) => edge(2),
            _ => edge(3),
        };
        FaceMap {
            start,
            first: edge(1),
            second,
            is_edge: corners.len() == 2,
            is_triangle: corners.len() == 3 && kind != CellKind::Pyramid,
        }
    }

    /// Parametric coordinates from two numbers in [0, 1).
    fn at(&self, [u, v]: [f64; 2]) -> [f64; 3] {
        let [u, v] = match self.is_triangle && u + v > 1.0 {
            true => [1.0 - u, 1.0 - v],
            false => [u, if self.is_edge { 0.0 } else { v }],
        };
        [0, 1, 2].map(|k| self.start[k] + u * self.first[k] + v * self.second[k])
    }

    /// The area of the unit square or triangle.
    fn parametric_area(&self) -> f64 {
        if self.is_triangle { 0.5 } else { 1.0 }
    }

    /// The normal into the cell, whose length is the area for a unit of parametric coordinates,
    /// relative to the cell's size.
    fn normal(&self, shape: &Shape, at: [f64; 3]) -> [f64; 3] {
        let jacobian = shape.jacobian(at);
        let normal = cross(&apply(&jacobian, self.first), &apply(&jacobian, self.second));
        let inward = apply(&jacobian, shape.to_centre(at));
        let along: f64 = (0..3).map(|d| normal[d] * inward[d]).sum();
        if along < 0.0 { normal.map(|x| -x) } else { normal }
    }

    /// An upper bound of the area for a unit of parametric coordinates: the value of an affine cell,
    /// otherwise the product of bounds of both tangents (Hadamard).
    fn largest_area(&self, shape: &Shape) -> f64 {
        if shape.kind.is_affine() {
            return shape.face_scale() * length(self.normal(shape, self.start));
        }
        let columns = shape.column_hull();
        let longest = |direction: [f64; 3]| {
            let lengths = columns.iter().map(|jacobian| length(apply(jacobian, direction)));
            lengths.fold(0.0, f64::max)
        };
        shape.face_scale() * longest(self.first) * longest(self.second)
    }
}

impl Shape {
    /// Converts areas of faces (lengths of edges) relative to the size.
    fn face_scale(&self) -> f64 {
        self.size.powi(self.kind.dimension() as i32 - 1)
    }

    /// The vector from parametric coordinates to the cell's centre.
    fn to_centre(&self, at: [f64; 3]) -> [f64; 3] {
        let centre = self.kind.centre();
        [0, 1, 2].map(|k| centre[k] - at[k])
    }
}

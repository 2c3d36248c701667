//! Division of quadratic wedges and pyramids, and of cells with nodes in the middle of their faces, into quadratic
//! tetrahedra and triangles.

use std::collections::HashMap;

use super::polygon::volume;
use super::{Splitter, kind};

/// The corners of each edge of a quadratic wedge, in the order of its midpoints.
const WEDGE_EDGES: [[usize; 2]; 9] =
    [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]];

/// The four-sided faces of a wedge.
const WEDGE_QUADS: [[usize; 4]; 3] = [[0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]];

/// The corners of each edge of a quadratic hexahedron, in the order of its midpoints.
const HEXAHEDRON_EDGES: [[usize; 2]; 12] = [
    [0, 1],
    [1, 2],
    [2, 3],
    [3, 0],
    [4, 5],
    [5, 6],
    [6, 7],
    [7, 4],
    [0, 4],
    [1, 5],
    [2, 6],
    [3, 7],
];

/// The faces of a hexahedron, in the order of the nodes in their middle.
const HEXAHEDRON_QUADS: [[usize; 4]; 6] =
    [[0, 3, 7, 4], [1, 2, 6, 5], [0, 1, 5, 4], [3, 2, 6, 7], [0, 1, 2, 3], [4, 5, 6, 7]];

/// The corner opposite to each corner of a hexahedron.
const OPPOSITE: [usize; 8] = [6, 7, 4, 5, 2, 3, 0, 1];

/// The corners of each edge of a quadratic pyramid, in the order of its midpoints.
const PYRAMID_EDGES: [[usize; 2]; 8] =
    [[0, 1], [1, 2], [2, 3], [3, 0], [0, 4], [1, 4], [2, 4], [3, 4]];

/// The edges of a tetrahedron, in the order of the midpoints of a quadratic one.
const TETRA_EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// The points added in the middle of four-sided faces, by the corners of the face.
#[derive(Debug, Default)]
pub(super) struct Midpoints {
    of_faces: HashMap<[u32; 4], u32>,
}

/// A quadratic cell: its corners, and the midpoint between two of them.
struct Quadratic {
    corners: Vec<u32>,
    midpoints: Vec<([usize; 2], u32)>,
}

impl Quadratic {
    fn new(points: &[u32], corners: usize, edges: &[[usize; 2]]) -> Result<Self, String> {
        let (corners, midpoints) =
            points.split_at_checked(corners).ok_or("it has too few points")?;
        let midpoints = edges.iter().copied().zip(midpoints.iter().copied()).collect();
        Ok(Self { corners: corners.to_vec(), midpoints })
    }

    fn midpoint(&self, a: usize, b: usize) -> Option<u32> {
        let found =
            self.midpoints.iter().find(|([c, d], _)| [*c, *d] == [a, b] || [*d, *c] == [a, b]);
        found.map(|(_, midpoint)| *midpoint)
    }
}

impl Splitter<'_> {
    /// Divides a quad with a node in its middle into two triangles.
    pub(super) fn add_biquadratic_quad(&mut self, points: &[u32]) -> Result<(), String> {
        let quad = [0, 1, 2, 3];
        let mut cell = Quadratic::new(points, 4, &HEXAHEDRON_EDGES[..4])?;
        self.add_diagonal(&mut cell, quad, points.get(8).copied())?;
        self.triangles(&cell, quad).into_iter().try_for_each(|triangle| {
            let [a, b, c] = triangle;
            self.add_quadratic(
                kind::QUADRATIC_TRIANGLE,
                &cell,
                &triangle,
                &[[a, b], [b, c], [c, a]],
            )
        })
    }

    /// Divides a hexahedron with nodes in the middle of its faces and of itself into six tetrahedra, around the corner
    /// with the smallest coordinates.
    pub(super) fn add_triquadratic_hexahedron(&mut self, points: &[u32]) -> Result<(), String> {
        let mut cell = Quadratic::new(points, 8, &HEXAHEDRON_EDGES)?;
        let [centres @ .., middle] = points.get(20..).unwrap_or_default() else {
            return Err("it has too few points".to_owned());
        };
        for (quad, centre) in HEXAHEDRON_QUADS.into_iter().zip(centres) {
            self.add_diagonal(&mut cell, quad, Some(*centre))?;
        }
        let first = self.smallest(&cell, &[0, 1, 2, 3, 4, 5, 6, 7]);
        cell.midpoints.push(([first, OPPOSITE[first]], *middle));
        for quad in HEXAHEDRON_QUADS.into_iter().filter(|quad| !quad.contains(&first)) {
            for [a, b, c] in self.triangles(&cell, quad) {
                self.add_quadratic_tetra(&cell, [a, b, c, first])?;
            }
        }
        Ok(())
    }

    /// Divides a quadratic wedge into three tetrahedra; it may have nodes in the middle of its four-sided faces. Each
    /// of these is divided along the diagonal from its corner with the smallest coordinates.
    pub(super) fn add_quadratic_wedge(&mut self, points: &[u32]) -> Result<(), String> {
        let mut cell = Quadratic::new(points, 6, &WEDGE_EDGES)?;
        for (i, quad) in WEDGE_QUADS.into_iter().enumerate() {
            self.add_diagonal(&mut cell, quad, points.get(15 + i).copied())?;
        }
        // Turned so that the smallest corner is the first one.
        let first = self.smallest(&cell, &[0, 1, 2, 3, 4, 5]);
        let [i, j, k] = [first % 3, (first + 1) % 3, (first + 2) % 3];
        let turned = match first < 3 {
            true => [i, j, k, 3 + i, 3 + j, 3 + k],
            false => [3 + i, 3 + k, 3 + j, i, k, j],
        };
        let smallest = self.smallest(&cell, &[turned[1], turned[2], turned[5], turned[4]]);
        let tetrahedra = match smallest == turned[1] || smallest == turned[5] {
            true => [[0, 1, 2, 5], [0, 1, 5, 4], [0, 4, 5, 3]],
            false => [[0, 1, 2, 4], [0, 4, 2, 5], [0, 4, 5, 3]],
        };
        tetrahedra.into_iter().try_for_each(|tetra| {
            self.add_quadratic_tetra(&cell, tetra.map(|corner| turned[corner]))
        })
    }

    /// Divides a quadratic pyramid into two tetrahedra.
    pub(super) fn add_quadratic_pyramid(&mut self, points: &[u32]) -> Result<(), String> {
        let mut cell = Quadratic::new(points, 5, &PYRAMID_EDGES)?;
        self.add_diagonal(&mut cell, [0, 1, 2, 3], None)?;
        let bases = self.triangles(&cell, [0, 1, 2, 3]);
        bases.into_iter().try_for_each(|[a, b, c]| self.add_quadratic_tetra(&cell, [a, b, c, 4]))
    }

    /// The triangles of a four-sided face, on both sides of the diagonal from its smallest corner.
    fn triangles(&self, cell: &Quadratic, quad: [usize; 4]) -> [[usize; 3]; 2] {
        let [a, b, c, d] = quad;
        match self.smallest(cell, &quad) {
            first if first == a || first == c => [[a, b, c], [a, c, d]],
            _ => [[a, b, d], [b, c, d]],
        }
    }

    /// The corner with the smallest coordinates among some corners of a cell.
    fn smallest(&self, cell: &Quadratic, among: &[usize]) -> usize {
        let at = |corner: usize| cell.corners.get(corner).map(|point| self.position(*point));
        let smaller = |a: &usize, b: &usize| at(*a).partial_cmp(&at(*b));
        let found = among.iter().copied();
        let found = found.min_by(|a, b| smaller(a, b).unwrap_or(std::cmp::Ordering::Equal));
        found.unwrap_or(0)
    }

    /// Adds the midpoint of the diagonal of a four-sided face: the node in the middle of the face or, if it has none,
    /// the value of its eight shape functions there, -1/4 for each corner and 1/2 for each midpoint of an edge.
    fn add_diagonal(
        &mut self,
        cell: &mut Quadratic,
        quad: [usize; 4],
        centre: Option<u32>,
    ) -> Result<(), String> {
        let midpoint = match centre {
            Some(centre) => centre,
            None => self.add_midpoint(cell, quad)?,
        };
        let [a, b, c, d] = quad;
        let first = self.smallest(cell, &quad);
        cell.midpoints.push((if first == a || first == c { [a, c] } else { [b, d] }, midpoint));
        Ok(())
    }

    fn add_midpoint(&mut self, cell: &Quadratic, quad: [usize; 4]) -> Result<u32, String> {
        let [a, b, c, d] = quad;
        let edges = [[a, b], [b, c], [c, d], [d, a]];
        let ends = quad.iter().filter_map(|corner| cell.corners.get(*corner).copied());
        let corners: Vec<u32> = ends.collect();
        let middles: Vec<u32> = edges.iter().filter_map(|[a, b]| cell.midpoint(*a, *b)).collect();
        let mut key =
            <[u32; 4]>::try_from(corners.as_slice()).map_err(|_| "it has too few points")?;
        key.sort_unstable();
        let next = self.next_point();
        let midpoint = *self.midpoints.of_faces.entry(key).or_insert(next);
        if midpoint == next {
            let corners = corners.into_iter().map(|point| (point, -0.25));
            self.added.push(corners.chain(middles.into_iter().map(|point| (point, 0.5))));
        }
        Ok(midpoint)
    }

    /// Adds a tetrahedron with these corners of a cell, whose edges all have midpoints.
    fn add_quadratic_tetra(&mut self, cell: &Quadratic, corners: [usize; 4]) -> Result<(), String> {
        let at = |corner: usize| {
            cell.corners.get(corner).map_or([f64::NAN; 3], |point| self.position(*point))
        };
        let [a, b, c, d] = corners;
        let corners = if volume(corners.map(at)) < 0.0 { [b, a, c, d] } else { [a, b, c, d] };
        let edges = TETRA_EDGES.map(|[a, b]| [corners[a], corners[b]]);
        self.add_quadratic(kind::QUADRATIC_TETRA, cell, &corners, &edges)
    }

    /// Adds a quadratic cell of a type with these corners and edges of a cell, whose edges all have midpoints.
    fn add_quadratic(
        &mut self,
        kind: u8,
        cell: &Quadratic,
        corners: &[usize],
        edges: &[[usize; 2]],
    ) -> Result<(), String> {
        let ends = corners.iter().filter_map(|corner| cell.corners.get(*corner).copied());
        let middles = edges.iter().filter_map(|[a, b]| cell.midpoint(*a, *b));
        let points: Vec<u32> = ends.chain(middles).collect();
        if points.len() != corners.len() + edges.len() {
            return Err("it has too few points".to_owned());
        }
        self.cells.push(kind, points);
        Ok(())
    }
}

//! Division of quadratic wedges and pyramids into quadratic tetrahedra.

use std::collections::HashMap;

use super::polygon::volume;
use super::{Splitter, kind};

/// The corners of each edge of a quadratic wedge, in the order of its midpoints.
const WEDGE_EDGES: [[usize; 2]; 9] =
    [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3], [0, 3], [1, 4], [2, 5]];

/// The four-sided faces of a wedge.
const WEDGE_QUADS: [[usize; 4]; 3] = [[0, 1, 4, 3], [1, 2, 5, 4], [2, 0, 3, 5]];

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
    /// Divides a quadratic wedge into three tetrahedra. Each four-sided face is divided along the diagonal
    /// from its corner with the smallest coordinates.
    pub(super) fn add_quadratic_wedge(&mut self, points: &[u32]) -> Result<(), String> {
        let mut cell = Quadratic::new(points, 6, &WEDGE_EDGES)?;
        for quad in WEDGE_QUADS {
            self.add_diagonal(&mut cell, quad)?;
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
        self.add_diagonal(&mut cell, [0, 1, 2, 3])?;
        let tetrahedra = match self.smallest(&cell, &[0, 1, 2, 3]) {
            0 | 2 => [[0, 1, 2, 4], [0, 2, 3, 4]],
            _ => [[0, 1, 3, 4], [1, 2, 3, 4]],
        };
        tetrahedra.into_iter().try_for_each(|tetra| self.add_quadratic_tetra(&cell, tetra))
    }

    /// The corner with the smallest coordinates among some corners of a cell.
    fn smallest(&self, cell: &Quadratic, among: &[usize]) -> usize {
        let at = |corner: usize| cell.corners.get(corner).map(|point| self.position(*point));
        let smaller = |a: &usize, b: &usize| at(*a).partial_cmp(&at(*b));
        let found = among.iter().copied();
        let found = found.min_by(|a, b| smaller(a, b).unwrap_or(std::cmp::Ordering::Equal));
        found.unwrap_or(0)
    }

    /// Adds the midpoint of the diagonal of a four-sided face: the value of its eight shape functions
    /// there, -1/4 for each corner and 1/2 for each midpoint of an edge.
    fn add_diagonal(&mut self, cell: &mut Quadratic, quad: [usize; 4]) -> Result<(), String> {
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
        let diagonal = match self.smallest(cell, &quad) {
            first if first == a || first == c => [a, c],
            _ => [b, d],
        };
        cell.midpoints.push((diagonal, midpoint));
        Ok(())
    }

    /// Adds a tetrahedron with these corners of a cell, whose edges all have midpoints.
    fn add_quadratic_tetra(&mut self, cell: &Quadratic, corners: [usize; 4]) -> Result<(), String> {
        let at = |corner: usize| {
            cell.corners.get(corner).map_or([f64::NAN; 3], |point| self.position(*point))
        };
        let [a, b, c, d] = corners;
        let corners = if volume(corners.map(at)) < 0.0 { [b, a, c, d] } else { [a, b, c, d] };
        let ends = corners.iter().filter_map(|corner| cell.corners.get(*corner).copied());
        let middles =
            TETRA_EDGES.iter().filter_map(|[a, b]| cell.midpoint(corners[*a], corners[*b]));
        let points: Vec<u32> = ends.chain(middles).collect();
        if points.len() != 10 {
            return Err("it has too few points".to_owned());
        }
        self.cells.push(kind::QUADRATIC_TETRA, points);
        Ok(())
    }
}

//! Cells near re-entrant edges and gaps, where a straight path between two cells may leave the mesh.
//!
//! Let a path from A to B, both in the mesh, leave it. It crosses a boundary face at X outwards and, as B is in the
//! mesh, then another one at Y inwards. So a part of each of these faces is beyond the plane of the other: they are
//! [opposed](BoundaryFace::is_opposed_to). If A and B differ by less than a bin of the locator along each axis, so do
//! A, X and Y. Hence a path shorter than a bin stays in the mesh, except from cells within a bin of a face with an
//! opposed face within a bin. Faces that meet in a re-entrant edge are opposed: without opposed faces, every part of
//! the mesh that walks cross is locally convex, thus convex (theorem of Tietze and Nakajima), and paths of any length
//! stay in it.

use super::{bounds::Bounds, locator::Locator, shape::cross, structure::Mesh};
use crate::threads::in_parts;
use crate::vectors::{dot, minus};
use std::mem;

/// Heights above a plane below this part of the coordinates are rounding errors, also those of files in single precision.
const ROUNDING: f64 = 1e-6;

/// A boundary face. An edge of a flat mesh has its corners twice, a triangle its last one.
struct BoundaryFace {
    corners: [[f64; 3]; 4],
    /// The outward normals of the planes of neighbouring edges, at each corner.
    normals: [[f64; 3]; 4],
    /// Heights above the planes that are rounding errors.
    rounding: [f64; 4],
    bounds: Bounds,
    is_curved: bool,
}

impl BoundaryFace {
    fn new(mesh: &Mesh, cell: usize, face: usize) -> Self {
        let (kind, nodes) = (mesh.cells.kinds[cell], mesh.cells.nodes(cell));
        let numbers = kind.table().faces[face];
        let point = |k: usize| mesh.points[nodes[k] as usize];
        let corners = [0, 1, 2, 3].map(|k| point(numbers[k.min(numbers.len() - 1)]));
        let up = [0, 1, 2].map(|d| if mesh.flat == Some(d) { 1.0 } else { 0.0 });
        let inside = [0, 1, 2]
            .map(|d| (0..nodes.len()).map(|k| point(k)[d]).sum::<f64>() / nodes.len() as f64);
        let normals = [0, 1, 2, 3].map(|k| {
            let k = k % numbers.len();
            let [before, next] = [numbers.len() - 1, 1].map(|by| corners[(k + by) % numbers.len()]);
            let along = if numbers.len() == 2 { up } else { minus(before, corners[k]) };
            let normal = cross(&minus(next, corners[k]), &along);
            let sign = -dot(normal, minus(inside, corners[k])).signum();
            normal.map(|x| sign * x)
        });
        let bounds = mesh.corner_bounds(cell, face);
        let scale = [0, 1, 2].map(|d| bounds.low[d].abs() + bounds.high[d].abs());
        let rounding = normals.map(|normal| ROUNDING * dot(normal.map(f64::abs), scale));
        BoundaryFace { corners, normals, rounding, bounds, is_curved: kind.is_quadratic() }
    }

    fn is_opposed_to(&self, other: &Self) -> bool {
        self.is_curved || self.has_beyond(other) && other.has_beyond(self)
    }

    /// Whether a part of another face is beyond the plane of this one.
    fn has_beyond(&self, other: &Self) -> bool {
        let mut planes = self.corners.iter().zip(&self.normals).zip(self.rounding);
        planes.any(|((corner, normal), rounding)| {
            other.corners.iter().any(|point| dot(*normal, minus(*point, *corner)) > rounding)
        })
    }
}

impl Mesh {
    /// A bit for each cell, set near opposed faces; none if there are no such faces.
    pub(super) fn near_reentrant(&self, locator: &Locator) -> Vec<i32> {
        let parts = in_parts(self.cells.len(), |range| {
            let all = range.flat_map(|cell| {
                let faces = 0..self.neighbours(cell).len();
                faces.filter(move |face| self.link(cell, *face) < 0).map(move |face| (cell, face))
            });
            let volume = all.filter(|(cell, _)| !self.boxes[*cell].is_empty());
            volume.map(|(cell, face)| BoundaryFace::new(self, cell, face)).collect::<Vec<_>>()
        });
        let faces: Vec<BoundaryFace> = parts.into_iter().flatten().collect();
        let by_bin = locator.with_boxes(faces.iter().map(|face| face.bounds));
        let around = |face: &BoundaryFace| locator.widened_by_a_bin(&face.bounds);
        let opposed = in_parts(faces.len(), |range| {
            // A face in several bins is compared once.
            let mut compared_with = vec![u32::MAX; faces.len()];
            let mut is_opposed = |index: usize, around: &Bounds| {
                by_bin.any_near(around, |other| {
                    mem::replace(&mut compared_with[other], index as u32) != index as u32
                        && faces[index].is_opposed_to(&faces[other])
                })
            };
            let all = range.map(|index| (index, around(&faces[index])));
            all.filter_map(|(index, around)| is_opposed(index, &around).then_some(around))
                .collect::<Vec<_>>()
        });
        let mut bits = Vec::new();
        for bounds in opposed.iter().flatten() {
            bits.resize(self.cells.len().div_ceil(32), 0);
            locator.any_near(bounds, |cell| {
                bits[cell / 32] |= 1 << (cell % 32);
                false
            });
        }
        bits
    }
}

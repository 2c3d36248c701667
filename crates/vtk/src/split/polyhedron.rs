//! Division of polyhedra.

use std::collections::HashMap;

use super::convex::hull;
use super::polygon::{Polygon, volume};
use super::{Splitter, kind};

impl Splitter<'_> {
    /// Divides a polyhedron with these faces: each triangle of a face forms a tetrahedron with the mean of
    /// the points. Convex four-sided faces form a pyramid where other cells can have such faces, which
    /// stay whole. The polyhedron must be star-shaped around the mean, as convex ones are.
    pub(super) fn add_polyhedron<'f>(
        &mut self,
        faces: impl Iterator<Item = &'f [u32]>,
    ) -> Result<(), String> {
        let faces: Vec<&[u32]> = faces.collect();
        if faces.len() < 4 {
            return Err("it is a polyhedron whose faces are missing; write the data set as a .vtu"
                .to_owned());
        }
        let mut points: Vec<u32> = faces.iter().flat_map(|face| face.iter().copied()).collect();
        points.sort_unstable();
        points.dedup();
        let weight = 1.0 / points.len() as f64;
        let apex = self.next_point();
        self.added.push(points.iter().map(|point| (*point, weight)));
        let mut centre = [0.0; 3];
        for point in &points {
            let position = self.position(*point);
            centre = [0, 1, 2].map(|d| centre[d] + weight * position[d]);
        }
        let mut volumes = Vec::with_capacity(faces.len());
        for face in &faces {
            let polygon = Polygon::new(face, |point| self.position(point))?;
            let triangles = polygon.triangles();
            volumes.push(triangles.iter().map(|base| self.volume(*base, centre)).collect());
            match *face {
                &[a, b, c, d] if self.keeps_quads && polygon.is_convex() => {
                    let is_facing = self.volume([a, b, c], centre) > 0.0;
                    let base = if is_facing { [a, b, c, d] } else { [d, c, b, a] };
                    self.cells.push(kind::PYRAMID, base.into_iter().chain([apex]));
                }
                _ => {
                    for [a, b, c] in triangles {
                        let is_facing = self.volume([a, b, c], centre) > 0.0;
                        let base = if is_facing { [a, b, c] } else { [c, b, a] };
                        self.cells.push(kind::TETRA, base.into_iter().chain([apex]));
                    }
                }
            }
        }
        self.overlapping += usize::from(overlaps(&faces, &volumes));
        Ok(())
    }

    /// Divides a convex point set, as the polyhedron of its points.
    pub(super) fn add_convex(&mut self, corners: &[u32]) -> Result<(), String> {
        let positions: Vec<[f64; 3]> = corners.iter().map(|point| self.position(*point)).collect();
        let faces = hull(&positions)?;
        let faces: Vec<Vec<u32>> =
            faces.iter().map(|face| face.iter().map(|i| corners[*i]).collect()).collect();
        self.add_polyhedron(faces.iter().map(Vec::as_slice))
    }

    /// Six times the volume of the tetrahedron of a triangle and a position, from which the triangle turns
    /// counterclockwise if it is positive.
    fn volume(&self, [a, b, c]: [u32; 3], from: [f64; 3]) -> f64 {
        volume([self.position(a), self.position(b), self.position(c), from])
    }
}

/// Volumes of the opposite sign that are rounding, relative to the polyhedron.
const ROUNDING: f64 = 1e-9;

/// Whether the parts of a polyhedron overlap: whether the volumes of the tetrahedra of its faces, all turned
/// to the outside, have different signs.
fn overlaps(faces: &[&[u32]], volumes: &[Vec<f64>]) -> bool {
    let is_mixed = |signs: &[f64]| {
        let signed =
            volumes.iter().zip(signs).flat_map(|(all, sign)| all.iter().map(move |v| v * sign));
        let sums =
            signed.fold([0.0, 0.0], |[low, high], v: f64| [low - v.min(0.0), high + v.max(0.0)]);
        sums[0].min(sums[1]) > ROUNDING * (sums[0] + sums[1])
    };
    // Writers usually turn all faces to the outside.
    is_mixed(&vec![1.0; faces.len()]) && is_mixed(&turns(faces))
}

/// 1 or -1 for each face of a polyhedron, so that neighbours pass their edge in opposite directions.
fn turns(faces: &[&[u32]]) -> Vec<f64> {
    let edges = |face: &[u32]| -> Vec<[u32; 2]> {
        let next = face.iter().cycle().skip(1);
        face.iter().zip(next).map(|(a, b)| [*a, *b]).collect()
    };
    let mut of_edges: HashMap<[u32; 2], Vec<(usize, bool)>> = HashMap::new();
    for (number, face) in faces.iter().enumerate() {
        for [a, b] in edges(face) {
            of_edges.entry([a.min(b), a.max(b)]).or_default().push((number, a < b));
        }
    }
    let mut signs = vec![0.0; faces.len()];
    for first in 0..faces.len() {
        if signs[first] != 0.0 {
            continue;
        }
        signs[first] = 1.0;
        let mut reached = vec![first];
        while let Some(face) = reached.pop() {
            for [a, b] in edges(faces[face]) {
                for &(other, is_up) in &of_edges[&[a.min(b), a.max(b)]] {
                    if signs[other] == 0.0 {
                        signs[other] = if is_up == (a < b) { -signs[face] } else { signs[face] };
                        reached.push(other);
                    }
                }
            }
        }
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::super::split;
    use crate::cells::{CellArray, Polyhedra};

    /// Number of overlapping polyhedra: one with these faces.
    fn overlapping(points: &[[f64; 3]], faces: &[Vec<u32>]) -> usize {
        let mut cells = CellArray::empty();
        cells.push(42, 0..points.len() as u32);
        let polyhedra = Polyhedra::of(&[faces.to_vec()]);
        let split = split(cells, &polyhedra, points).unwrap_or_else(|e| panic!("{}", e.reason));
        split.overlapping
    }

    /// A prism over a polygon of the plane.
    fn prism(corners: &[[f64; 2]]) -> (Vec<[f64; 3]>, Vec<Vec<u32>>) {
        let n = corners.len() as u32;
        let at = |z: f64| corners.iter().map(move |[x, y]| [*x, *y, z]);
        let points = at(0.0).chain(at(1.0)).collect();
        let mut faces: Vec<Vec<u32>> = vec![(0..n).rev().collect(), (n..2 * n).collect()];
        faces.extend((0..n).map(|i| vec![i, (i + 1) % n, n + (i + 1) % n, n + i]));
        (points, faces)
    }

    #[test]
    fn polyhedra_that_are_not_star_shaped_are_counted() {
        let square = prism(&[[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert_eq!(overlapping(&square.0, &square.1), 0);
        // The direction of a face does not matter.
        let mut turned = square.1;
        turned[1].reverse();
        turned[3].reverse();
        assert_eq!(overlapping(&square.0, &turned), 0);
        // An L with a thick corner contains the mean in its kernel; one with thin legs does not.
        let l = |t: f64| prism(&[[0.0, 0.0], [1.0, 0.0], [1.0, t], [t, t], [t, 1.0], [0.0, 1.0]]);
        let (thick, thin) = (l(0.8), l(0.1));
        assert_eq!(overlapping(&thick.0, &thick.1), 0);
        assert_eq!(overlapping(&thin.0, &thin.1), 1);
        let mut turned = thin.1;
        turned[0].reverse();
        turned[4].reverse();
        assert_eq!(overlapping(&thin.0, &turned), 1);
    }
}

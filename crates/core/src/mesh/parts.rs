//! Parts of a mesh's boundary between sharp edges.

use super::structure::Mesh;
use std::collections::HashMap;

/// The cosine of the angle between the normals of two faces at a sharp edge.
const SHARP: f64 = 0.7;

/// A boundary face: its cell, and its number there.
pub(crate) type OpenFace = (usize, usize);

impl Mesh {
    /// Boundary faces in parts that are connected by edges (in two dimensions by points), across which the normal turns by less
    /// than 45 degrees.
    pub(crate) fn smooth_parts(&self, faces: &[OpenFace]) -> Vec<Vec<OpenFace>> {
        let normals: Vec<[f64; 3]> = faces.iter().map(|face| self.outward(*face)).collect();
        let mut parts = Parts::new(faces.len());
        let mut edges: HashMap<[u32; 2], usize> = HashMap::new();
        for (number, (cell, face)) in faces.iter().enumerate() {
            let corners = self.face_corners(*cell, *face);
            let next = corners.iter().cycle().skip(1);
            let of_face = corners.iter().zip(next).map(|(a, b)| match corners.len() {
                2 => [*a, *a],
                _ => [*a.min(b), *a.max(b)],
            });
            for edge in of_face {
                let Some(other) = edges.insert(edge, number) else { continue };
                let cosine: f64 = (0..3).map(|d| normals[number][d] * normals[other][d]).sum();
                if cosine > SHARP {
                    parts.join(number, other);
                }
            }
        }
        let mut found: HashMap<usize, Vec<OpenFace>> = HashMap::new();
        for (number, face) in faces.iter().enumerate() {
            found.entry(parts.root(number)).or_default().push(*face);
        }
        let mut found: Vec<(usize, Vec<OpenFace>)> = found.into_iter().collect();
        found.sort_unstable_by_key(|(root, _)| *root);
        found.into_iter().map(|(_, part)| part).collect()
    }

    /// The mean unit normal of a face, out of the mesh.
    fn outward(&self, (cell, face): OpenFace) -> [f64; 3] {
        let mut sum = [0.0; 3];
        for point in self.face_points(cell, face) {
            sum = [0, 1, 2].map(|d| sum[d] + point.area[d]);
        }
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        sum.map(|x| x / length)
    }
}

/// Sets that are joined two by two (union-find).
struct Parts(Vec<usize>);

impl Parts {
    fn new(count: usize) -> Self {
        Parts((0..count).collect())
    }

    /// The smallest number of the set.
    fn root(&mut self, mut number: usize) -> usize {
        while self.0[number] != number {
            self.0[number] = self.0[self.0[number]];
            number = self.0[number];
        }
        number
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

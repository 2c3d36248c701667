//! Division of polyhedra.

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
            return Err(
                "it is a polyhedron whose faces are missing; write the data set as a .vtu \
                        with one piece per file"
                    .to_owned(),
            );
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
        for face in faces {
            let polygon = Polygon::new(face, |point| self.position(point))?;
            match face {
                &[a, b, c, d] if self.keeps_quads && polygon.is_convex() => {
                    let base = self.facing([a, b, c], centre);
                    let base = if base { [a, b, c, d] } else { [d, c, b, a] };
                    self.cells.push(kind::PYRAMID, base.into_iter().chain([apex]));
                }
                _ => {
                    for [a, b, c] in polygon.triangles() {
                        let base = self.facing([a, b, c], centre);
                        let base = if base { [a, b, c] } else { [c, b, a] };
                        self.cells.push(kind::TETRA, base.into_iter().chain([apex]));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether three points turn counterclockwise, seen from a position.
    fn facing(&self, [a, b, c]: [u32; 3], from: [f64; 3]) -> bool {
        volume([self.position(a), self.position(b), self.position(c), from]) > 0.0
    }
}

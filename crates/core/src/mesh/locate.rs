//! Which cell a position is in: the reference for kernels.

use super::{Mesh, Shape, shape::Answer, survey::nodes};
use burntrace_kernels::MAX_CELL_NODES;

/// A position in a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// The cell.
    pub cell: usize,
    /// Parametric coordinates (r, s, t) in the cell; t is 0 in two dimensions.
    pub coordinates: [f64; 3],
    /// The shares of the cell's nodes, which add up to 1; zeros beyond.
    pub weights: [f64; MAX_CELL_NODES],
}

/// Cells that a walk goes through before it asks the locator.
const HOPS: usize = 64;

impl Mesh {
    /// The cell of a position, or nothing outside of the mesh. A position within 1e-10 of a cell's
    /// size from it, and the rounding of coordinates (those of positions in single precision, where
    /// the mesh is that of a field in single precision), is in it: one on a face, an edge or a
    /// vertex is in each of the cells there, and of these the one with the lowest number counts. In
    /// two dimensions z does not matter.
    pub fn locate(&self, point: [f64; 3]) -> Option<Location> {
        let found = self.search(point, Shape::locate);
        // Where Newton's method comes to an end, it has missed nothing but in folded cells.
        let may_miss = |answer: &Answer| !answer.is_sound || self.counts.folded > 0;
        found.or_else(|| {
            self.search(point, |shape, point| {
                let answer = shape.locate(point);
                if may_miss(&answer) { shape.locate_patiently(point) } else { answer }
            })
        })
    }

    /// The same by a walk from cell to cell, from one on. Where it leaves the mesh, or leads
    /// nowhere, the locator decides: the answer is that of [`Mesh::locate`], except that on a face
    /// it can be any of the cells there.
    pub fn walk(&self, from: usize, point: [f64; 3]) -> Option<Location> {
        let mut cell = from;
        for _ in 0..HOPS {
            let Some(shape) = self.shape(cell) else { break };
            let answer = shape.locate(point);
            if answer.is_inside {
                return Some(self.location(cell, &answer));
            }
            match usize::try_from(self.neighbours(cell)[answer.face]) {
                Ok(next) => cell = next,
                Err(_) => break,
            }
        }
        self.locate(point)
    }

    /// Derivatives of the weights by x, y and z, for a location in this mesh; none by z in two
    /// dimensions.
    pub fn slopes(&self, location: &Location) -> [[f64; 3]; MAX_CELL_NODES] {
        let mut slopes = [[0.0; 3]; MAX_CELL_NODES];
        let map = self.shape(location.cell).and_then(|shape| shape.slopes(location.coordinates));
        if let Some(map) = map {
            let of_kind = self.cells.kinds[location.cell].gradients(location.coordinates);
            for (slope, by_coordinates) in slopes.iter_mut().zip(of_kind) {
                for d in 0..self.dimension {
                    slope[d] = (0..3).map(|k| by_coordinates[k] * map[k][d]).sum();
                }
            }
        }
        slopes
    }

    /// The cell and the face at which a walk from a cell to a position beyond the mesh ends, and a
    /// way from there into the cell, normal to the face and so short that it is next to nothing.
    pub(crate) fn edge(&self, cell: usize, point: [f64; 3]) -> (usize, usize, [f64; 3]) {
        let mut cell = cell;
        for _ in 0..HOPS {
            let Some(shape) = self.shape(cell) else { break };
            let (answer, neighbours) = (shape.locate(point), self.neighbours(cell));
            // In a corner the face that a position is farthest beyond may be that of a neighbour.
            let is_open = |face: usize| neighbours[face] < 0;
            if let Some(face) = self.cells.kinds[cell].beyond(answer.at, is_open) {
                return (cell, face, shape.inward(answer.at, face));
            }
            match usize::try_from(neighbours[answer.face]) {
                Ok(next) => cell = next,
                Err(_) => return (cell, answer.face, shape.inward(answer.at, answer.face)),
            }
        }
        (cell, 0, [0.0; 3])
    }

    fn search(
        &self,
        point: [f64; 3],
        look: impl Fn(&Shape, [f64; 3]) -> Answer,
    ) -> Option<Location> {
        let near = self.locator.near(point).iter().map(|cell| *cell as usize);
        for cell in near.filter(|cell| self.boxes[*cell].contains(point, self.dimension)) {
            let answer = self.shape(cell).map(|shape| look(&shape, point));
            if let Some(answer) = answer.filter(|answer| answer.is_inside) {
                return Some(self.location(cell, &answer));
            }
        }
        None
    }

    /// Nothing where the cell has no volume, or there is none of this number.
    fn shape(&self, cell: usize) -> Option<Shape> {
        if self.boxes.get(cell)?.is_empty() {
            return None;
        }
        let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
        let nodes = nodes(&self.points, &self.cells, cell, &mut buffer);
        Shape::new(self.cells.kinds[cell], nodes, self.locator.precision)
    }

    fn location(&self, cell: usize, answer: &Answer) -> Location {
        let weights = self.cells.kinds[cell].weights(answer.at);
        Location { cell, coordinates: answer.at, weights }
    }
}

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
    /// size from it, and the rounding of coordinates, is in it: one on a face, an edge or a
    /// vertex is in each of the cells there, and of these the one with the lowest number counts. In
    /// two dimensions z does not matter.
    pub fn locate(&self, point: [f64; 3]) -> Option<Location> {
        let found = self.search(point, Shape::locate);
        found.or_else(|| self.search(point, Shape::locate_patiently))
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
        Shape::new(self.cells.kinds[cell], nodes(&self.points, &self.cells, cell, &mut buffer))
    }

    fn location(&self, cell: usize, answer: &Answer) -> Location {
        let weights = self.cells.kinds[cell].weights(answer.at);
        Location { cell, coordinates: answer.at, weights }
    }
}

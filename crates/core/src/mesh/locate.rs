//! Location of positions in a mesh: the reference for the kernels.

use super::{
    shape::{Answer, Shape},
    structure::Mesh,
    survey::nodes,
};
use crate::field::measured;
use burntrace_kernels::MAX_CELL_NODES;

/// The location of a position in a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// Index of the cell.
    pub cell: usize,
    /// Parametric coordinates (r, s, t) in the cell; t is 0 in two dimensions.
    pub coordinates: [f64; 3],
    /// Values of the shape functions of the cell's nodes, with a sum of 1; the rest are zeros.
    pub weights: [f64; MAX_CELL_NODES],
}

/// Maximum number of cells in a walk before it uses the locator.
const MAX_CELLS: usize = 64;

impl Mesh {
    /// Locates a position, or returns `None` outside the mesh. A cell includes positions within
    /// 1e-10 of its size and the rounding of coordinates (in single precision for the mesh of a
    /// field in single precision). A position on a face, an edge or a vertex belongs to the
    /// adjacent cell with the lowest index. In two dimensions
    /// the coordinate along the flat axis is ignored.
    pub fn locate(&self, point: [f64; 3]) -> Option<Location> {
        self.locate_from_origin(self.measured(point))
    }

    /// As [`locate`](Mesh::locate), for a position measured from the origin.
    pub(crate) fn locate_from_origin(&self, point: [f64; 3]) -> Option<Location> {
        let found = self.search(point, Shape::locate);
        // If Newton's method converges, it can miss a position only in folded cells.
        let may_miss = |answer: &Answer| !answer.has_converged || self.counts.folded > 0;
        found.or_else(|| {
            self.search(point, |shape, point| {
                let answer = shape.locate(point);
                if may_miss(&answer) { shape.locate_from_several_starts(point) } else { answer }
            })
        })
    }

    /// Locates a position by a walk from cell to cell, starting at `from`. If the walk leaves the
    /// mesh or does not arrive, the locator is used. The result is the same as with
    /// [`Mesh::locate`], except that a position on a face can be in any of the adjacent cells.
    pub fn walk(&self, from: usize, point: [f64; 3]) -> Option<Location> {
        self.walk_from_origin(from, self.measured(point))
    }

    /// A position measured from the origin.
    fn measured(&self, point: [f64; 3]) -> [f64; 3] {
        measured(self.origin, point)
    }

    /// As [`walk`](Mesh::walk), for a position measured from the origin.
    pub(crate) fn walk_from_origin(&self, from: usize, point: [f64; 3]) -> Option<Location> {
        let mut cell = from;
        for _ in 0..MAX_CELLS {
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
        self.locate_from_origin(point)
    }

    /// Gradients of the shape functions at a location in this mesh; in two dimensions, the
    /// component along the flat axis is zero.
    pub fn weight_gradients(&self, location: &Location) -> [[f64; 3]; MAX_CELL_NODES] {
        let mut gradients = [[0.0; 3]; MAX_CELL_NODES];
        let map = self.coordinate_gradients(location);
        let of_kind = self.cells.kinds[location.cell].gradients(location.coordinates);
        for (gradient, by_coordinates) in gradients.iter_mut().zip(of_kind) {
            for d in self.axes() {
                gradient[d] = (0..3).map(|k| by_coordinates[k] * map[k][d]).sum();
            }
        }
        gradients
    }

    /// Gradients of the coordinates at a location in this mesh, a row for each; zeros if the cell has no extent there.
    pub(crate) fn coordinate_gradients(&self, location: &Location) -> [[f64; 3]; 3] {
        let map = self.shape(location.cell).and_then(|shape| shape.gradients(location.coordinates));
        map.unwrap_or_default()
    }

    /// The position of a location, measured from the origin.
    pub(crate) fn position(&self, location: &Location) -> [f64; 3] {
        self.shape(location.cell).map_or([f64::NAN; 3], |shape| shape.point(location.coordinates))
    }

    fn search(
        &self,
        point: [f64; 3],
        locate: impl Fn(&Shape, [f64; 3]) -> Answer,
    ) -> Option<Location> {
        let near = self.locator.near(point).iter().map(|cell| *cell as usize);
        for cell in near.filter(|cell| self.boxes[*cell].contains(point, self.flat)) {
            let answer = self.shape(cell).map(|shape| locate(&shape, point));
            if let Some(answer) = answer.filter(|answer| answer.is_inside) {
                return Some(self.location(cell, &answer));
            }
        }
        None
    }

    /// `None` if the cell has no volume or does not exist.
    pub(super) fn shape(&self, cell: usize) -> Option<Shape> {
        if self.boxes.get(cell)?.is_empty() {
            return None;
        }
        let mut buffer = [[0.0; 3]; MAX_CELL_NODES];
        let nodes = nodes(&self.points, &self.cells, cell, &mut buffer);
        Shape::new(self.cells.kinds[cell], nodes, self.flat, self.locator.precision)
    }

    fn location(&self, cell: usize, answer: &Answer) -> Location {
        let weights = self.cells.kinds[cell].weights(answer.at);
        Location { cell, coordinates: answer.at, weights }
    }
}

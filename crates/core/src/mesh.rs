//! Meshes: cells of any kind, the cells beyond their faces, and how the cell of a position is found.
//!
//! What kernels do with a mesh is told by its tables (`CellKind::table`), its connectivity, its
//! neighbours and its [`Locator`]. [`Mesh::locate`] is the reference that they are held against.

mod bounds;
mod input;
mod locate;
mod locator;
mod merge;
mod neighbours;
mod order;
pub(crate) mod records;
mod shape;
mod survey;
mod threads;

pub use bounds::Bounds;
pub use input::Cells;
pub use locate::Location;
pub use locator::Locator;
pub use order::Origins;

use crate::{Precision, Result};
use input::{check_plane, check_points};
use merge::{merge, tolerance};
use shape::Shape;

/// What a mesh consists of, beside sound cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshCounts {
    /// Points that became one with an earlier point.
    pub merged: usize,
    /// Cells without area or volume. No position is in them.
    pub degenerate: usize,
    /// Cells turned the other way than most of their kind. They are as good as the others: neither
    /// is one way right for cells in a plane, nor are files of one mind about wedges.
    pub inverted: usize,
    /// Cells turned one way in one part and the other way in another, as a quadrilateral with
    /// crossed sides or a notch. A position can have two places in such a cell, and one is found.
    pub folded: usize,
    /// Faces with a cell on one side only.
    pub open_faces: usize,
    /// Faces at which more than two cells meet. None of these is the neighbour of another.
    pub crowded_faces: usize,
}

/// A mesh of cells of one dimension.
///
/// Points that coincide are one: pieces of a file meet. Two points coincide where none of their
/// coordinates differs by more than 10^-5 of the middle length of the mesh's edges, nor by more
/// than a tenth of its shortest edge, an edge below 10^-9 of the middle length not counted.
#[derive(Clone, Debug)]
pub struct Mesh {
    points: Vec<[f64; 3]>,
    cells: Cells,
    merged: Vec<u32>,
    first: Vec<u32>,
    tolerance: f64,
    dimension: usize,
    face_starts: Vec<u32>,
    neighbours: Vec<i32>,
    boxes: Vec<Bounds>,
    locator: Locator,
    counts: MeshCounts,
}

impl Mesh {
    /// A mesh from points and cells.
    ///
    /// # Errors
    ///
    /// [`Error::Mesh`](crate::Error::Mesh) where there are no cells, offsets or connectivity do not
    /// fit, a point is nowhere, cells have different dimensions, or two-dimensional cells are not
    /// in one plane z = const. Damaged cells are no error: they are [counted](Mesh::counts).
    pub fn new(points: &[[f64; 3]], cells: Cells) -> Result<Self> {
        Mesh::build(points, cells, Precision::F64)
    }

    /// A mesh for positions that have been rounded to a precision: on a face is who may be there.
    fn build(points: &[[f64; 3]], mut cells: Cells, precision: Precision) -> Result<Self> {
        let dimension = cells.check(points.len())?;
        check_points(points)?;
        if dimension == 2 {
            check_plane(points, &cells)?;
        }
        let tolerance = tolerance(points, &cells);
        let merged = merge(points, tolerance);
        tracing::debug!(points = points.len(), different = merged.points.len(), "merged");
        for node in &mut cells.connectivity {
            *node = merged.map[*node as usize];
        }
        let neighbours = neighbours::neighbours(&cells, merged.points.len());
        tracing::debug!(open = neighbours.open, "neighbours");
        let survey = survey::survey(&merged.points, &cells, precision);
        let locator = Locator::new(&survey.boxes, dimension, precision);
        tracing::debug!(bins = ?locator.bins, entries = locator.cells.len(), "locator");
        let counts = MeshCounts {
            merged: points.len() - merged.points.len(),
            degenerate: survey.degenerate,
            inverted: survey.inverted,
            folded: survey.folded,
            open_faces: neighbours.open,
            crowded_faces: neighbours.crowded,
        };
        Ok(Mesh {
            points: merged.points,
            cells,
            merged: merged.map,
            first: merged.first,
            tolerance,
            dimension,
            face_starts: neighbours.starts,
            neighbours: neighbours.cells,
            boxes: survey.boxes,
            locator,
            counts,
        })
    }

    /// Where its different points are.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Its cells, by the numbers of its different points.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The number among [`Mesh::points`] of each point that was given.
    pub fn merged(&self) -> &[u32] {
        &self.merged
    }

    /// The first of the given points that each of [`Mesh::points`] stands for.
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// The greatest difference of a coordinate between points that are one, in the data's unit of
    /// length.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// 2 or 3.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The cell beyond each face of a cell, or -1, in the order of its kind's faces.
    pub fn neighbours(&self, cell: usize) -> &[i32] {
        let [start, end] = [cell, cell + 1].map(|k| self.face_starts[k] as usize);
        &self.neighbours[start..end]
    }

    /// The neighbours of all cells, cell by cell.
    pub fn all_neighbours(&self) -> &[i32] {
        &self.neighbours
    }

    /// Where each cell's faces begin among [`Mesh::all_neighbours`], and the end.
    pub fn face_starts(&self) -> &[u32] {
        &self.face_starts
    }

    /// A box around each cell, with a margin; empty for a cell without area or volume.
    pub fn boxes(&self) -> &[Bounds] {
        &self.boxes
    }

    /// The locator that [`Mesh::locate`] uses.
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    /// A locator for kernels that compute in a precision.
    pub fn locator_in(&self, precision: Precision) -> Locator {
        if precision == self.locator.precision {
            return self.locator.clone();
        }
        Locator::new(&self.boxes, self.dimension, precision)
    }

    /// The most nodes of any of its cells.
    pub fn widest(&self) -> usize {
        self.cells.kinds.iter().map(|kind| kind.nodes()).max().unwrap_or(0)
    }

    /// What there is to say about its points, cells and faces.
    pub fn counts(&self) -> MeshCounts {
        self.counts
    }
}

#[cfg(test)]
mod tests;

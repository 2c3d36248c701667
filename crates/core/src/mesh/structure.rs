//! The structure of a mesh: points, cells, neighbours, boxes and locator.

use super::{
    bounds::Bounds,
    groups::FaceGroup,
    input::{Cells, check_points},
    locator::Locator,
    merge::{Merged, merge, tolerance},
    neighbours, survey,
};
use crate::threads::both;
use crate::{
    Precision, Result,
    field::{bounding_box, measured_from, plain},
};
use burntrace_kernels::FaceTags;
use std::sync::Arc;

/// Number of irregular points, cells and faces of a mesh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeshCounts {
    /// Points merged with an earlier point.
    pub merged: usize,
    /// Cells without area or volume, which contain no position.
    pub degenerate: usize,
    /// Cells with the opposite orientation of most cells of their kind. They are valid: plane cells
    /// have no correct orientation, and files differ in the orientation of wedges.
    pub inverted: usize,
    /// Cells with both orientations, for example a quadrilateral with crossed sides or a notch. A
    /// position can have two locations in such a cell; one of them is found.
    pub folded: usize,
    /// Faces with a cell on one side only.
    pub open_faces: usize,
    /// Faces shared by more than two cells, which are not neighbours of each other.
    pub crowded_faces: usize,
}

/// A mesh of cells of one dimension.
///
/// Coincident points are merged, which connects the pieces of a file; points with velocities on faces connect cells, and stay apart. Points coincide if their
/// coordinates differ by at most 10^-5 of the median edge length and a tenth of the shortest edge.
/// Edges below 10^-9 of the median are ignored.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Relative to the origin.
    pub(super) points: Vec<[f64; 3]>,
    pub(super) origin: [f64; 3],
    pub(super) cells: Cells,
    pub(super) merged: Vec<u32>,
    pub(super) first: Vec<u32>,
    pub(super) tolerance: f64,
    pub(super) dimension: usize,
    pub(super) flat: Option<usize>,
    pub(super) face_starts: Vec<u32>,
    pub(super) neighbours: Vec<i32>,
    pub(super) boxes: Vec<Bounds>,
    pub(super) locator: Locator,
    pub(super) counts: MeshCounts,
    pub(super) groups: Vec<FaceGroup>,
    pub(super) tags: Arc<FaceTags>,
}

/// What the coordinates of a mesh mean.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coordinates {
    /// The precision that positions are rounded to.
    pub precision: Precision,
    /// Whether they are longitudes and latitudes in degrees and heights, which are measured from 0.
    pub is_in_degrees: bool,
    /// Whether coincident points stay apart, as each has numbers of its own: cells are neighbours there all the same.
    pub are_apart: bool,
}

impl Coordinates {
    /// Lengths, where coincident points are one.
    pub fn of(precision: Precision) -> Self {
        Coordinates { precision, is_in_degrees: false, are_apart: false }
    }
}

impl Mesh {
    /// Creates a mesh from points and cells.
    ///
    /// # Errors
    ///
    /// [`Error::Mesh`](crate::Error::Mesh) if there are no cells, if offsets or connectivity are
    /// inconsistent, if a point is not finite, if cells have different dimensions, or if
    /// two-dimensional cells are not in one plane x, y or z = const. Degenerate cells are not an
    /// error: they are [counted](Mesh::counts).
    pub fn new(points: &[[f64; 3]], cells: Cells) -> Result<Self> {
        Mesh::build(points, cells, Coordinates::of(Precision::F64))
    }

    pub(super) fn build(
        points: &[[f64; 3]],
        mut cells: Cells,
        Coordinates { precision, is_in_degrees, are_apart }: Coordinates,
    ) -> Result<Self> {
        check_points(points)?;
        let flat = cells.flat_axis(points)?;
        let dimension = if flat.is_some() { 2 } else { 3 };
        let own = bounding_box(points.iter().copied())?.origin();
        let origin = if is_in_degrees { [0.0; 3] } else { own };
        let points = &measured_from(origin, points)[..];
        let tolerance = tolerance(points, &cells);
        let mut merged = merge(points, tolerance);
        tracing::debug!(points = points.len(), different = merged.points.len(), "merged");
        let apart = are_apart.then(|| cells.clone());
        for node in &mut cells.connectivity {
            *node = merged.map[*node as usize];
        }
        let joined = cells.reduced();
        let different = merged.points.len();
        let apart = apart.filter(|cells| joined.kinds == cells.kinds);
        if apart.is_some() {
            merged = Merged::none(points);
        }
        let (neighbours, (survey, locator)) = both(
            || neighbours::neighbours(&joined, different),
            || {
                let cells = apart.as_ref().unwrap_or(&joined);
                let survey = survey::survey(&merged.points, cells, flat, precision);
                let locator = Locator::new(&survey.boxes, flat, precision);
                (survey, locator)
            },
        );
        let cells = apart.unwrap_or(joined);
        tracing::debug!(open = neighbours.open, "neighbours");
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
            origin,
            cells,
            merged: merged.map,
            first: merged.first,
            tolerance,
            dimension,
            flat,
            face_starts: neighbours.starts,
            neighbours: neighbours.cells,
            boxes: survey.boxes,
            locator,
            counts,
            groups: Vec::new(),
            tags: Arc::default(),
        })
    }

    /// Coordinates of the points, after merging.
    pub fn points(&self) -> impl ExactSizeIterator<Item = [f64; 3]> {
        (0..self.points.len()).map(|index| self.point(index))
    }

    /// Coordinates of the points, measured from the origin.
    pub(crate) fn points_from_origin(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Coordinates of one point.
    pub(crate) fn point(&self, index: usize) -> [f64; 3] {
        self.plain(self.points[index])
    }

    /// A position in the data's coordinates.
    pub(crate) fn plain(&self, position: [f64; 3]) -> [f64; 3] {
        plain(self.origin, position)
    }

    /// The point from which [boxes](Mesh::boxes) and the [locator](Mesh::locator) measure
    /// coordinates; 0 along axes on which the mesh is not far from 0.
    pub fn origin(&self) -> [f64; 3] {
        self.origin
    }

    /// The cells, with indices of [`Mesh::points`].
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The index in [`Mesh::points`] of each given point.
    pub fn merged(&self) -> &[u32] {
        &self.merged
    }

    /// The index of the first given point that was merged into each of [`Mesh::points`].
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// Maximum coordinate difference between merged points, in the data's unit of length.
    pub fn tolerance(&self) -> f64 {
        self.tolerance
    }

    /// The precision that positions are rounded to.
    pub(crate) fn precision(&self) -> Precision {
        self.locator.precision
    }

    /// The dimension, 2 or 3.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The axis normal to the plane of a two-dimensional mesh.
    pub fn flat_axis(&self) -> Option<usize> {
        self.flat
    }

    /// The axes along which the mesh extends.
    pub(crate) fn axes(&self) -> impl Iterator<Item = usize> + use<> {
        let flat = self.flat;
        (0..3).filter(move |d| Some(*d) != flat)
    }

    /// The cell across each face of a cell, or -1, in the order of its kind's faces.
    pub fn neighbours(&self, cell: usize) -> &[i32] {
        let [start, end] = [cell, cell + 1].map(|k| self.face_starts[k] as usize);
        &self.neighbours[start..end]
    }

    /// The neighbours of all cells, cell by cell.
    pub fn all_neighbours(&self) -> &[i32] {
        &self.neighbours
    }

    /// The tags of boundary faces, for their groups.
    pub(crate) fn face_tags(&self) -> &Arc<FaceTags> {
        &self.tags
    }

    /// Start of each cell's faces in [`Mesh::all_neighbours`], followed by its length.
    pub fn face_starts(&self) -> &[u32] {
        &self.face_starts
    }

    /// Bounding box of each cell, with a margin, measured from the [origin](Mesh::origin); empty for
    /// cells without area or volume.
    pub fn boxes(&self) -> &[Bounds] {
        &self.boxes
    }

    /// The locator of [`Mesh::locate`], measured from the [origin](Mesh::origin).
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    /// A locator for kernels in a precision.
    pub fn locator_in(&self, precision: Precision) -> Locator {
        if precision == self.locator.precision {
            return self.locator.clone();
        }
        Locator::new(&self.boxes, self.flat, precision)
    }

    /// Maximum number of nodes of a cell.
    pub fn widest(&self) -> usize {
        self.cells.kinds.iter().map(|kind| kind.nodes()).max().unwrap_or(0)
    }

    /// The smallest extent of a cell on each axis.
    pub(crate) fn smallest_cell(&self) -> [f64; 3] {
        let boxes = self.boxes.iter().filter(|of| !of.is_empty());
        boxes.fold([f64::INFINITY; 3], |smallest, Bounds { low, high }| {
            [0, 1, 2].map(|d| smallest[d].min(high[d] - low[d]))
        })
    }

    /// Number of irregular points, cells and faces.
    pub fn counts(&self) -> MeshCounts {
        self.counts
    }
}

//! The arrays of a field.

use crate::FieldShape;

/// A field's arrays, borrowed from a backend.
pub(crate) struct FieldArrays<'a, F> {
    pub shape: &'a FieldShape,
    /// Groups of four values: `frames` times `groups` times `values_per_frame`, and one more row.
    pub velocity: &'a [[F; 4]],
    pub groups: usize,
    /// Coordinates of a grid's axes or of nodes, or the cell records of a mesh.
    pub coordinates: &'a [F],
    /// Offsets of the nodes of each cell of points, or the connectivity of a mesh.
    pub index: &'a [i32],
}

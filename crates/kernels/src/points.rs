//! The shape of a field on scattered points.

/// How the velocity at a position follows from the nodes near it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighting {
    /// It is that of the nearest node; of several that are equally near, of the one that comes
    /// first in the tensors.
    Nearest,
    /// The mean of the nearest nodes, weighted by `1 / distance^power` (Shepard 1968).
    InverseDistance {
        /// How many nodes, at most [`MAX_NEIGHBOURS`].
        neighbours: usize,
        /// The power of the distance, above zero; 2 is usual.
        power: f64,
    },
}

/// The most nodes that a velocity may be the mean of.
pub const MAX_NEIGHBOURS: usize = 16;

/// The shape of a field on scattered points: what a kernel must know beside the tensors.
///
/// The nodes are sorted by the cells of a lattice over their bounding box, x varying fastest, so
/// that the nodes near a position are found in a few runs of neighbours in memory. A node at `x`
/// is in cell `floor((x - origin) * per_length)` of an axis, in the field's precision, brought
/// into `0 .. cells`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointShape {
    /// How many nodes there are.
    pub count: usize,
    /// Cells per axis, x first.
    pub cells: [usize; 3],
    /// The least corner of the lattice, in the data's unit of length.
    pub origin: [f64; 3],
    /// Cells per unit of length; 0 on a flat axis, on which distances do not count and nothing
    /// moves.
    pub per_length: [f64; 3],
    /// How a velocity follows from the nodes.
    pub weighting: Weighting,
}

/// Numbers beyond the coordinates of the nodes of each axis: infinities, so that a vector of
/// nodes may be read from any one on.
pub const NODE_PADDING: usize = 8;

impl PointShape {
    /// Whether an axis is flat.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.per_length[axis] == 0.0
    }

    /// Where the coordinates of an axis begin among the field's places.
    pub fn axis(&self, axis: usize) -> usize {
        axis * (self.count + NODE_PADDING)
    }

    /// Distance within which the first search for nodes looks, in the data's unit of length: the
    /// longest edge of a cell.
    pub fn reach(&self) -> f64 {
        let edge = |per: &f64| if *per > 0.0 { 1.0 / per } else { 0.0 };
        self.per_length.iter().map(edge).fold(f64::MIN_POSITIVE, f64::max)
    }
}

//! The shape of a field on scattered points.

/// Interpolation of the velocity at a position from nearby nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighting {
    /// The velocity of the nearest node; at equal distance, of the first one in the tensors.
    Nearest,
    /// The mean of the nearest nodes, weighted by `1 / distance^power` (Shepard 1968).
    InverseDistance {
        /// Number of nodes, at most [`MAX_NEIGHBOURS`].
        neighbours: usize,
        /// Power of the distance, above zero; usually 2.
        power: f64,
    },
}

/// Maximum number of nodes in the weighted mean.
pub const MAX_NEIGHBOURS: usize = 16;

/// Shape of a field on scattered points: the metadata that a kernel needs beside the tensors.
///
/// The nodes are sorted by the cells of a lattice over their bounding box, x varying fastest, so
/// that the nodes near a position occupy a few contiguous ranges in memory. A node at `x` is in
/// cell `floor((x - origin) * per_length)` of an axis, in the field's precision, clamped to `0 ..
/// cells`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointShape {
    /// Number of nodes.
    pub count: usize,
    /// Cells per axis, x first.
    pub cells: [usize; 3],
    /// Minimum corner of the lattice, in the data's unit of length.
    pub origin: [f64; 3],
    /// Cells per unit of length; 0 on a flat axis, which distances and motion ignore.
    pub per_length: [f64; 3],
    /// How velocities are interpolated.
    pub weighting: Weighting,
}

/// Padding after the coordinates of each axis: infinities, so that a vector of nodes can be read
/// starting at any node.
pub const NODE_PADDING: usize = 8;

impl PointShape {
    /// Whether an axis is flat.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.per_length[axis] == 0.0
    }

    /// Offset of an axis's coordinates in the field's coordinate tensor.
    pub fn axis(&self, axis: usize) -> usize {
        axis * (self.count + NODE_PADDING)
    }

    /// Initial search radius, in the data's unit of length: the longest edge of a lattice cell.
    pub fn reach(&self) -> f64 {
        let edge = |per: &f64| if *per > 0.0 { 1.0 / per } else { 0.0 };
        self.per_length.iter().map(edge).fold(f64::MIN_POSITIVE, f64::max)
    }
}

//! The shape of a field on scattered points.

use std::ops::Range;

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
///
/// If a cell has more than [`CROWDED`] nodes, the offsets are followed, for each cell, by the index of the
/// first branch of its tree, or -1. After the coordinates are the branches, each
/// [`BRANCH_NUMBERS`] numbers: the minima on x, y and z of the nodes of each of its [`BRANCHES`]
/// children, and then the maxima. The children divide the nodes of a branch evenly ([`branch_part`]), for
/// [`tree_levels`] levels; the branches of a tree follow each other level by level. Trees only save time.
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

/// Maximum number of nodes of a cell without a tree.
pub const CROWDED: usize = 32;

/// Number of children of a branch.
pub const BRANCHES: usize = 8;

/// Length of a branch's record: the corners of its children's boxes.
pub const BRANCH_NUMBERS: usize = 6 * BRANCHES;

/// Maximum number of nodes of a leaf.
const LEAF: usize = 24;

/// Maximum number of levels of branches, as there are less than 2^31 nodes.
pub const MAX_LEVELS: usize = 10;

/// Number of levels of branches in the tree of a cell.
pub fn tree_levels(nodes: usize) -> usize {
    let (mut levels, mut largest) = (1, nodes.div_ceil(BRANCHES));
    while largest > LEAF {
        (levels, largest) = (levels + 1, largest.div_ceil(BRANCHES));
    }
    levels
}

/// The nodes of a child of a branch.
#[inline(always)]
pub fn branch_part(nodes: Range<usize>, child: usize) -> Range<usize> {
    let end = |child: usize| nodes.start + nodes.len() * child / BRANCHES;
    end(child)..end(child + 1)
}

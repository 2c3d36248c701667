//! The shape of a field on a grid.

/// How the nodes of an axis are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// All three axes have a constant spacing: a cell is found by one multiplication.
    Uniform,
    /// Node coordinates are looked up in a table, by bisection.
    Table,
}

/// Where on a grid the velocity is given, and so how it varies within a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// At the nodes: trilinear within a cell.
    Nodes,
    /// In the cells: constant within a cell.
    Cells,
}

/// The shape of a grid: what a kernel must know beside the tensors.
///
/// An axis with one node is flat: positions keep their coordinate on it, and that velocity
/// component is ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridShape {
    /// Nodes per axis, x first.
    pub nodes: [usize; 3],
    /// Coordinates of the first node, in the data's unit of length.
    pub origin: [f64; 3],
    /// Distance between nodes; read where `spacing` is [`Spacing::Uniform`].
    pub pitch: [f64; 3],
    /// How the nodes are spaced.
    pub spacing: Spacing,
    /// Where the velocity is given.
    pub placement: Placement,
}

impl GridShape {
    /// Whether an axis is flat.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.nodes[axis] == 1
    }

    /// Values per axis: nodes, or cells (one on a flat axis).
    pub fn values(&self) -> [usize; 3] {
        match self.placement {
            Placement::Nodes => self.nodes,
            Placement::Cells => self.nodes.map(|n| (n - 1).max(1)),
        }
    }

    /// Values per frame.
    pub fn values_per_frame(&self) -> usize {
        self.values().iter().product()
    }

    /// Distance in memory from a value to the next one along each axis; 0 along a flat axis.
    pub fn strides(&self) -> [usize; 3] {
        let [nx, ny, nz] = self.values();
        let step = |n: usize, stride: usize| if n > 1 { stride } else { 0 };
        [step(nx, 1), step(ny, nx), step(nz, nx * ny)]
    }
}

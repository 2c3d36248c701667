//! The shape of a field on a grid.

/// Spacing of the nodes along the axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// Constant on all three axes: a cell is found by one multiplication.
    Uniform,
    /// Node coordinates from a table, searched by bisection.
    Table,
}

/// Where velocities are stored, which determines their interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// At nodes: trilinear within a cell.
    Nodes,
    /// In cells: constant within a cell.
    Cells,
    /// On the faces of hexahedra with vertical sides, or on the sides of quadrilaterals (Arakawa's C-grid), as
    /// numbers of the nodes: see [`MeshShape`](crate::MeshShape).
    Faces,
}

/// Shape of a grid: the metadata that a kernel needs beside the tensors.
///
/// An axis with one node is flat: positions keep their coordinate on it, and that velocity
/// component is ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GridShape {
    /// Nodes per axis, x first.
    pub nodes: [usize; 3],
    /// Coordinates of the first node, in the data's unit of length.
    pub origin: [f64; 3],
    /// Distance between nodes; the smallest one, unless `spacing` is [`Spacing::Uniform`].
    pub pitch: [f64; 3],
    /// Spacing of the nodes.
    pub spacing: Spacing,
    /// Radius of the sphere, in metres, whose longitudes and latitudes in degrees the first two axes are. Then velocities
    /// are horizontal vectors in space and a fourth component, upwards. `None` in a flat space.
    pub radius: Option<f64>,
    /// Where velocities are stored.
    pub placement: Placement,
}

impl GridShape {
    /// Whether an axis is flat.
    pub fn is_flat(&self, axis: usize) -> bool {
        self.nodes[axis] == 1
    }

    /// Values along each axis: nodes, or cells (one on a flat axis).
    pub fn values(&self) -> [usize; 3] {
        match self.placement {
            Placement::Nodes | Placement::Faces => self.nodes,
            Placement::Cells => self.nodes.map(|n| (n - 1).max(1)),
        }
    }

    /// Values per frame.
    pub fn values_per_frame(&self) -> usize {
        self.values().iter().product()
    }

    /// Offset in memory from a value to the next one along each axis; 0 along a flat axis.
    pub fn strides(&self) -> [usize; 3] {
        let [nx, ny, nz] = self.values();
        let step = |n: usize, stride: usize| if n > 1 { stride } else { 0 };
        [step(nx, 1), step(ny, nx), step(nz, nx * ny)]
    }
}

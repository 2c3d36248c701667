//! The kinds of fields that the fused operation follows.

use crate::{GridShape, MeshShape, PointShape};

/// The shape of a field: what a kernel must know beside the tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldShape {
    /// A grid with axes.
    Grid(GridShape),
    /// Scattered points.
    Points(PointShape),
    /// The cells of a mesh.
    Mesh(MeshShape),
}

impl FieldShape {
    /// Velocities per frame.
    pub fn values_per_frame(&self) -> usize {
        match self {
            FieldShape::Grid(grid) => grid.values_per_frame(),
            FieldShape::Points(points) => points.count,
            FieldShape::Mesh(mesh) => mesh.values,
        }
    }
}

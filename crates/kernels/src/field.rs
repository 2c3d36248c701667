//! The kinds of fields that the fused operation supports.

use crate::{FormulaShape, GridShape, MeshShape, PointShape};

/// Shape of a field: the metadata that a kernel needs beside the tensors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldShape {
    /// A rectilinear grid.
    Grid(GridShape),
    /// Scattered points.
    Points(PointShape),
    /// The cells of a mesh.
    Mesh(MeshShape),
    /// A formula.
    Formula(FormulaShape),
}

impl FieldShape {
    /// Radius of the sphere that it is on; see [`GridShape::radius`].
    pub fn radius(&self) -> Option<f64> {
        match self {
            FieldShape::Grid(grid) => grid.radius,
            FieldShape::Mesh(mesh) => mesh.radius,
            FieldShape::Points(_) | FieldShape::Formula(_) => None,
        }
    }

    /// Number of velocities per frame.
    pub fn values_per_frame(&self) -> usize {
        match self {
            FieldShape::Grid(grid) => grid.values_per_frame(),
            FieldShape::Points(points) => points.count,
            FieldShape::Mesh(mesh) => mesh.values,
            // A placeholder: a formula reads no values.
            FieldShape::Formula(_) => 1,
        }
    }
}

//! The layout of a field's values in memory, as tables describe it.

use crate::{FieldShape, GridShape, MeshShape, PointShape, Weighting};

/// Memory layout of a field.
pub(super) struct Layout {
    pub origin: [f64; 3],
    pub per_length: [f64; 3],
    pub nodes: [usize; 3],
    pub strides: [usize; 3],
    pub reach: f64,
    pub half_power: f64,
}

impl Layout {
    pub fn of(shape: &FieldShape) -> Self {
        match shape {
            FieldShape::Grid(grid) => Layout::of_grid(grid),
            FieldShape::Points(points) => Layout::of_points(points),
            FieldShape::Mesh(mesh) => Layout::of_mesh(mesh),
            FieldShape::Formula(_) => Layout {
                origin: [0.0; 3],
                per_length: [0.0; 3],
                nodes: [1; 3],
                strides: [1; 3],
                reach: 0.0,
                half_power: 0.0,
            },
        }
    }

    fn of_grid(grid: &GridShape) -> Self {
        let per = |d: usize| if grid.is_flat(d) { 0.0 } else { 1.0 / grid.pitch[d] };
        Layout {
            origin: grid.origin,
            per_length: [0, 1, 2].map(per),
            nodes: grid.nodes,
            strides: grid.strides(),
            reach: 0.0,
            half_power: 0.0,
        }
    }

    fn of_points(points: &PointShape) -> Self {
        let [nx, ny, _] = points.cells;
        let half_power = match points.weighting {
            Weighting::Nearest => 0.0,
            Weighting::InverseDistance { power, .. } => 0.5 * power,
        };
        Layout {
            origin: points.origin,
            per_length: points.per_length,
            nodes: points.cells,
            strides: [1, nx, nx * ny],
            reach: points.reach(),
            half_power,
        }
    }

    fn of_mesh(mesh: &MeshShape) -> Self {
        let [nx, ny, _] = mesh.bins;
        Layout {
            origin: mesh.origin,
            per_length: mesh.per_length,
            nodes: mesh.bins,
            strides: [1, nx, nx * ny],
            reach: 0.0,
            half_power: 0.0,
        }
    }
}

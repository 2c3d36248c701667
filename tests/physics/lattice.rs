//! Lattices of hexahedra or quadrilaterals, as ocean models have them, with velocities at nodes or on faces.

use super::common::*;
use burntrace::{CellKind, CellVelocity, FieldOptions, MeshField, Placement, mesh::Cells};

/// A lattice of nodes, and the cells between them.
#[derive(Clone, Debug)]
pub struct Lattice {
    pub nodes: [usize; 3],
    pub points: Vec<[f64; 3]>,
    pub cells: Cells,
}

impl Lattice {
    /// Nodes at the positions of their numbers along the axes; one layer for quadrilaterals.
    pub fn new([nx, ny, nz]: [usize; 3], position: impl Fn([usize; 3]) -> [f64; 3]) -> Self {
        let number = |[i, j, k]: [usize; 3]| (i + nx * (j + ny * k)) as u32;
        let all = |[nx, ny, nz]: [usize; 3]| {
            let of = move |n: usize| [n % nx, n / nx % ny, n / (nx * ny)];
            (0..nx * ny * nz).map(of)
        };
        let mut cells = Cells { offsets: vec![0], ..Cells::default() };
        for [i, j, k] in all([nx - 1, ny - 1, nz.max(2) - 1]) {
            let corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]];
            let layers = if nz == 1 { 0..1 } else { 0..2 };
            for layer in layers {
                cells
                    .connectivity
                    .extend(corners.map(|[a, b, _]: [usize; 3]| number([i + a, j + b, k + layer])));
            }
            cells.kinds.push(if nz == 1 { CellKind::Quad } else { CellKind::Hexahedron });
            cells.offsets.push(cells.connectivity.len() as u32);
        }
        let points = all([nx, ny, nz]).map(position).collect();
        Lattice { nodes: [nx, ny, nz], points, cells }
    }

    /// Of axes.
    pub fn of_axes(axes: &[Vec<f64>; 3]) -> Self {
        let nodes = axes.each_ref().map(Vec::len);
        Lattice::new(nodes, |at| [0, 1, 2].map(|d| axes[d][at[d]]))
    }

    /// The number of a node.
    pub fn number(&self, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.nodes;
        i + nx * (j + ny * k)
    }

    /// A steady field of the numbers `u, v, w` of the nodes.
    pub fn field(
        &self,
        machine: &Machine,
        (placement, radius): (Placement, Option<f64>),
        numbers: &[[f64; 3]],
    ) -> MeshField {
        let mut frames = crate::meshes::MeshFrames {
            points: self.points.clone(),
            cells: self.cells.clone(),
            placement,
            times: vec![0.0],
            values: vec![numbers.as_flattened().to_vec()],
        };
        let options =
            FieldOptions { precision: machine.precision, radius, ..FieldOptions::default() };
        MeshField::load(&mut frames, &machine.device, &options, CellVelocity::Constant).unwrap()
    }

    /// The velocities on faces, without divergence, of a stream function of the position of nodes. `metres` are those between two
    /// points.
    pub fn of_stream(
        &self,
        stream: impl Fn([f64; 3]) -> f64,
        metres: impl Fn([f64; 3], [f64; 3]) -> f64,
    ) -> Vec<[f64; 3]> {
        let [nx, ny, _] = self.nodes;
        let mut numbers = vec![[0.0; 3]; self.points.len()];
        for (n, number) in numbers.iter_mut().enumerate() {
            let at = [n % nx, n / nx % ny, n / (nx * ny)];
            for (axis, other) in [(0, 1), (1, 0)] {
                let mut next = at;
                next[other] += 1;
                if next[other] < self.nodes[other] {
                    let ends = [self.points[n], self.points[self.number(next)]];
                    let change = stream(ends[1]) - stream(ends[0]);
                    let sign = if axis == 0 { -1.0 } else { 1.0 };
                    number[axis] = sign * change / metres(ends[0], ends[1]);
                }
            }
        }
        numbers
    }
}

//! Uniformly distributed positions in the cells of a mesh.
//!
//! A cell is drawn in proportion to an upper bound of its Jacobian determinant, then parametric
//! coordinates in the unit cube. They are accepted if they are in the cell, and with the probability
//! (determinant / bound). The result is uniform by volume, also within curved and distorted cells, and
//! no volume has to be computed.

use super::{
    bounds::Bounds,
    shape::{Matrix, Shape, determinant},
    structure::Mesh,
};
use crate::field::measured;
use burntrace_kernels::CellKind;

/// Draws positions in the cells of a mesh.
pub(crate) struct CellSampler<'a> {
    mesh: &'a Mesh,
    /// The cells that meet the box, each with the bound of its Jacobian determinant.
    cells: Vec<(u32, f64)>,
    /// The sum of these bounds up to and with each cell.
    sums: Vec<f64>,
    low: [f64; 3],
    high: [f64; 3],
}

impl<'a> CellSampler<'a> {
    /// A sampler of the part of a mesh in a box; `None` if no cell meets it.
    pub fn new(mesh: &'a Mesh, low: [f64; 3], high: [f64; 3]) -> Option<Self> {
        let [from, to] = [low, high].map(|corner| measured(mesh.origin, corner));
        let meets = |bounds: &Bounds| {
            mesh.axes().all(|d| bounds.low[d] <= to[d] && from[d] <= bounds.high[d])
        };
        let (mut cells, mut sums, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for (cell, _) in mesh.boxes.iter().enumerate().filter(|(_, bounds)| meets(bounds)) {
            let Some(shape) = mesh.shape(cell) else { continue };
            let bound = shape.largest_determinant();
            sum += bound;
            cells.push((cell as u32, bound));
            sums.push(sum);
        }
        (sum > 0.0 && sum.is_finite()).then_some(CellSampler { mesh, cells, sums, low, high })
    }

    /// A position from five uniform numbers in [0, 1), in the data's coordinates; `None` if they are
    /// rejected.
    pub fn position(&self, [cell, r, s, t, accept]: [f64; 5]) -> Option<[f64; 3]> {
        let total = self.sums.last()?;
        let at = self.sums.partition_point(|sum| *sum <= cell * total);
        let (cell, bound) = *self.cells.get(at)?;
        let shape = self.mesh.shape(cell as usize)?;
        let at = [r, s, if self.mesh.dimension == 2 { 0.0 } else { t }];
        if !shape.is_in_reference(at) || shape.determinant_at(at) <= accept * bound {
            return None;
        }
        let position = self.mesh.plain(shape.point(at));
        let mut axes = self.mesh.axes();
        let is_in_box = |d: usize| self.low[d] <= position[d] && position[d] <= self.high[d];
        axes.all(is_in_box).then_some(position)
    }
}

impl Shape {
    /// Whether parametric coordinates are in the cell.
    fn is_in_reference(&self, at: [f64; 3]) -> bool {
        self.kind.table().sides.iter().all(|side| side.value(at) >= 0.0)
    }

    /// The area or volume for a unit of parametric coordinates.
    fn determinant_at(&self, at: [f64; 3]) -> f64 {
        self.scale() * determinant(&self.jacobian(at)).abs()
    }

    fn scale(&self) -> f64 {
        self.size.powi(self.kind.dimension() as i32)
    }

    /// An upper bound of [`determinant_at`](Shape::determinant_at) in the cell: the value of an affine
    /// cell, otherwise the product of bounds of the three columns of the Jacobian (Hadamard).
    fn largest_determinant(&self) -> f64 {
        if self.kind.is_affine() {
            return self.determinant_at(self.kind.centre());
        }
        let columns = self.column_hull();
        let longest = |k: usize| {
            let lengths = columns.iter().map(|jacobian| {
                (0..3).map(|d| jacobian[d][k] * jacobian[d][k]).sum::<f64>().sqrt()
            });
            lengths.fold(0.0, f64::max)
        };
        self.scale() * longest(0) * longest(1) * longest(2)
    }

    /// Jacobians whose columns have the columns of all Jacobians in the cell in their convex hull. A
    /// column is linear along each axis, so that those at the corners suffice, except in a quadratic
    /// hexahedron: there they are the coefficients of Bernstein polynomials of degree 2.
    pub(super) fn column_hull(&self) -> Vec<Matrix> {
        let table = self.kind.table();
        if self.kind != CellKind::QuadraticHexahedron {
            return table.nodes[..table.corners].iter().map(|at| self.jacobian(*at)).collect();
        }
        let nodes = [0.0, 0.5, 1.0];
        let at = |k: usize| [nodes[k % 3], nodes[k / 3 % 3], nodes[k / 9]];
        let mut values: Vec<Matrix> = (0..27).map(|k| self.jacobian(at(k))).collect();
        for stride in [1, 3, 9] {
            for k in (0..27).filter(|k| k / stride % 3 == 1) {
                let [first, last] = [values[k - stride], values[k + stride]];
                for (d, row) in values[k].iter_mut().enumerate() {
                    for (j, x) in row.iter_mut().enumerate() {
                        *x = 2.0 * *x - 0.5 * (first[d][j] + last[d][j]);
                    }
                }
            }
        }
        values
    }
}

//! Mesh boundaries for the tensor engine: on the host, in f64, one particle at a time. This is the
//! reference for the fused operation and simpler: it tests whether positions are in the mesh and
//! does not walk from cell to cell.
//!
//! The gradient is that of the unbounded step; the correction at the boundary is treated as a
//! constant.

use crate::{field::to_host, mesh::Mesh};
use burn::tensor::{Tensor, TensorData};
use burntrace_kernels::{Boundary, MAX_BOUNCES, Wall};

/// The result of [`pass`]; one row for each particle.
pub(super) struct Edge {
    /// The new positions `[n, 3]`.
    pub position: Tensor<2>,
    /// Fraction of the path at which the particle left the mesh `[n, 1]`; 2 if it did not.
    pub fraction: Vec<f64>,
    /// Eight times the last cell plus the face, if it left the mesh `[n]`; else its cell plus 1.
    pub cell: Vec<i32>,
}

/// The positions at which the stages of steps from `starts` sample the field: for a stage outside
/// the mesh, the last point in the mesh on the straight line to it.
pub(super) fn clip_to_mesh(mesh: &Mesh, starts: &[[f64; 3]], stage: Tensor<2>) -> Tensor<2> {
    let positions = to_host(&stage);
    let clipped = starts.iter().zip(&positions).flat_map(|(start, position)| {
        if mesh.locate(*position).is_some() || mesh.locate(*start).is_none() {
            return *position;
        }
        let path = Path { mesh, from: *start, to: *position };
        path.at(path.reach()[0])
    });
    let clipped = constant(clipped.collect(), &stage);
    clipped + (stage.clone() - stage.detach())
}

/// Applies the mesh boundary to paths `from -> to`, where `to` is in the domain box.
pub(super) fn pass(mesh: &Mesh, boundary: &Boundary, from: &Tensor<2>, to: &Tensor<2>) -> Edge {
    let (starts, ends) = (to_host(from), to_host(to));
    let mut edge = Edge { position: to.clone(), fraction: Vec::new(), cell: Vec::new() };
    let mut positions = Vec::with_capacity(3 * ends.len());
    for (start, end) in starts.iter().zip(&ends) {
        let passed = Path { mesh, from: *start, to: *end }.follow(boundary);
        positions.extend(passed.position);
        edge.fraction.push(passed.left.unwrap_or(2.0));
        edge.cell.push(passed.cell);
    }
    edge.position = constant(positions, to) + (to.clone() - to.clone().detach());
    edge
}

/// A straight path in a mesh.
struct Path<'a> {
    mesh: &'a Mesh,
    from: [f64; 3],
    to: [f64; 3],
}

/// The end of a path.
struct Landed {
    position: [f64; 3],
    /// Fraction of the path at which it left the mesh, if it did.
    left: Option<f64>,
    cell: i32,
}

impl Path<'_> {
    /// The point at a fraction of the path, rounded to the precision of the tensors.
    fn at(&self, part: f64) -> [f64; 3] {
        let precision = self.mesh.locator().precision;
        [0, 1, 2].map(|d| precision.round(self.from[d] + part * (self.to[d] - self.from[d])))
    }

    fn follow(mut self, boundary: &Boundary) -> Landed {
        let mut start_fraction = 0.0;
        let mut cell = self.mesh.locate(self.from).map_or(0, |location| location.cell);
        for _ in 0..=MAX_BOUNCES {
            if let Some(there) = self.mesh.locate(self.at(1.0)) {
                return Landed { position: self.at(1.0), left: None, cell: there.cell as i32 + 1 };
            }
            let [reached, beyond] = self.reach();
            cell = self.mesh.locate(self.at(reached)).map_or(cell, |last| last.cell);
            let (at_wall, face, inward) = self.mesh.edge(cell, self.at(beyond));
            start_fraction += reached * (1.0 - start_fraction);
            let position = self.at(reached);
            let wall = boundary.wall_at(position);
            if wall == Wall::Leave {
                return Landed {
                    position,
                    left: Some(start_fraction),
                    cell: (8 * at_wall + face) as i32,
                };
            }
            let rest = [0, 1, 2].map(|d| self.to[d] - position[d]);
            let rest = turned(rest, inward, wall);
            self.to = [0, 1, 2].map(|d| position[d] + inward[d] + rest[d]);
            // Not exactly on the wall, where rounding would count it as outside again.
            self.from = [0, 1, 2].map(|d| position[d] + inward[d]);
        }
        Landed { position: self.from, left: None, cell: cell as i32 + 1 }
    }

    /// The fractions of the last point in the mesh and of the next one outside.
    fn reach(&self) -> [f64; 2] {
        let (mut reached, mut beyond) = (0.0, 1.0);
        loop {
            let middle = 0.5 * (reached + beyond);
            let is_short = beyond - reached <= f64::EPSILON * f64::EPSILON;
            if is_short
                || middle <= reached
                || middle >= beyond
                || self.at(reached) == self.at(beyond)
            {
                return [reached, beyond];
            }
            match self.mesh.locate(self.at(middle)) {
                Some(_) => reached = middle,
                None => beyond = middle,
            }
        }
    }
}

/// The remaining displacement after a wall.
fn turned(rest: [f64; 3], inward: [f64; 3], wall: Wall) -> [f64; 3] {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let square = dot(inward, inward);
    if square == 0.0 {
        return [0.0; 3];
    }
    let share = (dot(rest, inward) / square).min(0.0);
    let factor = if wall == Wall::Reflect { 2.0 * share } else { share };
    [0, 1, 2].map(|d| rest[d] - factor * inward[d])
}

/// Values `[n, 3]` as a constant tensor on the device of `beside`.
pub(super) fn constant(numbers: Vec<f64>, beside: &Tensor<2>) -> Tensor<2> {
    let data = TensorData::new(numbers, beside.dims());
    Tensor::from_data(data, (&beside.device(), beside.dtype()))
}

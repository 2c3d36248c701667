//! Interpolation weights of positions in a mesh, computed on the host: the reference for the fused
//! operation, and the path of gradients.

use crate::{
    field::{LANES, faces::parts},
    mesh::{Location, Mesh},
};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{MAX_CELL_NODES, Placement};

/// What interpolates at `n` positions: indices of values, and their weights.
pub(super) enum CellWeights {
    /// Indices `[n k]` and weights `[n, k]`.
    Values(Tensor<1, Int>, Tensor<2>),
    /// Of values on faces: indices of [`NODES`] nodes for each position, and the parts of their numbers in the velocity
    /// `[n, numbers, 4]`.
    Faces(Tensor<1, Int>, Tensor<3>),
}

/// Number of nodes with a part in a velocity if values are on faces.
const NODES: usize = 6;

/// Values, weights and weight gradients of one position.
struct Row {
    values: [i32; MAX_CELL_NODES],
    weights: [f64; MAX_CELL_NODES],
    gradients: [[f64; 3]; MAX_CELL_NODES],
}

impl Row {
    fn empty() -> Self {
        Row {
            values: [0; MAX_CELL_NODES],
            weights: [0.0; MAX_CELL_NODES],
            gradients: [[0.0; 3]; MAX_CELL_NODES],
        }
    }

    fn at_nodes(mesh: &Mesh, location: &Location) -> Self {
        let mut row = Row::empty();
        for (value, node) in row.values.iter_mut().zip(mesh.cells().nodes(location.cell)) {
            *value = *node as i32;
        }
        row.weights = location.weights;
        row.gradients = mesh.weight_gradients(location);
        row
    }

    fn in_cell(location: &Location) -> Self {
        let mut row = Row::empty();
        (row.values[0], row.weights[0]) = (location.cell as i32, 1.0);
        row
    }
}

impl CellWeights {
    /// Weights for positions `[n, 3]`, measured from the mesh's origin; zero outside the mesh.
    pub fn new(mesh: &Mesh, of_field: (Placement, bool), position: Tensor<2>) -> Self {
        let (placement, is_on_sphere) = of_field;
        if placement == Placement::Faces {
            return CellWeights::of_faces(mesh, is_on_sphere, position);
        }
        let positions = to_host(&position);
        let mut last = 0;
        let rows: Vec<Row> = positions
            .iter()
            .map(|position| {
                // Neighbouring positions are usually close: a walk from the last cell finds the
                // next.
                let Some(location) = mesh.walk_from_origin(last, *position) else {
                    return Row::empty();
                };
                last = location.cell;
                match placement {
                    Placement::Cells => Row::in_cell(&location),
                    Placement::Nodes | Placement::Faces => Row::at_nodes(mesh, &location),
                }
            })
            .collect();
        let width = match placement {
            Placement::Cells => 1,
            Placement::Nodes | Placement::Faces => mesh.widest(),
        };
        CellWeights::Values(values(&rows, width, &position), weights(&rows, width, position))
    }

    /// Interpolates the values of one frame: velocity and padding `[n, 4]`.
    pub fn read(&self, frame: Tensor<2>) -> Tensor<2> {
        let weighed = match self {
            CellWeights::Values(values, weights) => {
                let [n, k] = weights.dims();
                let rows = frame.select(0, values.clone()).reshape([n, k, LANES]);
                rows * weights.clone().reshape([n, k, 1])
            }
            CellWeights::Faces(values, parts) => {
                let [n, numbers, _] = parts.dims();
                frame.select(0, values.clone()).reshape([n, numbers, 1]) * parts.clone()
            }
        };
        let [n, ..] = weighed.dims();
        weighed.sum_dim(1).reshape([n, LANES])
    }

    /// Of values on faces.
    fn of_faces(mesh: &Mesh, is_on_sphere: bool, position: Tensor<2>) -> Self {
        let mut last = 0;
        let (mut values, mut numbers) = (Vec::new(), [const { Vec::new() }; 4]);
        for position in to_host(&position) {
            let location = mesh.walk_from_origin(last, position);
            last = location.map_or(last, |location| location.cell);
            let parts = location.map(|location| parts(mesh, &location, is_on_sphere));
            for k in 0..NODES {
                let part = parts.map(|parts| parts[k]);
                values.push(part.map_or(0, |part| part.node as i32));
                for number in 0..LANES {
                    let by = part.filter(|part| part.number == number).map(|part| part.by);
                    for (jet, numbers) in numbers.iter_mut().enumerate() {
                        numbers
                            .extend(by.map_or([0.0; 4], |by| by.map(|component| component[jet])));
                    }
                }
            }
        }
        let [n, _] = position.dims();
        let constant = |numbers: Vec<f64>| {
            let data = TensorData::new(numbers, [n, NODES * LANES, LANES]);
            Tensor::<3>::from_data(data, (&position.device(), position.dtype()))
        };
        let [value, slopes @ ..] = numbers.map(constant);
        let offset = position.clone() - position.clone().detach();
        let along = |d: usize| offset.clone().narrow(1, d, 1).reshape([n, 1, 1]);
        let terms = slopes.into_iter().enumerate().map(|(d, slopes)| slopes * along(d));
        let parts = terms.fold(value, |sum, term| sum + term);
        CellWeights::Faces(indices(values, &position), parts)
    }
}

fn values(rows: &[Row], width: usize, position: &Tensor<2>) -> Tensor<1, Int> {
    indices(rows.iter().flat_map(|row| &row.values[..width]).copied().collect(), position)
}

/// Indices on the device of positions.
fn indices(values: Vec<i32>, position: &Tensor<2>) -> Tensor<1, Int> {
    let count = values.len();
    let data = TensorData::new(values, [count]);
    let device = position.device();
    let device = if device.is_autodiff() { device.inner() } else { device };
    Tensor::from_data(data, (&device, DType::I32))
}

/// Weights that depend on the position to first order, for automatic differentiation.
fn weights(rows: &[Row], width: usize, position: Tensor<2>) -> Tensor<2> {
    let n = rows.len();
    let constant = |numbers: Vec<f64>| {
        let data = TensorData::new(numbers, [n, width]);
        Tensor::<2>::from_data(data, (&position.device(), position.dtype()))
    };
    let mut weights =
        constant(rows.iter().flat_map(|row| &row.weights[..width]).copied().collect());
    let offset = position.clone() - position.clone().detach();
    for d in 0..3 {
        let gradients =
            rows.iter().flat_map(|row| row.gradients[..width].iter().map(|gradient| gradient[d]));
        let along = offset.clone().slice([0..n, d..d + 1]);
        weights = weights + constant(gradients.collect()) * along;
    }
    weights
}

/// Positions `[n, 3]` on the host.
fn to_host(position: &Tensor<2>) -> Vec<[f64; 3]> {
    let data = position.clone().detach().into_data().convert::<f64>();
    let numbers = data.try_into_vec::<f64>().unwrap_or_default();
    numbers.as_chunks().0.to_vec()
}

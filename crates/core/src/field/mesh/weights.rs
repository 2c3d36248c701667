//! Interpolation weights of positions in a mesh, computed on the host: the reference for the fused
//! operation, and the path of gradients.

use crate::{
    field::{LANES, faces::parts},
    mesh::{Location, Mesh},
};
use burn::tensor::{DType, Int, Tensor, TensorData};
use burntrace_kernels::{MAX_CELL_NODES, Placement};

/// What interpolates at `n` positions.
pub(super) enum CellWeights {
    /// Values at nodes or in cells.
    Values(Box<ValueWeights>),
    /// Velocities on faces, and values of other groups at nodes.
    Faces(Box<FaceWeights>, Option<Box<ValueWeights>>),
}

/// Indices of values `[n k]` and their weights `[n, k]`.
pub(super) struct ValueWeights(Tensor<1, Int>, Tensor<2>);

/// Indices of [`NODES`] nodes for each position, and the parts of their numbers in the velocity `[n, numbers, 4]`.
pub(super) struct FaceWeights(Tensor<1, Int>, Tensor<3>);

/// What of a field is interpolated.
#[derive(Clone, Copy)]
pub(super) struct Interpolated {
    pub placement: Placement,
    pub is_on_sphere: bool,
    /// Whether it has other groups of numbers than the velocity.
    pub has_others: bool,
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
    pub fn new(mesh: &Mesh, of_field: Interpolated, position: Tensor<2>) -> Self {
        // Neighbouring positions are usually close: a walk from the last cell finds the next.
        let mut last = 0;
        let locate = |position: &[f64; 3]| {
            let location = mesh.walk_from_origin(last, *position);
            last = location.map_or(last, |location| location.cell);
            location
        };
        let locations: Vec<Option<Location>> = to_host(&position).iter().map(locate).collect();
        let placement = of_field.placement;
        if placement != Placement::Faces {
            let values = ValueWeights::new(mesh, placement, (&locations, position));
            return CellWeights::Values(values.into());
        }
        let faces = FaceWeights::new(mesh, of_field.is_on_sphere, (&locations, &position));
        let at_nodes = || ValueWeights::new(mesh, Placement::Nodes, (&locations, position));
        let others = of_field.has_others.then(|| at_nodes().into());
        CellWeights::Faces(faces.into(), others)
    }

    /// Interpolates a group of the values of one frame `[n, 4]`: the first one has the velocity.
    pub fn read(&self, frame: Tensor<2>, group: usize) -> Tensor<2> {
        match self {
            CellWeights::Faces(_, Some(values)) if group > 0 => values.read(frame),
            CellWeights::Faces(faces, _) => faces.read(frame),
            CellWeights::Values(values) => values.read(frame),
        }
    }
}

impl ValueWeights {
    fn new(
        mesh: &Mesh,
        placement: Placement,
        (locations, position): (&[Option<Location>], Tensor<2>),
    ) -> Self {
        let (width, row): (_, fn(&Mesh, &Location) -> Row) = match placement {
            Placement::Cells => (1, |_, location| Row::in_cell(location)),
            Placement::Nodes | Placement::Faces => (mesh.widest(), Row::at_nodes),
        };
        let row = |location: &Option<Location>| {
            location.as_ref().map_or_else(Row::empty, |location| row(mesh, location))
        };
        let rows: Vec<Row> = locations.iter().map(row).collect();
        ValueWeights(values(&rows, width, &position), weights(&rows, width, position))
    }

    fn read(&self, frame: Tensor<2>) -> Tensor<2> {
        let ValueWeights(values, weights) = self;
        let [n, k] = weights.dims();
        let rows = frame.select(0, values.clone()).reshape([n, k, LANES]);
        let weighed = rows * weights.clone().reshape([n, k, 1]);
        weighed.sum_dim(1).reshape([n, LANES])
    }
}

impl FaceWeights {
    fn new(
        mesh: &Mesh,
        is_on_sphere: bool,
        (locations, position): (&[Option<Location>], &Tensor<2>),
    ) -> Self {
        let (mut values, mut numbers) = (Vec::new(), [const { Vec::new() }; 4]);
        for location in locations {
            let parts = location.as_ref().map(|location| parts(mesh, location, is_on_sphere));
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
        FaceWeights(indices(values, position), parts)
    }

    fn read(&self, frame: Tensor<2>) -> Tensor<2> {
        let FaceWeights(values, parts) = self;
        let [n, numbers, _] = parts.dims();
        let weighed = frame.select(0, values.clone()).reshape([n, numbers, 1]) * parts.clone();
        weighed.sum_dim(1).reshape([n, LANES])
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

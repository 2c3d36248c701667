//! How velocities are stored where their components are not those that the source gives: on spheres, and on faces of cells.

use super::{
    faces::Faces,
    globe::{Globe, Turn, vector_and_height},
    lanes::LANES,
};
use crate::Floats;
use burn::tensor::{Tensor, TensorData};

/// How the velocity of each value is stored.
#[derive(Debug)]
pub(crate) enum Stored {
    /// Of a grid on a sphere, as [`vector_and_height`] has it.
    Grid(Globe),
    /// Of nodes or cells at longitudes and latitudes.
    Places(Vec<[Turn; 2]>),
    /// As fluxes through faces.
    Faces(Faces),
}

impl Stored {
    /// The row of a value, which is linear in its velocity.
    pub fn row(&self, value: usize, velocity: [f64; 3]) -> [f64; 4] {
        match self {
            Stored::Grid(globe) => vector_and_height(globe.place(value), velocity),
            Stored::Places(places) => vector_and_height(places[value], velocity),
            Stored::Faces(faces) => faces.row(value, velocity),
        }
    }

    /// Finishes the rows of a frame.
    pub fn finish(&self, rows: &mut Floats, start: usize) {
        let Stored::Grid(globe) = self else { return };
        match rows {
            Floats::F32(rows) => globe.join_poles(rows[start..].as_chunks_mut().0, |x| x as f32),
            Floats::F64(rows) => globe.join_poles(rows[start..].as_chunks_mut().0, |x| x),
        }
    }

    /// The rows of unit velocities at all values, beside a tensor, each `[1, values, 4]`.
    fn of_units(&self, beside: &Tensor<3>) -> [Tensor<3>; 3] {
        let count = beside.dims()[1];
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|unit| {
            let rows = (0..count).flat_map(|value| self.row(value, unit)).collect::<Vec<_>>();
            let rows = TensorData::new(rows, [1, count, LANES]);
            Tensor::from_data(rows, (&beside.device(), beside.dtype()))
        })
    }

    /// The rows `[frames, values, 4]` of velocities `[frames, values, 3]`, as [`row`](Stored::row) and
    /// [`finish`](Stored::finish) make them.
    pub fn rows(&self, values: Tensor<3>) -> Tensor<3> {
        let component = |d: usize| values.clone().narrow(2, d, 1);
        let [u, v, w] = self.of_units(&values);
        let rows = component(0) * u + component(1) * v + component(2) * w;
        match self {
            Stored::Grid(globe) => globe.join_poles_of(rows),
            _ => rows,
        }
    }

    /// The velocities `[frames, values, 3]` of rows.
    pub fn velocities(&self, rows: Tensor<3>) -> Tensor<3> {
        let components = self.of_units(&rows).map(|unit| {
            let square = unit.clone().powi_scalar(2).sum_dim(2);
            // Of a face that no cell has, 0.
            let square = square.clone().mask_fill(square.equal_elem(0.0), 1.0);
            (rows.clone() * unit).sum_dim(2) / square
        });
        Tensor::cat(components.to_vec(), 2)
    }
}

//! What all launches of a run share beside the field: inlets, obstacles and motion.

use crate::Obstacle;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};

/// Inlet positions, tables of obstacles and motion on a device, the same for all launches of a run.
#[derive(Clone, Debug)]
pub struct GeometryTensors {
    /// Rows of three numbers `[rows, 3]`, in the field's precision: the positions of inlets, then
    /// the triangles of surfaces and the walls of land among the obstacles. At least one row.
    pub rows: Tensor<2>,
    /// Integers of those surfaces and of that land `[numbers]`, `i32`; at least one.
    pub numbers: Tensor<1, Int>,
    /// The drift and the diffusivity along x, y and z `[MOTION]`. A launch reads them from its
    /// [`Segment`]; these have the gradients, if they are tracked.
    pub motion: Tensor<1>,
}

/// Elements of [`GeometryTensors::motion`].
pub const MOTION: usize = 6;

impl GeometryTensors {
    /// Uploads the positions of inlets and the tables of obstacles to a device. The motion has no
    /// gradients.
    pub fn new(inlets: &[[f64; 3]], obstacles: &[Obstacle], device: &Device, dtype: DType) -> Self {
        let (mut rows, mut numbers) = (inlets.to_vec(), Vec::new());
        for (more, integers) in tables(obstacles) {
            rows.extend(more);
            numbers.extend(integers);
        }
        if rows.is_empty() {
            rows.push([0.0; 3]);
        }
        if numbers.is_empty() {
            numbers.push(0);
        }
        let (row_count, count) = (rows.len(), numbers.len());
        let rows = rows.into_flattened();
        let rows = match dtype {
            DType::F64 => TensorData::new(rows, [row_count, 3]),
            _ => {
                let single: Vec<f32> = rows.into_iter().map(|x| x as f32).collect();
                TensorData::new(single, [row_count, 3])
            }
        };
        let numbers = TensorData::new(numbers, [count]);
        GeometryTensors {
            rows: Tensor::from_data(rows, (device, dtype)),
            numbers: Tensor::from_data(numbers, (device, DType::I32)),
            motion: Tensor::zeros([MOTION], (device, dtype)),
        }
    }
}

/// The rows and numbers of those obstacles that have tables.
pub(crate) fn tables(obstacles: &[Obstacle]) -> impl Iterator<Item = (&[[f64; 3]], &[i32])> {
    obstacles.iter().map(|obstacle| obstacle.shape.table())
}

/// The number of those rows.
pub(crate) fn table_rows(obstacles: &[Obstacle]) -> usize {
    tables(obstacles).map(|(rows, _)| rows.len()).sum()
}

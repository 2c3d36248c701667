//! What all launches of a run share beside the field: inlets, obstacles, gates and motion.

use crate::{GateShape, Obstacle, Shape, obstacle::SHAPE_NUMBERS};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};

/// Inlet positions, tables of obstacles and gates, and motion on a device, the same for all launches of a run.
#[derive(Clone, Debug)]
pub struct GeometryTensors {
    /// Rows of three numbers `[rows, 3]`, in the field's precision: the positions of inlets, then, if the shapes of obstacles are
    /// tracked, three rows for each with its numbers, for their gradients alone, then
    /// the triangles of surfaces and the walls of land among obstacles and gates. At least one row.
    pub rows: Tensor<2>,
    /// Integers of those surfaces and of that land `[numbers]`, `i32`; at least one.
    pub numbers: Tensor<1, Int>,
    /// The drift and the diffusivity along x, y and z, and the start and the end of the run `[MOTION]`. A launch reads them from
    /// its [`Segment`](crate::Segment); these have the gradients, if they are tracked.
    pub motion: Tensor<1>,
}

/// Rows of the numbers of a shape.
const SHAPE_ROWS: usize = SHAPE_NUMBERS / 3;

/// Elements of [`GeometryTensors::motion`].
pub const MOTION: usize = 8;

impl GeometryTensors {
    /// Uploads the positions of inlets and the tables of obstacles and gates to a device; if shapes are tracked, with the
    /// numbers of obstacles. Nothing has gradients yet.
    pub fn new(
        inlets: &[[f64; 3]],
        (obstacles, gates): (&[Obstacle], &[GateShape]),
        tracks_shapes: bool,
        (device, dtype): (&Device, DType),
    ) -> Self {
        let (mut rows, mut numbers) = (inlets.to_vec(), Vec::new());
        if tracks_shapes {
            let of_shapes = obstacles.iter().map(|obstacle| obstacle.shape.numbers());
            rows.extend(of_shapes.flat_map(|numbers| numbers.as_chunks::<3>().0.to_vec()));
        }
        for (more, integers) in tables(obstacles, gates) {
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

/// The first row of each obstacle among a number of rows of which shapes are tracked; see [`GeometryTensors::rows`]: that of its
/// triangles, or else that of its numbers.
pub fn obstacle_rows(rows: usize, obstacles: &[Obstacle], gates: &[GateShape]) -> Vec<usize> {
    let mut table = rows - table_rows(obstacles, gates);
    let numbers = table - SHAPE_ROWS * obstacles.len();
    let row = |(number, Obstacle { shape, .. }): (usize, &Obstacle)| {
        let here = table;
        table += shape.table().0.len();
        if matches!(shape, Shape::Surface(_)) { here } else { numbers + SHAPE_ROWS * number }
    };
    obstacles.iter().enumerate().map(row).collect()
}

/// The rows and numbers of those obstacles, then of those gates, that have tables.
pub(crate) fn tables<'a>(
    obstacles: &'a [Obstacle],
    gates: &'a [GateShape],
) -> impl Iterator<Item = (&'a [[f64; 3]], &'a [i32])> {
    let of_gates = gates.iter().filter_map(|gate| match gate {
        GateShape::Region(shape) => Some(shape),
        GateShape::Plane { .. } | GateShape::Polygon(_) | GateShape::Patch(_) => None,
    });
    obstacles.iter().map(|obstacle| &obstacle.shape).chain(of_gates).map(Shape::table)
}

/// The number of those rows.
pub(crate) fn table_rows(obstacles: &[Obstacle], gates: &[GateShape]) -> usize {
    tables(obstacles, gates).map(|(rows, _)| rows.len()).sum()
}

/// Integers of a shape about its table, among those of obstacles and gates.
pub(crate) const TABLE_INTS: usize = 6;

/// The first row and the first integer of the table of a shape.
pub(crate) struct TablePlace {
    row: usize,
    number: usize,
}

impl TablePlace {
    /// The place of the first table, at a row.
    pub fn starting_at(row: usize) -> Self {
        TablePlace { row, number: 0 }
    }

    /// The integers of the shape whose table is here, and goes on to the next one.
    pub fn of_next(&mut self, shape: &Shape) -> [i32; TABLE_INTS] {
        let ([nx, ny, nz], triangles) = match shape {
            Shape::Surface(surface) => (surface.nodes, surface.triangles().len()),
            Shape::Land(land) => (land.cells(), 0),
            _ => ([0; 3], 0),
        };
        let of_this = [nx, ny, nz, self.row, self.number, triangles].map(|n| n as i32);
        let (rows, numbers) = shape.table();
        self.row += rows.len();
        self.number += numbers.len();
        of_this
    }
}

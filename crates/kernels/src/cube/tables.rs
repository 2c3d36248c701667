//! What is the same for all particles, packed into two small buffers: one place says where each
//! number lies, for the host that writes and the kernel that reads.

use crate::{FieldShape, GridShape, PointShape, Segment, Weighting};
use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Places in the buffer of reals: three numbers each, one per axis.
pub(super) const LOW: usize = 0;
pub(super) const HIGH: usize = 3;
pub(super) const ORIGIN: usize = 6;
/// Cells per unit of length; 0 on a flat axis.
pub(super) const PER_LENGTH: usize = 9;
/// Square of the threshold speed.
pub(super) const STAGNANT: usize = 12;
/// How far the first search for points looks.
pub(super) const REACH: usize = 13;
/// Half the power of the distance by which points are weighted.
pub(super) const HALF_POWER: usize = 14;
/// The frame intervals, and after them two numbers for each step: time since the frame, length.
pub(super) const GAPS: usize = 15;

/// Places in the buffer of integers.
pub(super) const STEPS: usize = 0;
pub(super) const FIRST_STEP: usize = 1;
pub(super) const FRAMES: usize = 2;
pub(super) const GAP_COUNT: usize = 3;
pub(super) const FRAME_SIZE: usize = 4;
/// Nodes of a grid per axis, or cells of the lattice that points are sorted by.
pub(super) const NODES: usize = 5;
/// Distance in memory from a value, or a cell of the lattice, to the next one along each axis.
pub(super) const STRIDES: usize = 8;
/// Condition codes of the six faces.
pub(super) const FACES: usize = 11;
/// The interval in which each step begins.
pub(super) const INTERVALS: usize = 17;

/// The two buffers on the host.
pub(super) struct Tables {
    reals: Vec<f64>,
    wholes: Vec<i32>,
}

/// The two buffers on a device.
pub(super) struct DeviceTables {
    pub reals: BufferArg,
    pub wholes: BufferArg,
}

impl Tables {
    pub fn new(shape: &FieldShape, segment: &Segment) -> Self {
        let layout = Layout::of(shape);
        let mut reals = Vec::new();
        reals.extend(segment.boundary.low);
        reals.extend(segment.boundary.high);
        reals.extend(layout.origin);
        reals.extend(layout.per_length);
        reals.push(segment.stagnant_speed * segment.stagnant_speed);
        reals.extend([layout.reach, layout.half_power]);
        reals.extend(&segment.clock.gaps);
        reals.extend(segment.steps.iter().flat_map(|step| [step.since, step.h]));

        let mut wholes = vec![
            segment.steps.len() as i32,
            segment.first_step,
            segment.clock.frames as i32,
            segment.clock.gaps.len() as i32,
            shape.values_per_frame() as i32,
        ];
        wholes.extend(layout.nodes.map(|n| n as i32));
        wholes.extend(layout.strides.map(|n| n as i32));
        wholes.extend(segment.boundary.faces.iter().flatten().map(|c| c.code()));
        wholes.extend(segment.steps.iter().map(|step| step.interval as i32));
        Tables { reals, wholes }
    }

    /// Copies the buffers to a device, reals in the field's precision.
    pub fn upload(self, client: &Client, dtype: DType) -> DeviceTables {
        let reals = match dtype {
            DType::F64 => client.create_from_slice(bytemuck::cast_slice(&self.reals)),
            _ => {
                let limit = f64::from(f32::MAX);
                let single = |x: &f64| x.clamp(-limit, limit) as f32;
                let reals: Vec<f32> = self.reals.iter().map(single).collect();
                client.create_from_slice(bytemuck::cast_slice(&reals))
            }
        };
        let wholes = client.create_from_slice(bytemuck::cast_slice(&self.wholes));
        // SAFETY: each buffer was made with exactly this many elements.
        unsafe {
            DeviceTables {
                reals: BufferArg::from_raw_parts(reals, self.reals.len()),
                wholes: BufferArg::from_raw_parts(wholes, self.wholes.len()),
            }
        }
    }
}

/// Where the values of a field lie.
struct Layout {
    origin: [f64; 3],
    per_length: [f64; 3],
    nodes: [usize; 3],
    strides: [usize; 3],
    reach: f64,
    half_power: f64,
}

impl Layout {
    fn of(shape: &FieldShape) -> Self {
        match shape {
            FieldShape::Grid(grid) => Layout::of_grid(grid),
            FieldShape::Points(points) => Layout::of_points(points),
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
}

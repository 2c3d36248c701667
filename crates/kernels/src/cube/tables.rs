//! What is the same for all particles, packed into two small buffers: one place says where each
//! number lies, for the host that writes and the kernel that reads.

use crate::{GridShape, Segment};
use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Places in the buffer of reals: three numbers each, one per axis.
pub(super) const LOW: usize = 0;
pub(super) const HIGH: usize = 3;
pub(super) const ORIGIN: usize = 6;
/// Nodes per unit of length; 0 on a flat axis.
pub(super) const PER_PITCH: usize = 9;
/// 1 on an axis along which particles move, 0 on a flat one.
pub(super) const MOVING: usize = 12;
/// Square of the threshold speed.
pub(super) const STAGNANT: usize = 15;
/// The frame intervals, and after them two numbers for each step: time since the frame, length.
pub(super) const GAPS: usize = 16;

/// Places in the buffer of integers.
pub(super) const STEPS: usize = 0;
pub(super) const FIRST_STEP: usize = 1;
pub(super) const FRAMES: usize = 2;
pub(super) const GAP_COUNT: usize = 3;
pub(super) const FRAME_SIZE: usize = 4;
/// Nodes per axis.
pub(super) const NODES: usize = 5;
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
    pub fn new(shape: &GridShape, segment: &Segment) -> Self {
        let flat = [0, 1, 2].map(|d| shape.is_flat(d));
        let mut reals = Vec::new();
        reals.extend(segment.boundary.low);
        reals.extend(segment.boundary.high);
        reals.extend(shape.origin);
        reals.extend([0, 1, 2].map(|d| if flat[d] { 0.0 } else { 1.0 / shape.pitch[d] }));
        reals.extend(flat.map(|flat| if flat { 0.0 } else { 1.0 }));
        reals.push(segment.stagnant_speed * segment.stagnant_speed);
        reals.extend(&segment.clock.gaps);
        reals.extend(segment.steps.iter().flat_map(|step| [step.since, step.h]));

        let mut wholes = vec![
            segment.steps.len() as i32,
            segment.first_step,
            segment.clock.frames as i32,
            segment.clock.gaps.len() as i32,
            shape.values_per_frame() as i32,
        ];
        wholes.extend(shape.nodes.map(|n| n as i32));
        wholes.extend(shape.strides().map(|n| n as i32));
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

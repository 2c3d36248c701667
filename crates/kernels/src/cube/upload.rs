//! Small buffers of numbers on their way to a device.

use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Reals and whole numbers that are the same for all threads.
pub struct DeviceTables {
    /// Reals, in the precision of the arithmetic.
    pub reals: BufferArg,
    /// Whole numbers.
    pub wholes: BufferArg,
}

/// Copies numbers to a device, reals in the precision of the arithmetic; those beyond it become the
/// greatest ones that it has.
pub fn upload(client: &Client, dtype: DType, reals: &[f64], wholes: &[i32]) -> DeviceTables {
    let real_bytes = match dtype {
        DType::F64 => client.create_from_slice(bytemuck::cast_slice(reals)),
        _ => {
            let limit = f64::from(f32::MAX);
            let single = |x: &f64| x.clamp(-limit, limit) as f32;
            let reals: Vec<f32> = reals.iter().map(single).collect();
            client.create_from_slice(bytemuck::cast_slice(&reals))
        }
    };
    let whole_bytes = client.create_from_slice(bytemuck::cast_slice(wholes));
    // SAFETY: each buffer was made with exactly this many elements.
    unsafe {
        DeviceTables {
            reals: BufferArg::from_raw_parts(real_bytes, reals.len()),
            wholes: BufferArg::from_raw_parts(whole_bytes, wholes.len()),
        }
    }
}

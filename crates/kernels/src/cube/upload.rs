//! Small buffers of numbers on their way to a device.

use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Reals and whole numbers that are the same for all threads.
pub struct DeviceTables {
    /// Reals, in the precision of the arithmetic.
    pub floats: BufferArg,
    /// Whole numbers.
    pub ints: BufferArg,
}

/// Copies numbers to a device, reals in the precision of the arithmetic; those beyond it become the
/// greatest ones that it has.
pub fn upload(client: &Client, dtype: DType, floats: &[f64], ints: &[i32]) -> DeviceTables {
    let real_bytes = match dtype {
        DType::F64 => client.create_from_slice(bytemuck::cast_slice(floats)),
        _ => {
            let limit = f64::from(f32::MAX);
            let single = |x: &f64| x.clamp(-limit, limit) as f32;
            let floats: Vec<f32> = floats.iter().map(single).collect();
            client.create_from_slice(bytemuck::cast_slice(&floats))
        }
    };
    let whole_bytes = client.create_from_slice(bytemuck::cast_slice(ints));
    // SAFETY: each buffer was made with exactly this many elements.
    unsafe {
        DeviceTables {
            floats: BufferArg::from_raw_parts(real_bytes, floats.len()),
            ints: BufferArg::from_raw_parts(whole_bytes, ints.len()),
        }
    }
}

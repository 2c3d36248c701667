//! Upload of small buffers of numbers.

use burn::backend::DType;
use burn_cubecl::cubecl::prelude::*;

/// Floats and integers shared by all threads.
pub struct DeviceTables {
    /// Floats, in the precision of the arithmetic.
    pub floats: BufferArg,
    /// Integers.
    pub ints: BufferArg,
}

/// Copies numbers to a device, floats in the precision of the arithmetic and clamped to its range.
pub fn upload(client: &Client, dtype: DType, floats: &[f64], ints: &[i32]) -> DeviceTables {
    let float_bytes = match dtype {
        DType::F64 => client.create_from_slice(bytemuck::cast_slice(floats)),
        _ => {
            let limit = f64::from(f32::MAX);
            let single = |x: &f64| x.clamp(-limit, limit) as f32;
            let floats: Vec<f32> = floats.iter().map(single).collect();
            client.create_from_slice(bytemuck::cast_slice(&floats))
        }
    };
    let int_bytes = client.create_from_slice(bytemuck::cast_slice(ints));
    // SAFETY: each buffer was created with exactly this many elements.
    unsafe {
        DeviceTables {
            floats: BufferArg::from_raw_parts(float_bytes, floats.len()),
            ints: BufferArg::from_raw_parts(int_bytes, ints.len()),
        }
    }
}

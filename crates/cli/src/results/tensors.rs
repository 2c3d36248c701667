//! Transfers between host and device.

use anyhow::{Result, anyhow};
use burntrace::burn::tensor::{DType, Tensor, TensorData};
use burntrace::{Precision, device::OpenDevice};

/// Moves positions to a device as a tensor `[n, 3]`, measured from an origin, in f32 where the device
/// lacks f64.
pub fn positions(
    positions: &[[f64; 3]],
    origin: [f64; 3],
    precision: Precision,
    device: &OpenDevice,
) -> Tensor<2> {
    let measured = positions.iter().flat_map(|p| [0, 1, 2].map(|d| p[d] - origin[d]));
    rows(measured.collect(), 3, precision, device)
}

/// Moves rows of `width` numbers to a device as a tensor `[n, width]`, in f32 where the device lacks f64.
pub fn rows(
    numbers: Vec<f64>,
    width: usize,
    precision: Precision,
    device: &OpenDevice,
) -> Tensor<2> {
    let dtype = match precision {
        Precision::F64 if device.has_f64 => DType::F64,
        _ => DType::F32,
    };
    let count = numbers.len() / width;
    let data = TensorData::new(numbers, [count, width]);
    Tensor::from_data(data.convert_dtype(dtype), (&device.device, dtype))
}

/// Reads the values of a tensor.
pub fn numbers(values: Tensor<1>) -> Result<Vec<f64>> {
    let data = values.into_data().convert::<f64>();
    data.try_to_vec().map_err(|error| anyhow!("cannot read results from the device: {error:?}"))
}

//! Places on their way to a device, and numbers on their way back.

use anyhow::{Result, anyhow};
use burntrace::burn::tensor::{DType, Tensor, TensorData};
use burntrace::{Precision, device::OpenDevice};

/// Places `[n, 3]` on a device, in a precision, or in f32 where the device has nothing better.
pub fn places(places: &[[f64; 3]], precision: Precision, device: &OpenDevice) -> Tensor<2> {
    let dtype = match precision {
        Precision::F64 if device.has_f64 => DType::F64,
        _ => DType::F32,
    };
    let data = TensorData::new(places.as_flattened().to_vec(), [places.len(), 3]);
    Tensor::from_data(data.convert_dtype(dtype), (&device.device, dtype))
}

/// The numbers of a tensor on the host.
pub fn numbers(values: Tensor<1>) -> Result<Vec<f64>> {
    let data = values.into_data().convert::<f64>();
    data.try_to_vec().map_err(|error| anyhow!("results cannot be read back: {error:?}"))
}

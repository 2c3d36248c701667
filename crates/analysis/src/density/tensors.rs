//! Conversion between tensors and the host.

use crate::{Error, Result};
use burn::tensor::{DType, Tensor, TensorData};

/// The values of a tensor in double precision.
///
/// # Errors
///
/// [`Error::Execution`] if the device fails, or the tensor is not `f32` or `f64`.
pub(super) fn on_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f64>> {
    let failed = |error: &dyn std::fmt::Debug| Error::Execution(format!("{error:?}"));
    let dtype = tensor.dtype();
    if !matches!(dtype, DType::F32 | DType::F64) {
        return Err(Error::Execution(format!(
            "tensors of {dtype:?} are not supported; use f32 or f64"
        )));
    }
    let data = tensor.try_into_data().map_err(|error| failed(&error))?;
    data.convert::<f64>().try_into_vec().map_err(|error| failed(&error))
}

/// Positions `[n, 3]` on the host.
///
/// # Errors
///
/// [`Error::Positions`] for other shapes; [`Error::Execution`] if the device fails.
pub(super) fn positions_on_host(positions: &Tensor<2>) -> Result<Vec<[f64; 3]>> {
    let found = positions.dims();
    if found[1] != 3 {
        return Err(Error::Positions { found });
    }
    if found[0] == 0 {
        return Ok(Vec::new());
    }
    Ok(on_host(positions.clone())?.as_chunks().0.to_vec())
}

/// Machine epsilon of a tensor's precision.
pub(super) fn epsilon(like: &Tensor<2>) -> f64 {
    match like.dtype() {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    }
}

/// A tensor of numbers on the device and in the precision of `like`.
pub(super) fn to_tensor(numbers: Vec<f64>, like: &Tensor<2>) -> Tensor<1> {
    let shape = [numbers.len()];
    let data = match like.dtype() {
        DType::F64 => TensorData::new(numbers, shape),
        _ => TensorData::new(numbers.into_iter().map(|x| x as f32).collect::<Vec<_>>(), shape),
    };
    Tensor::from_data(data, (&like.device(), like.dtype()))
}

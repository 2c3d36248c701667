//! Second derivatives of losses.

use crate::{Error, Result, tracer::timed::numbers};
use burn::tensor::{DType, Tensor};

/// The step of a central difference of gradients in double precision, relative to the size of the point: the cube root of the
/// machine epsilon.
const STEP: f64 = 6e-6;

/// The product of the Hessian of a loss at a point with a direction, from its gradients: their central difference along the
/// direction. `gradient` returns the gradient at a point, without a graph. For the method of conjugate gradients, of Gauss and Newton or of
/// Laplace; in double precision, in which it is known to about nine digits.
///
/// ```
/// use burn::tensor::{DType, Device, Tensor, TensorData};
/// use burntrace_core::{FieldOptions, GridField, Placement, Seeds, Tracer, hessian_product};
///
/// # fn main() -> Result<(), burntrace_core::Error> {
/// let device = Device::flex().autodiff();
/// let axes = [vec![0.0, 1.0], vec![0.0, 1.0], vec![0.0]];
/// let speeds = TensorData::from([[[0.1, 0.0, 0.0], [0.4, 0.0, 0.0], [0.1, 0.0, 0.0], [0.4, 0.0, 0.0]]]);
/// let speeds = Tensor::<3>::from_data(speeds, (&device, DType::F64));
/// let (options, times) = (FieldOptions::default(), vec![0.0]);
/// let field = GridField::from_tensor(axes, times, Placement::Nodes, speeds.clone(), &options)?;
/// let (tracer, seeds) = (Tracer::new(&field).span(0.0..=1.0).steps(20), Seeds::list(vec![[0.2, 0.5, 0.0]])?);
/// let gradient = |values: Tensor<3>| {
///     let values = values.autodiff().require_grad();
///     let field = field.with_values(values.clone())?;
///     let (_, gradients) = tracer
///         .with_field(&field)
///         .value_and_grad(&seeds, |tracks| tracks.positions().square().sum())?;
///     Ok(values.grad(&gradients).expect("the loss depends on them"))
/// };
/// let along = Tensor::<3>::from_data(TensorData::from([[[1.0, 0.0, 0.0]; 4]]), (&Device::flex(), DType::F64));
/// let product = hessian_product(&speeds.inner(), &along, gradient)?;
/// assert_eq!(product.dims(), [1, 4, 3]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Adjoint`] if point and direction have different shapes or are not in double precision, [`Error::Execution`] if the device
/// fails, and those of `gradient`.
pub fn hessian_product<const D: usize>(
    at: &Tensor<D>,
    along: &Tensor<D>,
    mut gradient: impl FnMut(Tensor<D>) -> Result<Tensor<D>>,
) -> Result<Tensor<D>> {
    if at.dims() != along.dims() || at.dtype() != DType::F64 || along.dtype() != DType::F64 {
        return Err(Error::Adjoint(format!(
            "a second derivative is asked for at a point {:?} in {:?} along {:?} in {:?}; give tensors of one shape in {:?}",
            at.dims(),
            at.dtype(),
            along.dims(),
            along.dtype(),
            DType::F64
        )));
    }
    let (size, length) = (largest(at)?, largest(along)?);
    if length == 0.0 {
        return Ok(along.zeros_like());
    }
    let step = STEP * size.max(1.0) / length;
    let mut beside = |way: f64| gradient(at.clone() + along.clone() * (way * step));
    Ok((beside(1.0)? - beside(-1.0)?) / (2.0 * step))
}

/// The largest absolute value.
fn largest<const D: usize>(tensor: &Tensor<D>) -> Result<f64> {
    Ok(numbers(tensor)?.iter().fold(0.0, |largest, x| x.abs().max(largest)))
}

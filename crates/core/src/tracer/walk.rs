//! The random walk of a tracer: validation, and the diffusivity of fields of one's own.

use super::{Tracer, rows::floats, sampled_at, stepper::Stepper, timed};
use crate::{
    Domain, Error, PerAxis, Result,
    error::short,
    field::{AXES, evaluate},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace_kernels::{FieldShape, Walk};

impl PerAxis {
    /// The numbers; `name` is that of the quantity.
    fn numbers(&self, name: &str) -> Result<[f64; 3]> {
        match self {
            PerAxis::Numbers(numbers) => Ok(*numbers),
            PerAxis::Tensor(tensor) if tensor.dims() != [3] => Err(Error::Walk(format!(
                "the {name} is a tensor {:?}; give one of the shape [3]",
                tensor.dims()
            ))),
            PerAxis::Tensor(tensor) => {
                let row = tensor.as_ref().clone().detach().reshape([1, 3]);
                let numbers = floats(&row)?;
                Ok([0, 1, 2].map(|d| numbers[d]))
            }
        }
    }

    fn is_tracked(&self) -> bool {
        matches!(self, PerAxis::Tensor(tensor) if tensor.device().is_autodiff())
    }

    /// The tensor `[3]`, on a device, with zeros along flat axes; in its graph, if it is tracked.
    fn moving(&self, numbers: [f64; 3], tracer: &Tracer, device: &Device) -> Tensor<1> {
        let dtype = tracer.field.precision().dtype();
        let row = |numbers| Tensor::from_data(TensorData::from(numbers), (device, dtype));
        let PerAxis::Tensor(tensor) = self else { return row(numbers) };
        if !self.is_tracked() {
            return row(numbers);
        }
        let tensor = match tensor.device() == *device {
            // A move is recorded in the graph, even to the same device.
            true => tensor.as_ref().clone(),
            false => tensor.as_ref().clone().to_device(device),
        };
        tensor.cast(dtype) * row(moving(&tracer.domain_box(), [1.0; 3]))
    }
}

/// The velocity that a tracer adds to the field's, validated.
pub(super) fn drift(tracer: &Tracer) -> Result<[f64; 3]> {
    let drift = tracer.motion.drift.numbers("added velocity")?;
    // Finite in single precision too.
    if let Some(bad) = drift.iter().find(|v| !(-1e30..=1e30).contains(*v)) {
        return Err(Error::Walk(format!(
            "the added velocity {} is not a number up to 1e30; give one",
            short(*bad)
        )));
    }
    Ok(moving(&tracer.domain_box(), drift))
}

/// Whether the drift or the diffusivity has gradients.
pub(super) fn is_tracked(tracer: &Tracer) -> bool {
    let diffusivity = tracer.motion.walk.as_ref().map(|walk| &walk.diffusivity);
    tracer.motion.drift.is_tracked() || diffusivity.is_some_and(PerAxis::is_tracked)
}

/// A drift, a diffusivity, and the start and the end of the run as tensors; see
/// [`GeometryTensors::motion`](burntrace_kernels::GeometryTensors::motion).
pub(super) fn motion(tracer: &Tracer, drift: [f64; 3], walk: Option<&Walk>) -> Tensor<1> {
    let still = PerAxis::Numbers([0.0; 3]);
    let diffusivity = tracer.motion.walk.as_ref().map_or(&still, |walk| &walk.diffusivity);
    let numbers = walk.map_or([0.0; 3], |walk| walk.diffusivity);
    let device = device(tracer, is_tracked(tracer) || tracer.times.is_some());
    let parts = [(&tracer.motion.drift, drift), (diffusivity, numbers)];
    let mut parts = parts.map(|(part, numbers)| part.moving(numbers, tracer, &device)).to_vec();
    parts.push(timed::span(tracer, &device));
    Tensor::cat(parts, 0)
}

/// The device of a tracer's field, or the one that tracks gradients on it.
pub(super) fn device(tracer: &Tracer, is_tracked: bool) -> Device {
    let device = tracer.field.device();
    if is_tracked && !device.is_autodiff() { device.autodiff() } else { device }
}

/// The values for each axis, 0 along flat axes.
pub(super) fn moving(domain: &Domain, numbers: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|d| if domain.is_flat(d) { 0.0 } else { numbers[d] })
}

/// The random walk of a tracer, validated.
pub(super) fn walk(tracer: &Tracer) -> Result<Option<Walk>> {
    let Some(walk) = &tracer.motion.walk else { return Ok(None) };
    let diffusivity = walk.diffusivity.numbers("diffusivity")?;
    for (k, axis) in diffusivity.iter().zip(AXES) {
        // Finite in single precision too.
        if !(0.0..=1e30).contains(k) {
            return Err(Error::Walk(format!(
                "its diffusivity along {axis} is {}; give a number from 0 to 1e30",
                short(*k)
            )));
        }
    }
    Ok(Some(Walk {
        diffusivity: moving(&tracer.domain_box(), diffusivity),
        varies: walk.varies,
        group: tracer.field.sampled().map_or(0, |sampled| sampled.lanes.diffusivity_group()),
        reach: reach(tracer),
        scheme: walk.scheme,
        seed: walk.seed,
    }))
}

/// Half the distance of the central difference for a gradient, such as that of diffusivity: much smaller than the smallest
/// cell, in which a field is linear along each axis, and much larger than rounding.
pub(super) fn reach(tracer: &Tracer) -> [f64; 3] {
    let size = tracer.domain_box().size();
    let shape = tracer.field.sampled().map(|sampled| sampled.tensors.shape);
    let smallest = tracer.field.mesh().map_or([f64::INFINITY; 3], |mesh| mesh.smallest_cell());
    [0, 1, 2].map(|d| match shape {
        Some(FieldShape::Grid(grid)) if grid.pitch[d] > 0.0 => 0.05 * grid.pitch[d],
        _ if size[d].is_finite() && size[d] > 0.0 => {
            (0.05 * smallest[d]).clamp(1e-5 * size[d], 1e-3 * size[d])
        }
        _ => 1e-3,
    })
}

/// The field's diffusivity at positions `[n, 3]`, each at its own time, and its derivatives along x, y and z times the
/// factors of a walk `[n, 4]`.
pub(super) fn spread(
    walk: &Walk,
    stepper: &Stepper,
    from: &Tensor<2>,
    times: &[f64],
) -> Result<Tensor<2>> {
    let factor = stepper.geometry.motion.clone().narrow(0, 3, 3).reshape([1, 3]);
    let here = evaluate::diffusivity_at(stepper.field, from.clone(), times)?;
    let gradient = factor * diffusivity_gradient(walk, stepper, from, times)?;
    Ok(Tensor::cat(vec![here.clamp_min(0.0), gradient], 1))
}

/// Derivatives `[n, 3]` of the field's diffusivity along each axis, by central differences; across
/// periodic faces, those of the images in the box.
fn diffusivity_gradient(
    walk: &Walk,
    stepper: &Stepper,
    from: &Tensor<2>,
    times: &[f64],
) -> Result<Tensor<2>> {
    let at = |d: usize, side: f64| {
        let mut offset = [0.0; 3];
        offset[d] = side * walk.reach[d];
        let beside = (&from.device(), from.dtype());
        let offset = Tensor::<2>::from_data(TensorData::new(offset.to_vec(), [1, 3]), beside);
        let position = sampled_at::wrap(&stepper.boundary, from.clone() + offset);
        evaluate::diffusivity_at(stepper.field, position, times)
    };
    let mut columns = Vec::with_capacity(3);
    for d in 0..3 {
        columns.push((at(d, 1.0)? - at(d, -1.0)?).div_scalar(2.0 * walk.reach[d]));
    }
    Ok(Tensor::cat(columns, 1))
}

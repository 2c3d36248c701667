//! The random walk of a tracer: validation, and its tensor-engine reference.

use super::{
    Tracer, reinjection, replay, selection::RowSelection, stepper::Stepper, tensor::State,
};
use crate::{
    Domain, Error, PerAxis, Result, WalkScheme,
    error::short,
    field::{AXES, evaluate},
};
use burn::tensor::{Device, Tensor, TensorData};
use burntrace_kernels::{FieldShape, Spacing, Walk};

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
                let numbers = reinjection::floats(&row)?;
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

/// A drift and a diffusivity as tensors; see
/// [`GeometryTensors::motion`](burntrace_kernels::GeometryTensors::motion).
pub(super) fn motion(tracer: &Tracer, drift: [f64; 3], walk: Option<&Walk>) -> Tensor<1> {
    let still = PerAxis::Numbers([0.0; 3]);
    let diffusivity = tracer.motion.walk.as_ref().map_or(&still, |walk| &walk.diffusivity);
    let numbers = walk.map_or([0.0; 3], |walk| walk.diffusivity);
    let device = device(tracer, is_tracked(tracer));
    let parts = [(&tracer.motion.drift, drift), (diffusivity, numbers)];
    Tensor::cat(parts.map(|(part, numbers)| part.moving(numbers, tracer, &device)).to_vec(), 0)
}

/// The device of a tracer's field, or the one that tracks gradients on it.
pub(super) fn device(tracer: &Tracer, is_tracked: bool) -> Device {
    let device = tracer.field.device();
    if is_tracked && !device.is_autodiff() { device.autodiff() } else { device }
}

/// The values for each axis, 0 along flat axes.
fn moving(domain: &Domain, numbers: [f64; 3]) -> [f64; 3] {
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
        reach: reach(tracer),
        scheme: walk.scheme,
        seed: walk.seed,
    }))
}

/// Half the distance of the central difference for the gradient of diffusivity: much smaller than a
/// cell, in which diffusivity is linear, and much larger than rounding.
fn reach(tracer: &Tracer) -> [f64; 3] {
    let size = tracer.domain_box().size();
    let shape = tracer.field.sampled().map(|sampled| sampled.tensors.shape);
    [0, 1, 2].map(|d| match shape {
        Some(FieldShape::Grid(grid)) if grid.spacing == Spacing::Uniform => 0.05 * grid.pitch[d],
        _ if size[d].is_finite() && size[d] > 0.0 => 1e-3 * size[d],
        _ => 1e-3,
    })
}

/// A slot and its generation.
pub(super) type SlotGeneration = (u32, u32);

/// The slots of selected particles; empty without a random walk. Without re-injection all
/// generations are 0 and are not read.
pub(super) fn slots(
    stepper: &Stepper,
    part: &State,
    rows: &RowSelection,
) -> Result<Vec<SlotGeneration>> {
    let slots = rows.rows().iter().map(|row| part.first_slot + *row as u32);
    match (&stepper.walk, stepper.reuses_slots) {
        (None, _) => Ok(Vec::new()),
        (_, false) => Ok(slots.map(|slot| (slot, 0)).collect()),
        (_, true) => {
            let generations = reinjection::ints(&part.generation)?;
            Ok(slots.zip(generations.into_iter().map(|number| number as u32)).collect())
        }
    }
}

/// The displacements `[n, 3]` of a random walk in steps from `from`, of length `h` from time `t` on.
pub(super) fn diffuse(
    walk: &Walk,
    stepper: &Stepper,
    from: &Tensor<2>,
    (t, h): (f64, f64),
    (slots, step): (&[SlotGeneration], u64),
) -> Result<Tensor<2>> {
    let normal =
        |(slot, generation): &SlotGeneration| walk.normals(*slot, *generation, step as u32);
    let normals = TensorData::new(slots.iter().flat_map(normal).collect::<Vec<f64>>(), from.dims());
    let beside = (&from.device(), from.dtype());
    let normals = Tensor::<2>::from_data(normals, beside);
    let factor = stepper.geometry.motion.clone().narrow(0, 3, 3).reshape([1, 3]);
    let dt = h.abs();
    let dw = normals.mul_scalar(dt.sqrt());
    if !walk.varies {
        return Ok(root(factor.mul_scalar(2.0)) * dw);
    }
    let here = evaluate::diffusivity(stepper.field, from.clone(), t)?;
    let k = factor.clone() * here.clamp_min(0.0);
    let gradient = factor * diffusivity_gradient(walk, stepper, from, t)?;
    let squares = match walk.scheme {
        WalkScheme::EulerMaruyama => dw.zeros_like().add_scalar(dt),
        WalkScheme::Milstein => (dw.clone().square()).add_scalar(dt).mul_scalar(0.5),
    };
    Ok(gradient * squares + root(k.mul_scalar(2.0)) * dw)
}

/// The square root, with a derivative of 0 at 0.
fn root(squares: Tensor<2>) -> Tensor<2> {
    let is_zero = squares.clone().equal_elem(0.0);
    squares.mask_fill(is_zero.clone(), 1.0).sqrt().mask_fill(is_zero, 0.0)
}

/// Derivatives `[n, 3]` of the field's diffusivity along each axis, by central differences; across
/// periodic faces, those of the images in the box.
fn diffusivity_gradient(
    walk: &Walk,
    stepper: &Stepper,
    from: &Tensor<2>,
    t: f64,
) -> Result<Tensor<2>> {
    let at = |d: usize, side: f64| {
        let mut offset = [0.0; 3];
        offset[d] = side * walk.reach[d];
        let beside = (&from.device(), from.dtype());
        let offset = Tensor::<2>::from_data(TensorData::new(offset.to_vec(), [1, 3]), beside);
        let position = replay::wrap(&stepper.boundary, from.clone() + offset);
        evaluate::diffusivity(stepper.field, position, t)
    };
    let mut columns = Vec::with_capacity(3);
    for d in 0..3 {
        columns.push((at(d, 1.0)? - at(d, -1.0)?).div_scalar(2.0 * walk.reach[d]));
    }
    Ok(Tensor::cat(columns, 1))
}

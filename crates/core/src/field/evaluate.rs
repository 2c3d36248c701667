//! Evaluates fields, and validates what they return.

use super::{
    Field, Sampled,
    domain::{measured, measured_from},
    interface::origin,
    sampled::origin_row,
};
use crate::{Error, Result};
use burn::tensor::{DType, Device, Int, Tensor, TensorData, kind::Basic};
use burntrace_kernels::{Particles, Segment};

/// Velocity `[n, 3]` at positions `[n, 3]`, measured from the field's [`origin`].
///
/// # Errors
///
/// [`Error::Field`] if the field returns another shape, precision or device, and [`Error::Source`]
/// if a frame cannot be read.
pub(crate) fn velocity(field: &dyn Field, position: Tensor<2>, time: f64) -> Result<Tensor<2>> {
    let [count, _] = position.dims();
    let found = field
        .velocity_from_origin(&position, &[time])
        .unwrap_or_else(|| field.velocity(plain(field, position), time));
    validated(field, "velocity", found, [count, 3])
}

/// All groups of values `[n, groups x 4]` of a sampled field at positions `[n, 3]` in the data's
/// coordinates; NaN outside the field.
///
/// # Errors
///
/// [`Error::OutsideTime`] if the field is not known at the time, [`Error::Arrays`] for positions in
/// another shape, precision or device, and [`Error::Source`] if a frame cannot be read.
pub(crate) fn samples(field: &dyn Field, position: Tensor<2>, time: f64) -> Result<Tensor<2>> {
    check_positions(field, &position)?;
    if let Some([first, last]) = field.times().filter(|[a, b]| !(*a..=*b).contains(&time)) {
        return Err(Error::OutsideTime { t0: time, t1: time, first, last });
    }
    let origin = origin(field);
    let position = match origin {
        [0.0, 0.0, 0.0] => position,
        _ => position.clone() - origin_row(origin, &position),
    };
    samples_from_origin(field, position, time)
}

fn check_positions(field: &dyn Field, position: &Tensor<2>) -> Result<()> {
    let (dtype, device) = (field.precision().dtype(), field.device());
    let is_valid = position.dims()[1] == 3 && position.dtype() == dtype;
    if is_valid && position.device() == device {
        return Ok(());
    }
    Err(Error::Arrays(format!(
        "the positions to sample at are {:?} in {:?} on {:?}; give [n, 3] in {dtype:?} on {device:?}",
        position.dims(),
        position.dtype(),
        position.device()
    )))
}

/// As [`samples`], at positions measured from the field's [`origin`], at a time at which the field is
/// known.
pub(crate) fn samples_from_origin(
    field: &dyn Field,
    position: Tensor<2>,
    time: f64,
) -> Result<Tensor<2>> {
    let (Some(sampled), Some(from_origin)) = (field.sampled(), field.origin_view()) else {
        return Err(Error::Arrays("only fields on grids, meshes and points have them".into()));
    };
    let values = match position.device().is_autodiff() {
        true => from_origin.values_from_origin(position.clone(), time),
        false => {
            let particles = Particles::at(position.clone());
            let has_holes = sampled.has_gaps();
            let segment = |clock, steps| Segment { has_holes, ..Segment::new(clock, steps) };
            sampled.values(particles, 0, time, segment)?
        }
    };
    sampled.failure()?;
    let is_outside = from_origin.contains_from_origin(&position).bool_not();
    let is_outside = is_outside.expand(values.dims());
    Ok(values.mask_fill(is_outside, f64::NAN))
}

/// Velocity `[n, 3]` at positions `[n, 3]`, measured from the origin, and a time for each of them.
/// If the field has no method for this, it is asked once for each of the different times.
///
/// # Errors
///
/// As [`velocity`].
pub(crate) fn velocity_at(
    field: &dyn Field,
    position: Tensor<2>,
    times: &[f64],
) -> Result<Tensor<2>> {
    if times.windows(2).all(|pair| pair[0] == pair[1]) {
        return velocity(field, position, times[0]);
    }
    let found = field
        .velocity_from_origin(&position, times)
        .or_else(|| field.velocity_at(plain(field, position.clone()), times));
    if let Some(found) = found {
        return validated(field, "velocity", found, [times.len(), 3]);
    }
    at_each_time(position, times, |position, time| velocity(field, position, time))
}

/// The second velocity `[n, 3]` of a field at positions `[n, 3]`, measured from the origin, and one time or a time for each of them.
///
/// # Errors
///
/// As [`velocity`], and [`Error::Field`] if the field has no second velocity.
pub(crate) fn scaled_velocity(
    field: &dyn Field,
    position: Tensor<2>,
    times: &[f64],
) -> Result<Tensor<2>> {
    let quantity = "second velocity";
    let [count, _] = position.dims();
    match field.origin_view().and_then(|view| view.scaled_from_origin(position, times)) {
        Some(found) => validated(field, quantity, found, [count, 3]),
        None => Err(Error::Field {
            quantity,
            reason:
                "it has none; load it from a source with one (`FrameSource::has_scaled_velocity`)"
                    .into(),
        }),
    }
}

/// A quantity at positions `[n, 3]` and a time for each of them, by a function of positions at one time.
fn at_each_time(
    position: Tensor<2>,
    times: &[f64],
    at: impl Fn(Tensor<2>, f64) -> Result<Tensor<2>>,
) -> Result<Tensor<2>> {
    if times.windows(2).all(|pair| pair[0] == pair[1]) {
        return at(position, times[0]);
    }
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|a, b| times[*a].total_cmp(&times[*b]));
    let sorted = select_rows(position, &order);
    let (mut found, mut first) = (Vec::new(), 0);
    for group in order.chunk_by(|a, b| times[*a] == times[*b]) {
        let position = sorted.clone().narrow(0, first, group.len());
        found.push(at(position, times[group[0]])?);
        first += group.len();
    }
    let mut inverse = vec![0; order.len()];
    for (number, row) in order.into_iter().enumerate() {
        inverse[row] = number;
    }
    Ok(select_rows(Tensor::cat(found, 0), &inverse))
}

/// Positions `[n, 3]` in the data's coordinates.
pub(crate) fn plain(field: &dyn Field, position: Tensor<2>) -> Tensor<2> {
    match origin(field) {
        [0.0, 0.0, 0.0] => position,
        origin => position.clone() + origin_row(origin, &position),
    }
}

/// Rows of a tensor by their indices.
pub(crate) fn select_rows<const D: usize, K: Basic>(
    tensor: Tensor<D, K>,
    rows: &[usize],
) -> Tensor<D, K> {
    let indices = indices(rows, &tensor.device());
    tensor.select(0, indices)
}

/// Indices as a tensor.
pub(crate) fn indices(indices: &[usize], device: &Device) -> Tensor<1, Int> {
    let numbers: Vec<i32> = indices.iter().map(|i| *i as i32).collect();
    Tensor::from_data(TensorData::new(numbers, [indices.len()]), (device, DType::I32))
}

/// Diffusivity `[n, 1]` at positions `[n, 3]`, measured from the origin.
///
/// # Errors
///
/// As [`velocity`], and [`Error::Field`] if the field has no diffusivity.
pub(crate) fn diffusivity(field: &dyn Field, position: Tensor<2>, time: f64) -> Result<Tensor<2>> {
    let [count, _] = position.dims();
    let quantity = "diffusivity";
    let found = match field.origin_view() {
        Some(from_origin) if field.has_diffusivity() => {
            Some(from_origin.diffusivity_from_origin(position, time))
        }
        _ => field.diffusivity(plain(field, position), time),
    };
    let Some(found) = found else {
        let reason = "it is `None`, but `has_diffusivity` is true; return a tensor [n, 1]".into();
        return Err(Error::Field { quantity, reason });
    };
    validated(field, quantity, found, [count, 1])
}

/// Diffusivity `[n, 1]` at positions `[n, 3]`, measured from the origin, and a time for each of them.
///
/// # Errors
///
/// As [`diffusivity`].
pub(crate) fn diffusivity_at(
    field: &dyn Field,
    position: Tensor<2>,
    times: &[f64],
) -> Result<Tensor<2>> {
    at_each_time(position, times, |position, time| diffusivity(field, position, time))
}

/// Whether a field returns tensors that track gradients: on a device that does, or because a
/// parameter of the field does. A field that is not sampled is asked at one position.
pub(crate) fn is_tracked(field: &dyn Field, position: [f64; 3], time: f64) -> Result<bool> {
    if field.sampled().is_some() {
        return Ok(field.device().is_autodiff());
    }
    let beside = (&field.device(), field.precision().dtype());
    let position = measured(origin(field), position);
    let position = Tensor::from_data(TensorData::new(position.to_vec(), [1, 3]), beside);
    let mut found = vec![velocity(field, position.clone(), time)?];
    if field.has_diffusivity() {
        found.push(diffusivity(field, position, time)?);
    }
    Ok(field.device().is_autodiff() || found.iter().any(|found| found.device().is_autodiff()))
}

fn validated(
    field: &dyn Field,
    quantity: &'static str,
    found: Tensor<2>,
    shape: [usize; 2],
) -> Result<Tensor<2>> {
    field.sampled().map_or(Ok(()), Sampled::failure)?;
    let fail = |reason| Err(Error::Field { quantity, reason });
    if found.dims() != shape {
        return fail(format!(
            "it has the shape {:?} at {} positions; return {shape:?}",
            found.dims(),
            shape[0]
        ));
    }
    let (dtype, device) = (field.precision().dtype(), field.device());
    if found.dtype() != dtype {
        return fail(format!(
            "it is in {:?}, but the field's precision is {}; return {dtype:?}",
            found.dtype(),
            field.precision()
        ));
    }
    // The comparison ignores gradient tracking: Burn combines both kinds of tensors.
    if found.device() != device {
        return fail(format!(
            "it is on {:?}, but the field's device is {device:?}; return it on the device of the \
             positions",
            found.device()
        ));
    }
    Ok(found)
}

/// Velocities at positions in the data's coordinates; NaN outside the field, or as the field returns them there.
pub(crate) fn velocities(
    field: &dyn Field,
    positions: &[[f64; 3]],
    time: f64,
) -> Result<Vec<[f64; 3]>> {
    let position = on_device(field, positions);
    // The fused operation is faster.
    let is_sampled = field.sampled().is_some() && field.origin_view().is_some();
    on_host(&match is_sampled {
        true => samples_from_origin(field, position, time)?.narrow(1, 0, 3),
        false => velocity(field, position, time)?,
    })
}

/// Positions `[n, 3]` on a field's device, measured from its origin.
pub(crate) fn on_device(field: &dyn Field, positions: &[[f64; 3]]) -> Tensor<2> {
    let measured = measured_from(origin(field), positions);
    let data = field.precision().data(measured.into_flattened(), [positions.len(), 3]);
    Tensor::from_data(data, (&field.device(), field.precision().dtype()))
}

/// Positions `[n, 3]` on the host.
pub(crate) fn on_host(positions: &Tensor<2>) -> Result<Vec<[f64; 3]>> {
    let failed = |e: &dyn std::error::Error| Error::Execution(e.to_string());
    let data = positions.clone().try_into_data().map_err(|e| failed(&e))?;
    let data = data.try_cast_as::<f64>().map_err(|e| failed(&e))?;
    let numbers = data.try_into_vec::<f64>().map_err(|e| failed(&e))?;
    Ok(numbers.as_chunks().0.to_vec())
}

//! Derivatives of launches on a card, computed on the host.

use crate::{
    Segment, TraceBackend,
    ops::{Ends, Geometry, PulledBack, PulledBackEnds, Sampled, State, TraceAdjoint, Wanted},
};
use burn::{
    backend::{
        Flex,
        flex::FlexTensor,
        ops::{FloatTensorOps, IntTensorOps},
        tensor::{Device, FloatTensor, IntTensor},
    },
    tensor::TensorData,
};
use burn_cubecl::{CubeBackend, cubecl::future::block_on};

/// `TraceAdjoint::pull_back`: takes the steps of the launch again on the host and reverses them there.
///
/// # Panics
///
/// If the device fails. Burn's backward pass has no errors.
pub(super) fn pull_back(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    (gradient, wanted): (FloatTensor<CubeBackend>, Wanted),
    segment: Segment,
) -> PulledBack<CubeBackend> {
    let device = state.position.device.clone();
    let (state, field, geometry) = on_host(state, field, geometry);
    let by = Flex::pull_back(state, field, geometry, floats(gradient), wanted, segment);
    PulledBack {
        position: upload(by.position, &device),
        velocity: upload(by.velocity, &device),
        motion: upload(by.motion, &device),
        fraction: upload(by.fraction, &device),
        rows: upload(by.rows, &device),
    }
}

/// `TraceBackend::push_forward`: takes the steps of the launch again on the host.
///
/// # Panics
///
/// As [`pull_back`].
pub(super) fn push_forward(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    tangents: FloatTensor<CubeBackend>,
    segment: Segment,
) -> FloatTensor<CubeBackend> {
    let device = state.position.device.clone();
    let (state, field, geometry) = on_host(state, field, geometry);
    upload(Flex::push_forward(state, field, geometry, floats(tangents), segment), &device)
}

/// `TraceBackend::carry`: settles the step once more on the host.
///
/// # Panics
///
/// As [`pull_back`].
pub(super) fn carry(
    (state, ends): (State<CubeBackend>, Ends<CubeBackend>),
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    velocities: FloatTensor<CubeBackend>,
    segment: Segment,
) -> FloatTensor<CubeBackend> {
    let device = state.position.device.clone();
    let (state, field, geometry) = on_host(state, field, geometry);
    let (ends, velocities) = (ends_on_host(ends), floats(velocities));
    upload(Flex::carry(state, ends, field, geometry, velocities, segment), &device)
}

/// `TraceAdjoint::pull_back_carrying`: settles the step once more on the host.
///
/// # Panics
///
/// As [`pull_back`].
pub(super) fn pull_back_carrying(
    (state, ends): (State<CubeBackend>, Ends<CubeBackend>),
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    (velocities, gradient): (FloatTensor<CubeBackend>, FloatTensor<CubeBackend>),
    segment: Segment,
) -> FloatTensor<CubeBackend> {
    let device = state.position.device.clone();
    let (state, field, geometry) = on_host(state, field, geometry);
    let (ends, velocities, gradient) = (ends_on_host(ends), floats(velocities), floats(gradient));
    let by = Flex::pull_back_carrying(state, ends, field, geometry, velocities, gradient, segment);
    upload(by, &device)
}

/// `TraceAdjoint::pull_back_settling`: settles the step again on the host.
///
/// # Panics
///
/// As [`pull_back`].
pub(super) fn pull_back_settling(
    (state, ends): (State<CubeBackend>, Ends<CubeBackend>),
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    gradient: FloatTensor<CubeBackend>,
    segment: Segment,
) -> PulledBackEnds<CubeBackend> {
    let device = state.position.device.clone();
    let (state, field, geometry) = on_host(state, field, geometry);
    let ends = ends_on_host(ends);
    let by = Flex::pull_back_settling(state, ends, field, geometry, floats(gradient), segment);
    PulledBackEnds {
        position: upload(by.position, &device),
        fraction: upload(by.fraction, &device),
        displacement: upload(by.displacement, &device),
        spread: upload(by.spread, &device),
        motion: upload(by.motion, &device),
    }
}

/// The free ends of a step, in host memory.
fn ends_on_host(ends: Ends<CubeBackend>) -> Ends<Flex> {
    Ends {
        displacement: floats(ends.displacement),
        span: floats(ends.span),
        spread: floats(ends.spread),
        flags: ints(ends.flags),
    }
}

/// What a launch starts from, in host memory.
fn on_host(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
) -> (State<Flex>, Sampled<Flex>, Geometry<Flex>) {
    let state = State {
        position: floats(state.position),
        record: ints(state.record),
        fraction: floats(state.fraction),
    };
    let field = Sampled {
        velocity: floats(field.velocity),
        groups: field.groups,
        coordinates: floats(field.coordinates),
        index: ints(field.index),
        shape: field.shape,
    };
    let geometry = Geometry {
        rows: floats(geometry.rows),
        numbers: ints(geometry.numbers),
        motion: floats(geometry.motion),
    };
    (state, field, geometry)
}

fn upload(tensor: FlexTensor, device: &Device<CubeBackend>) -> FloatTensor<CubeBackend> {
    CubeBackend::float_from_data(data(Flex::float_into_data(tensor)), device)
}

fn floats(tensor: FloatTensor<CubeBackend>) -> FlexTensor {
    FlexTensor::from_data(data(CubeBackend::float_into_data(tensor)))
}

fn ints(tensor: IntTensor<CubeBackend>) -> FlexTensor {
    FlexTensor::from_data(data(CubeBackend::int_into_data(tensor)))
}

/// The numbers of a tensor, once its device has computed them.
fn data(
    reading: impl Future<Output = Result<TensorData, burn::tensor::ExecutionError>>,
) -> TensorData {
    block_on(reading).unwrap_or_else(|error| panic!("pull_back: the device failed: {error:?}"))
}

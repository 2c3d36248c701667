//! Gradients of launches on a card, computed on the host.

use super::host;
use crate::{
    Segment,
    ops::{Geometry, PulledBack, Sampled, State},
};
use burn::{
    backend::{
        Flex,
        flex::FlexTensor,
        ops::{FloatTensorOps, IntTensorOps},
        tensor::{FloatTensor, IntTensor},
    },
    tensor::TensorData,
};
use burn_cubecl::{CubeBackend, cubecl::future::block_on};

/// `TraceBackend::pull_back`: takes the steps of the launch again on the host and reverses them there.
///
/// # Panics
///
/// If the device fails. Burn's backward pass has no errors.
pub(super) fn pull_back(
    state: State<CubeBackend>,
    field: Sampled<CubeBackend>,
    geometry: Geometry<CubeBackend>,
    (gradient, by_values): (FloatTensor<CubeBackend>, bool),
    segment: Segment,
) -> PulledBack<CubeBackend> {
    let device = state.position.device.clone();
    let state = State::<Flex> {
        position: floats(state.position),
        record: ints(state.record),
        fraction: floats(state.fraction),
    };
    let field = Sampled::<Flex> {
        velocity: floats(field.velocity),
        groups: field.groups,
        coordinates: floats(field.coordinates),
        index: ints(field.index),
        shape: field.shape,
    };
    let geometry = Geometry::<Flex> {
        rows: floats(geometry.rows),
        numbers: ints(geometry.numbers),
        motion: floats(geometry.motion),
    };
    let by = host::pull_back(state, field, geometry, (floats(gradient), by_values), &segment);
    let upload = |tensor: FlexTensor| {
        CubeBackend::float_from_data(data(Flex::float_into_data(tensor)), &device)
    };
    PulledBack {
        position: upload(by.position),
        velocity: upload(by.velocity),
        motion: upload(by.motion),
    }
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

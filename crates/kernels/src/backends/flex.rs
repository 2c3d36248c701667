//! Flex, Burn's CPU backend.

use super::host::{self, HostTensor};
use crate::{
    Segment, TraceBackend,
    ops::{Sampled, State},
};
use burn::backend::{
    Flex, TensorMetadata,
    flex::FlexTensor,
    tensor::{FloatTensor, IntTensor},
};
use burn::tensor::{Element, TensorData};
use bytemuck::Pod;

impl TraceBackend for Flex {
    fn advance(state: State<Self>, field: Sampled<Self>, segment: Segment) -> State<Self> {
        host::advance(state, field, &segment)
    }

    fn sample(
        position: FloatTensor<Self>,
        field: Sampled<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        host::sample(position, field, &segment)
    }

    fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
        host::locate(position, field)
    }
}

impl HostTensor for FlexTensor {
    fn contiguous(self) -> Self {
        // Also where it begins at the beginning: its storage may go on beyond its end.
        self.to_contiguous()
    }

    fn values<E: Element + Pod>(&self) -> &[E] {
        self.storage()
    }

    fn values_mut<E: Element + Pod>(&mut self) -> &mut [E] {
        self.storage_mut()
    }

    fn zeros_like(&self) -> Self {
        FlexTensor::zeros(self.shape(), self.dtype())
    }

    fn of_integers(integers: Vec<i32>) -> Self {
        let count = integers.len();
        FlexTensor::from_data(TensorData::new(integers, [count]))
    }
}

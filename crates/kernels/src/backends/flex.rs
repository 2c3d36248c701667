//! Flex, Burn's CPU backend.

use super::host::{self, HostTensor};
use crate::{
    Segment, TraceBackend,
    ops::{Advanced, Geometry, PulledBack, Sampled, State},
};
use burn::backend::{
    Flex,
    flex::FlexTensor,
    tensor::{FloatTensor, IntTensor},
};
use burn::tensor::{Element, TensorData};
use bytemuck::Pod;

impl TraceBackend for Flex {
    fn advance(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        segment: Segment,
    ) -> Advanced<Self> {
        host::advance(state, field, geometry, &segment)
    }

    fn pull_back(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        gradient: FloatTensor<Self>,
        by_values: bool,
        segment: Segment,
    ) -> PulledBack<Self> {
        host::pull_back(state, field, geometry, (gradient, by_values), &segment)
    }

    fn push_forward(
        state: State<Self>,
        field: Sampled<Self>,
        geometry: Geometry<Self>,
        tangents: FloatTensor<Self>,
        segment: Segment,
    ) -> FloatTensor<Self> {
        host::push_forward(state, field, geometry, tangents, &segment)
    }

    fn sample(
        state: State<Self>,
        field: Sampled<Self>,
        first_group: usize,
        segment: Segment,
    ) -> FloatTensor<Self> {
        host::sample(state, field, first_group, &segment)
    }

    fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
        host::locate(position, field)
    }
}

impl HostTensor for FlexTensor {
    fn contiguous(self) -> Self {
        // A tensor that starts at offset 0 may still have storage beyond its end.
        self.to_contiguous()
    }

    fn values<E: Element + Pod>(&self) -> &[E] {
        self.storage()
    }

    fn values_mut<E: Element + Pod>(&mut self) -> &mut [E] {
        self.storage_mut()
    }

    fn of<E: Element>(values: Vec<E>, shape: &[usize]) -> Self {
        FlexTensor::from_data(TensorData::new(values, shape.to_vec()))
    }
}

//! Flex, Burn's CPU backend.

use super::HostTensor;
use burn::backend::flex::FlexTensor;
use burn::tensor::{Element, TensorData};
use bytemuck::Pod;

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

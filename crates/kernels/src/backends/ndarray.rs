//! NdArray, Burn's older CPU backend, kept for users that select it by name.
#![allow(deprecated)]

use super::HostTensor;
use burn::backend::TensorMetadata;
use burn::tensor::{Element, TensorData};
use burn_ndarray::NdArrayTensor;
use bytemuck::{Pod, cast_slice, cast_slice_mut};

/// Evaluates an expression on the storage of a tensor with one of the supported dtypes.
macro_rules! with_storage {
    ($tensor:expr, $storage:ident => $body:expr) => {
        match $tensor {
            NdArrayTensor::F32($storage) => $body,
            NdArrayTensor::F64($storage) => $body,
            NdArrayTensor::I32($storage) => $body,
            other => panic!("dtype {:?} is not supported; use f32, f64 or i32", other.dtype()),
        }
    };
}

impl HostTensor for NdArrayTensor {
    fn contiguous(self) -> Self {
        with_storage!(self, storage => {
            if storage.view().is_standard_layout() {
                storage.into()
            } else {
                storage.view().as_standard_layout().into_owned().into_shared().into()
            }
        })
    }

    fn values<E: Element + Pod>(&self) -> &[E] {
        with_storage!(self, storage => cast_slice(storage.view().to_slice().unwrap_or_default()))
    }

    fn values_mut<E: Element + Pod>(&mut self) -> &mut [E] {
        with_storage!(self, storage => {
            cast_slice_mut(storage.ensure_owned().as_slice_mut().unwrap_or_default())
        })
    }

    fn of<E: Element>(values: Vec<E>, shape: &[usize]) -> Self {
        NdArrayTensor::from_data(TensorData::new(values, shape.to_vec()))
    }
}

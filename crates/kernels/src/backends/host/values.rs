//! Values of fields, and cells, at positions on the CPU backends.

use super::{HostTensor, with_arrays};
use crate::{
    Segment,
    cpu::{self, Real},
    ops::{Sampled, State},
};
use burn::backend::Backend;
use bytemuck::cast_slice;

/// `TraceBackend::sample` on a CPU backend.
pub(super) fn sample<F, B, T>(
    state: State<B>,
    field: Sampled<B>,
    first_group: usize,
    segment: &Segment,
) -> T
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let (position, record) = (state.position.contiguous(), state.record.contiguous());
    let (position, record) = (position.values::<F>(), record.values::<i32>());
    let (positions, groups) = (cast_slice(position), first_group..field.groups);
    let count = positions.len();
    let mut values = vec![[F::zero(); 4]; count * groups.len()];
    let width = groups.len();
    with_arrays::<F, B, T>(field, |field| {
        cpu::sample((positions, cast_slice(record)), &mut values, (field, groups), segment)
    });
    T::of(values.into_flattened(), &[count, 4 * width])
}

/// `TraceBackend::locate` on a CPU backend.
pub(super) fn locate<F, B, T>(position: T, field: Sampled<B>) -> T
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let position = position.contiguous();
    let positions: &[[F; 3]] = cast_slice(position.values::<F>());
    let mut cells = vec![-1; positions.len()];
    with_arrays::<F, B, T>(field, |field| cpu::locate(positions, field, &mut cells));
    let count = cells.len();
    T::of(cells, &[count])
}

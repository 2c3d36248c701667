//! What the CPU backends have in common: tensors that can be borrowed as slices.

use crate::{
    LOG_INDEX, LOG_PLACE, Segment,
    cpu::{self, Arrays, Ended, FieldArrays, Real, Slots},
    ops::{Advanced, Placed, Sampled, State},
};
use burn::backend::{Backend, DType, TensorMetadata};
use burn::tensor::Element;
use bytemuck::{Pod, cast_slice, cast_slice_mut};

/// A tensor in the host's memory.
pub trait HostTensor: TensorMetadata {
    /// The same values, rows in memory one after another.
    fn contiguous(self) -> Self;
    /// All values of a contiguous tensor.
    fn values<E: Element + Pod>(&self) -> &[E];
    /// All values of a contiguous tensor, copied first where another tensor shares them.
    fn values_mut<E: Element + Pod>(&mut self) -> &mut [E];
    /// Zeros of this tensor's shape and type.
    fn zeros_like(&self) -> Self;
    /// A tensor of values, of a shape.
    fn of<E: Element>(values: Vec<E>, shape: &[usize]) -> Self;
}

/// `TraceBackend::advance` on a CPU backend.
pub(super) fn advance<B, T>(
    state: State<B>,
    field: Sampled<B>,
    placed: Placed<B>,
    segment: &Segment,
) -> Advanced<B>
where
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    match state.position.dtype() {
        DType::F32 => advance_in::<f32, B, T>(state, field, placed, segment),
        DType::F64 => advance_in::<f64, B, T>(state, field, placed, segment),
        dtype => panic!("advance: positions of type {dtype:?}; f32 and f64 are supported"),
    }
}

fn advance_in<F, B, T>(
    state: State<B>,
    field: Sampled<B>,
    placed: Placed<B>,
    segment: &Segment,
) -> Advanced<B>
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let mut state = State::<B> {
        position: state.position.contiguous(),
        record: state.record.contiguous(),
        fraction: state.fraction.contiguous(),
    };
    let arrays = Arrays::<F> {
        position: cast_slice_mut(state.position.values_mut::<F>()),
        record: cast_slice_mut(state.record.values_mut::<i32>()),
        fraction: state.fraction.values_mut(),
        slots: Slots::From(segment.first_slot as usize),
    };
    let inlets = placed.rows.contiguous();
    let places = cast_slice(inlets.values::<F>());
    let mut log = Vec::new();
    with_arrays::<F, B, T>(field, |field| log = cpu::advance(arrays, field, places, segment));
    let State { position, record, fraction } = state;
    let [log_index, log_place, log_count] = logged::<F, T>(&log);
    Advanced { position, record, fraction, log_index, log_place, log_count }
}

/// The tensors of a log: integers, fractions and places, and how many there are. There is at least
/// one row, as there are no empty tensors on some devices.
fn logged<F: Real, T: HostTensor>(log: &[Ended<F>]) -> [T; 3] {
    let rows = log.len().max(1);
    let index = |ended: &Ended<F>| {
        let record = &ended.record;
        [ended.slot as i32, record.generation, record.status, record.step]
    };
    let place = |ended: &Ended<F>| {
        let [x, y, z] = ended.position;
        [ended.fraction, x, y, z]
    };
    let mut indices: Vec<i32> = log.iter().flat_map(index).collect();
    let mut places: Vec<F> = log.iter().flat_map(place).collect();
    indices.resize(rows * LOG_INDEX, 0);
    places.resize(rows * LOG_PLACE, F::zero());
    let count = vec![log.len() as i32];
    [T::of(indices, &[rows, LOG_INDEX]), T::of(places, &[rows, LOG_PLACE]), T::of(count, &[1])]
}

/// `TraceBackend::sample` on a CPU backend.
pub(super) fn sample<B, T>(position: T, field: Sampled<B>, segment: &Segment) -> T
where
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    match position.dtype() {
        DType::F32 => sample_in::<f32, B, T>(position, field, segment),
        DType::F64 => sample_in::<f64, B, T>(position, field, segment),
        dtype => panic!("sample: positions of type {dtype:?}; f32 and f64 are supported"),
    }
}

fn sample_in<F, B, T>(position: T, field: Sampled<B>, segment: &Segment) -> T
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let position = position.contiguous();
    let mut velocity = position.zeros_like();
    let (from, to) = (position.values::<F>(), velocity.values_mut::<F>());
    with_arrays::<F, B, T>(field, |field| {
        cpu::sample(cast_slice(from), cast_slice_mut(to), field, segment)
    });
    velocity
}

/// `TraceBackend::locate` on a CPU backend.
pub(super) fn locate<B, T>(position: T, field: Sampled<B>) -> T
where
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    match position.dtype() {
        DType::F32 => locate_in::<f32, B, T>(position, field),
        DType::F64 => locate_in::<f64, B, T>(position, field),
        dtype => panic!("locate: positions of type {dtype:?}; f32 and f64 are supported"),
    }
}

fn locate_in<F, B, T>(position: T, field: Sampled<B>) -> T
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

/// Borrows a field's tensors for some work.
fn with_arrays<F, B, T>(field: Sampled<B>, work: impl FnOnce(&FieldArrays<F>))
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let velocity = field.velocity.contiguous();
    let places = field.places.contiguous();
    let index = field.index.contiguous();
    work(&FieldArrays {
        shape: &field.shape,
        velocity: cast_slice(velocity.values::<F>()),
        places: places.values::<F>(),
        index: index.values::<i32>(),
    });
}

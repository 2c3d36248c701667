//! The CPU backends: tensors that can be borrowed as slices.
#![allow(deprecated)] // the NdArray backend, kept for users that select it by name

mod rows;
mod settling;
mod values;

use super::fields::{self, Part};
use crate::{
    MOTION, POSITION, Segment, TANGENTS, TraceBackend,
    cpu::{
        self, Arrays, Ended, FieldArrays, Position, Real, Slots,
        adjoint::{Gradient, Taken, Tangents},
    },
    ops::{
        Advanced, Ends, Geometry, OUTCOME, PulledBack, PulledBackEnds, Sampled, State,
        TraceAdjoint, Wanted,
    },
};
use burn::backend::{
    Backend, DType, Flex, TensorMetadata,
    ops::FloatTensorOps,
    tensor::{FloatTensor, IntTensor},
};
use burn::tensor::Element;
use burn_ndarray::NdArray;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;
use rows::{Split, logged};
use settling::{carry, pull_back_carrying, pull_back_settling, settle};
use values::{locate, sample};

/// Calls a function with the type of a tensor's numbers as its first type.
macro_rules! in_precision {
    ($like:expr, $call:ident, $($argument:expr),*) => {
        match $like.dtype() {
            DType::F32 => $call::<f32, Self, _>($($argument),*),
            DType::F64 => $call::<f64, Self, _>($($argument),*),
            dtype => panic!("{}: the tensors have dtype {dtype:?}; use f32 or f64", stringify!($call)),
        }
    };
}

/// Implements the operations of a backend with tensors in host memory.
macro_rules! on_host {
    ($backend:ty) => {
        impl TraceBackend for $backend {
            fn advance(
                state: State<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                segment: Segment,
            ) -> Advanced<Self> {
                if segment.fields > 1 {
                    let parts = fields::each(&state, &field, &segment).into_par_iter();
                    let of = |Part { state, field, segment, .. }| {
                        Self::advance(state, field, geometry.clone(), segment)
                    };
                    return fields::advanced(parts.map(of).collect());
                }
                in_precision!(state.position, advance, state, field, geometry, &segment)
            }

            fn push_forward(
                state: State<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                tangents: FloatTensor<Self>,
                segment: Segment,
            ) -> FloatTensor<Self> {
                if segment.fields > 1 {
                    let parts = fields::each(&state, &field, &segment).into_par_iter();
                    let of = |Part { rows, state, field, segment }| {
                        let tangents = fields::rows::<Self>(&tangents, rows);
                        Self::push_forward(state, field, geometry.clone(), tangents, segment)
                    };
                    return Self::float_cat(parts.map(of).collect(), 0);
                }
                let launch = (state, field, geometry);
                in_precision!(tangents, push_forward, launch, tangents, &segment)
            }

            fn settle(
                state: State<Self>,
                ends: Ends<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                segment: Segment,
            ) -> Advanced<Self> {
                let launch = (state, ends);
                in_precision!(launch.0.position, settle, launch, field, geometry, &segment)
            }

            fn carry(
                state: State<Self>,
                ends: Ends<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                velocities: FloatTensor<Self>,
                segment: Segment,
            ) -> FloatTensor<Self> {
                let launch = (state, field, geometry);
                in_precision!(velocities, carry, launch, ends, velocities, &segment)
            }

            fn sample(
                state: State<Self>,
                field: Sampled<Self>,
                first_group: usize,
                segment: Segment,
            ) -> FloatTensor<Self> {
                if segment.fields > 1 {
                    let parts = fields::each(&state, &field, &segment).into_par_iter();
                    let of = |Part { state, field, segment, .. }| {
                        Self::sample(state, field, first_group, segment)
                    };
                    return Self::float_cat(parts.map(of).collect(), 0);
                }
                in_precision!(state.position, sample, state, field, first_group, &segment)
            }

            fn locate(position: FloatTensor<Self>, field: Sampled<Self>) -> IntTensor<Self> {
                in_precision!(position, locate, position, field)
            }
        }

        impl TraceAdjoint for $backend {
            fn pull_back(
                state: State<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                gradient: FloatTensor<Self>,
                wanted: Wanted,
                segment: Segment,
            ) -> PulledBack<Self> {
                if segment.fields > 1 {
                    let parts = fields::each(&state, &field, &segment).into_par_iter();
                    let of = |Part { rows, state, field, segment }| {
                        let gradient = fields::rows::<Self>(&gradient, rows);
                        Self::pull_back(state, field, geometry.clone(), gradient, wanted, segment)
                    };
                    return fields::pulled_back(parts.map(of).collect(), wanted);
                }
                let launch = (state, field, geometry);
                in_precision!(gradient, pull_back, launch, (gradient, wanted), &segment)
            }

            fn pull_back_settling(
                state: State<Self>,
                ends: Ends<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                gradient: FloatTensor<Self>,
                segment: Segment,
            ) -> PulledBackEnds<Self> {
                let launch = (state, field, geometry);
                in_precision!(gradient, pull_back_settling, launch, ends, gradient, &segment)
            }

            fn pull_back_carrying(
                state: State<Self>,
                ends: Ends<Self>,
                field: Sampled<Self>,
                geometry: Geometry<Self>,
                velocities: FloatTensor<Self>,
                gradient: FloatTensor<Self>,
                segment: Segment,
            ) -> FloatTensor<Self> {
                let (launch, both) = ((state, field, geometry), (velocities, gradient));
                in_precision!(both.0, pull_back_carrying, launch, ends, both, &segment)
            }
        }
    };
}

on_host!(Flex);
on_host!(NdArray);

/// A tensor in host memory.
pub trait HostTensor: TensorMetadata {
    /// The same values, contiguous in row-major order.
    fn contiguous(self) -> Self;
    /// All values of a contiguous tensor.
    fn values<E: Element + Pod>(&self) -> &[E];
    /// Mutable access to all values of a contiguous tensor; copies them first if they are shared.
    fn values_mut<E: Element + Pod>(&mut self) -> &mut [E];
    /// A tensor of the given values and shape.
    fn of<E: Element>(values: Vec<E>, shape: &[usize]) -> Self;
}

/// `TraceBackend::advance` on a CPU backend.
fn advance<F, B, T>(
    state: State<B>,
    field: Sampled<B>,
    geometry: Geometry<B>,
    segment: &Segment,
) -> Advanced<B>
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    in_place::<F, B, T>(state, field, geometry, segment, |arrays, field, geometry| {
        cpu::advance(arrays, field, geometry, segment)
    })
}

/// Borrows the tensors of particles for a call that changes them, and returns the instances that have ended.
fn in_place<F, B, T>(
    state: State<B>,
    field: Sampled<B>,
    geometry: Geometry<B>,
    segment: &Segment,
    work: impl FnOnce(Arrays<F>, &FieldArrays<F>, (&[[F; 3]], &[i32])) -> Vec<Ended<F>>,
) -> Advanced<B>
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let (mut position, mut record) = (state.position.contiguous(), state.record.contiguous());
    let mut fraction = state.fraction.contiguous();
    let count = fraction.values::<F>().len();
    let mut split = Split::<F>::of(position.values::<F>(), count, segment.tallies.width());
    let (position_rows, inertia, tallies) = match &mut split {
        None => (cast_slice_mut(position.values_mut::<F>()), &mut [][..], &mut [][..]),
        Some(Split { position, inertia, tallies }) => {
            (&mut position[..], &mut inertia[..], &mut tallies[..])
        }
    };
    let arrays = Arrays::<F> {
        position: position_rows,
        record: cast_slice_mut(record.values_mut::<i32>()),
        fraction: fraction.values_mut(),
        inertia,
        tallies,
        slots: slots(segment),
    };
    let (rows, numbers) = (geometry.rows.contiguous(), geometry.numbers.contiguous());
    let geometry = (cast_slice(rows.values::<F>()), numbers.values::<i32>());
    let mut log = Vec::new();
    with_arrays::<F, B, T>(field, |field| log = work(arrays, field, geometry));
    let [log_index, log_position, log_count] = logged::<F, T>(&log);
    if let Some(split) = split {
        position = split.joined(count);
    }
    Advanced { position, record, fraction, log_index, log_position, log_count }
}

/// The slots of a launch.
fn slots(segment: &Segment) -> Slots<'_> {
    match &segment.slots {
        None => Slots::From(segment.first_slot as usize),
        Some(slots) => Slots::Listed(segment.first_slot as usize, slots),
    }
}

/// `TraceAdjoint::pull_back` on a CPU backend.
fn pull_back<F, B, T>(
    launch: (State<B>, Sampled<B>, Geometry<B>),
    (gradient, wanted): (T, Wanted),
    segment: &Segment,
) -> PulledBack<B>
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let gradient = gradient.contiguous();
    let by_end: &[[F; OUTCOME]] = cast_slice(gradient.values::<F>());
    // Rests are too small to have gradients of their own.
    let by_end = by_end.iter().map(|[x, y, z, .., fraction]| ([*x, *y, *z], *fraction));
    let mut gradients: Vec<_> =
        by_end.map(|(position, fraction)| Gradient::by_end(position, fraction)).collect();
    let (mut by_velocity, mut by_rows) = (Vec::new(), Vec::new());
    with_taken::<F, B, T>(launch, segment, |taken| {
        let values = if wanted.values { taken.field.velocity.len() } else { 1 };
        let rows = if wanted.rows { taken.geometry.0.len() } else { 1 };
        by_velocity = vec![[F::zero(); 4]; values];
        by_rows = vec![[F::zero(); 3]; rows];
        let values = wanted.values.then_some(&mut by_velocity[..]);
        let rows = wanted.rows.then_some(&mut by_rows[..]);
        cpu::adjoint::pull_back(taken, &mut gradients, values, rows);
    });
    let by_start: Vec<Position<F>> =
        gradients.iter().map(|by| [by.position, [F::zero(); 3]]).collect();
    let (count, values, rows) = (by_start.len(), by_velocity.len(), by_rows.len());
    let by_fraction: Vec<F> = gradients.iter().map(|by| by.fraction).collect();
    PulledBack {
        position: T::of(by_start.into_flattened().into_flattened(), &[count, POSITION]),
        velocity: T::of(by_velocity.into_flattened(), &[values, 4]),
        motion: T::of(by_motion(&gradients), &[MOTION]),
        fraction: T::of(by_fraction, &[count]),
        rows: T::of(by_rows.into_flattened(), &[rows, 3]),
    }
}

/// `TraceBackend::push_forward` on a CPU backend.
fn push_forward<F, B, T>(
    launch: (State<B>, Sampled<B>, Geometry<B>),
    tangents: T,
    segment: &Segment,
) -> T
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let mut rows: Vec<Tangents<F>> = cast_slice(tangents.contiguous().values::<F>()).to_vec();
    let count = rows.len();
    with_taken::<F, B, T>(launch, segment, |taken| {
        cpu::adjoint::push_forward(taken, &mut rows);
    });
    T::of(rows.into_flattened().into_flattened(), &[count, TANGENTS])
}

/// Borrows the tensors of a launch for the duration of a call.
fn with_taken<F, B, T>(
    (state, field, geometry): (State<B>, Sampled<B>, Geometry<B>),
    segment: &Segment,
    work: impl FnOnce(&Taken<F>),
) where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let (position, record) = (state.position.contiguous(), state.record.contiguous());
    let fraction = state.fraction.contiguous();
    let (rows, numbers) = (geometry.rows.contiguous(), geometry.numbers.contiguous());
    with_arrays::<F, B, T>(field, |field| {
        work(&Taken {
            position: cast_slice(position.values::<F>()),
            record: cast_slice(record.values::<i32>()),
            fraction: fraction.values(),
            field,
            geometry: (cast_slice(rows.values::<F>()), numbers.values::<i32>()),
            segment,
        });
    });
}

/// The gradients by the motion, summed over particles in their order.
fn by_motion<F: Real>(gradients: &[Gradient<F>]) -> Vec<F> {
    let mut sums = [0.0; MOTION];
    for Gradient { drift, diffusivity, span, .. } in gradients {
        for (sum, by) in sums.iter_mut().zip(drift.iter().chain(diffusivity).chain(span)) {
            *sum += by.exact();
        }
    }
    sums.map(F::of).to_vec()
}

/// Borrows a field's tensors as slices for the duration of a call.
fn with_arrays<F, B, T>(field: Sampled<B>, work: impl FnOnce(&FieldArrays<F>))
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let velocity = field.velocity.contiguous();
    let coordinates = field.coordinates.contiguous();
    let index = field.index.contiguous();
    work(&FieldArrays {
        groups: field.groups,
        shape: &field.shape,
        velocity: cast_slice(velocity.values::<F>()),
        coordinates: coordinates.values::<F>(),
        index: index.values::<i32>(),
    });
}

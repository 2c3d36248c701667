//! Settling on the CPU backends.

use super::{HostTensor, in_place, with_taken};
use crate::{
    MOTION, POSITION, Segment,
    cpu::{
        Real, carry,
        settle::{self, EndGradient, Ends as Borrowed},
    },
    ops::{Advanced, CARRIED, Ends, Geometry, OUTCOME, PulledBackEnds, Sampled, State},
};
use burn::backend::Backend;
use bytemuck::cast_slice;

/// `TraceBackend::settle` on a CPU backend.
pub(super) fn settle<F, B, T>(
    (state, ends): (State<B>, Ends<B>),
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
        let mut log = Vec::new();
        with_ends::<F, B, T>(ends, |ends| {
            log = settle::settle(arrays, ends, field, geometry, segment);
        });
        log
    })
}

/// `TraceBackend::carry` on a CPU backend.
pub(super) fn carry<F, B, T>(
    launch: (State<B>, Sampled<B>, Geometry<B>),
    ends: Ends<B>,
    velocities: T,
    segment: &Segment,
) -> T
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let velocities = velocities.contiguous();
    let mut carried = Vec::new();
    with_taken::<F, B, T>(launch, segment, |taken| {
        with_ends::<F, B, T>(ends, |ends| {
            carried = carry::carry(taken, ends, cast_slice(velocities.values::<F>()));
        });
    });
    let count = carried.len();
    T::of(carried.into_flattened(), &[count, 3])
}

/// `TraceAdjoint::pull_back_carrying` on a CPU backend.
pub(super) fn pull_back_carrying<F, B, T>(
    launch: (State<B>, Sampled<B>, Geometry<B>),
    ends: Ends<B>,
    (velocities, gradient): (T, T),
    segment: &Segment,
) -> T
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let (velocities, gradient) = (velocities.contiguous(), gradient.contiguous());
    let mut by = Vec::new();
    with_taken::<F, B, T>(launch, segment, |taken| {
        with_ends::<F, B, T>(ends, |ends| {
            let rows = (cast_slice(velocities.values::<F>()), cast_slice(gradient.values::<F>()));
            by = carry::pull_back(taken, ends, rows);
        });
    });
    let count = by.len();
    T::of(by.into_flattened().into_flattened(), &[count, 2 * CARRIED])
}

/// `TraceAdjoint::pull_back_settling` on a CPU backend.
pub(super) fn pull_back_settling<F, B, T>(
    launch: (State<B>, Sampled<B>, Geometry<B>),
    ends: Ends<B>,
    gradient: T,
    segment: &Segment,
) -> PulledBackEnds<B>
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let gradient = gradient.contiguous();
    let by: &[[F; OUTCOME]] = cast_slice(gradient.values::<F>());
    let mut gradients = Vec::new();
    let mut spreads = 1;
    with_taken::<F, B, T>(launch, segment, |taken| {
        with_ends::<F, B, T>(ends, |ends| {
            spreads = ends.spread.len();
            gradients = settle::pull_back(taken, ends, by);
        });
    });
    let count = gradients.len();
    // Rests are too small to have gradients of their own.
    let by_position = |by: &EndGradient<F>| [by.position, [F::zero(); 3]];
    let by_position: Vec<_> = gradients.iter().flat_map(by_position).collect();
    let by_displacement: Vec<_> = gradients.iter().map(|by| by.displacement).collect();
    let mut by_motion = [0.0; MOTION];
    for by in &gradients {
        for (sum, by) in by_motion[3..].iter_mut().zip(by.diffusivity) {
            *sum += by.exact();
        }
    }
    let mut by_spread: Vec<_> = gradients.iter().map(|by| by.spread).collect();
    by_spread.truncate(spreads);
    PulledBackEnds {
        position: T::of(by_position.into_flattened(), &[count, POSITION]),
        fraction: T::of(gradients.iter().map(|by| by.fraction).collect(), &[count]),
        displacement: T::of(by_displacement.into_flattened(), &[count, 3]),
        spread: T::of(by_spread.into_flattened(), &[spreads, 4]),
        motion: T::of(by_motion.map(F::of).to_vec(), &[MOTION]),
    }
}

/// Borrows free ends as slices for the duration of a call.
fn with_ends<F, B, T>(ends: Ends<B>, work: impl FnOnce(Borrowed<F>))
where
    F: Real,
    B: Backend<FloatTensorPrimitive = T, IntTensorPrimitive = T>,
    T: HostTensor,
{
    let (displacement, span) = (ends.displacement.contiguous(), ends.span.contiguous());
    let (spread, flags) = (ends.spread.contiguous(), ends.flags.contiguous());
    work(Borrowed {
        displacement: cast_slice(displacement.values::<F>()),
        span: cast_slice(span.values::<F>()),
        spread: cast_slice(spread.values::<F>()),
        flags: flags.values::<i32>(),
    });
}

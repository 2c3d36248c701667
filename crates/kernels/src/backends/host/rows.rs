//! Rows of particles and of logs, between tensors and what the kernels take.

use super::HostTensor;
use crate::{
    INERTIAL, LOG_INDEX, LOG_POSITION,
    cpu::{Ended, Inertia, Position, Real},
};
use bytemuck::cast_slice;

/// Positions, and what else particles with inertia have.
pub(super) type Split<F> = (Vec<Position<F>>, Vec<Inertia<F>>);

/// The rows of particles with inertia; `None` for others.
pub(super) fn split<F: Real>(rows: &[F], count: usize) -> Option<Split<F>> {
    let is_inertial = count > 0 && rows.len() == count * INERTIAL;
    let rows: &[[[F; 3]; 5]] = if is_inertial { cast_slice(rows) } else { return None };
    Some(rows.iter().map(|[at, rest, own @ ..]| ([*at, *rest], *own)).unzip())
}

/// The tensor of [`split`] rows.
pub(super) fn joined<F: Real, T: HostTensor>((positions, inertia): &Split<F>) -> T {
    let rows = positions.iter().zip(inertia);
    let rows: Vec<[[F; 3]; 5]> = rows
        .map(|([at, rest], [velocity, of, fluctuation])| [*at, *rest, *velocity, *of, *fluctuation])
        .collect();
    let count = rows.len();
    T::of(rows.into_flattened().into_flattened(), &[count, INERTIAL])
}

/// The tensors of a log: integers, fractions with positions, and the number of entries. They have
/// at least one row, because some devices have no empty tensors.
pub(super) fn logged<F: Real, T: HostTensor>(log: &[Ended<F>]) -> [T; 3] {
    let rows = log.len().max(1);
    let index = |ended: &Ended<F>| {
        let record = &ended.record;
        [ended.slot as i32, record.generation, record.status, record.step, record.location]
    };
    let position = |ended: &Ended<F>| {
        let [x, y, z] = ended.position;
        [ended.fraction, x, y, z]
    };
    let mut indices: Vec<i32> = log.iter().flat_map(index).collect();
    let mut positions: Vec<F> = log.iter().flat_map(position).collect();
    indices.resize(rows * LOG_INDEX, 0);
    positions.resize(rows * LOG_POSITION, F::zero());
    let count = vec![log.len() as i32];
    [
        T::of(indices, &[rows, LOG_INDEX]),
        T::of(positions, &[rows, LOG_POSITION]),
        T::of(count, &[1]),
    ]
}

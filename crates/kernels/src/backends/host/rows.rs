//! Rows of particles and of logs, between tensors and what the kernels take.

use super::HostTensor;
use crate::{
    LOG_INDEX, LOG_POSITION, POSITION,
    cpu::{Ended, Inertia, Position, Real},
};
use bytemuck::cast_slice;

/// Positions, and what else particles have, of rows of more than positions.
pub(super) struct Split<F> {
    pub position: Vec<Position<F>>,
    /// Of particles with inertia.
    pub inertia: Vec<Inertia<F>>,
    /// What has added up along tracks.
    pub tallies: Vec<F>,
}

impl<F: Real> Split<F> {
    /// The parts of the rows of `count` particles, the last numbers of which are tallies; `None` if they are positions alone.
    pub fn of(rows: &[F], count: usize, tallies: usize) -> Option<Self> {
        let width = rows.len().checked_div(count)?;
        if width == POSITION {
            return None;
        }
        let own = width - tallies;
        let mut split = Split {
            position: Vec::with_capacity(count),
            inertia: Vec::new(),
            tallies: Vec::with_capacity(count * tallies),
        };
        for row in rows.chunks_exact(width) {
            let (own, tallies) = row.split_at(own);
            let (position, inertia) = own.split_at(POSITION);
            split.position.extend_from_slice(cast_slice(position));
            split.inertia.extend_from_slice(cast_slice(inertia));
            split.tallies.extend_from_slice(tallies);
        }
        Some(split)
    }

    /// The tensor of the rows.
    pub fn joined<T: HostTensor>(&self, count: usize) -> T {
        let beside = self.inertia.as_flattened().as_flattened();
        let position = self.position.as_flattened().as_flattened();
        let parts = [position, beside, &self.tallies].map(|part| (part, part.len() / count));
        let width = parts.iter().map(|(_, width)| width).sum();
        let mut rows = Vec::with_capacity(count * width);
        for i in 0..count {
            for (part, width) in parts {
                rows.extend_from_slice(&part[width * i..width * (i + 1)]);
            }
        }
        T::of(rows, &[count, width])
    }
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

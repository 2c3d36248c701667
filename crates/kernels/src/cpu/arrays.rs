//! The particles' state, and its division into tiles.

use super::{Real, inertial::Inertia};
use crate::Record;
use rayon::prelude::*;
use std::ops::Range;

/// Number of particles in a tile, the unit of work of a thread.
pub(super) const TILE: usize = 256;

/// A position and its rest; see [`Particles::position`](crate::Particles::position).
pub(crate) type Position<F> = [[F; 3]; 2];

/// The particles' state, borrowed from the backend's tensors.
pub(crate) struct Arrays<'a, F> {
    pub position: &'a mut [Position<F>],
    pub record: &'a mut [Record],
    pub fraction: &'a mut [F],
    /// What particles with inertia have; otherwise nothing.
    pub inertia: &'a mut [Inertia<F>],
    /// [`Tallies::width`](crate::Tallies::width) numbers for each particle; nothing without tallies.
    pub tallies: &'a mut [F],
    /// The slots of the particles.
    pub slots: Slots<'a>,
}

/// The slots of particles, numbered over the whole run.
#[derive(Clone, Copy)]
pub(crate) enum Slots<'a> {
    /// Consecutive slots, starting at this one.
    From(usize),
    /// A list of slots relative to the first one.
    Listed(usize, &'a [u32]),
}

impl Slots<'_> {
    /// The slots of some rows.
    pub fn listed<'a>(&self, rows: &'a [u32]) -> Slots<'a> {
        let (Slots::From(first) | Slots::Listed(first, _)) = *self;
        Slots::Listed(first, rows)
    }

    #[inline(always)]
    pub fn get(&self, i: usize) -> u32 {
        match *self {
            Slots::From(first) => (first + i) as u32,
            Slots::Listed(first, slots) => first as u32 + slots[i],
        }
    }
}

impl<F: Real> Arrays<'_, F> {
    pub fn reborrow(&mut self) -> Arrays<'_, F> {
        Arrays {
            position: self.position,
            record: self.record,
            fraction: self.fraction,
            inertia: self.inertia,
            tallies: self.tallies,
            slots: self.slots,
        }
    }

    /// Some of the particles, without inertia and tallies.
    pub(super) fn part(&mut self, rows: Range<usize>) -> Arrays<'_, F> {
        let slots = match self.slots {
            Slots::From(first) => Slots::From(first + rows.start),
            Slots::Listed(first, slots) => Slots::Listed(first, &slots[rows.clone()]),
        };
        Arrays {
            position: &mut self.position[rows.clone()],
            record: &mut self.record[rows.clone()],
            fraction: &mut self.fraction[rows],
            inertia: &mut [],
            tallies: &mut [],
            slots,
        }
    }

    /// Defers a further release in the same step to the next step.
    pub(super) fn defer_release(&mut self, i: usize, number: i32) {
        if self.record[i].step == number {
            self.record[i].step = number + 1;
            self.fraction[i] = F::zero();
        }
    }
}

/// Splits the particles into tiles.
pub(crate) fn tiles<F: Real>(
    arrays: Arrays<'_, F>,
) -> impl IndexedParallelIterator<Item = Arrays<'_, F>> {
    chunks(arrays, TILE)
}

/// Splits the particles into chunks of a size.
pub(super) fn chunks<F: Real>(
    arrays: Arrays<'_, F>,
    size: usize,
) -> impl IndexedParallelIterator<Item = Arrays<'_, F>> {
    let count = arrays.position.len();
    let position = arrays.position.par_chunks_mut(size);
    let record = arrays.record.par_chunks_mut(size);
    let fraction = arrays.fraction.par_chunks_mut(size);
    let mut inertia: Vec<&mut [Inertia<F>]> = arrays.inertia.chunks_mut(size).collect();
    inertia.resize_with(fraction.len(), Default::default);
    let width = arrays.tallies.len() / count.max(1);
    let mut tallies: Vec<&mut [F]> = arrays.tallies.chunks_mut((size * width).max(1)).collect();
    tallies.resize_with(fraction.len(), Default::default);
    let slots = arrays.slots;
    let tiles =
        position.zip(record).zip(fraction).zip(inertia.into_par_iter().zip(tallies)).enumerate();
    tiles.map(move |(k, (((position, record), fraction), (inertia, tallies)))| {
        let count = position.len();
        let slots = match slots {
            Slots::From(first) => Slots::From(first + k * size),
            Slots::Listed(first, slots) => Slots::Listed(first, &slots[k * size..][..count]),
        };
        Arrays { position, record, fraction, inertia, tallies, slots }
    })
}

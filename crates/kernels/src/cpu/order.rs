//! Spatial sorting of particles for the duration of a launch: particles that a thread processes
//! consecutively read the same part of the field, which stays in its cache.

use super::{
    Real,
    arrays::{Arrays, Position, Slots, TILE, tiles},
    inertial::Inertia,
};
use crate::status::{ACTIVE, WAITING};
use crate::{POSITION, Record};
use rayon::prelude::*;
use std::{
    ops::Range,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// With fewer particles, consecutive ones rarely share cached parts of the field in any order.
const WORTH_PARTICLES: usize = 2048;

/// With fewer steps, sorting costs more than it saves.
const WORTH_STEPS: usize = 8;

/// Average number of particles per bin.
const PER_BIN: usize = 2;

/// Maximum number of bins along an axis, as a power of two.
const MAX_BITS: u32 = 7;

/// Steps of the first part of a launch with re-injection.
const FIRST_PART: usize = 16;

/// Fraction of particles that may be replaced before all are sorted again. New ones start far from
/// the others of their tile, and slow it down.
const WORTH_TURNOVER: f64 = 0.25;

/// Splits the steps of a launch into parts; particles are sorted at the start of each.
pub(super) struct Parts {
    particles: usize,
    steps: usize,
    /// The last part, and the number of instances that had ended before it.
    last: Range<usize>,
    ended: usize,
}

impl Parts {
    pub fn new(particles: usize, steps: usize) -> Self {
        Parts { particles, steps, last: 0..0, ended: 0 }
    }

    /// The next part, given the number of re-injected instances so far, or `None` without
    /// re-injection. If there are too few particles to sort, one part has all steps.
    pub fn next(&mut self, ended: Option<usize>) -> Option<Range<usize>> {
        let start = self.last.end;
        let limit = match ended {
            None => self.steps,
            Some(_) if self.particles < WORTH_PARTICLES => self.steps,
            Some(_) if start == 0 => FIRST_PART,
            Some(ended) => {
                let a_step = (ended - self.ended) as f64 / self.last.len() as f64;
                let worth = WORTH_TURNOVER * self.particles as f64 / a_step;
                (worth as usize).max(WORTH_STEPS)
            }
        };
        self.ended = ended.unwrap_or(0);
        self.last = start..start.saturating_add(limit).min(self.steps);
        (start < self.steps).then(|| self.last.clone())
    }
}

/// For each sorted particle, its index in the original arrays.
pub(super) struct Order {
    from: Vec<u32>,
}

/// Copies of the particles' arrays in sorted order.
pub(super) struct Ordered<'a, F> {
    slots: Slots<'a>,
    position: Vec<Position<F>>,
    record: Vec<Record>,
    fraction: Vec<F>,
    inertia: Vec<Inertia<F>>,
    tallies: Vec<F>,
}

impl Order {
    /// The order for a launch of `steps` steps, if sorting pays. Particles that have ended are
    /// omitted.
    pub fn new<F: Real>(arrays: &Arrays<F>, steps: usize) -> Option<Self> {
        let count = arrays.position.len();
        if count < WORTH_PARTICLES || steps < WORTH_STEPS || u32::try_from(count).is_err() {
            return None;
        }
        let (bin_of, bins) = bins(arrays.position, arrays.record);
        Some(Order { from: sort(&bin_of, bins) })
    }

    /// The particles that have not ended, in their own order.
    pub fn unsorted<F: Real>(arrays: &Arrays<F>) -> Self {
        let rows = arrays.record.iter().enumerate().filter(|(_, record)| continues(record));
        Order { from: rows.map(|(i, _)| i as u32).collect() }
    }

    /// Numbers of the particles in this order.
    pub fn take<T: Copy>(&self, all: &[T]) -> Vec<T> {
        self.from.iter().map(|i| all[*i as usize]).collect()
    }

    /// Writes numbers in this order back to their rows.
    pub fn put<T: Copy>(&self, ordered: &[T], all: &mut [T]) {
        for (i, number) in self.from.iter().zip(ordered) {
            all[*i as usize] = *number;
        }
    }

    /// The particles in this order.
    pub fn gather<F: Real>(&self, arrays: &Arrays<F>) -> Ordered<'_, F> {
        let from = self.from.par_iter().map(|i| *i as usize);
        let width = arrays.tallies.len() / arrays.position.len().max(1);
        let row = |i: usize| &arrays.tallies[width * i..width * (i + 1)];
        Ordered {
            slots: arrays.slots.listed(&self.from),
            position: from.clone().map(|i| arrays.position[i]).collect(),
            record: from.clone().map(|i| arrays.record[i]).collect(),
            fraction: from.clone().map(|i| arrays.fraction[i]).collect(),
            inertia: match arrays.inertia.is_empty() {
                true => Vec::new(),
                false => from.map(|i| arrays.inertia[i]).collect(),
            },
            tallies: self.from.iter().flat_map(|i| row(*i as usize)).copied().collect(),
        }
    }

    /// Copies the particles back to their original rows.
    pub fn scatter<F: Real>(&self, ordered: &Ordered<'_, F>, arrays: &mut Arrays<F>) {
        let to = ranks(&self.from, arrays.position.len());
        let ranks = to.par_chunks(TILE).zip(tiles(arrays.reborrow()));
        ranks.for_each(|(ranks, tile)| {
            for (i, rank) in ranks.iter().enumerate().filter(|(_, rank)| **rank != u32::MAX) {
                let rank = *rank as usize;
                tile.position[i] = ordered.position[rank];
                tile.record[i] = ordered.record[rank];
                tile.fraction[i] = ordered.fraction[rank];
                if let Some(inertia) = ordered.inertia.get(rank) {
                    tile.inertia[i] = *inertia;
                }
                let width = tile.tallies.len() / tile.position.len();
                let tallies = &ordered.tallies[width * rank..width * (rank + 1)];
                tile.tallies[width * i..width * (i + 1)].copy_from_slice(tallies);
            }
        });
    }
}

impl<F> Ordered<'_, F> {
    pub fn arrays(&mut self) -> Arrays<'_, F> {
        Arrays {
            position: &mut self.position,
            record: &mut self.record,
            fraction: &mut self.fraction,
            inertia: &mut self.inertia,
            tallies: &mut self.tallies,
            slots: self.slots,
        }
    }
}

/// All rows of particles in spatial order, those that have ended at the end. `None` if there are too few of them
/// for the order to matter.
pub fn spatial_order<F: Real>(position: &[[F; POSITION]], record: &[Record]) -> Option<Vec<u32>> {
    let is_worth = position.len() >= WORTH_PARTICLES && u32::try_from(position.len()).is_ok();
    is_worth.then(|| {
        let (bin_of, bins) = bins::<F>(bytemuck::cast_slice(position), record);
        sort(&bin_of, bins + 1)
    })
}

/// The place of each of `count` rows in an order of some of them; `u32::MAX` for the others.
pub fn ranks(order: &[u32], count: usize) -> Vec<u32> {
    // Written by several threads, each to rows of its own.
    let ranks: Vec<AtomicU32> = (0..count).into_par_iter().map(|_| u32::MAX.into()).collect();
    let place = |(rank, row): (usize, &u32)| ranks[*row as usize].store(rank as u32, Relaxed);
    order.par_iter().enumerate().for_each(place);
    ranks.into_par_iter().map(AtomicU32::into_inner).collect()
}

/// The bin of each particle, and the number of bins; those that have ended are in the bin after the last.
fn bins<F: Real>(position: &[Position<F>], record: &[Record]) -> (Vec<u32>, usize) {
    let bins = Bins::new(position);
    let particles = position.par_iter().zip(record);
    let bin_of = particles
        .map(|([p, _], record)| if continues(record) { bins.of(p) } else { bins.count })
        .collect();
    (bin_of, bins.count as usize)
}

/// Whether a particle has not ended.
fn continues(record: &Record) -> bool {
    record.status == ACTIVE || record.status == WAITING
}

/// The bounding box of the particles, divided into bins along a Z-order curve, so that consecutive
/// bins are neighbours.
struct Bins<F> {
    low: [F; 3],
    per_length: [F; 3],
    bits: [u32; 3],
    count: u32,
}

impl<F: Real> Bins<F> {
    fn new(positions: &[Position<F>]) -> Self {
        let (low, high) = bounds(positions);
        let is_wide = [0, 1, 2].map(|d| high[d] > low[d]);
        let axes = is_wide.iter().filter(|wide| **wide).count().max(1) as u32;
        let bits = ((positions.len() / PER_BIN).max(1).ilog2() / axes).min(MAX_BITS);
        let last = F::of(f64::from((1_u32 << bits) - 1));
        Bins {
            low,
            per_length: [0, 1, 2]
                .map(|d| if is_wide[d] { last / (high[d] - low[d]) } else { F::zero() }),
            bits: is_wide.map(|wide| if wide { bits } else { 0 }),
            count: 1 << (bits * axes),
        }
    }

    /// The bin of a position: the interleaved bits of its coordinates.
    fn of(&self, p: &[F; 3]) -> u32 {
        let cell = [0, 1, 2].map(|d| {
            let cell = ((p[d] - self.low[d]) * self.per_length[d]).as_i32();
            (cell.max(0) as u32).min((1 << self.bits[d]) - 1)
        });
        let mut bin = 0;
        for bit in (0..MAX_BITS).rev() {
            for d in (0..3).filter(|d| bit < self.bits[*d]) {
                bin = bin << 1 | cell[d] >> bit & 1;
            }
        }
        bin
    }
}

/// Minimum and maximum coordinates.
fn bounds<F: Real>(positions: &[Position<F>]) -> ([F; 3], [F; 3]) {
    let nothing = || ([F::max_value(); 3], [F::min_value(); 3]);
    let both = |a: ([F; 3], [F; 3]), b: ([F; 3], [F; 3])| {
        let axis = [0, 1, 2];
        (axis.map(|d| a.0[d].min(b.0[d])), axis.map(|d| a.1[d].max(b.1[d])))
    };
    let chunk =
        |chunk: &[Position<F>]| chunk.iter().fold(nothing(), |box_, [p, _]| both(box_, (*p, *p)));
    positions.par_chunks(16 * TILE).map(chunk).reduce(nothing, both)
}

/// Particles that a thread sorts at a time.
const BLOCK: usize = 1 << 16;

/// Number of groups of bins, as a power of two.
const GROUP_BITS: u32 = 10;

/// Stable sort of particle indices by bin; omits particles in the bin after the last.
///
/// Blocks of particles are divided into groups of consecutive bins, and each group is then collected from all
/// blocks and sorted, both by counting. The order does not depend on the number of threads.
fn sort(bin_of: &[u32], bins: usize) -> Vec<u32> {
    let shift = bins.next_power_of_two().ilog2().saturating_sub(GROUP_BITS);
    let groups = bins.div_ceil(1 << shift);
    let blocks: Vec<Block> = bin_of
        .par_chunks(BLOCK)
        .enumerate()
        .map(|(block, bin_of)| Block::new(block * BLOCK, bin_of, (bins, groups, shift)))
        .collect();
    let size = |group: usize| blocks.iter().map(|block| block.group(group).len()).sum::<usize>();
    let mut sorted = vec![0; (0..groups).map(size).sum()];
    let (mut parts, mut rest) = (Vec::with_capacity(groups), &mut sorted[..]);
    for group in 0..groups {
        let (part, next) = rest.split_at_mut(size(group));
        parts.push(part);
        rest = next;
    }
    parts.into_par_iter().enumerate().for_each(|(group, part)| {
        let rows = || blocks.iter().flat_map(|block| block.group(group)).copied();
        let bin = |bin: u32| bin as usize - (group << shift);
        let mut next = starts(rows().map(|[of, _]| bin(of)), 1 << shift);
        for [of, i] in rows() {
            let at = &mut next[bin(of)];
            part[*at as usize] = i;
            *at += 1;
        }
    });
    sorted
}

/// A block of particles, in groups of bins.
struct Block {
    /// Bin and index of each particle.
    rows: Vec<[u32; 2]>,
    /// The end of each group.
    ends: Vec<u32>,
}

impl Block {
    fn new(first: usize, bin_of: &[u32], (bins, groups, shift): (usize, usize, u32)) -> Self {
        let sorted = || bin_of.iter().enumerate().filter(|(_, bin)| (**bin as usize) < bins);
        let group = |bin: u32| (bin >> shift) as usize;
        let mut ends = starts(sorted().map(|(_, bin)| group(*bin)), groups);
        let mut rows = vec![[0; 2]; sorted().count()];
        for (i, bin) in sorted() {
            let at = &mut ends[group(*bin)];
            rows[*at as usize] = [*bin, (first + i) as u32];
            *at += 1;
        }
        Block { rows, ends }
    }

    fn group(&self, group: usize) -> &[[u32; 2]] {
        let start = if group == 0 { 0 } else { self.ends[group - 1] };
        &self.rows[start as usize..self.ends[group] as usize]
    }
}

/// The number of items before each of a number of keys in sorted order.
fn starts(keys: impl Iterator<Item = usize>, count: usize) -> Vec<u32> {
    let mut next = vec![0_u32; count];
    for key in keys {
        next[key] += 1;
    }
    let mut start = 0;
    for count in &mut next {
        start += std::mem::replace(count, start);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrays(count: usize) -> Ordered<'static, f32> {
        let coordinate = |i: usize, step: f32| (i as f32 * step).fract();
        let record =
            |i: usize| Record { step: i as i32, status: ACTIVE, ..bytemuck::Zeroable::zeroed() };
        Ordered {
            slots: Slots::From(0),
            position: (0..count)
                .map(|i| [[coordinate(i, 0.618), coordinate(i, 0.414), 0.5], [0.0; 3]])
                .collect(),
            record: (0..count).map(record).collect(),
            fraction: (0..count).map(|i| i as f32).collect(),
            inertia: Vec::new(),
            tallies: Vec::new(),
        }
    }

    #[test]
    fn neighbours_in_order_are_neighbours_in_space() {
        let mut original = arrays(10_000);
        let order = Order::new(&original.arrays(), 100).unwrap();
        let ordered = order.gather(&original.arrays());
        let mean_step = |p: &[Position<f32>]| {
            let distance = |a: &[f32; 3], b: &[f32; 3]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs();
            p.windows(2).map(|pair| distance(&pair[0][0], &pair[1][0])).sum::<f32>()
                / p.len() as f32
        };
        assert!(mean_step(&ordered.position) < 0.2 * mean_step(&original.position));
    }

    #[test]
    fn scatter_restores_rows_and_leaves_ended_particles() {
        let mut original = arrays(5000);
        original.record[7].status = crate::status::STAGNANT;
        let order = Order::new(&original.arrays(), 100).unwrap();
        let mut ordered = order.gather(&original.arrays());
        assert_eq!(ordered.position.len(), 4999);
        for (p, fraction) in ordered.position.iter_mut().zip(&ordered.fraction) {
            p[0][2] = *fraction;
        }
        order.scatter(&ordered, &mut original.arrays());
        for (i, p) in original.position.iter().enumerate() {
            assert_eq!(p[0][2], if i == 7 { 0.5 } else { i as f32 });
            assert_eq!(original.record[i].step, i as i32);
        }
    }

    #[test]
    fn many_particles_are_sorted_by_bin_and_index() {
        let count = 3 * BLOCK + 100;
        for bins in [1, 700, 1 << 15] {
            // Numbers in no order, one in 32 of them in the bin after the last.
            let bin = |i: usize| match i * 2_654_435_761 % 32 {
                0 => bins as u32,
                _ => (i * 2_654_435_761 / 32 % bins) as u32,
            };
            let bin_of: Vec<u32> = (0..count).map(bin).collect();
            let mut expected: Vec<u32> =
                (0..count as u32).filter(|i| (bin_of[*i as usize] as usize) < bins).collect();
            expected.sort_by_key(|i| bin_of[*i as usize]);
            let sorted = sort(&bin_of, bins);
            assert_eq!(sorted, expected);
            let ranks = ranks(&sorted, count);
            for (i, rank) in ranks.iter().enumerate() {
                match bin_of[i] as usize == bins {
                    true => assert_eq!(*rank, u32::MAX),
                    false => assert_eq!(sorted[*rank as usize] as usize, i),
                }
            }
        }
    }

    #[test]
    fn parts_shrink_with_the_rate_of_reinjection() {
        let mut all_at_once = Parts::new(10_000, 100);
        assert_eq!([all_at_once.next(None), all_at_once.next(None)], [Some(0..100), None]);
        let mut parts = Parts::new(10_000, 100);
        let mut next = |ended| parts.next(Some(ended));
        // One in a hundred per step, then none, and then nearly all.
        assert_eq!([next(0), next(1600), next(1600)], [Some(0..16), Some(16..41), Some(41..100)]);
        assert_eq!(next(90_000), None);
        let mut parts = Parts::new(10_000, 100);
        let mut next = |ended| parts.next(Some(ended));
        assert_eq!([next(0), next(160_000)], [Some(0..16), Some(16..24)]);
        let mut few = Parts::new(1000, 100);
        assert_eq!([few.next(Some(0)), few.next(Some(900))], [Some(0..100), None]);
    }

    #[test]
    fn non_finite_positions_have_a_bin() {
        let bins = Bins::new(&vec![[[f32::NAN, f32::INFINITY, 1.0], [0.0; 3]]; 5000]);
        assert!(bins.of(&[f32::NAN, f32::INFINITY, 1.0]) < bins.count);
    }
}

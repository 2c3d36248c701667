//! Sums over pairs of particles.

use super::moments::{BATCH, CHUNK, Merge, PartialSums, Totals, is_counted};
use super::trajectory::{SlotTrajectory, difference};
use super::{Options, SaveStatistics};
use rayon::prelude::*;

#[derive(Clone, Debug, Default)]
pub(super) struct PairMoments {
    pairs: u64,
    /// Sums of squared separations.
    apart: [f64; 3],
}

impl Merge for PairMoments {
    fn merge(&mut self, other: &Self) {
        self.pairs += other.pairs;
        (0..3).for_each(|d| self.apart[d] += other.apart[d]);
    }
}

impl PairMoments {
    /// Fills in the pair statistics of a save.
    pub fn write_to(&self, save: &mut SaveStatistics) {
        let n = self.pairs as f64;
        save.pairs = self.pairs;
        save.pair_dispersion = (self.pairs > 0).then(|| self.apart.map(|sum| sum / n));
    }

    fn add(&mut self, a: &SlotTrajectory, b: &SlotTrajectory) {
        self.pairs += 1;
        let apart = difference(a.last, b.last);
        (0..3).for_each(|d| self.apart[d] += apart[d] * apart[d]);
    }
}

/// Sums over all pairs at a save. A pair belongs to a group if both particles do.
pub(super) fn sums(
    trajectories: &[SlotTrajectory],
    options: &Options,
    groups: usize,
) -> Totals<PairMoments> {
    let count = options.pairs.count(trajectories.len());
    let chunk = |first: usize| {
        let mut sums = PartialSums::<PairMoments>::resuming(None);
        for number in first..count.min(first + CHUNK) {
            let slots = options.pairs.get(number);
            let [a, b] = slots.map(|slot| &trajectories[slot]);
            let is_first_instance = |particle: &SlotTrajectory| {
                is_counted(particle, options.counted) && particle.generation == 0
            };
            if is_first_instance(a) && is_first_instance(b) {
                sums.next(options.group_of_pair(slots)).add(a, b);
            }
        }
        sums
    };
    let mut totals = Totals::new(groups);
    for batch in (0..count).step_by(BATCH) {
        let firsts: Vec<usize> = (batch..count.min(batch + BATCH)).step_by(CHUNK).collect();
        let chunks: Vec<_> = firsts.into_par_iter().map(chunk).collect();
        chunks.into_iter().for_each(|sums| totals.add(sums));
    }
    totals
}

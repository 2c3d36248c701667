//! Sums over pairs of particles.

use super::moments::{BATCH, CHUNK, Merge, Runs, Totals, counts};
use super::way::{Way, difference};
use super::{Options, SaveStatistics};
use rayon::prelude::*;

#[derive(Clone, Debug, Default)]
pub(super) struct PairMoments {
    pairs: u64,
    /// Sums of squares of distances.
    apart: [f64; 3],
}

impl Merge for PairMoments {
    fn merge(&mut self, other: &Self) {
        self.pairs += other.pairs;
        (0..3).for_each(|d| self.apart[d] += other.apart[d]);
    }
}

impl PairMoments {
    /// Writes down what is known of pairs.
    pub fn put(&self, save: &mut SaveStatistics) {
        let n = self.pairs as f64;
        save.pairs = self.pairs;
        save.pair_dispersion = (self.pairs > 0).then(|| self.apart.map(|sum| sum / n));
    }

    fn add(&mut self, a: &Way, b: &Way) {
        self.pairs += 1;
        let apart = difference(a.last, b.last);
        (0..3).for_each(|d| self.apart[d] += apart[d] * apart[d]);
    }
}

/// Sums over all pairs after a save. A pair belongs to a group if both particles do.
pub(super) fn sums(ways: &[Way], options: &Options, groups: usize) -> Totals<PairMoments> {
    let count = options.pairs.count(ways.len());
    let chunk = |first: usize| {
        let mut runs = Runs::<PairMoments>::after(None);
        for number in first..count.min(first + CHUNK) {
            let slots = options.pairs.get(number);
            let [a, b] = slots.map(|slot| &ways[slot]);
            let is_one = |way: &Way| counts(way, options.counted) && way.generation == 0;
            if is_one(a) && is_one(b) {
                runs.of(options.group_of_pair(slots)).add(a, b);
            }
        }
        runs
    };
    let mut totals = Totals::new(groups);
    for batch in (0..count).step_by(BATCH) {
        let firsts: Vec<usize> = (batch..count.min(batch + BATCH)).step_by(CHUNK).collect();
        let chunks: Vec<_> = firsts.into_par_iter().map(chunk).collect();
        chunks.into_iter().for_each(|runs| totals.add(runs));
    }
    totals
}

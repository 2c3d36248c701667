//! Distributions of residence times.

use super::histogram::{self, Histogram};
use super::{Options, Quantile, ResidenceTimes};
use std::collections::BTreeMap;

/// Maximum number of residence times, for each group and end status, that give exact quantiles. Beyond
/// it times are counted in buckets, with quantiles accurate to one part in a thousand.
pub const EXACT_TIMES: usize = 1 << 20;

/// Half the relative width of a bucket.
const BUCKET_TOLERANCE: f64 = 5e-4;

/// Bins of a histogram without given edges.
const BINS: usize = 32;

/// Bins have equal ratios if the maximum is above the median by this factor.
const SPREAD: f64 = 20.0;

/// Storage of the times.
#[derive(Clone, Debug)]
enum TimeStore {
    /// Every time.
    Exact(Vec<f64>),
    /// Counts of buckets. Bucket `i` holds the times from `g^(i - 1)` to `g^i` with
    /// `g = (1 + BUCKET_TOLERANCE) / (1 - BUCKET_TOLERANCE)` (C. Masson, J. E. Rim and H. K. Lee,
    /// *DDSketch*, 2019).
    Buckets(BTreeMap<i32, u64>),
}

/// Residence times of the particles of a group with one end status.
#[derive(Clone, Debug)]
pub(super) struct TimeDistribution {
    store: TimeStore,
    count: u64,
    sum: CompensatedSum,
    min: f64,
    max: f64,
    /// Counts in the given bins.
    bins: Vec<u64>,
}

/// A sum with a compensation for rounding (A. Neumaier, 1974).
#[derive(Clone, Copy, Debug, Default)]
struct CompensatedSum {
    sum: f64,
    lost: f64,
}

impl CompensatedSum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let is_larger = self.sum.abs() >= x.abs();
        self.lost += if is_larger { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }
}

impl TimeDistribution {
    pub fn new(options: &Options) -> Self {
        let bins = options.residence_bins.as_ref().map_or(0, |edges| edges.len() + 1);
        TimeDistribution {
            store: TimeStore::Exact(Vec::new()),
            count: 0,
            sum: CompensatedSum::default(),
            min: f64::INFINITY,
            max: 0.0,
            bins: vec![0; bins],
        }
    }

    pub fn add(&mut self, time: f64, bins: Option<&[f64]>) {
        self.count += 1;
        self.sum.add(time);
        self.min = self.min.min(time);
        self.max = self.max.max(time);
        if let Some(edges) = bins {
            self.bins[histogram::bin(edges, false, time)] += 1;
        }
        self.store(&[time]);
    }

    pub fn merge(&mut self, other: &TimeDistribution) {
        self.count += other.count;
        self.sum.add(other.sum.sum);
        self.sum.add(other.sum.lost);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
        match &other.store {
            TimeStore::Exact(times) => self.store(times),
            TimeStore::Buckets(more) => {
                self.count_in_buckets(more.iter().map(|(bucket, n)| (*bucket, *n)));
            }
        }
    }

    fn store(&mut self, more: &[f64]) {
        if let TimeStore::Exact(times) = &mut self.store
            && times.len() + more.len() <= EXACT_TIMES
        {
            return times.extend(more);
        }
        self.count_in_buckets(more.iter().map(|time| (bucket(*time), 1)));
    }

    /// Adds to the buckets. Converts a store of exact times to buckets first.
    fn count_in_buckets(&mut self, more: impl Iterator<Item = (i32, u64)>) {
        let mut buckets = BTreeMap::new();
        match std::mem::replace(&mut self.store, TimeStore::Exact(Vec::new())) {
            TimeStore::Buckets(existing) => buckets = existing,
            TimeStore::Exact(times) => {
                times.iter().for_each(|time| *buckets.entry(bucket(*time)).or_default() += 1);
            }
        }
        more.for_each(|(bucket, n)| *buckets.entry(bucket).or_default() += n);
        self.store = TimeStore::Buckets(buckets);
    }

    pub fn report(&self, options: &Options) -> ResidenceTimes {
        let mut sorted = match &self.store {
            TimeStore::Exact(times) => times.clone(),
            TimeStore::Buckets(_) => Vec::new(),
        };
        sorted.sort_unstable_by(f64::total_cmp);
        let mut sum = self.sum;
        if matches!(self.store, TimeStore::Exact(_)) {
            // In sorted order, so that the sum does not depend on the order of arrival.
            sum = CompensatedSum::default();
            sorted.iter().for_each(|time| sum.add(*time));
        }
        let if_any = |x: f64| (self.count > 0).then_some(x);
        let mean = (sum.sum + sum.lost) / self.count as f64;
        ResidenceTimes {
            count: self.count,
            mean: if_any(mean.clamp(self.min.min(self.max), self.max)),
            min: if_any(self.min),
            max: if_any(self.max),
            quantiles: self.quantiles(&options.quantiles, &sorted),
            exact: matches!(self.store, TimeStore::Exact(_)),
            histogram: match &options.residence_bins {
                Some(edges) => Histogram { edges: edges.clone(), counts: self.bins.clone() },
                None => self.histogram(&sorted),
            },
        }
    }

    fn quantiles(&self, probabilities: &[f64], sorted: &[f64]) -> Vec<Quantile> {
        if self.count == 0 {
            return Vec::new();
        }
        let last = (self.count - 1) as f64;
        let quantile = |probability: &f64| {
            let rank = probability * last;
            let time = match &self.store {
                TimeStore::Exact(_) => interpolate(sorted, rank),
                TimeStore::Buckets(buckets) => nth(buckets, rank as u64).clamp(self.min, self.max),
            };
            Quantile { probability: *probability, time }
        };
        probabilities.iter().map(quantile).collect()
    }

    /// Equal bins up to the maximum time or, where it is far above the median, bins of equal ratio from the
    /// minimum to the maximum.
    fn histogram(&self, sorted: &[f64]) -> Histogram {
        if self.count == 0 {
            return Histogram::default();
        }
        let median = self.quantiles(&[0.5], sorted).first().map_or(0.0, |median| median.time);
        let is_spread = self.min > 0.0 && self.max > SPREAD * median;
        let edge = |i: usize| {
            let part = i as f64 / BINS as f64;
            match (is_spread, i) {
                (_, BINS) => self.max,
                (true, _) => self.min * (self.max / self.min).powf(part),
                (false, _) => self.max * part,
            }
        };
        let edges: Vec<f64> = match self.max > 0.0 {
            true => (0..=BINS).map(edge).collect(),
            false => vec![0.0],
        };
        let mut histogram = Histogram::of(&edges);
        let mut count = |time: f64, n| histogram.counts[histogram::bin(&edges, false, time)] += n;
        match &self.store {
            TimeStore::Exact(times) => times.iter().for_each(|time| count(*time, 1)),
            TimeStore::Buckets(buckets) => buckets
                .iter()
                .for_each(|(bucket, n)| count(middle(*bucket).clamp(self.min, self.max), *n)),
        }
        histogram
    }
}

/// Linear interpolation at a fractional rank of a sorted, non-empty list, as NumPy's quantiles.
pub fn interpolate(sorted: &[f64], rank: f64) -> f64 {
    let below = (rank as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

/// The approximate time of a rank: `number` times are shorter.
fn nth(buckets: &BTreeMap<i32, u64>, number: u64) -> f64 {
    let mut passed = 0;
    let found = buckets.iter().find(|(_, n)| {
        passed += **n;
        passed > number
    });
    found.map_or(0.0, |(bucket, _)| middle(*bucket))
}

/// The logarithm of the ratio of a bucket's end to its start.
fn log_width() -> f64 {
    ((1.0 + BUCKET_TOLERANCE) / (1.0 - BUCKET_TOLERANCE)).ln()
}

fn bucket(time: f64) -> i32 {
    if time > 0.0 { (time.ln() / log_width()).ceil() as i32 } else { i32::MIN }
}

/// A time within a relative distance of [`BUCKET_TOLERANCE`] of all times in a bucket.
fn middle(bucket: i32) -> f64 {
    match bucket {
        i32::MIN => 0.0,
        _ => (f64::from(bucket) * log_width()).exp() * (1.0 - BUCKET_TOLERANCE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_have_equal_ratios_where_times_are_spread_over_decades() {
        let options = Options::default();
        let histogram = |times: &[f64]| {
            let mut distribution = TimeDistribution::new(&options);
            times.iter().for_each(|time| distribution.add(*time, None));
            distribution.report(&options).histogram
        };
        let even = histogram(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!((even.edges[0], even.edges[1], even.edges[32]), (0.0, 0.125, 4.0));
        let spread = histogram(&[1.0, 2.0, 2.0, 2.0, 256.0]);
        assert_eq!((spread.edges[0], spread.edges[32]), (1.0, 256.0));
        assert!((spread.edges[4] - 2.0).abs() < 1e-12, "{:?}", spread.edges);
        assert_eq!(spread.counts.iter().sum::<u64>(), 5);
    }

    #[test]
    fn ranks_at_the_end_of_a_bucket_belong_to_the_next_one() {
        let buckets = BTreeMap::from([(1000, 2), (2000, 1), (3000, 3)]);
        let expected = [1000, 1000, 2000, 3000, 3000, 3000];
        for (number, bucket) in expected.into_iter().enumerate() {
            assert_eq!(nth(&buckets, number as u64), middle(bucket), "rank {number}");
        }
    }
}

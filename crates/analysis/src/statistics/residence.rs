//! Times from release to end.

use super::histogram::{self, Histogram};
use super::{Options, Quantile, ResidenceTimes};
use std::collections::BTreeMap;

/// So many times of a group and a way of ending are kept one by one, for exact quantiles. Of more,
/// it is counted how many are how long, to one part in a thousand.
pub const EXACT_TIMES: usize = 1 << 20;

/// Times that are counted as one are within this part of their middle.
const PART: f64 = 5e-4;

/// Bins of a histogram whose edges nobody gave.
const BINS: usize = 32;

/// Times as they are kept.
#[derive(Clone, Debug)]
enum Kept {
    Each(Vec<f64>),
    /// How many lie in each bucket, bucket `i` being the times from `g^(i - 1)` to `g^i` with
    /// `g = (1 + PART) / (1 - PART)` (C. Masson, J. E. Rim and H. K. Lee, *DDSketch*, 2019).
    Buckets(BTreeMap<i32, u64>),
}

/// Times of those that ended in some way.
#[derive(Clone, Debug)]
pub(super) struct Times {
    kept: Kept,
    count: u64,
    sum: Sum,
    min: f64,
    max: f64,
    /// Counts in bins that were given.
    bins: Vec<u64>,
}

/// A sum with what rounding took from it (A. Neumaier, 1974).
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        let is_larger = self.sum.abs() >= x.abs();
        self.lost += if is_larger { (self.sum - sum) + x } else { (x - sum) + self.sum };
        self.sum = sum;
    }
}

impl Times {
    pub fn new(options: &Options) -> Self {
        let bins = options.residence_bins.as_ref().map_or(0, |edges| edges.len() + 1);
        Times {
            kept: Kept::Each(Vec::new()),
            count: 0,
            sum: Sum::default(),
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
        self.keep(&[time]);
    }

    pub fn merge(&mut self, other: &Times) {
        self.count += other.count;
        self.sum.add(other.sum.sum);
        self.sum.add(other.sum.lost);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
        match &other.kept {
            Kept::Each(times) => self.keep(times),
            Kept::Buckets(more) => {
                self.count_in_buckets(more.iter().map(|(bucket, n)| (*bucket, *n)));
            }
        }
    }

    fn keep(&mut self, more: &[f64]) {
        if let Kept::Each(times) = &mut self.kept
            && times.len() + more.len() <= EXACT_TIMES
        {
            return times.extend(more);
        }
        self.count_in_buckets(more.iter().map(|time| (bucket(*time), 1)));
    }

    /// Adds to the buckets, into which the times go if they are not there yet.
    fn count_in_buckets(&mut self, more: impl Iterator<Item = (i32, u64)>) {
        let mut buckets = BTreeMap::new();
        match std::mem::replace(&mut self.kept, Kept::Each(Vec::new())) {
            Kept::Buckets(there) => buckets = there,
            Kept::Each(times) => {
                times.iter().for_each(|time| *buckets.entry(bucket(*time)).or_default() += 1);
            }
        }
        more.for_each(|(bucket, n)| *buckets.entry(bucket).or_default() += n);
        self.kept = Kept::Buckets(buckets);
    }

    pub fn report(&self, options: &Options) -> ResidenceTimes {
        let mut sorted = match &self.kept {
            Kept::Each(times) => times.clone(),
            Kept::Buckets(_) => Vec::new(),
        };
        sorted.sort_unstable_by(f64::total_cmp);
        let mut sum = self.sum;
        if matches!(self.kept, Kept::Each(_)) {
            // In order, so that it does not depend on the order in which they came.
            sum = Sum::default();
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
            exact: matches!(self.kept, Kept::Each(_)),
            histogram: match &options.residence_bins {
                Some(edges) => Histogram { edges: edges.clone(), counts: self.bins.clone() },
                None => self.histogram(),
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
            let time = match &self.kept {
                Kept::Each(_) => between(sorted, rank),
                Kept::Buckets(buckets) => nth(buckets, rank as u64).clamp(self.min, self.max),
            };
            Quantile { probability: *probability, time }
        };
        probabilities.iter().map(quantile).collect()
    }

    /// Equal bins up to the longest time.
    fn histogram(&self) -> Histogram {
        if self.count == 0 {
            return Histogram::default();
        }
        let edge = |i: usize| self.max * (i as f64 / BINS as f64);
        let edges: Vec<f64> = match self.max > 0.0 {
            true => (0..=BINS).map(edge).collect(),
            false => vec![0.0],
        };
        let mut histogram = Histogram::of(&edges);
        let mut count = |time: f64, n| histogram.counts[histogram::bin(&edges, false, time)] += n;
        match &self.kept {
            Kept::Each(times) => times.iter().for_each(|time| count(*time, 1)),
            Kept::Buckets(buckets) => buckets
                .iter()
                .for_each(|(bucket, n)| count(middle(*bucket).clamp(self.min, self.max), *n)),
        }
        histogram
    }
}

/// A number between those of a list in order, which has one at least.
fn between(sorted: &[f64], rank: f64) -> f64 {
    let below = (rank as usize).min(sorted.len() - 1);
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (rank - below as f64)
}

/// About the time that so many others are shorter than.
fn nth(buckets: &BTreeMap<i32, u64>, number: u64) -> f64 {
    let mut passed = 0;
    let found = buckets.iter().find(|(_, n)| {
        passed += **n;
        passed > number
    });
    found.map_or(0.0, |(bucket, _)| middle(*bucket))
}

/// The logarithm of how much a bucket's end is greater than its begin.
fn width() -> f64 {
    ((1.0 + PART) / (1.0 - PART)).ln()
}

fn bucket(time: f64) -> i32 {
    if time > 0.0 { (time.ln() / width()).ceil() as i32 } else { i32::MIN }
}

/// A time that is within `PART` of all in a bucket.
fn middle(bucket: i32) -> f64 {
    match bucket {
        i32::MIN => 0.0,
        _ => (f64::from(bucket) * width()).exp() * (1.0 - PART),
    }
}

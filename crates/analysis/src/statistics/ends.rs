//! Counts of particles by group and status, with end times and residence times.

use super::residence::TimeDistribution;
use super::{EndStatistics, Histogram, Options, histogram};
use burntrace_core::Status;
use std::collections::BTreeMap;

/// The final status of a particle instance, or its current one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub group: u32,
    pub status: Status,
    /// Release time and end time, if known.
    pub times: Option<[f64; 2]>,
    /// Mass, if it is saved.
    pub mass: Option<f64>,
}

/// Particles of a group with one status.
#[derive(Clone, Debug)]
struct StatusTally {
    count: u64,
    /// The mass of those whose mass is known, and their number.
    mass: (f64, u64),
    /// Number of ends in each time bin.
    over_time: Vec<u64>,
    times: TimeDistribution,
}

impl StatusTally {
    fn new(options: &Options) -> Self {
        StatusTally {
            count: 0,
            mass: (0.0, 0),
            over_time: Vec::new(),
            times: TimeDistribution::new(options),
        }
    }

    fn merge(&mut self, other: &StatusTally) {
        self.count += other.count;
        self.add_mass(other.mass);
        self.over_time.resize(self.over_time.len().max(other.over_time.len()), 0);
        self.over_time.iter_mut().zip(&other.over_time).for_each(|(bin, more)| *bin += more);
        self.times.merge(&other.times);
    }

    fn add_mass(&mut self, (mass, count): (f64, u64)) {
        self.mass = (self.mass.0 + mass, self.mass.1 + count);
    }

    /// The mass, if that of all is known.
    fn mass(&self) -> Option<f64> {
        (self.mass.1 == self.count).then_some(self.mass.0)
    }
}

/// Particles by group and status code.
#[derive(Clone, Debug, Default)]
pub(super) struct EndTally {
    tallies: BTreeMap<(u32, i32), StatusTally>,
    /// Whether the run goes backward in time, once known.
    is_backward: Option<bool>,
}

impl EndTally {
    /// Determines the direction of the run from two successive times.
    pub fn set_direction(&mut self, [before, after]: [f64; 2]) {
        if self.is_backward.is_none() && before != after {
            self.is_backward = Some(after < before);
        }
    }

    /// Adds a particle instance; `saves` are the times of the complete saves.
    pub fn add(&mut self, outcome: Outcome, saves: &[f64], options: &Options) {
        let key = (outcome.group, outcome.status.code());
        let tally = self.tallies.entry(key).or_insert_with(|| StatusTally::new(options));
        tally.count += 1;
        tally.add_mass(outcome.mass.map_or((0.0, 0), |mass| (mass, 1)));
        let Some([release, time]) = outcome.times.filter(|_| outcome.status.has_ended()) else {
            return;
        };
        if !(time - release).is_finite() {
            return;
        }
        if self.is_backward.is_none() && time != release {
            self.is_backward = Some(time < release);
        }
        tally.times.add((time - release).abs(), options.residence_bins.as_deref());
        let bin = match &options.time_bins {
            Some(edges) => histogram::bin(edges, edges.first() > edges.last(), time),
            None => histogram::bin(saves, self.is_backward == Some(true), time),
        };
        tally.over_time.resize(tally.over_time.len().max(bin + 1), 0);
        tally.over_time[bin] += 1;
    }

    /// Particles of a group, or of all groups, by status code.
    pub fn of_group(&self, group: Option<u32>, options: &Options) -> GroupTally {
        let mut merged = GroupTally(BTreeMap::new());
        let is_in = |of: u32| group.is_none_or(|group| group == of);
        for ((_, code), tally) in self.tallies.iter().filter(|((of, _), _)| is_in(*of)) {
            merged.0.entry(*code).or_insert_with(|| StatusTally::new(options)).merge(tally);
        }
        merged
    }
}

/// Particles of a group by status code.
pub(super) struct GroupTally(BTreeMap<i32, StatusTally>);

impl GroupTally {
    /// Number of particles whose status matches a predicate.
    pub fn count(&self, matches: impl Fn(Status) -> bool) -> u64 {
        let matching = self.by_status().filter(|(status, _)| matches(*status));
        matching.map(|(_, tally)| tally.count).sum()
    }

    /// Ended particles by status. Counts over time are in the given bins, or in bins between the saves;
    /// empty without `saves`, when end times are unknown.
    pub fn ends(&self, saves: Option<&[f64]>, options: &Options) -> Vec<EndStatistics> {
        let ended = self.by_status().filter(|(status, _)| status.has_ended());
        let end = |(status, tally): (Status, &StatusTally)| EndStatistics {
            status,
            count: tally.count,
            mass: tally.mass(),
            over_time: saves.map_or_else(Histogram::default, |saves| {
                let edges = options.time_bins.as_deref().unwrap_or(saves);
                let mut histogram = Histogram::of(edges);
                histogram.counts[..tally.over_time.len()].copy_from_slice(&tally.over_time);
                histogram
            }),
            residence: tally.times.report(options),
        };
        ended.map(end).collect()
    }

    /// Residence times of all ended particles.
    pub fn residence(&self, options: &Options) -> super::ResidenceTimes {
        let mut all = TimeDistribution::new(options);
        let ended = self.by_status().filter(|(status, _)| status.has_ended());
        ended.for_each(|(_, tally)| all.merge(&tally.times));
        all.report(options)
    }

    fn by_status(&self) -> impl Iterator<Item = (Status, &StatusTally)> {
        let decoded =
            |(code, tally): (&i32, _)| Status::from_code(*code).map(|status| (status, tally));
        self.0.iter().filter_map(decoded)
    }
}

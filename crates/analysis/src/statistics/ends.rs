//! The book of ends: who ended how, when, and after which time.

use super::residence::Times;
use super::{EndStatistics, Histogram, Options, histogram};
use burntrace_core::Status;
use std::collections::BTreeMap;

/// How a particle ended, or that it goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub group: u32,
    pub status: Status,
    /// Times of its release and its end, where they are known.
    pub times: Option<[f64; 2]>,
}

/// Particles of a group with one status.
#[derive(Clone, Debug)]
struct Entry {
    count: u64,
    /// Ends in each bin of time.
    over_time: Vec<u64>,
    times: Times,
}

impl Entry {
    fn new(options: &Options) -> Self {
        Entry { count: 0, over_time: Vec::new(), times: Times::new(options) }
    }

    fn merge(&mut self, other: &Entry) {
        self.count += other.count;
        self.over_time.resize(self.over_time.len().max(other.over_time.len()), 0);
        self.over_time.iter_mut().zip(&other.over_time).for_each(|(bin, more)| *bin += more);
        self.times.merge(&other.times);
    }
}

/// Particles by group and code of status.
#[derive(Clone, Debug, Default)]
pub(super) struct Book {
    entries: BTreeMap<(u32, i32), Entry>,
    /// Whether times decrease in this run, once that is known.
    is_backward: Option<bool>,
}

impl Book {
    /// Learns from two times in which direction the run goes.
    pub fn learn(&mut self, [before, after]: [f64; 2]) {
        if self.is_backward.is_none() && before != after {
            self.is_backward = Some(after < before);
        }
    }

    /// Adds a particle; `saves` are the times of those that have come.
    pub fn add(&mut self, end: End, saves: &[f64], options: &Options) {
        let key = (end.group, end.status.code());
        let entry = self.entries.entry(key).or_insert_with(|| Entry::new(options));
        entry.count += 1;
        let Some([release, time]) = end.times.filter(|_| end.status.has_ended()) else { return };
        if !(time - release).is_finite() {
            return;
        }
        if self.is_backward.is_none() && time != release {
            self.is_backward = Some(time < release);
        }
        entry.times.add((time - release).abs(), options.residence_bins.as_deref());
        let bin = match &options.time_bins {
            Some(edges) => histogram::bin(edges, edges.first() > edges.last(), time),
            None => histogram::bin(saves, self.is_backward == Some(true), time),
        };
        entry.over_time.resize(entry.over_time.len().max(bin + 1), 0);
        entry.over_time[bin] += 1;
    }

    /// Particles of a group, or all of them, by code of status.
    pub fn page(&self, group: Option<u32>, options: &Options) -> Page {
        let mut page = Page(BTreeMap::new());
        let is_in = |of: u32| group.is_none_or(|group| group == of);
        for ((_, code), entry) in self.entries.iter().filter(|((of, _), _)| is_in(*of)) {
            page.0.entry(*code).or_insert_with(|| Entry::new(options)).merge(entry);
        }
        page
    }
}

/// Particles of a group by code of status.
pub(super) struct Page(BTreeMap<i32, Entry>);

impl Page {
    /// How many particles have a status that is asked for.
    pub fn count(&self, is_asked_for: impl Fn(Status) -> bool) -> u64 {
        let asked = self.each().filter(|(status, _)| is_asked_for(*status));
        asked.map(|(_, entry)| entry.count).sum()
    }

    /// Those that have ended, by way of ending. Times are in the bins that were given, or in those
    /// of the saves; in none where nothing is known of times.
    pub fn ends(&self, saves: Option<&[f64]>, options: &Options) -> Vec<EndStatistics> {
        let ended = self.each().filter(|(status, _)| status.has_ended());
        let end = |(status, entry): (Status, &Entry)| EndStatistics {
            status,
            count: entry.count,
            over_time: saves.map_or_else(Histogram::default, |saves| {
                let edges = options.time_bins.as_deref().unwrap_or(saves);
                let mut histogram = Histogram::of(edges);
                histogram.counts[..entry.over_time.len()].copy_from_slice(&entry.over_time);
                histogram
            }),
            residence: entry.times.report(options),
        };
        ended.map(end).collect()
    }

    /// Residence times of all that have ended.
    pub fn residence(&self, options: &Options) -> super::ResidenceTimes {
        let mut all = Times::new(options);
        let ended = self.each().filter(|(status, _)| status.has_ended());
        ended.for_each(|(_, entry)| all.merge(&entry.times));
        all.report(options)
    }

    fn each(&self) -> impl Iterator<Item = (Status, &Entry)> {
        let known =
            |(code, entry): (&i32, _)| Status::from_code(*code).map(|status| (status, entry));
        self.0.iter().filter_map(known)
    }
}

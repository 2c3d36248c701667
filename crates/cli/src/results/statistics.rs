//! The statistics of a run.

use super::run_results::Results;
use crate::file::Misuse;
use anyhow::Result;
use burntrace::analysis::statistics::{Groups, Statistics, TrackStatistics};
use std::ops::Range;

/// A named range of slots with statistics of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub name: String,
    pub slots: Range<usize>,
}

impl Results {
    /// The default groups: the seeds and the slots of the sources, if the run has both.
    pub fn groups(&self) -> Vec<Group> {
        let slots = self.tracks.num_particles();
        let seeds = self.summary["seeds"].as_u64().map_or(slots, |seeds| seeds as usize);
        if seeds == 0 || seeds >= slots {
            return Vec::new();
        }
        let group = |name: &str, slots| Group { name: name.into(), slots };
        vec![group("seeds", 0..seeds), group("sources", seeds..slots)]
    }

    /// Statistics of the run and of groups of its slots, and with `particles` of each particle.
    pub fn statistics(&self, groups: &[Group], particles: bool) -> Result<TrackStatistics> {
        let ranges: Vec<Range<usize>> = groups.iter().map(|group| group.slots.clone()).collect();
        let groups = Groups::ranges(self.tracks.num_particles(), &ranges).map_err(Misuse::of)?;
        let mut statistics = Statistics::new().groups(groups).particles(particles);
        if let Some(radius) = self.radius() {
            statistics = statistics.on_sphere(radius);
        }
        self.tracks.play(&mut statistics)?;
        Ok(statistics.result()?)
    }
}

//! What follows ended particles in a launch.

use crate::schedule::Chunk;
use burntrace_kernels::{Instance, ReinjectionRules, Releases, SlotReuse};
use std::sync::Arc;

/// A logged end that is followed by a re-injection or another release.
pub(super) type End = Instance;

/// The re-injection rules of a launch.
#[derive(Clone)]
pub(super) struct Reinjection {
    /// Positions of inlets, measured from the origin.
    pub positions: Arc<Vec<[f64; 3]>>,
    pub reinjection: ReinjectionRules,
    /// The rules as functions.
    pub reuse: Arc<SlotReuse>,
}

impl Reinjection {
    pub fn new(positions: Arc<Vec<[f64; 3]>>, reinjection: ReinjectionRules) -> Self {
        let reuse = Arc::new(SlotReuse::new(&reinjection, positions.clone()));
        Reinjection { positions, reinjection, reuse }
    }

    /// The rules for a part of the chunk.
    pub fn during(&self, part: &Chunk) -> Reinjection {
        let first = part.first_step as i32;
        let steps = first..first + part.steps() as i32;
        let releases = self.reinjection.releases.iter().map(|releases| {
            let before = releases.events.partition_point(|event| event.0 < steps.start);
            let until = releases.events.partition_point(|event| event.0 < steps.end);
            Releases {
                first: releases.first + before as u64,
                events: releases.events[before..until].to_vec(),
            }
        });
        self.with_releases(releases.collect())
    }

    pub fn with_releases(&self, releases: Vec<Releases>) -> Self {
        let rules = ReinjectionRules { releases, ..self.reinjection.clone() };
        Reinjection::new(self.positions.clone(), rules)
    }
}

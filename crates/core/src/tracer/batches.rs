//! How many particles go to the device at a time.

use super::Tracer;
use crate::{Error, Path, Result};
use std::ops::Range;

/// The sizes of a run's batches.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    /// The greatest size.
    most: usize,
    /// The size now.
    now: usize,
    summary: BatchSummary,
}

impl Tracer<'_> {
    /// Has particles come to the device in batches, none of more than `most` particles; tracks do
    /// not depend on it. Particles then lie on the host, and so many at a time on the device.
    pub fn batch(mut self, most: usize) -> Self {
        self.batch = Some(most);
        self
    }
}

impl Batches {
    /// Those of a run of so many particles by a path.
    pub fn new(tracer: &Tracer, count: usize, path: Path) -> Result<Self> {
        let most = match tracer.batch {
            None => count,
            Some(0) => return Err(Error::Plan("a batch of 0 particles; give 1 or more".into())),
            Some(most) => most.min(count),
        };
        if most < count {
            check(tracer, path)?;
        }
        Ok(Batches { most, now: most, summary: BatchSummary::default() })
    }

    /// Whether a run of so many particles is taken in more than one batch.
    pub fn split(&self, count: usize) -> bool {
        self.most < count
    }

    /// The batch that begins with particle `first`, of so many.
    pub fn next(&mut self, first: usize, count: usize) -> Range<usize> {
        let batch = first..count.min(first + self.now);
        self.summary.add(batch.len());
        batch
    }

    pub fn summary(&self) -> BatchSummary {
        self.summary
    }
}

/// Whether particles may come one after another.
fn check(tracer: &Tracer, path: Path) -> Result<()> {
    let reason = if tracer.field.device().is_autodiff() {
        "gradients are tracked, and their graph spans all particles"
    } else if path == Path::Tensor && tracer.tolerance.is_some() {
        "on the tensor path all particles have the steps of the most demanding one"
    } else {
        return Ok(());
    };
    Err(Error::Plan(format!("{reason}; leave out the batch, so that they all run at once")))
}

/// The batches in which a run's particles went to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchSummary {
    /// How many there were, over all segments.
    pub count: u64,
    /// Particles of the smallest and of the greatest one.
    pub sizes: [usize; 2],
    /// How many did not fit into the device's memory and were halved.
    pub retries: u64,
}

impl BatchSummary {
    fn add(&mut self, size: usize) {
        let [least, most] = self.sizes;
        self.sizes = [if self.count == 0 { size } else { least.min(size) }, most.max(size)];
        self.count += 1;
    }
}

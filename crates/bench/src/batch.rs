//! Batch sizes: how many particles one run takes.

use crate::subject::{Subject, TimedRun};
use anyhow::Result;
use burntrace::Seeds;
use serde::Serialize;

/// How particles are divided into batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// One batch.
    Whole,
    /// Batches of this size.
    Of(usize),
    /// Batches of the fastest size.
    Auto,
}

/// A batch size that was tried, and its shortest time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tried {
    pub batch: usize,
    pub seconds: f64,
}

/// The smallest batch size to try.
const MIN_SIZE: usize = 1000;
/// Ratio of successive batch sizes.
const FACTOR: usize = 4;
/// Number of runs per batch size.
const TRIES: usize = 2;

impl Batch {
    /// The batches of a name: a number of particles, `whole` or `auto`.
    pub fn named(name: &str) -> Option<Self> {
        match (name, name.parse()) {
            ("whole", _) => Some(Batch::Whole),
            ("auto", _) => Some(Batch::Auto),
            (_, Ok(size)) if size > 0 => Some(Batch::Of(size)),
            _ => None,
        }
    }

    /// The batch size to start with.
    pub fn first(self, particles: usize) -> usize {
        match self {
            Batch::Of(size) => size.min(particles),
            Batch::Whole | Batch::Auto => particles,
        }
    }
}

/// Divides seeds into batches.
pub fn divide(seeds: &[[f64; 3]], size: usize) -> Result<Vec<Seeds>> {
    seeds.chunks(size).map(|batch| Ok(Seeds::list(batch.to_vec())?)).collect()
}

/// The batch sizes to try, the largest first.
fn candidates(particles: usize) -> Vec<usize> {
    let next = |size: &usize| Some(size.div_ceil(FACTOR)).filter(|&next| next >= MIN_SIZE);
    std::iter::successors(Some(particles), next).collect()
}

/// Tries batch sizes and returns their times, the fastest first. Each run is passed to `examine`,
/// whose error ends the trial.
pub fn try_all(
    subject: &Subject,
    seeds: &[[f64; 3]],
    examine: &mut dyn FnMut(TimedRun) -> Result<()>,
) -> Result<Vec<Tried>> {
    let mut tried = Vec::new();
    for batch in candidates(seeds.len()) {
        let batches = divide(seeds, batch)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..TRIES {
            let run = subject.run(&batches, subject.steps)?;
            seconds = seconds.min(run.seconds);
            examine(run)?;
        }
        tried.push(Tried { batch, seconds });
    }
    tried.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    Ok(tried)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_is_parsed_and_candidates_shrink() {
        assert_eq!(Batch::named("auto").unwrap(), Batch::Auto);
        assert_eq!(Batch::named("250").unwrap().first(100), 100);
        assert!(Batch::named("0").is_none() && Batch::named("many").is_none());
        assert_eq!(candidates(100_000), [100_000, 25_000, 6250, 1563]);
        assert_eq!(candidates(10), [10]);
    }

    #[test]
    fn division_keeps_all_seeds() {
        let seeds = [[0.0; 3], [1.0; 3], [2.0; 3]];
        let batches = divide(&seeds, 2).unwrap();
        let together: Vec<_> = batches.iter().flat_map(|b| b.positions().to_vec()).collect();
        assert_eq!((batches.len(), &together[..]), (2, &seeds[..]));
    }
}

//! How many particles a run takes at once.

use super::measure::{Run, Subject};
use crate::case::Misuse;
use anyhow::Result;
use burntrace::Seeds;
use serde::Serialize;

/// How particles are divided among runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// All at once.
    Whole,
    /// So many at once.
    Of(usize),
    /// As many as are fastest.
    Auto,
}

/// A batch that was tried, and the shortest of its times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Tried {
    pub batch: usize,
    pub seconds: f64,
}

/// The smallest batch that is tried, unless all particles are fewer.
const LEAST: usize = 1000;
/// Each batch that is tried is smaller by this factor.
const FACTOR: usize = 4;
/// Runs of each batch that is tried.
const TRIES: usize = 2;

impl Batch {
    /// The batch that the command line names.
    pub fn named(name: &str) -> Result<Self> {
        match (name, name.parse()) {
            ("whole", _) => Ok(Batch::Whole),
            ("auto", _) => Ok(Batch::Auto),
            (_, Ok(size)) if size > 0 => Ok(Batch::Of(size)),
            _ => Err(Misuse::error(format!(
                "--batch {name} is no batch; give a number of particles, `whole` or `auto`"
            ))),
        }
    }

    /// The size that is taken before any other is tried.
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

/// All batches that are tried, the largest first.
fn candidates(particles: usize) -> Vec<usize> {
    let next = |size: &usize| Some(size.div_ceil(FACTOR)).filter(|&next| next >= LEAST);
    std::iter::successors(Some(particles), next).collect()
}

/// Tries batches and gives their times, the fastest first. Each run goes to `see`, which may end
/// the trial.
pub fn try_all(
    subject: &Subject,
    seeds: &[[f64; 3]],
    see: &mut dyn FnMut(Run) -> Result<()>,
) -> Result<Vec<Tried>> {
    let mut tried = Vec::new();
    for batch in candidates(seeds.len()) {
        let batches = divide(seeds, batch)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..TRIES {
            let run = subject.run(&batches, subject.steps)?;
            seconds = seconds.min(run.seconds);
            see(run)?;
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
    fn batches_are_whole_a_number_or_found_out() {
        assert_eq!(Batch::named("auto").unwrap(), Batch::Auto);
        assert_eq!(Batch::named("250").unwrap().first(100), 100);
        assert!(Batch::named("0").is_err() && Batch::named("many").is_err());
        assert_eq!(candidates(100_000), [100_000, 25_000, 6250, 1563]);
        assert_eq!(candidates(10), [10]);
    }

    #[test]
    fn no_seed_is_lost() {
        let seeds = [[0.0; 3], [1.0; 3], [2.0; 3]];
        let batches = divide(&seeds, 2).unwrap();
        let together: Vec<_> = batches.iter().flat_map(|b| b.positions().to_vec()).collect();
        assert_eq!((batches.len(), &together[..]), (2, &seeds[..]));
    }
}

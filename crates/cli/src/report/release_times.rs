//! Release times and residence times of all particles of a run.

use crate::results::Results;
use anyhow::Result;

/// Release times and residence times, as far as the store has them: those of an unfinished run are of the particles that have
/// ended and were followed by others in their slots.
#[derive(Debug, Default)]
pub struct ReleaseTimes {
    /// The first and the last release in the order of the run, if all are known.
    pub releases: Option<[f64; 2]>,
    /// Times from release to end, ascending.
    residence: Vec<f64>,
}

impl ReleaseTimes {
    pub fn of(results: &Results, is_backward: bool) -> Result<ReleaseTimes> {
        let tracks = &results.tracks;
        let mut times = Collected::default();
        if let Some(instances) = tracks.instances() {
            for instance in instances {
                let instance = instance?;
                times.add(instance.release_time, instance.end_time);
            }
        } else if tracks.is_complete() {
            let ends = tracks.ends()?;
            ends.release_time.iter().zip(&ends.end_time).for_each(|(a, b)| times.add(*a, *b));
        }
        let Collected { range: [low, high], mut residence } = times;
        residence.sort_unstable_by(f64::total_cmp);
        let is_known = tracks.is_complete() && low <= high;
        let range = if is_backward { [high, low] } else { [low, high] };
        Ok(ReleaseTimes { releases: is_known.then_some(range), residence })
    }

    /// The time since the release within which this number of particles had ended, if that many have.
    pub fn within(&self, count: u64) -> Option<f64> {
        let last = usize::try_from(count).ok()?.checked_sub(1)?;
        self.residence.get(last).copied()
    }

    /// Number of known residence times.
    pub fn count(&self) -> u64 {
        self.residence.len() as u64
    }
}

/// The range of release times, and residence times.
struct Collected {
    range: [f64; 2],
    residence: Vec<f64>,
}

impl Default for Collected {
    fn default() -> Self {
        Collected { range: [f64::INFINITY, f64::NEG_INFINITY], residence: Vec::new() }
    }
}

impl Collected {
    fn add(&mut self, release: f64, end: f64) {
        if release.is_finite() {
            self.range = [self.range[0].min(release), self.range[1].max(release)];
        }
        let time = (end - release).abs();
        self.residence.extend(time.is_finite().then_some(time));
    }
}

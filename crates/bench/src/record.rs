//! The result of a measurement, as written to JSON.

use crate::{batch::Tried, check::Errors};
use serde::{Deserialize, Serialize};

/// Whether a result is correct.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The errors are within bounds.
    #[default]
    Right,
    /// The errors exceed the bounds, or particles were lost.
    Wrong,
    /// The device gave no result.
    Failed,
}

/// One workload with one number of particles on one device.
#[derive(Default, Serialize)]
pub struct Record {
    pub device: String,
    pub workload: &'static str,
    pub particles: usize,
    pub precision: String,
    pub steps: u64,
    /// The first seed, which distinguishes random seeds from those of a lattice.
    pub first_seed: [f64; 3],
    /// Particles in one run.
    pub batch: usize,
    pub batches_tried: Vec<Tried>,
    pub outcome: Outcome,
    /// The reason for a wrong or missing result, apart from `errors`.
    pub message: Option<String>,
    /// The largest errors of all runs, for each number of steps that is compared. The last entry is
    /// the timed run.
    pub errors: Vec<Errors>,
    /// `None` for a wrong or missing result.
    pub seconds: Option<Seconds>,
    /// `None` for a wrong or missing result.
    pub speed: Option<Speed>,
    /// Speed relative to the first device.
    pub ratio_to_first_device: Option<f64>,
    pub bytes: Option<Bytes>,
    /// Of a workload with gradients.
    #[serde(flatten)]
    pub gradient: Option<Gradient>,
    /// Peak memory of the process since the start of this measurement.
    pub host_peak_bytes: Option<u64>,
}

/// A run with its backward pass.
#[derive(Clone, Copy, Serialize)]
pub struct Gradient {
    /// Its median time over that of the run without gradients.
    pub times_forward: f64,
    /// Deviation from differences in double precision, relative to the largest of them.
    #[serde(rename = "gradient_error")]
    pub error: f64,
}

/// Wall time in seconds.
#[derive(Serialize)]
pub struct Seconds {
    /// Loading the field onto the device.
    pub load: f64,
    /// Compilation, before the first call.
    pub compile: f64,
    /// The first call.
    pub first: f64,
    /// Each later call.
    pub steady: Vec<f64>,
}

/// Particle-steps per second.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Speed {
    pub particle_steps: u64,
    /// Median time of the calls, in seconds.
    pub median_seconds: f64,
    /// Particle-steps per second at the median time.
    pub per_second: f64,
    /// Difference between the speeds of the fastest and the slowest call.
    pub spread: f64,
    #[serde(flatten)]
    pub calls: CallTimes,
}

/// The times of several calls, in seconds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct CallTimes {
    pub mean_seconds: f64,
    /// The standard deviation of a sample; 0 for a single call.
    pub deviation_seconds: f64,
    pub min_seconds: f64,
    pub max_seconds: f64,
}

impl CallTimes {
    fn of(sorted: &[f64]) -> Self {
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|x| (x - mean).powi(2)).sum();
        CallTimes {
            mean_seconds: mean,
            deviation_seconds: (squares / (count - 1.0).max(1.0)).sqrt(),
            min_seconds: sorted[0],
            max_seconds: sorted[sorted.len() - 1],
        }
    }
}

/// Bytes, computed from tensor shapes.
#[derive(Clone, Copy, Serialize)]
pub struct Bytes {
    /// The field on the device.
    pub field: u64,
    /// The particles of one batch on the device.
    pub particles: u64,
    /// Transferred to the device in one call.
    pub to_device: u64,
    /// Transferred back in one call.
    pub from_device: u64,
}

impl Bytes {
    /// Memory on the device.
    pub fn on_device(&self) -> u64 {
        self.field + self.particles
    }

    /// Transferred in one call, in both directions.
    pub fn moved(&self) -> u64 {
        self.to_device + self.from_device
    }
}

impl Record {
    /// Removes times and speeds from the record of a wrong result.
    pub fn clear_times(&mut self) {
        self.seconds = None;
        self.gradient = None;
        self.speed = None;
        self.batches_tried.clear();
    }

    /// Adds the errors of another run. Errors out of bounds make the result wrong.
    pub fn note(&mut self, errors: Errors) {
        if !errors.are_within() {
            self.outcome = Outcome::Wrong;
        }
        match self.errors.iter_mut().find(|known| known.steps == errors.steps) {
            Some(known) => known.worsen(&errors),
            None => self.errors.push(errors),
        }
        self.errors.sort_by_key(|errors| errors.steps);
    }
}

impl Speed {
    /// The speed of several calls with the same number of particle-steps.
    pub fn of(particle_steps: u64, seconds: &[f64]) -> Self {
        let mut sorted = seconds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let speed = |seconds: f64| particle_steps as f64 / seconds.max(f64::MIN_POSITIVE);
        let [first, last] = [0, sorted.len() - 1].map(|i| sorted[i]);
        let median_seconds = 0.5 * (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]);
        Speed {
            particle_steps,
            median_seconds,
            per_second: speed(median_seconds),
            spread: speed(first) - speed(last),
            calls: CallTimes::of(&sorted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_that_of_median_and_spread_is_full_range() {
        let odd = Speed::of(1000, &[4.0, 1.0, 2.0]);
        assert_eq!((odd.median_seconds, odd.per_second, odd.spread), (2.0, 500.0, 750.0));
        let even = Speed::of(1000, &[4.0, 1.0]);
        assert_eq!(even.per_second, 400.0);
        let single = Speed::of(1000, &[4.0]);
        assert_eq!((single.spread, single.calls.deviation_seconds), (0.0, 0.0));
        let CallTimes { mean_seconds, deviation_seconds, min_seconds, max_seconds } =
            Speed::of(1000, &[4.0, 1.0, 1.0]).calls;
        assert_eq!((mean_seconds, min_seconds, max_seconds), (2.0, 1.0, 4.0));
        assert!((deviation_seconds - 3.0_f64.sqrt()).abs() < 1e-12);
    }
}

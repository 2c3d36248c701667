//! Checks of results against the reference.

use crate::{kind::WorkloadKind, reference::Reference};
use burntrace::Precision;
use serde::Serialize;

/// Maximum number of particles to compare with the reference. Larger sets are sampled evenly.
fn max_compared(kind: WorkloadKind) -> usize {
    match kind {
        // The reference searches nodes at a thousandth of the speed.
        kind if kind.is_scattered() => 1000,
        // It has no tracks.
        WorkloadKind::Density => 0,
        _ => 20_000,
    }
}

/// Upper bounds of the errors, in edge lengths of the unit cube.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    pub median: f64,
    pub p99: f64,
}

/// Maximum deviation of a gradient from differences, relative to the largest of them: a few times that of
/// a CPU in single precision, for paths that diverge.
pub const GRADIENT_BOUND: f64 = 1e-2;

/// Number of steps within which few paths of long workloads diverge.
const EARLY: u64 = 50;

/// Error bounds of a workload after a number of steps: three to ten times the errors of a CPU in
/// single precision, and about ten times those in double precision.
///
/// With nearest-node interpolation, the velocity jumps at the face between two nodes. A rounding
/// error near such a face selects the other node, and the path deviates by 1e-5. This affects one
/// path in a thousand after 50 steps, and one in six after 1500. A faulty search shows in the 99th
/// percentile after 50 steps, and in the median after 1500.
///
/// In tetrahedra the velocity is continuous, but neighbouring paths diverge as in any mixing flow:
/// within 1500 steps, rounding errors grow tenfold in the median (to 1.3e-6) and fiftyfold in the
/// 99th percentile (to 2e-5), and by the same factors in double precision. After 50 steps they are
/// close to those on a grid.
fn bounds(kind: WorkloadKind, precision: Precision, steps: u64) -> Bounds {
    match (kind.base(), precision) {
        // Particles are kept off a surface by 16 units of rounding.
        (WorkloadKind::ObstacleSurface, Precision::F64) => Bounds { median: 1e-14, p99: 1e-12 },
        (WorkloadKind::ObstacleSurface, Precision::F32) => Bounds { median: 1e-6, p99: 1e-4 },
        // The scheme's own errors; that of a step in which a particle is reflected is of second order.
        (WorkloadKind::Inertial, _) => Bounds { median: 5e-6, p99: 3e-5 },
        // The kernels take a whole step at its middle height, which is of second order on so small a sphere.
        (WorkloadKind::Sphere, Precision::F64) => Bounds { median: 5e-7, p99: 2e-6 },
        (_, Precision::F64) => Bounds { median: 1e-14, p99: 1e-13 },
        (_, Precision::F32) if kind.is_long() && steps <= EARLY => {
            Bounds { median: 1e-6, p99: 4e-6 }
        }
        (WorkloadKind::W1 | WorkloadKind::W1Uneven | WorkloadKind::W1Idw, Precision::F32) => {
            Bounds { median: 1e-5, p99: 3e-3 }
        }
        (
            WorkloadKind::W3
            | WorkloadKind::W3Double
            | WorkloadKind::W3Hex
            | WorkloadKind::W3Mixed
            | WorkloadKind::W3Walls,
            Precision::F32,
        ) => Bounds { median: 1e-5, p99: 1e-4 },
        // The operation adds the same shift to rounded positions, whose rounding has the same sign in each step. Even
        // without a flow, that adds up to 5e-6 in the median of 200 steps.
        (WorkloadKind::Step, Precision::F32) => Bounds { median: 1e-5, p99: 1e-4 },
        (_, Precision::F32) => Bounds { median: 1e-6, p99: 1e-5 },
    }
}

/// The numbers of steps after which a run is compared. The last one is the full run.
fn stops(kind: WorkloadKind, steps: u64) -> Vec<u64> {
    if kind.is_long() && steps > EARLY { vec![EARLY, steps] } else { vec![steps] }
}

/// Distances to the reference after a number of steps, in edge lengths of the unit cube.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    pub steps: u64,
    /// Number of particles compared.
    pub compared: usize,
    pub median: f64,
    pub p99: f64,
    /// Not bounded.
    pub max: f64,
    pub bounds: Bounds,
}

impl Errors {
    fn between(found: &[[f64; 3]], expected: &[[f64; 3]], steps: u64, bounds: Bounds) -> Self {
        let distance = |(a, b): (&[f64; 3], &[f64; 3])| {
            let square: f64 = (0..3).map(|d| (a[d] - b[d]).powi(2)).sum();
            // NaN counts as an infinite error.
            if square.is_nan() { f64::INFINITY } else { square.sqrt() }
        };
        Errors::of(found.iter().zip(expected).map(distance).collect(), steps, bounds)
    }

    /// The quantiles of one error or more.
    pub fn of(mut errors: Vec<f64>, steps: u64, bounds: Bounds) -> Self {
        errors.sort_by(f64::total_cmp);
        let quantile = |part: f64| errors[((errors.len() - 1) as f64 * part).ceil() as usize];
        Errors {
            steps,
            compared: errors.len(),
            median: quantile(0.5),
            p99: quantile(0.99),
            max: quantile(1.0),
            bounds,
        }
    }

    /// Whether median and 99th percentile are within bounds.
    pub fn are_within(&self) -> bool {
        self.median <= self.bounds.median && self.p99 <= self.bounds.p99
    }

    /// Takes the larger errors of two runs with the same number of steps.
    pub fn worsen(&mut self, other: &Self) {
        self.median = self.median.max(other.median);
        self.p99 = self.p99.max(other.p99);
        self.max = self.max.max(other.max);
    }
}

/// The expected result of a workload.
pub struct Check {
    kind: WorkloadKind,
    precision: Precision,
    /// Indices of the particles to compare.
    picks: Vec<usize>,
    stops: Vec<u64>,
    /// Their positions after each stop.
    expected: Vec<Vec<[f64; 3]>>,
}

impl Check {
    /// Traces a sample of the seeds with the reference.
    pub fn new(
        kind: WorkloadKind,
        precision: Precision,
        reference: &Reference,
        seeds: &[[f64; 3]],
        steps: u64,
    ) -> Self {
        let count = seeds.len().min(max_compared(kind));
        let picks: Vec<usize> = (0..count).map(|i| i * seeds.len() / count).collect();
        let picked: Vec<_> = picks.iter().map(|&i| seeds[i]).collect();
        let stops = stops(kind, steps);
        let expected = reference.trace(&picked, &stops);
        Check { kind, precision, picks, stops, expected }
    }

    /// Numbers of steps of the shorter runs to compare in addition to the full run.
    pub fn earlier(&self) -> &[u64] {
        &self.stops[..self.stops.len() - 1]
    }

    /// The errors of a run. `None` if its number of steps is not compared.
    pub fn errors(&self, positions: &[[f64; 3]], steps: u64) -> Option<Errors> {
        let stop = self.stops.iter().position(|&stop| stop == steps)?;
        let picked: Vec<_> = self.picks.iter().map(|&i| positions[i]).collect();
        let bounds = bounds(self.kind, self.precision, steps);
        Some(Errors::between(&picked, &self.expected[stop], steps, bounds))
    }

    /// Checks without a reference: no particle may end or leave the box. Returns the problem, if
    /// any.
    pub fn problem(&self, positions: &[[f64; 3]], active: usize) -> Option<String> {
        let count = positions.len();
        if active != count {
            return Some(format!("{} of {count} particles ended early", count - active));
        }
        let size = self.kind.size();
        // A mesh ends within the rounding of its nodes.
        let slack = if self.kind == WorkloadKind::W3Walls { 1e-6 } else { 0.0 };
        let is_out = |p: &&[f64; 3]| !(0..3).all(|d| (-slack..=size[d] + slack).contains(&p[d]));
        let outside = positions.iter().filter(is_out).count();
        (outside > 0).then(|| format!("{outside} of {count} particles left the box"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { median: 50.0, p99: 99.0 };

    #[test]
    fn errors_have_quantiles() {
        let expected = vec![[0.0; 3]; 101];
        let found: Vec<_> = (0..101).rev().map(|i| [0.0, f64::from(i), 0.0]).collect();
        let mut errors = Errors::between(&found, &expected, 7, BOUNDS);
        assert_eq!((errors.median, errors.p99, errors.max), (50.0, 99.0, 100.0));
        assert!(errors.are_within());
        errors.worsen(&Errors { p99: 99.5, ..errors });
        assert!(!errors.are_within());
    }

    #[test]
    fn nan_and_lost_particles_are_wrong() {
        let errors = Errors::between(&[[f64::NAN; 3]], &[[0.0; 3]], 1, BOUNDS);
        assert!(!errors.are_within());
        let check = Check {
            kind: WorkloadKind::W2,
            precision: Precision::F32,
            picks: vec![0],
            stops: vec![1],
            expected: vec![vec![[0.5; 3]]],
        };
        assert!(check.problem(&[[f64::NAN; 3]], 1).unwrap().contains("1 of 1 particles left"));
        assert!(check.problem(&[[0.5; 3]], 0).unwrap().contains("ended"));
        assert_eq!(check.problem(&[[0.5; 3]], 1), None);
        assert!(check.errors(&[[0.5; 3]], 1).unwrap().are_within());
        assert_eq!(check.errors(&[[0.5; 3]], 2), None);
    }

    #[test]
    fn long_runs_are_compared_twice() {
        assert_eq!(stops(WorkloadKind::W1, 1500), [50, 1500]);
        assert_eq!(stops(WorkloadKind::W1, 50), [50]);
        assert_eq!(stops(WorkloadKind::W3, 1500), [50, 1500]);
        assert_eq!(stops(WorkloadKind::W2, 200), [200]);
    }
}

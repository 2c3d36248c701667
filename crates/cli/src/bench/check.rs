//! Whether a result is right.

use super::{reference::Reference, workload::Kind};
use burntrace::Precision;
use serde::Serialize;

/// The most particles that are compared with the reference; of more, every so many-th.
const MOST: usize = 20_000;

/// What errors may be, in sides of the box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    pub median: f64,
    pub p99: f64,
}

/// Steps within which few paths of long workloads have gone astray.
const EARLY: u64 = 50;

/// Bounds of a workload's errors after so many steps: three to ten times what a CPU's single
/// precision makes of it, and some ten times for double precision.
///
/// Where the nearest node's velocity holds, a rounding error next to the face between two nodes
/// changes the velocity by a node's distance, and the path goes astray by 1e-5. This is rare: after
/// 50 steps it has happened to one path in a thousand, after 1500 to one in six. An error in the
/// search shows after 50 steps in the 99th percentile, and after 1500 in the median.
///
/// In tetrahedra the velocity has no jumps, but neighbouring paths part as they do in any flow that
/// mixes: within 1500 steps rounding errors have grown tenfold in the median (to 1.3e-6) and
/// fiftyfold in the 99th percentile (to 2e-5), and likewise in double precision. After
/// 50 steps they are next to those of a grid.
fn bounds(kind: Kind, precision: Precision, steps: u64) -> Bounds {
    match (kind, precision) {
        (_, Precision::F64) => Bounds { median: 1e-14, p99: 1e-13 },
        (_, Precision::F32) if kind.is_long() && steps <= EARLY => {
            Bounds { median: 1e-6, p99: 4e-6 }
        }
        (Kind::W1, Precision::F32) => Bounds { median: 1e-5, p99: 3e-3 },
        (Kind::W3 | Kind::W3Double, Precision::F32) => Bounds { median: 1e-5, p99: 1e-4 },
        (_, Precision::F32) => Bounds { median: 1e-6, p99: 1e-5 },
    }
}

/// The numbers of steps after which a run of so many is compared; the last is the run's own.
fn stops(kind: Kind, steps: u64) -> Vec<u64> {
    if kind.is_long() && steps > EARLY { vec![EARLY, steps] } else { vec![steps] }
}

/// Distances to the reference after so many steps, in sides of the box.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Errors {
    pub steps: u64,
    /// Particles that were compared.
    pub compared: usize,
    pub median: f64,
    pub p99: f64,
    /// Shown, not judged.
    pub max: f64,
    pub bounds: Bounds,
}

impl Errors {
    fn between(found: &[[f64; 3]], expected: &[[f64; 3]], steps: u64, bounds: Bounds) -> Self {
        let distance = |(a, b): (&[f64; 3], &[f64; 3])| {
            let square: f64 = (0..3).map(|d| (a[d] - b[d]).powi(2)).sum();
            // What is no number is as wrong as can be.
            if square.is_nan() { f64::INFINITY } else { square.sqrt() }
        };
        let mut errors: Vec<f64> = found.iter().zip(expected).map(distance).collect();
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

    /// Whether they are within bounds.
    pub fn are_within(&self) -> bool {
        self.median <= self.bounds.median && self.p99 <= self.bounds.p99
    }

    /// Takes the greater of each, where two runs were compared after as many steps.
    pub fn worsen(&mut self, other: &Self) {
        self.median = self.median.max(other.median);
        self.p99 = self.p99.max(other.p99);
        self.max = self.max.max(other.max);
    }
}

/// What a run of a workload must come to.
pub struct Check {
    kind: Kind,
    precision: Precision,
    /// Numbers of the particles that are compared.
    picks: Vec<usize>,
    stops: Vec<u64>,
    /// Where they are after each stop.
    expected: Vec<Vec<[f64; 3]>>,
}

impl Check {
    /// Follows some of the seeds by the reference, for so many steps.
    pub fn new(
        kind: Kind,
        precision: Precision,
        reference: &Reference,
        seeds: &[[f64; 3]],
        steps: u64,
    ) -> Self {
        let count = seeds.len().min(MOST);
        let picks: Vec<usize> = (0..count).map(|i| i * seeds.len() / count).collect();
        let picked: Vec<_> = picks.iter().map(|&i| seeds[i]).collect();
        let stops = stops(kind, steps);
        let expected = reference.follow(&picked, &stops);
        Check { kind, precision, picks, stops, expected }
    }

    /// The steps of shorter runs that are compared beside the run itself.
    pub fn earlier(&self) -> &[u64] {
        &self.stops[..self.stops.len() - 1]
    }

    /// The errors of a run of so many steps, one of those that are compared.
    pub fn errors(&self, positions: &[[f64; 3]], steps: u64) -> Option<Errors> {
        let stop = self.stops.iter().position(|&stop| stop == steps)?;
        let picked: Vec<_> = self.picks.iter().map(|&i| positions[i]).collect();
        let bounds = bounds(self.kind, self.precision, steps);
        Some(Errors::between(&picked, &self.expected[stop], steps, bounds))
    }

    /// What is wrong with all positions of a run that can be said without a reference: all
    /// particles stay in the box, and none of them ends.
    pub fn complaint(&self, positions: &[[f64; 3]], active: usize) -> Option<String> {
        let count = positions.len();
        if active != count {
            return Some(format!("{} of {count} particles ended on their way", count - active));
        }
        let size = self.kind.size();
        let is_out = |p: &&[f64; 3]| !(0..3).all(|d| (0.0..=size[d]).contains(&p[d]));
        let outside = positions.iter().filter(is_out).count();
        (outside > 0).then(|| format!("{outside} of {count} particles left the box"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Bounds = Bounds { median: 50.0, p99: 99.0 };

    #[test]
    fn quantiles_are_those_of_the_errors() {
        let expected = vec![[0.0; 3]; 101];
        let found: Vec<_> = (0..101).rev().map(|i| [0.0, f64::from(i), 0.0]).collect();
        let mut errors = Errors::between(&found, &expected, 7, BOUNDS);
        assert_eq!((errors.median, errors.p99, errors.max), (50.0, 99.0, 100.0));
        assert!(errors.are_within());
        errors.worsen(&Errors { p99: 99.5, ..errors });
        assert!(!errors.are_within());
    }

    #[test]
    fn what_is_no_number_or_is_lost_is_wrong() {
        let errors = Errors::between(&[[f64::NAN; 3]], &[[0.0; 3]], 1, BOUNDS);
        assert!(!errors.are_within());
        let check = Check {
            kind: Kind::W2,
            precision: Precision::F32,
            picks: vec![0],
            stops: vec![1],
            expected: vec![vec![[0.5; 3]]],
        };
        assert!(check.complaint(&[[f64::NAN; 3]], 1).unwrap().contains("1 of 1 particles left"));
        assert!(check.complaint(&[[0.5; 3]], 0).unwrap().contains("ended"));
        assert_eq!(check.complaint(&[[0.5; 3]], 1), None);
        assert!(check.errors(&[[0.5; 3]], 1).unwrap().are_within());
        assert_eq!(check.errors(&[[0.5; 3]], 2), None);
    }

    #[test]
    fn a_long_run_is_compared_twice() {
        assert_eq!(stops(Kind::W1, 1500), [50, 1500]);
        assert_eq!(stops(Kind::W1, 50), [50]);
        assert_eq!(stops(Kind::W3, 1500), [50, 1500]);
        assert_eq!(stops(Kind::W2, 200), [200]);
    }
}

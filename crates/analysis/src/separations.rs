//! How pairs of particles separate: relative dispersion by initial distance, and finite-size Lyapunov exponents (FSLE).
//!
//! ```
//! use burntrace_analysis::separations::{PairOptions, Separations};
//!
//! // Two particles that separate as exp(0.5 t).
//! let at = |t: f64| [Some([0.0; 3]), Some([1e-3 * f64::exp(0.5 * t), 0.0, 0.0])];
//! let options = PairOptions { distances: vec![0.0, 0.01], ..PairOptions::default() };
//! let mut pairs = Separations::new(options, 0.0, &at(0.0))?;
//! (1..=40).for_each(|k| pairs.add(0.25 * k as f64, &at(0.25 * k as f64)));
//! let found = pairs.result();
//! assert!(found.exponents.iter().all(|of| (of.rate - 0.5).abs() < 1e-9));
//! # Ok::<(), burntrace_analysis::Error>(())
//! ```

use crate::{Error, Result, skill::straight};
use std::collections::HashMap;

/// Which pairs are followed, and at which distances their growth is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct PairOptions {
    /// Edges of the classes of initial distances, ascending: a pair is in a class if its distance is above the lower edge and up to the upper
    /// one.
    pub distances: Vec<f64>,
    /// The factor between the distances of exponents, 1.01 or more.
    pub growth: f64,
    /// Maximum number of pairs of a class.
    pub most: usize,
}

impl Default for PairOptions {
    fn default() -> Self {
        PairOptions { distances: Vec::new(), growth: std::f64::consts::SQRT_2, most: 100_000 }
    }
}

/// Follows pairs through the saves of a run. Positions are in space and not wrapped; those of particles that are not active are `None`, and end
/// their pairs.
#[derive(Clone, Debug)]
pub struct Separations {
    options: PairOptions,
    start: f64,
    pairs: Vec<Pair>,
    times: Vec<f64>,
    classes: Vec<PairClass>,
    /// By level: the sum of times, and their number.
    growth: HashMap<i32, [f64; 2]>,
}

/// A pair of particles.
#[derive(Clone, Copy, Debug)]
struct Pair {
    particles: [u32; 2],
    class: u32,
    /// Time and logarithm of the distance at the last save.
    time: f64,
    log: f64,
    /// The highest level that it has reached, and when; NaN for the initial one, which it was above from the start on.
    level: i32,
    since: f64,
    is_apart: bool,
}

/// The pairs of a class of initial distances.
#[derive(Clone, Debug, PartialEq)]
pub struct PairClass {
    /// Their initial distances: above the first, and up to the second number.
    pub distances: [f64; 2],
    /// Number of pairs at each time.
    pub counts: Vec<u64>,
    /// Mean square distance of the pairs at each time; NaN without any.
    pub mean_square: Vec<f64>,
}

/// The exponent of the growth of distances from one to the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponent {
    /// The distance at which the growth starts.
    pub distance: f64,
    /// ln r / T, where T is the mean time in which pairs grow by the factor r (V. Artale et al., 1997, *Phys. Fluids* 9:3162; E. Aurell et al.,
    /// 1997, *J. Phys. A* 30:1).
    pub rate: f64,
    /// Number of pairs that grew by the factor.
    pub pairs: u64,
}

/// What [`Separations`] know.
#[derive(Clone, Debug, PartialEq)]
pub struct PairStatistics {
    /// Times since the first save.
    pub times: Vec<f64>,
    /// By initial distance.
    pub classes: Vec<PairClass>,
    /// By distance, ascending.
    pub exponents: Vec<Exponent>,
}

impl Separations {
    /// Pairs of the particles that are active at the first save.
    ///
    /// # Errors
    ///
    /// [`Error::Pairs`] if the distances do not ascend from 0 or more, if the growth is not above 1, or if no two particles are that close.
    pub fn new(options: PairOptions, time: f64, positions: &[Option<[f64; 3]>]) -> Result<Self> {
        let edges = &options.distances;
        let ascends = edges.len() > 1
            && edges[0] >= 0.0
            && edges.windows(2).all(|pair| pair[0] < pair[1])
            && edges[edges.len() - 1].is_finite();
        if !ascends {
            return Err(Error::Pairs(format!(
                "the distances {edges:?} are no classes; give two or more that ascend, from 0 or more on"
            )));
        }
        if !(options.growth >= 1.01 && options.growth.is_finite()) {
            let growth = options.growth;
            return Err(Error::Pairs(format!(
                "the growth is {growth}; give a factor above 1, at least 1.01"
            )));
        }
        if options.most == 0 {
            return Err(Error::Pairs("the maximum is 0 pairs of a class; give 1 or more".into()));
        }
        let pairs = close_pairs(&options, time, positions);
        if pairs.is_empty() {
            let last = edges[edges.len() - 1];
            return Err(Error::Pairs(format!(
                "no two particles are {} to {last} apart at the first save; give other distances, or seeds that are closer",
                edges[0]
            )));
        }
        let class = |pair: &[f64]| PairClass {
            distances: [pair[0], pair[1]],
            counts: Vec::new(),
            mean_square: Vec::new(),
        };
        let classes = edges.windows(2).map(class).collect();
        let mut separations = Separations {
            options,
            start: time,
            pairs,
            times: Vec::new(),
            classes,
            growth: HashMap::new(),
        };
        separations.add(time, positions);
        Ok(separations)
    }

    /// Adds a save.
    pub fn add(&mut self, time: f64, positions: &[Option<[f64; 3]>]) {
        let mut sums = vec![(0_u64, 0.0); self.classes.len()];
        let unit = self.options.growth.ln();
        for pair in self.pairs.iter_mut().filter(|pair| !pair.is_apart) {
            let [a, b] = pair.particles.map(|i| positions.get(i as usize).copied().flatten());
            let (Some(a), Some(b)) = (a, b) else {
                pair.is_apart = true;
                continue;
            };
            let distance = straight(a, b);
            let (count, sum) = &mut sums[pair.class as usize];
            (*count, *sum) = (*count + 1, *sum + distance * distance);
            pair.grow(time, distance.ln(), unit, &mut self.growth);
        }
        self.times.push((time - self.start).abs());
        for (class, (count, sum)) in self.classes.iter_mut().zip(sums) {
            class.counts.push(count);
            class.mean_square.push(sum / count as f64);
        }
    }

    /// What is known so far.
    pub fn result(self) -> PairStatistics {
        let unit = self.options.growth.ln();
        let mut levels: Vec<(i32, [f64; 2])> = self.growth.into_iter().collect();
        levels.sort_unstable_by_key(|(level, _)| *level);
        let exponent = |(level, [time, count]): (i32, [f64; 2])| Exponent {
            distance: (f64::from(level) * unit).exp(),
            rate: unit * count / time,
            pairs: count as u64,
        };
        let exponents = levels.into_iter().map(exponent).collect();
        PairStatistics { times: self.times, classes: self.classes, exponents }
    }
}

impl Pair {
    /// Notes the times at which the distance reaches further levels, r^k, for the first time. Between saves its logarithm is
    /// interpolated.
    fn grow(&mut self, time: f64, log: f64, unit: f64, growth: &mut HashMap<i32, [f64; 2]>) {
        let before = (self.time, self.log);
        (self.time, self.log) = (time, log);
        if log <= before.1 || !before.1.is_finite() {
            return;
        }
        let reached = (log / unit).floor() as i32;
        for level in self.level + 1..=reached {
            let part = (f64::from(level) * unit - before.1) / (log - before.1);
            let at = before.0 + part.clamp(0.0, 1.0) * (time - before.0);
            if self.since.is_finite() {
                let sums = growth.entry(level - 1).or_insert([0.0; 2]);
                *sums = [sums[0] + (at - self.since).abs(), sums[1] + 1.0];
            }
            (self.level, self.since) = (level, at);
        }
    }
}

/// Pairs in the classes, from a grid of cells as wide as the largest distance.
fn close_pairs(options: &PairOptions, time: f64, positions: &[Option<[f64; 3]>]) -> Vec<Pair> {
    let edges = &options.distances;
    let (first, last) = (edges[0], edges[edges.len() - 1]);
    let unit = options.growth.ln();
    let cell = |p: [f64; 3]| p.map(|x| (x / last).floor() as i64);
    let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::new();
    let mut counts = vec![0; edges.len() - 1];
    let mut pairs = Vec::new();
    for (number, p) in scattered(positions.len()).filter_map(|i| Some((i, positions[i]?))) {
        let [x, y, z] = cell(p);
        let around = (0..27).map(|k| [x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]);
        for other in around.filter_map(|key| cells.get(&key)).flatten() {
            let Some(q) = positions[*other as usize] else { continue };
            let distance = straight(p, q);
            if !(distance > first && distance <= last) {
                continue;
            }
            let class = edges.partition_point(|edge| *edge < distance) - 1;
            if counts[class] < options.most {
                counts[class] += 1;
                let log = distance.ln();
                let level = (log / unit).floor() as i32;
                let particles = [*other, number as u32];
                let class = class as u32;
                let (since, is_apart) = (f64::NAN, false);
                pairs.push(Pair { particles, class, time, log, level, since, is_apart });
            }
        }
        if counts.iter().all(|count| *count >= options.most) {
            break;
        }
        cells.entry([x, y, z]).or_default().push(number as u32);
    }
    pairs
}

/// The median distance of 200 particles, spread over all, to their nearest neighbours; `None` for fewer than two.
pub fn spacing(positions: &[Option<[f64; 3]>]) -> Option<f64> {
    let some = scattered(positions.len()).filter_map(|i| Some((i, positions[i]?))).take(200);
    let nearest = some.filter_map(|(i, p)| {
        let others = positions.iter().enumerate().filter(|(k, _)| *k != i);
        let distances = others.filter_map(|(_, q)| Some(straight(p, (*q)?)));
        distances.filter(|distance| *distance > 0.0).min_by(f64::total_cmp)
    });
    let mut nearest: Vec<f64> = nearest.collect();
    nearest.sort_unstable_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).copied()
}

/// All numbers below a count, in an order in which the first ones are spread over all.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    let is_coprime = |step: &usize| {
        let (mut a, mut b) = (*step, count);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    let middle = (0.618 * count as f64) as usize;
    let step = (middle.max(1)..).find(is_coprime).unwrap_or(1);
    (0..count).map(move |k| (k as u128 * step as u128 % count as u128) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(distances: &[f64]) -> PairOptions {
        PairOptions { distances: distances.to_vec(), ..PairOptions::default() }
    }

    #[test]
    fn all_numbers_are_in_a_scattered_order_once() {
        for count in [1, 2, 7, 100] {
            let mut all: Vec<usize> = scattered(count).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(scattered(0).count(), 0);
    }

    /// A lattice of 6 x 6 points with the spacing 1: 60 pairs at 1, and 50 at the square root of 2.
    #[test]
    fn pairs_are_those_within_the_distances() {
        let positions: Vec<_> =
            (0..36).map(|k| Some([f64::from(k % 6), f64::from(k / 6), 0.0])).collect();
        let pairs = Separations::new(options(&[0.5, 1.1, 1.5, 1.9]), 3.0, &positions).unwrap();
        let found = pairs.result();
        let counts: Vec<u64> = found.classes.iter().map(|class| class.counts[0]).collect();
        assert_eq!((counts, found.times), (vec![60, 50, 0], vec![0.0]));
        let squares: Vec<f64> = found.classes.iter().map(|class| class.mean_square[0]).collect();
        assert!((squares[0] - 1.0).abs() < 1e-12 && (squares[1] - 2.0).abs() < 1e-12);
        assert!(squares[2].is_nan());
        assert_eq!((spacing(&positions), spacing(&positions[..1])), (Some(1.0), None));
        let few = PairOptions { most: 7, ..options(&[0.5, 1.1]) };
        let found = Separations::new(few, 0.0, &positions).unwrap().result();
        assert_eq!(found.classes[0].counts, [7]);
    }

    /// In a strain the distance along one axis grows as exp(t), across it shrinks; the exponent is 1 at every distance that is reached, forward
    /// and backward in time.
    #[test]
    fn exponents_of_a_strain_are_its_rate() {
        for sign in [1.0, -1.0] {
            let start: Vec<[f64; 3]> = (0..50)
                .flat_map(|k| {
                    [[0.3 * f64::from(k), 0.0, 0.0], [0.3 * f64::from(k) + 1e-3, 0.0, 0.0]]
                })
                .collect();
            let at = |t: f64| -> Vec<Option<[f64; 3]>> {
                start.iter().map(|[x, y, z]| Some([x * t.exp(), y * (-t).exp(), *z])).collect()
            };
            let mut pairs = Separations::new(options(&[0.0, 0.01]), 0.0, &at(0.0)).unwrap();
            (1..=30).for_each(|k| pairs.add(sign * 0.2 * f64::from(k), &at(0.2 * f64::from(k))));
            let found = pairs.result();
            // From 1e-3 on by a factor of exp(6), of which the first and the last level are not complete.
            assert_eq!(found.exponents.len(), 16, "{:?}", found.exponents);
            for Exponent { rate, pairs, distance } in &found.exponents {
                assert!((rate - 1.0).abs() < 1e-9 && *pairs == 50, "{distance}: {rate}, {pairs}");
            }
            let class = &found.classes[0];
            let expected = 1e-6 * (12.0_f64).exp();
            assert!((class.mean_square[30] / expected - 1.0).abs() < 1e-9, "{class:?}");
        }
    }

    /// A pair that comes closer again counts the first time only, and one that has ended no more.
    #[test]
    fn only_the_first_growth_counts() {
        let at = |x: f64| [Some([0.0; 3]), Some([x, 0.0, 0.0])];
        let options = PairOptions { growth: 2.0, ..options(&[0.5, 1.5]) };
        let mut pairs = Separations::new(options, 0.0, &at(0.9)).unwrap();
        for (time, x) in [(1.0, 2.0), (2.0, 0.9), (3.0, 2.0), (4.0, 4.0)] {
            pairs.add(time, &at(x));
        }
        pairs.add(5.0, &[Some([0.0; 3]), None]);
        pairs.add(6.0, &at(16.0));
        let found = pairs.result();
        // From 1, which lies between the first two saves, to 2; and from there to 4.
        let at_one = (1.0_f64 / 0.9).ln() / (2.0_f64 / 0.9).ln();
        let times: Vec<f64> = found.exponents.iter().map(|of| 2.0_f64.ln() / of.rate).collect();
        assert!(
            (times[0] - (1.0 - at_one)).abs() < 1e-12 && (times[1] - 3.0).abs() < 1e-12,
            "{times:?}"
        );
        assert_eq!(times.len(), 2);
        assert_eq!(found.classes[0].counts, [1, 1, 1, 1, 1, 0, 0]);
    }

    #[test]
    fn options_that_mean_nothing_are_refused() {
        let two = [Some([0.0; 3]), Some([1.0, 0.0, 0.0])];
        let reason = |options: PairOptions| match Separations::new(options, 0.0, &two) {
            Err(Error::Pairs(reason)) => reason,
            other => panic!("{other:?}"),
        };
        assert!(reason(options(&[1.0])).contains("two or more that ascend"));
        assert!(reason(options(&[2.0, 1.0])).contains("two or more that ascend"));
        assert!(reason(options(&[2.0, 3.0])).contains("no two particles are 2 to 3 apart"));
        let none = PairOptions { most: 0, ..options(&[0.0, 2.0]) };
        assert!(reason(none).contains("give 1 or more"));
        let growth = PairOptions { growth: 1.0, ..options(&[0.0, 2.0]) };
        assert!(reason(growth).contains("above 1"));
    }
}

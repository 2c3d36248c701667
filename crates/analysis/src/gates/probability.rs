//! How probable it is to get to a gate, or to end, within a time.

use super::{Passages, Visitor};

/// The quantile of the normal distribution for two-sided intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The part of some particles that got to a gate, or ended in some way, within a time, as an estimate of a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Probability {
    /// The name of the gate, or of the way in which they ended.
    pub name: String,
    /// Whether it is that of a gate.
    pub is_gate: bool,
    /// The time since the release.
    pub within: f64,
    /// Number of particles that crossed the surface, were in the region, or ended in this way, by then.
    pub reached: u64,
    /// Number of particles that could be followed for this time: the run went on that long after their release. One that ended before counts.
    pub of: u64,
    /// The probability: `reached / of`; NaN without particles.
    pub value: f64,
    /// Its interval of confidence of 95 %, if particles are independent of each other (E. B. Wilson, 1927, *J. Am. Stat. Assoc.*
    /// 22:209).
    pub interval: [f64; 2],
}

impl Passages {
    /// The probability of getting to each gate within a time since the release, in a run that ended at `end`, from these particles.
    pub fn within(
        &self,
        within: f64,
        visitors: impl IntoIterator<Item = Visitor>,
        end: f64,
    ) -> Vec<Probability> {
        let mut counts = vec![[0_u64; 2]; self.gates.len()];
        let period = Period { within, end };
        for visitor in visitors.into_iter().filter(|of| period.follows(of.release_time)) {
            let stays = self.stays.get(&(visitor.slot, visitor.generation));
            for (gate, [reached, of]) in counts.iter_mut().enumerate() {
                let stay = stays.into_iter().flatten().find(|stay| stay.gate == gate);
                let first = stay.and_then(|stay| stay.first);
                let starts = self.starts_in(gate, &visitor, stay);
                let in_time = first.is_some_and(|at| period.has(at, visitor.release_time));
                *reached += u64::from(starts || in_time);
                *of += 1;
            }
        }
        let probability = |(gate, counts): (&burntrace_core::Gate, [u64; 2])| {
            Probability::of((gate.name.clone(), true), within, counts)
        };
        self.gates.iter().zip(counts).map(probability).collect()
    }
}

impl Probability {
    fn of((name, is_gate): (String, bool), within: f64, [reached, of]: [u64; 2]) -> Self {
        let (value, interval) = (reached as f64 / of as f64, wilson(reached as f64, of as f64));
        Probability { name, is_gate, within, reached, of, value, interval }
    }

    /// The probability of ending in some way within a time since the release, in a run that ended at `end`: of particles by the time of their
    /// release, with that of their end if they ended in this way.
    pub fn of_end(
        name: impl Into<String>,
        within: f64,
        particles: impl IntoIterator<Item = (f64, Option<f64>)>,
        end: f64,
    ) -> Self {
        let period = Period { within, end };
        let mut counts = [0, 0];
        for (release, ended) in particles.into_iter().filter(|of| period.follows(of.0)) {
            counts[0] += u64::from(ended.is_some_and(|ended| period.has(ended, release)));
            counts[1] += 1;
        }
        Probability::of((name.into(), false), within, counts)
    }
}

/// A time since the release, in a run that ended at a time.
struct Period {
    within: f64,
    end: f64,
}

impl Period {
    /// Times may be far from 0, and their differences rounded.
    fn rounding(&self, time: f64) -> f64 {
        1e-12 * self.within + 4.0 * f64::EPSILON * self.end.abs().max(time.abs())
    }

    /// Whether a particle could be followed that long.
    fn follows(&self, release: f64) -> bool {
        (self.end - release).abs() >= self.within - self.rounding(release)
    }

    /// Whether something happened in it.
    fn has(&self, time: f64, release: f64) -> bool {
        (time - release).abs() <= self.within + self.rounding(release)
    }
}

/// Wilson's interval of a probability, from the number of successes.
fn wilson(successes: f64, count: f64) -> [f64; 2] {
    let part = successes / count;
    let per = Z * Z / count;
    let middle = (part + 0.5 * per) / (1.0 + per);
    let half = Z / (1.0 + per) * (part * (1.0 - part) / count + 0.25 * per / count).sqrt();
    // Exact at the ends, despite rounding.
    let low = if successes == 0.0 { 0.0 } else { middle - half };
    let high = if successes == count { 1.0 } else { middle + half };
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_core::{Crossing, Gate, GateShape, Shape};

    /// `scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`
    #[test]
    fn intervals_are_those_of_scipy() {
        let known = [
            (7.0, 20.0, [0.181_191_824_101_082_1, 0.567_145_723_314_763_7]),
            (0.0, 10.0, [0.0, 0.277_532_799_862_889_26]),
            (10.0, 10.0, [0.722_467_200_137_110_7, 1.0]),
        ];
        for (successes, count, expected) in known {
            let found = wilson(successes, count);
            assert!((0..2).all(|k| (found[k] - expected[k]).abs() < 1e-12), "{found:?}");
        }
        assert_eq!(wilson(0.0, 0.0), [0.0, 1.0]);
    }

    #[test]
    fn particles_count_that_could_be_followed() {
        let pond = Shape::Box { low: [2.0, -1.0, -1.0], high: [3.0, 1.0, 1.0] };
        let gates = [
            Gate::new("pond", GateShape::Region(pond)),
            Gate::new("line", GateShape::plane([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])),
        ];
        let mut passages = Passages::new(&gates);
        let crossing = |slot, gate, time| Crossing {
            gate,
            slot,
            generation: 0,
            is_forward: true,
            time,
            position: [0.0; 3],
        };
        passages.add(&[crossing(0, 1, 1.0), crossing(0, 0, 2.0), crossing(1, 1, 4.5)]);
        // Released at 0, 1 and 1, of which the last one starts in the pond and ends soon, and late at 8.
        let starts = [(0.0, 0.0, 10.0), (1.0, 0.0, 10.0), (1.0, 2.5, 2.0), (8.0, 0.0, 10.0)];
        let visitors = starts.into_iter().enumerate().map(|(slot, (release_time, x, end_time))| {
            Visitor { slot, generation: 0, release_time, release_position: [x, 0.0, 0.0], end_time }
        });
        let found = passages.within(3.0, visitors.clone(), 10.0);
        let counts = |found: &[Probability]| -> Vec<[u64; 2]> {
            found.iter().map(|of| [of.reached, of.of]).collect()
        };
        assert_eq!(counts(&found), [[2, 3], [1, 3]]);
        let found = passages.within(4.0, visitors, 10.0);
        assert_eq!(counts(&found), [[2, 3], [2, 3]]);
        assert_eq!((found[1].value, found[1].within), (2.0 / 3.0, 4.0));
        // Ended after 2 and 6, in another way or not at all, and released too late.
        let ends = [(0.0, Some(2.0)), (1.0, Some(7.0)), (1.0, None), (8.0, Some(9.0))];
        let found = Probability::of_end("beached", 3.0, ends, 10.0);
        assert_eq!((found.reached, found.of, found.is_gate), (1, 3, false));
    }
}

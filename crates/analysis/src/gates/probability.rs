//! How probable it is to get to a gate within a time.

use super::{Passages, Visitor};

/// The quantile of the normal distribution for two-sided intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// The part of some particles that got to a gate within a time, as an estimate of a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Probability {
    /// The name of the gate.
    pub gate: String,
    /// The time since the release.
    pub within: f64,
    /// Number of particles that crossed the surface, or were in the region, by then.
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
        // Times may be far from 0, and their differences rounded.
        let rounding = |time: f64| 1e-12 * within + 4.0 * f64::EPSILON * end.abs().max(time.abs());
        let is_followed = |visitor: &Visitor| {
            let time = visitor.release_time;
            (end - time).abs() >= within - rounding(time)
        };
        for visitor in visitors.into_iter().filter(is_followed) {
            let stays = self.stays.get(&(visitor.slot, visitor.generation));
            for (gate, [reached, of]) in counts.iter_mut().enumerate() {
                let stay = stays.into_iter().flatten().find(|stay| stay.gate == gate);
                let first = stay.and_then(|stay| stay.first);
                let starts = self.starts_in(gate, &visitor, stay);
                let time = visitor.release_time;
                let in_time =
                    first.is_some_and(|first| (first - time).abs() <= within + rounding(time));
                *reached += u64::from(starts || in_time);
                *of += 1;
            }
        }
        let probability = |(gate, [reached, of]): (&burntrace_core::Gate, [u64; 2])| Probability {
            gate: gate.name.clone(),
            within,
            reached,
            of,
            value: reached as f64 / of as f64,
            interval: wilson(reached as f64, of as f64),
        };
        self.gates.iter().zip(counts).map(probability).collect()
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
    }
}

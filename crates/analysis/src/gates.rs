//! Who crosses gates: counts, first passages, residence in regions, and where particles get to from where.
//!
//! ```
//! use burntrace_analysis::gates::{Passages, Visitor};
//! use burntrace_core::{Crossing, Gate, GateShape, Shape};
//!
//! let pond = Shape::Box { low: [2.0, -1.0, -1.0], high: [3.0, 1.0, 1.0] };
//! let gates = [Gate::new("pond", GateShape::Region(pond))];
//! let crossing = |time, is_forward, x| Crossing {
//!     gate: 0, slot: 0, generation: 0, is_forward, time, position: [x, 0.0, 0.0],
//! };
//! let mut passages = Passages::new(&gates);
//! passages.add(&[crossing(2.0, true, 2.0), crossing(3.0, false, 3.0)]);
//! let visitor = Visitor {
//!     slot: 0, generation: 0, release_time: 0.0, release_position: [0.0; 3], end_time: 5.0,
//! };
//! let result = passages.result([visitor]);
//! assert_eq!((result.gates[0].forward, result.gates[0].backward, result.gates[0].particles), (1, 1, 1));
//! assert_eq!(result.gates[0].first_passage.unwrap().median, 2.0);
//! assert_eq!(result.gates[0].residence.unwrap().mean, 1.0);
//! ```

mod probability;

pub use probability::Probability;

use crate::statistics::interpolate;
use burntrace_core::{Crossing, Gate};
use std::collections::BTreeMap;

/// A released particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visitor {
    /// Its slot, and the number of particle instances before it in the slot.
    pub slot: usize,
    /// See `slot`.
    pub generation: u32,
    /// When it was released.
    pub release_time: f64,
    /// Where it was released.
    pub release_position: [f64; 3],
    /// When it ended, or the end of the run.
    pub end_time: f64,
}

/// Collects crossings.
///
/// It remembers some 100 bytes for each particle at each gate that it crosses.
#[derive(Clone, Debug)]
pub struct Passages {
    gates: Vec<Gate>,
    /// Crossings forward and backward of each gate.
    counts: Vec<[u64; 2]>,
    stays: BTreeMap<(usize, u32), Vec<Stay>>,
}

/// A particle at a gate.
#[derive(Clone, Copy, Debug)]
struct Stay {
    gate: usize,
    /// When it crossed a surface for the first time, or entered a region.
    first: Option<f64>,
    /// Whether it was in the region before its first crossing.
    starts_inside: bool,
    /// When it last entered, if it has not left since.
    since: Option<f64>,
    /// Time in the region until it last left, without that before a first crossing backward, which is the second number.
    inside: [f64; 2],
    visits: u64,
}

/// What [`Passages`] know of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct PassageStatistics {
    /// Number of released particles.
    pub particles: u64,
    /// Each gate.
    pub gates: Vec<GatePassages>,
    /// From which region to which the particles came, if there are regions.
    pub connectivity: Option<Connectivity>,
}

/// The passages of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GatePassages {
    /// Its name.
    pub name: String,
    /// Whether it is a region.
    pub is_region: bool,
    /// Crossings along the normal or into the region.
    pub forward: u64,
    /// Crossings back.
    pub backward: u64,
    /// Number of particles that crossed the surface, or that were in the region at any time.
    pub particles: u64,
    /// Number of particles that started in the region.
    pub started: u64,
    /// Number of stays in the region: those from the release on, and one for each crossing forward.
    pub visits: u64,
    /// Times from the release to the first crossing of a surface, in either direction, or to the first entry to a region of particles that
    /// started outside; `None` if there are none.
    pub first_passage: Option<Spread>,
    /// These times in ascending order.
    pub first_passage_times: Vec<f64>,
    /// Times that particles spent in the region, over all their visits; `None` for a surface, and if there are none.
    pub residence: Option<Spread>,
}

/// The distribution of some times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Their number.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The shortest.
    pub min: f64,
    /// The median, interpolated between two.
    pub median: f64,
    /// The longest.
    pub max: f64,
}

/// From which region to which particles came.
///
/// Each particle counts once in `ended`, in the row of the first region that has its release position, and in the column of
/// the first region that it is in at its end or that of the run. So a row adds up to the particles released there. In `reached` it counts in
/// each column of a region that it was in at any time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connectivity {
    /// The names of the regions, in the order of rows and columns; the last row and the last column are those of no region.
    pub regions: Vec<String>,
    /// By where particles were at the end.
    pub ended: Vec<Vec<u64>>,
    /// By where they were at any time; the last column are those that were in no region.
    pub reached: Vec<Vec<u64>>,
}

impl Passages {
    /// Of a run with these gates; in a flat domain, [as they are in it](Gate::extended).
    pub fn new(gates: &[Gate]) -> Self {
        Passages {
            gates: gates.to_vec(),
            counts: vec![[0; 2]; gates.len()],
            stays: BTreeMap::new(),
        }
    }

    /// Adds crossings; those of a particle in order. Those of gates that are not known are ignored.
    pub fn add(&mut self, crossings: &[Crossing]) {
        for crossing in crossings {
            let Some(count) = self.counts.get_mut(crossing.gate) else { continue };
            count[usize::from(!crossing.is_forward)] += 1;
            let stays = self.stays.entry((crossing.slot, crossing.generation)).or_default();
            let stay = match stays.iter_mut().find(|stay| stay.gate == crossing.gate) {
                Some(stay) => stay,
                None => {
                    stays.push(Stay::at(crossing.gate));
                    let last = stays.len() - 1;
                    &mut stays[last]
                }
            };
            stay.add(crossing, self.gates[crossing.gate].is_region());
        }
    }

    /// The statistics of a run with these particles.
    pub fn result(&self, visitors: impl IntoIterator<Item = Visitor>) -> PassageStatistics {
        let regions: Vec<usize> =
            (0..self.gates.len()).filter(|gate| self.gates[*gate].is_region()).collect();
        let mut tallies = vec![Tally::default(); self.gates.len()];
        let mut connectivity =
            Connectivity::of(regions.iter().map(|gate| self.gates[*gate].name.clone()));
        let mut particles = 0;
        for visitor in visitors {
            particles += 1;
            let stays = self.stays.get(&(visitor.slot, visitor.generation));
            let stay = |gate: usize| stays.into_iter().flatten().find(|stay| stay.gate == gate);
            let starts = |gate: usize| self.starts_in(gate, &visitor, stay(gate));
            for (gate, tally) in tallies.iter_mut().enumerate() {
                tally.add(&visitor, stay(gate), starts(gate));
            }
            let presence = |gate: &usize| {
                let (starts, stay) = (starts(*gate), stay(*gate));
                let ends = stay.map_or(starts, |stay| stay.since.is_some());
                [starts, starts || stay.is_some(), ends]
            };
            connectivity.add(&regions.iter().map(presence).collect::<Vec<_>>());
        }
        let gates = self.gates.iter().zip(&self.counts).zip(tallies);
        PassageStatistics {
            particles,
            gates: gates
                .map(|((gate, [forward, backward]), tally)| {
                    tally.report(gate, [*forward, *backward])
                })
                .collect(),
            connectivity: (!regions.is_empty()).then_some(connectivity),
        }
    }

    /// Whether a particle was released in a region: by its first crossing, or its position if there is none.
    fn starts_in(&self, gate: usize, visitor: &Visitor, stay: Option<&Stay>) -> bool {
        match stay {
            Some(stay) => stay.starts_inside,
            None => self.gates[gate].contains(visitor.release_position),
        }
    }
}

impl Stay {
    fn at(gate: usize) -> Self {
        Stay {
            gate,
            first: None,
            starts_inside: false,
            since: None,
            inside: [0.0, f64::NAN],
            visits: 0,
        }
    }

    fn add(&mut self, crossing: &Crossing, is_region: bool) {
        let is_first = self.visits == 0 && !self.starts_inside && self.first.is_none();
        if !is_region {
            self.first = self.first.or(Some(crossing.time));
        } else if crossing.is_forward {
            if is_first {
                self.first = Some(crossing.time);
            }
            self.since = Some(crossing.time);
            self.visits += 1;
        } else if let Some(since) = self.since.take() {
            self.inside[0] += (crossing.time - since).abs();
        } else if is_first {
            (self.starts_inside, self.inside[1]) = (true, crossing.time);
        }
    }
}

/// What is counted at a gate.
#[derive(Clone, Debug, Default)]
struct Tally {
    particles: u64,
    started: u64,
    visits: u64,
    first: Vec<f64>,
    inside: Vec<f64>,
}

impl Tally {
    /// Adds a particle; `starts` is whether it starts in the region.
    fn add(&mut self, visitor: &Visitor, stay: Option<&Stay>, starts: bool) {
        let Visitor { release_time, end_time, .. } = *visitor;
        if stay.is_none() && !starts {
            return;
        }
        self.particles += 1;
        self.started += u64::from(starts);
        self.first
            .extend(stay.and_then(|stay| stay.first).map(|first| (first - release_time).abs()));
        let mut inside = 0.0;
        match stay {
            None => inside = (end_time - release_time).abs(),
            Some(stay) => {
                inside += stay.inside[0];
                inside += stay.since.map_or(0.0, |since| (end_time - since).abs());
                if starts {
                    inside += (stay.inside[1] - release_time).abs();
                }
                self.visits += stay.visits;
            }
        }
        self.visits += u64::from(starts);
        self.inside.push(inside);
    }

    fn report(mut self, gate: &Gate, [forward, backward]: [u64; 2]) -> GatePassages {
        self.first.sort_unstable_by(f64::total_cmp);
        self.inside.sort_unstable_by(f64::total_cmp);
        GatePassages {
            name: gate.name.clone(),
            is_region: gate.is_region(),
            forward,
            backward,
            particles: self.particles,
            started: self.started,
            visits: self.visits,
            first_passage: Spread::of(&self.first),
            residence: Spread::of(&self.inside).filter(|_| gate.is_region()),
            first_passage_times: self.first,
        }
    }
}

impl Spread {
    /// Of times in ascending order; `None` if there are none.
    fn of(sorted: &[f64]) -> Option<Self> {
        let [min, max] = [*sorted.first()?, *sorted.last()?];
        let mean = (sorted.iter().sum::<f64>() / sorted.len() as f64).clamp(min, max);
        let median = interpolate(sorted, 0.5 * (sorted.len() - 1) as f64);
        Some(Spread { count: sorted.len() as u64, mean, min, median, max })
    }
}

impl Connectivity {
    fn of(names: impl Iterator<Item = String>) -> Self {
        let regions: Vec<String> = names.collect();
        let none = vec![vec![0; regions.len() + 1]; regions.len() + 1];
        Connectivity { regions, ended: none.clone(), reached: none }
    }

    /// Adds a particle: for each region whether it started there, was there at any time, and was there at the end.
    fn add(&mut self, particle: &[[bool; 3]]) {
        let other = self.regions.len();
        let first = |k: usize| particle.iter().position(|of| of[k]).unwrap_or(other);
        let row = first(0);
        self.ended[row][first(2)] += 1;
        let reached = (0..other).filter(|region| particle[*region][1]);
        reached.for_each(|region| self.reached[row][region] += 1);
        self.reached[row][other] += u64::from(first(1) == other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burntrace_core::{GateShape, Shape};

    fn gates() -> [Gate; 3] {
        let region = |low: f64, high: f64| {
            let (low, high) = ([low, -1.0, -1.0], [high, 1.0, 1.0]);
            GateShape::Region(Shape::Box { low, high })
        };
        [
            Gate::new("a", region(0.0, 1.0)),
            Gate::new("middle", GateShape::plane([2.0, 0.0, 0.0], [1.0, 0.0, 0.0])),
            Gate::new("b", region(3.0, 4.0)),
        ]
    }

    fn visitor(slot: usize, x: f64) -> Visitor {
        let release_position = [x, 0.0, 0.0];
        Visitor { slot, generation: 0, release_time: 1.0, release_position, end_time: 11.0 }
    }

    /// Particles from a to b, staying in a, from outside to b and back, and outside; to and fro across the middle.
    #[test]
    fn paths_between_regions_are_counted() {
        let crossing = |slot: usize, gate: usize, time: f64, is_forward: bool| Crossing {
            gate,
            slot,
            generation: 0,
            is_forward,
            time,
            position: [0.0; 3],
        };
        let mut passages = Passages::new(&gates());
        passages.add(&[
            crossing(0, 0, 2.0, false),
            crossing(0, 1, 3.0, true),
            crossing(0, 1, 3.5, false),
            crossing(0, 1, 4.0, true),
            crossing(0, 2, 6.0, true),
        ]);
        passages.add(&[
            crossing(2, 2, 4.0, true),
            crossing(2, 2, 5.0, false),
            crossing(2, 2, 7.0, true),
            crossing(2, 2, 7.5, false),
            crossing(0, 9, 9.0, true),
        ]);
        let result = passages
            .result([0.5, 0.2, 2.5, 9.0].into_iter().enumerate().map(|(k, x)| visitor(k, x)));
        let [a, middle, b] = &result.gates[..] else { panic!() };
        assert_eq!(
            ([a.forward, a.backward, a.particles, a.started, a.visits], a.is_region),
            ([0, 1, 2, 2, 2], true)
        );
        let spread = |mean, min, median, max| Spread { count: 2, mean, min, median, max };
        assert_eq!((a.residence, a.first_passage), (Some(spread(5.5, 1.0, 5.5, 10.0)), None));
        assert_eq!([middle.forward, middle.backward, middle.particles], [2, 1, 1]);
        assert_eq!((middle.residence, middle.first_passage.unwrap().max), (None, 2.0));
        assert_eq!([b.forward, b.backward, b.particles, b.started, b.visits], [3, 2, 2, 0, 3]);
        assert_eq!(b.first_passage, Some(spread(4.0, 3.0, 4.0, 5.0)));
        assert_eq!(b.residence, Some(spread(3.25, 1.5, 3.25, 5.0)));
        let Connectivity { regions, ended, reached } = result.connectivity.unwrap();
        assert_eq!(regions, ["a", "b"]);
        assert_eq!(ended, [[1, 1, 0], [0, 0, 0], [0, 0, 2]]);
        assert_eq!(reached, [[2, 1, 0], [0, 0, 0], [0, 1, 1]]);
        assert_eq!((result.particles, ended.iter().flatten().sum::<u64>()), (4, 4));
    }
}

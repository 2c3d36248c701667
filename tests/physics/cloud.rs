//! Reference implementation of fields on scattered points, with an exhaustive search in double precision,
//! and helpers shared by the tests of such fields.

use super::{
    common::*,
    oracle::{Case, FinalState, Point, Space, final_state},
};
use burntrace::{
    Domain, Face, Field, FieldOptions, Floats, FrameData, FrameSource, PointField, PointSource,
    SaveAt, Scheme, Seeds, SourceError, Tracer, Weighting,
};

pub use burntrace_bench::random::single;

/// Velocity on scattered points, in memory.
#[derive(Clone, Debug)]
pub struct Cloud {
    pub positions: Vec<Point>,
    pub times: Vec<f64>,
    /// `u, v, w` of each node, one vector for each frame.
    pub values: Vec<Vec<f64>>,
    pub weighting: Weighting,
    /// The box of the particles, which may be larger than the box of the nodes.
    pub corners: [Point; 2],
}

/// Inverse-distance weighting of a number of nodes.
pub fn mean(neighbours: usize, power: f64) -> Weighting {
    Weighting::InverseDistance { neighbours, power }
}

impl Cloud {
    pub fn new(
        positions: Vec<Point>,
        times: &[f64],
        weighting: Weighting,
        mut velocity: impl FnMut(Point, f64) -> Point,
    ) -> Self {
        let frame = |t: &f64| positions.iter().flat_map(|p| velocity(*p, *t)).collect();
        let values = times.iter().map(frame).collect();
        let corners = corners(&positions);
        Cloud { positions, times: times.to_vec(), values, weighting, corners }
    }

    /// A cloud whose velocity identifies each node by its index.
    pub fn numbered(positions: Vec<Point>, weighting: Weighting) -> Self {
        let mut number = -1.0;
        Cloud::new(positions, &[0.0], weighting, |_, _| {
            number += 1.0;
            [number, -number, 2.0 * number]
        })
    }

    pub fn load(&self, machine: &Machine) -> PointField {
        let options = FieldOptions { precision: machine.precision, ..FieldOptions::default() };
        PointField::load(&mut self.clone(), &machine.device, &options, self.weighting).unwrap()
    }

    /// Velocities at points, saved by a run before its first step.
    pub fn sample(&self, machine: &Machine, points: &[Point]) -> Vec<Point> {
        let field = self.load(machine);
        // The step does not matter: Euler compiles fastest.
        let tracer = Tracer::new(&field)
            .scheme(Scheme::Euler)
            .domain(Domain::unbounded())
            .span(steps(self.times[0], self.times[0] + 1.0, 1))
            .save(SaveAt::EverySteps(1))
            .save_velocity(true);
        let run = trace(&tracer, &Seeds::list(points.to_vec()).unwrap());
        run.velocities.unwrap().as_chunks().0[..points.len()].to_vec()
    }

    /// Whether all nodes have the same coordinate along an axis.
    pub fn is_flat(&self, d: usize) -> bool {
        self.positions.iter().all(|p| p[d] == self.positions[0][d])
    }

    /// Distance to a node.
    pub fn distance(&self, p: Point, node: usize) -> f64 {
        let offset = |d: usize| if self.is_flat(d) { 0.0 } else { self.positions[node][d] - p[d] };
        (0..3).map(|d| offset(d).powi(2)).sum::<f64>().sqrt()
    }

    /// The nearest nodes with their distances, in order; coincident nodes by index.
    pub fn nearest(&self, p: Point, count: usize) -> Vec<(f64, usize)> {
        let flat = [0, 1, 2].map(|d| self.is_flat(d));
        let square = |node: &Point| {
            let offset = |d: usize| if flat[d] { 0.0 } else { node[d] - p[d] };
            offset(0) * offset(0) + offset(1) * offset(1) + offset(2) * offset(2)
        };
        let mut all: Vec<(f64, usize)> =
            self.positions.iter().enumerate().map(|(i, node)| (square(node), i)).collect();
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        if count < all.len() {
            all.select_nth_unstable_by(count, order);
            all.truncate(count);
        }
        all.sort_by(order);
        all.iter().map(|(square, i)| (square.sqrt(), *i)).collect()
    }

    fn value(&self, frame: usize, node: usize) -> Point {
        std::array::from_fn(
            |d| if self.is_flat(d) { 0.0 } else { self.values[frame][3 * node + d] },
        )
    }
}

fn corners(positions: &[Point]) -> [Point; 2] {
    let fold = |choose: fn(f64, f64) -> f64| {
        let together = |a: Point, b: &Point| std::array::from_fn(|d| choose(a[d], b[d]));
        positions.iter().fold(positions[0], together)
    };
    [fold(f64::min), fold(f64::max)]
}

impl Space for Cloud {
    fn corners(&self) -> [Point; 2] {
        self.corners
    }

    fn in_frame(&self, frame: usize, p: Point) -> Point {
        let Weighting::InverseDistance { neighbours, power } = self.weighting else {
            return self.value(frame, self.nearest(p, 1)[0].1);
        };
        let nodes = self.nearest(p, neighbours);
        let min = nodes[0].0;
        let (mut sum, mut weights) = ([0.0; 3], 0.0);
        for (distance, node) in nodes {
            // On a node the other weights are 0.
            let weight = if distance == min { 1.0 } else { (min / distance).powf(power) };
            let v = self.value(frame, node);
            sum = std::array::from_fn(|d| sum[d] + weight * v[d]);
            weights += weight;
        }
        sum.map(|v| v / weights)
    }
}

impl PointSource for Cloud {
    fn positions(&self) -> &[Point] {
        &self.positions
    }
}

impl FrameSource for Cloud {
    fn times(&self) -> &[f64] {
        &self.times
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        Ok(Floats::F64(self.values[frame].clone()).into())
    }
}

/// The tracer of a case.
pub fn tracer<'a, S: Space>(case: &Case<S>, field: &'a dyn Field) -> Tracer<'a> {
    let count = case.times.len() - 1;
    let mut tracer = Tracer::new(field)
        .scheme(case.scheme)
        .stagnant_speed(case.stagnant_speed)
        .domain(Domain::new(case.low(), case.high()).unwrap())
        .span(steps(case.times[0], case.times[count], count as u64));
    for face in Face::ALL {
        tracer = tracer.face(face, case.faces[face as usize / 2][face as usize % 2]);
    }
    tracer
}

/// Expected outcomes of particles, with the deviations that rounding may cause.
pub struct OracleCheck {
    states: Vec<(FinalState, f64)>,
    width: Point,
}

impl OracleCheck {
    /// `delta` is the rounding error of a position in a step.
    pub fn new<S: Space>(case: &Case<S>, seeds: &Seeds, delta: f64) -> Self {
        let state = |(i, start): (usize, &Point)| {
            let release = seeds.release().map_or(case.times[0], |release| release[i]);
            let state = case.follow(*start, release);
            let allowed = delta + case.sensitivity(&state, *start, release, delta);
            (state, allowed)
        };
        OracleCheck {
            states: seeds.positions().iter().enumerate().map(state).collect(),
            width: case.width(),
        }
    }

    /// Checks a run against the oracle. Returns the number of undecided particles, whose outcome depends on
    /// rounding: on the verge of an exit, or of another nearest node.
    pub fn check(&self, what: &str, run: &Run) -> usize {
        self.compare(what, run, |i| self.states[i].0.clone(), 1.0)
    }

    /// Checks two runs against each other, both with rounding errors.
    pub fn check_both(&self, what: &str, run: &Run, other: &Run) -> usize {
        self.compare(what, run, |i| final_state(other, i), 2.0)
    }

    fn compare(
        &self,
        what: &str,
        run: &Run,
        other: impl Fn(usize) -> FinalState,
        times: f64,
    ) -> usize {
        let max = self.width.into_iter().fold(0.0, f64::max);
        let mut undecided = 0;
        for (i, (state, allowed)) in self.states.iter().enumerate() {
            let (found, expected) = (final_state(run, i), other(i));
            let deviation = found.apart(&expected, self.width);
            assert!(
                deviation <= times * allowed,
                "{what}, particle {i}: deviation {deviation:e}, allowed {allowed:e}\n\
                 {found:?}\n{expected:?}\n{state:?}"
            );
            undecided += usize::from(*allowed > 0.1 * max);
        }
        undecided
    }
}

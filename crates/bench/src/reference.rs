//! The reference: the workloads traced by the [`oracle`](crate::oracle), in double precision, one particle after another.
//!
//! Grids are interpolated by a weighted sum over eight corners,
//! while the kernels interpolate along one axis after the other. The nearest nodes are found in a k-d tree, and the tetrahedron in
//! bins, by volumes instead of planes. Steps use absolute time, while the kernels use the time since a frame.

use crate::{
    bins::Bins,
    kd_tree::KdTree,
    kind::{NEIGHBOURS, WorkloadKind},
    oracle::{
        self, Case, FinalState, HELD, Point, Space,
        events::{Contact, Response},
        vectors::plus,
    },
    source::Source,
    tetrahedra::Cubes,
    workload::{Nodes, Workload},
};
use burntrace::{
    BoundaryCondition, FrameData, FrameSource, OutsideTime, Scheme, SourceError, TimeInterpolation,
};
use rayon::prelude::*;

/// A workload as the oracle traces it.
pub struct Reference<'a> {
    case: Case<Field<'a>>,
}

/// A workload's field in double precision.
struct Field<'a> {
    source: Source<'a>,
    sampler: Sampler<'a>,
}

/// Interpolation in space.
enum Sampler<'a> {
    Trilinear(&'a [f64]),
    /// The mean of a number of nodes, weighted by the inverse square of their distance.
    Mean(KdTree<'a>, usize),
    Tetrahedra(Bins<'a>),
    Cubes(&'a Cubes),
    Formula(fn(Point, f64) -> Point),
}

impl<'a> Reference<'a> {
    /// Builds the search structure for the workload's nodes.
    pub fn new(workload: &'a Workload) -> Self {
        let kind = workload.kind;
        let sampler = match &workload.nodes {
            Nodes::Grid(axis) => Sampler::Trilinear(axis),
            Nodes::Points(points) => {
                let count = if kind == WorkloadKind::W1Idw { NEIGHBOURS } else { 1 };
                Sampler::Mean(KdTree::new(points), count)
            }
            Nodes::Tetrahedra(mesh) => Sampler::Tetrahedra(Bins::new(mesh)),
            Nodes::Cubes(mesh) => Sampler::Cubes(mesh),
            Nodes::Formula(_, velocity) => Sampler::Formula(*velocity),
        };
        let condition = match kind.reflects() {
            true => BoundaryCondition::Reflect,
            false => BoundaryCondition::Exit,
        };
        Reference {
            case: Case {
                frames: Field { source: Source::new(workload), sampler },
                in_time: TimeInterpolation::Linear,
                outside: OutsideTime::Hold,
                scheme: Scheme::Rk4,
                faces: [[condition; 2]; 3],
                obstacles: Vec::new(),
                held: HELD,
                times: Vec::new(),
                stagnant_speed: 0.0,
            },
        }
    }

    /// Traces particles and returns their positions after each of the numbers of steps in `stops`,
    /// which must increase.
    pub fn trace(&self, seeds: &[Point], stops: &[u64]) -> Vec<Vec<Point>> {
        let paths: Vec<_> = seeds.par_iter().map(|&seed| self.path(seed, stops)).collect();
        (0..stops.len()).map(|i| paths.iter().map(|path| path[i]).collect()).collect()
    }

    fn path(&self, seed: Point, stops: &[u64]) -> Vec<Point> {
        let kind = self.case.frames.source.workload.kind;
        let (dt, shift) = (kind.dt(), kind.shift());
        if let Some(tau) = kind.relaxation_time() {
            return self.flight(seed, tau, stops);
        }
        let mut state = FinalState::waiting(seed);
        let mut taken = 0;
        let mut positions = Vec::with_capacity(stops.len());
        for &stop in stops {
            while taken < stop {
                let t = taken as f64 * dt;
                self.case.step(&mut state, t, dt);
                if shift != [0.0; 3] {
                    self.case.pass_faces(&mut state, shift, (t, dt));
                }
                taken += 1;
            }
            positions.push(state.position);
        }
        positions
    }
}

/// Parts of a step in which the reference moves a particle with inertia.
const PARTS: u64 = 16;

impl Reference<'_> {
    /// The positions of a heavy particle with a relaxation time: RK4 of position and velocity, in small steps.
    fn flight(&self, seed: Point, tau: f64, stops: &[u64]) -> Vec<Point> {
        let h = self.case.frames.source.workload.kind.dt() / PARTS as f64;
        let rate = |[x, v]: [Point; 2], t: f64| {
            let u = self.case.velocity(x, t);
            [v, std::array::from_fn(|d| (u[d] - v[d]) / tau)]
        };
        let moved = |state: [Point; 2], k: [Point; 2], h: f64| {
            [0, 1].map(|i| std::array::from_fn(|d| state[i][d] + h * k[i][d]))
        };
        let mut state = [seed, self.case.velocity(seed, 0.0)];
        let (mut taken, mut positions) = (0, Vec::with_capacity(stops.len()));
        for stop in stops {
            while taken < stop * PARTS {
                let t = taken as f64 * h;
                let first = rate(state, t);
                let second = rate(moved(state, first, h / 2.0), t + h / 2.0);
                let third = rate(moved(state, second, h / 2.0), t + h / 2.0);
                let fourth = rate(moved(state, third, h), t + h);
                for (k, weight) in [(first, 1.0), (second, 2.0), (third, 2.0), (fourth, 1.0)] {
                    state = moved(state, k, weight * h / 6.0);
                }
                reflect(&mut state);
                taken += 1;
            }
            positions.push(state[0]);
        }
        positions
    }
}

/// Reflects a position and a velocity at the faces of the unit cube.
fn reflect([position, velocity]: &mut [Point; 2]) {
    for (x, v) in position.iter_mut().zip(velocity) {
        let inside = x.clamp(0.0, 1.0);
        if *x != inside {
            (*x, *v) = (2.0 * inside - *x, -*v);
        }
    }
}

impl Field<'_> {
    /// Passes the nodes around a position with their weights to `add`.
    fn nodes_at(&self, p: Point, mut add: impl FnMut(usize, f64)) {
        let mut add_all = |nodes: &[u32], weights: [f64; 8]| {
            nodes.iter().zip(weights).for_each(|(node, weight)| add(*node as usize, weight));
        };
        match &self.sampler {
            Sampler::Tetrahedra(bins) => {
                let (nodes, weights) = bins.find(p);
                add_all(&nodes, weights);
            }
            Sampler::Cubes(mesh) => {
                let (nodes, weights) = mesh.find(p);
                add_all(&nodes, weights);
            }
            Sampler::Mean(tree, count) => inverse_squares(&tree.nearest(p, *count), &mut add),
            Sampler::Trilinear(axis) => oracle::corners([axis; 3], p, add),
            Sampler::Formula(_) => {}
        }
    }
}

/// The changes of longitude and latitude, in degrees, and of height by a velocity, where a degree of the equator is a unit of
/// length. The components are interpolated, while the kernels interpolate vectors.
fn in_degrees([u, v, w]: Point, [_, lat, height]: Point, radius: f64) -> Point {
    let part = radius / (radius + height);
    [part * u / lat.to_radians().cos(), part * v, w]
}

impl Space for Field<'_> {
    /// The box; around a mesh with walls a larger one, whose faces no particle meets.
    fn corners(&self) -> [Point; 2] {
        match self.source.workload.kind {
            WorkloadKind::W3Walls => [[-1.0; 3], [2.0; 3]],
            kind => [[0.0; 3], kind.size()],
        }
    }

    fn between(&self, frames: &[(usize, f64)], p: Point, t: f64) -> Point {
        let workload = self.source.workload;
        if let Sampler::Formula(velocity) = self.sampler {
            return velocity(p, t);
        }
        let mut v = workload.kind.drift();
        self.nodes_at(p, |node, weight| {
            for (frame, part) in frames {
                let values = &workload.frames[*frame][3 * node..3 * node + 3];
                v = plus(v, [0, 1, 2].map(|d| weight * part * f64::from(values[d])));
            }
        });
        match workload.kind.radius() {
            Some(radius) => in_degrees(v, p, radius),
            None => v,
        }
    }

    fn in_frame(&self, frame: usize, p: Point) -> Point {
        self.between(&[(frame, 1.0)], p, self.times()[frame])
    }

    fn has_walls(&self) -> bool {
        let workload = self.source.workload;
        workload.kind == WorkloadKind::W3Walls || workload.ball.is_some()
    }

    fn first_wall(&self, from: Point, to: Point) -> Option<Contact> {
        if let Some(ball) = &self.source.workload.ball {
            return ball.first_contact(from, to);
        }
        // The mesh fills the unit cube.
        let crossing = |i: usize| {
            let (d, wall) = (i / 2, (i % 2) as f64);
            let outward = 2.0 * wall - 1.0;
            let fraction = ((wall - from[d]) / (to[d] - from[d])).max(0.0);
            let mut normal = [0.0; 3];
            normal[d] = -outward;
            let leaves = outward * (to[d] - wall) > 0.0;
            leaves.then_some(Contact { fraction, normal, response: Response::Reflect })
        };
        (0..6).filter_map(crossing).min_by(|a, b| a.fraction.total_cmp(&b.fraction))
    }

    fn contains(&self, p: Point) -> bool {
        let is_mesh = self.source.workload.kind == WorkloadKind::W3Walls;
        !is_mesh || p.iter().all(|x| (0.0..=1.0).contains(x))
    }
}

impl FrameSource for Field<'_> {
    fn times(&self) -> &[f64] {
        self.source.times()
    }

    fn read(&mut self, frame: usize) -> Result<FrameData, SourceError> {
        self.source.read(frame)
    }
}

/// Passes nodes, given with their squared distances, with weights proportional to the inverse squares to
/// `add`.
fn inverse_squares(nodes: &[(f64, usize)], add: &mut impl FnMut(usize, f64)) {
    if let Some((_, node)) = nodes.iter().find(|(square, _)| *square == 0.0) {
        return add(*node, 1.0);
    }
    let sum: f64 = nodes.iter().map(|(square, _)| 1.0 / square).sum();
    nodes.iter().for_each(|(square, node)| add(*node, 1.0 / square / sum));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow;

    #[test]
    fn grid_velocity_matches_formula_within_grid_error() {
        let workload = Workload::new(WorkloadKind::W2).unwrap();
        let reference = Reference::new(&workload);
        for point in [[0.3, 0.4, 0.7], [0.99, 0.01, 0.5], [1.0, 1.0, 1.0]] {
            // The flow changes by 1e-2 between frames, and by 1e-3 across a cell.
            for (found, expected) in
                reference.case.velocity(point, 0.5).into_iter().zip(flow::velocity(point, 0.5))
            {
                assert!((found - expected).abs() < 0.02, "{found} {expected}");
            }
        }
        let ends = reference.trace(&[[0.3, 0.4, 0.7], [0.5; 3]], &[1, 200]);
        assert_eq!(ends.len(), 2);
        assert!(ends.iter().flatten().flatten().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn corner_weights_sum_to_one_and_reproduce_position() {
        let axis = [0.0, 0.5, 1.0];
        let (mut total, mut x) = (0.0, 0.0);
        oracle::corners([&axis; 3], [0.6, 0.2, 1.5], |node, weight| {
            total += weight;
            x += weight * axis[node % 3];
        });
        assert!((total - 1.0).abs() < 1e-15 && (x - 0.6).abs() < 1e-15);
    }
}

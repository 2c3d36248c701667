//! The reference: the workloads traced in double precision, one particle after another.
//!
//! It shares no code with the library. Grids are interpolated by a weighted sum over eight corners,
//! while the kernels interpolate along one axis after the other. The nearest node is found by ring
//! search in buckets, those of an uneven cloud and of a mean in a k-d tree, and the tetrahedron in bins, by volumes instead of planes. Steps use absolute
//! time, while the kernels use the time since a frame.

use super::{
    bins::Bins,
    buckets::Buckets,
    kd_tree::KdTree,
    kind::{NEIGHBOURS, WorkloadKind},
    tetrahedra::Hexahedra,
    workload::{Nodes, Workload},
};
use rayon::prelude::*;

/// A workload's field in double precision.
pub struct Reference<'a> {
    workload: &'a Workload,
    sampler: Sampler<'a>,
}

/// Interpolation in space.
enum Sampler<'a> {
    Trilinear(&'a [f64]),
    Nearest(Buckets),
    /// The mean of a number of nodes, weighted by the inverse square of their distance.
    Mean(KdTree<'a>, usize),
    Tetrahedra(Bins<'a>),
    Hexahedra(&'a Hexahedra),
    Formula(fn([f64; 3], f64) -> [f64; 3]),
}

impl<'a> Reference<'a> {
    /// Builds the search structure for the workload's nodes.
    pub fn new(workload: &'a Workload) -> Self {
        let sampler = match &workload.nodes {
            Nodes::Grid(axis) => Sampler::Trilinear(axis),
            Nodes::Points(points) => match workload.kind {
                WorkloadKind::W1Idw => Sampler::Mean(KdTree::new(points), NEIGHBOURS),
                WorkloadKind::W1Uneven => Sampler::Mean(KdTree::new(points), 1),
                _ => Sampler::Nearest(Buckets::new(points)),
            },
            Nodes::Tetrahedra(mesh) => Sampler::Tetrahedra(Bins::new(mesh)),
            Nodes::Hexahedra(mesh) => Sampler::Hexahedra(mesh),
            Nodes::Formula(_, velocity) => Sampler::Formula(*velocity),
        };
        Reference { workload, sampler }
    }

    /// Traces particles and returns their positions after each of the numbers of steps in `stops`,
    /// which must increase.
    pub fn trace(&self, seeds: &[[f64; 3]], stops: &[u64]) -> Vec<Vec<[f64; 3]>> {
        let paths: Vec<_> = seeds.par_iter().map(|&seed| self.path(seed, stops)).collect();
        (0..stops.len()).map(|i| paths.iter().map(|path| path[i]).collect()).collect()
    }

    fn path(&self, seed: [f64; 3], stops: &[u64]) -> Vec<[f64; 3]> {
        let mut x = seed;
        let mut taken = 0;
        let mut positions = Vec::with_capacity(stops.len());
        for &stop in stops {
            while taken < stop {
                x = self.step(x, taken as f64 * self.workload.kind.dt());
                taken += 1;
            }
            positions.push(x);
        }
        positions
    }

    /// One step of the classical Runge-Kutta method.
    fn step(&self, x: [f64; 3], t: f64) -> [f64; 3] {
        let dt = self.workload.kind.dt();
        let from = |k: [f64; 3], h: f64| self.within(x, std::array::from_fn(|d| x[d] + h * k[d]));
        let k1 = self.velocity(x, t);
        let k2 = self.velocity(from(k1, 0.5 * dt), t + 0.5 * dt);
        let k3 = self.velocity(from(k2, 0.5 * dt), t + 0.5 * dt);
        let k4 = self.velocity(from(k3, dt), t + dt);
        let sum = |d: usize| k1[d] + 2.0 * k2[d] + 2.0 * k3[d] + k4[d];
        let next: [f64; 3] = std::array::from_fn(|d| x[d] + dt / 6.0 * sum(d));
        if let Some(ball) = &self.workload.ball {
            return ball.slid(x, next);
        }
        if !self.workload.kind.reflects() {
            return next;
        }
        let (next, shift) = (next.map(mirrored), self.workload.kind.shift());
        std::array::from_fn(|d| mirrored(next[d] + shift[d]))
    }

    /// Where a stage at `to` samples the field: on a mesh, at the last point inside on the path from `from`.
    fn within(&self, from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
        if self.workload.kind != WorkloadKind::W3Walls {
            return to;
        }
        let inside = |d: usize| match to[d] {
            x if x > 1.0 => (1.0 - from[d]) / (x - from[d]),
            x if x < 0.0 => from[d] / (from[d] - x),
            _ => 1.0,
        };
        let part = (0..3).map(inside).fold(1.0, f64::min);
        std::array::from_fn(|d| (from[d] + part * (to[d] - from[d])).clamp(0.0, 1.0))
    }

    fn velocity(&self, x: [f64; 3], t: f64) -> [f64; 3] {
        let (velocity, drift) = (self.sampled(x, t), self.workload.kind.drift());
        std::array::from_fn(|d| velocity[d] + drift[d])
    }

    fn sampled(&self, x: [f64; 3], t: f64) -> [f64; 3] {
        if let Sampler::Formula(velocity) = self.sampler {
            return velocity(x, t);
        }
        let Workload { times, frames, .. } = self.workload;
        let after = times.partition_point(|&frame| frame <= t).clamp(1, times.len());
        let before = after - 1;
        let first = &frames[before];
        let Some(second) = frames.get(after) else {
            return self.blend(x, first, first, 0.0);
        };
        let part = (t - times[before]) / (times[after] - times[before]);
        self.blend(x, first, second, part)
    }

    /// Interpolates in space, and linearly between two frames.
    fn blend(&self, x: [f64; 3], first: &[f32], second: &[f32], part: f64) -> [f64; 3] {
        let mut v = [0.0; 3];
        let mut add = |node: usize, weight: f64| {
            for (d, v) in v.iter_mut().enumerate() {
                let [a, b] = [first, second].map(|frame| f64::from(frame[3 * node + d]));
                *v += weight * ((1.0 - part) * a + part * b);
            }
        };
        match &self.sampler {
            Sampler::Nearest(buckets) => add(buckets.nearest(x), 1.0),
            Sampler::Mean(tree, count) => inverse_squares(&tree.nearest(x, *count), &mut add),
            Sampler::Trilinear(axis) => corners(x, axis, &mut add),
            Sampler::Tetrahedra(bins) => {
                let (nodes, weights) = bins.find(x);
                nodes
                    .into_iter()
                    .zip(weights)
                    .for_each(|(node, weight)| add(node as usize, weight));
            }
            Sampler::Hexahedra(mesh) => {
                let (nodes, weights) = mesh.find(x);
                let weighed = nodes.into_iter().zip(weights);
                weighed.for_each(|(node, weight)| add(node as usize, weight));
            }
            Sampler::Formula(_) => {}
        }
        v
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

/// Passes each corner of a point's cell with its weight to `add`. Points outside the grid are
/// clamped to it.
fn corners(x: [f64; 3], axis: &[f64], add: &mut impl FnMut(usize, f64)) {
    let n = axis.len();
    let cells = x.map(|x| {
        let x = x.clamp(0.0, 1.0);
        let cell = axis.partition_point(|node| *node <= x).clamp(1, n - 1) - 1;
        (cell, (x - axis[cell]) / (axis[cell + 1] - axis[cell]))
    });
    for corner in 0..8_usize {
        let (mut node, mut weight) = (0, 1.0);
        for d in (0..3).rev() {
            let (cell, part) = cells[d];
            let side = corner >> d & 1;
            node = node * n + cell + side;
            weight *= if side == 1 { part } else { 1.0 - part };
        }
        add(node, weight);
    }
}

/// A coordinate reflected at 0 and 1, repeatedly if needed.
fn mirrored(x: f64) -> f64 {
    let x = x.rem_euclid(2.0);
    if x > 1.0 { 2.0 - x } else { x }
}

#[cfg(test)]
mod tests {
    use super::super::{flow, workload::Workload};
    use super::*;

    #[test]
    fn grid_velocity_matches_formula_within_grid_error() {
        let workload = Workload::new(WorkloadKind::W2, None).unwrap();
        let reference = Reference::new(&workload);
        for point in [[0.3, 0.4, 0.7], [0.99, 0.01, 0.5], [1.0, 1.0, 1.0]] {
            // The flow changes by 1e-2 between frames, and by 1e-3 across a cell.
            for (found, expected) in
                reference.velocity(point, 0.5).into_iter().zip(flow::velocity(point, 0.5))
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
        corners([0.6, 0.2, 1.5], &axis, &mut |node, weight| {
            total += weight;
            x += weight * axis[node % 3];
        });
        assert!((total - 1.0).abs() < 1e-15 && (x - 0.6).abs() < 1e-15);
    }

    #[test]
    fn coordinates_are_reflected_at_walls() {
        for (x, expected) in [(0.25, 0.25), (-0.25, 0.25), (1.25, 0.75), (2.25, 0.25), (1.0, 1.0)] {
            assert_eq!(mirrored(x), expected);
        }
    }
}

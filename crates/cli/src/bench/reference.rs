//! What is right: the workloads traced in double precision, one particle after another.
//!
//! It shares no code with the library. A grid is read by a weighted sum over eight corners, where
//! the kernels interpolate along one axis after the other; the nearest node is searched in buckets
//! of nodes, ring by ring, and the tetrahedron in bins, by volumes in place of planes; steps know their time, where the kernels know their time since a frame.

use super::{
    bins::Bins,
    buckets::Buckets,
    workload::{Nodes, Workload},
};
use rayon::prelude::*;

/// A workload's field in double precision.
pub struct Reference<'a> {
    workload: &'a Workload,
    place: Place<'a>,
}

/// How a velocity is found in a frame.
enum Place<'a> {
    Corners(&'a [f64]),
    Nearest(Buckets),
    Inside(Bins<'a>),
}

impl<'a> Reference<'a> {
    /// Prepares the search for nodes.
    pub fn new(workload: &'a Workload) -> Self {
        let place = match &workload.nodes {
            Nodes::Grid(axis) => Place::Corners(axis),
            Nodes::Points(points) => Place::Nearest(Buckets::new(points)),
            Nodes::Tetrahedra(mesh) => Place::Inside(Bins::new(mesh)),
        };
        Reference { workload, place }
    }

    /// Where particles are after each of these numbers of steps, which increase: a list of
    /// positions for each number.
    pub fn follow(&self, seeds: &[[f64; 3]], stops: &[u64]) -> Vec<Vec<[f64; 3]>> {
        let paths: Vec<_> = seeds.par_iter().map(|&seed| self.path(seed, stops)).collect();
        (0..stops.len()).map(|i| paths.iter().map(|path| path[i]).collect()).collect()
    }

    fn path(&self, seed: [f64; 3], stops: &[u64]) -> Vec<[f64; 3]> {
        let mut x = seed;
        let mut taken = 0;
        let mut stations = Vec::with_capacity(stops.len());
        for &stop in stops {
            while taken < stop {
                x = self.step(x, taken as f64 * self.workload.kind.dt());
                taken += 1;
            }
            stations.push(x);
        }
        stations
    }

    /// One step of the classical Runge-Kutta method.
    fn step(&self, x: [f64; 3], t: f64) -> [f64; 3] {
        let dt = self.workload.kind.dt();
        let from = |k: [f64; 3], h: f64| std::array::from_fn(|d| x[d] + h * k[d]);
        let k1 = self.velocity(x, t);
        let k2 = self.velocity(from(k1, 0.5 * dt), t + 0.5 * dt);
        let k3 = self.velocity(from(k2, 0.5 * dt), t + 0.5 * dt);
        let k4 = self.velocity(from(k3, dt), t + dt);
        let sum = |d: usize| k1[d] + 2.0 * k2[d] + 2.0 * k3[d] + k4[d];
        let next: [f64; 3] = std::array::from_fn(|d| x[d] + dt / 6.0 * sum(d));
        if self.workload.kind.reflects() { next.map(mirrored) } else { next }
    }

    fn velocity(&self, x: [f64; 3], t: f64) -> [f64; 3] {
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

    /// A share of each of two frames.
    fn blend(&self, x: [f64; 3], first: &[f32], second: &[f32], part: f64) -> [f64; 3] {
        let mut v = [0.0; 3];
        let mut add = |node: usize, weight: f64| {
            for (d, v) in v.iter_mut().enumerate() {
                let [a, b] = [first, second].map(|frame| f64::from(frame[3 * node + d]));
                *v += weight * ((1.0 - part) * a + part * b);
            }
        };
        match &self.place {
            Place::Nearest(buckets) => add(buckets.nearest(x), 1.0),
            Place::Corners(axis) => corners(x, axis, &mut add),
            Place::Inside(bins) => {
                let (nodes, weights) = bins.find(x);
                nodes
                    .into_iter()
                    .zip(weights)
                    .for_each(|(node, weight)| add(node as usize, weight));
            }
        }
        v
    }
}

/// Gives each corner of a point's cell, with its weight. Points beyond the grid have the weights
/// of the nearest point on it.
fn corners(x: [f64; 3], axis: &[f64], add: &mut impl FnMut(usize, f64)) {
    let n = axis.len();
    let places = x.map(|x| {
        let along = x.clamp(0.0, 1.0) * (n - 1) as f64;
        let cell = (along as usize).min(n - 2);
        (cell, along - cell as f64)
    });
    for corner in 0..8_usize {
        let (mut node, mut weight) = (0, 1.0);
        for d in (0..3).rev() {
            let (cell, part) = places[d];
            let side = corner >> d & 1;
            node = node * n + cell + side;
            weight *= if side == 1 { part } else { 1.0 - part };
        }
        add(node, weight);
    }
}

/// A coordinate that walls at 0 and 1 throw back, as often as it takes.
fn mirrored(x: f64) -> f64 {
    let x = x.rem_euclid(2.0);
    if x > 1.0 { 2.0 - x } else { x }
}

#[cfg(test)]
mod tests {
    use super::super::{
        flow,
        workload::{Kind, Workload},
    };
    use super::*;

    #[test]
    fn a_grid_is_followed_as_its_formula_is_to_the_grids_error() {
        let workload = Workload::new(Kind::W2, None).unwrap();
        let reference = Reference::new(&workload);
        for place in [[0.3, 0.4, 0.7], [0.99, 0.01, 0.5], [1.0, 1.0, 1.0]] {
            // The flow changes by a hundredth within a frame's gap, and a thousandth in a cell.
            for (found, expected) in
                reference.velocity(place, 0.5).into_iter().zip(flow::velocity(place, 0.5))
            {
                assert!((found - expected).abs() < 0.02, "{found} {expected}");
            }
        }
        let ends = reference.follow(&[[0.3, 0.4, 0.7], [0.5; 3]], &[1, 200]);
        assert_eq!(ends.len(), 2);
        assert!(ends.iter().flatten().flatten().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn corners_share_one_weight() {
        let axis = [0.0, 0.5, 1.0];
        let (mut total, mut x) = (0.0, 0.0);
        corners([0.6, 0.2, 1.5], &axis, &mut |node, weight| {
            total += weight;
            x += weight * axis[node % 3];
        });
        assert!((total - 1.0).abs() < 1e-15 && (x - 0.6).abs() < 1e-15);
    }

    #[test]
    fn walls_throw_back() {
        for (x, expected) in [(0.25, 0.25), (-0.25, 0.25), (1.25, 0.75), (2.25, 0.25), (1.0, 1.0)] {
            assert_eq!(mirrored(x), expected);
        }
    }
}

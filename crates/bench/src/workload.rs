//! Fields and seeds of the workloads, which other programs trace as well.

use crate::{
    ball::Ball,
    flow,
    kind::{
        CLUSTER, DENSITY_NODES, LATTICE, NODES, POINTS, WorkloadKind, evenly_spaced,
        unevenly_spaced,
    },
    random,
    tetrahedra::{Cubes, Tetrahedra},
};
use anyhow::{Context, Result};
use burntrace::{Flow, Formula};
use rayon::prelude::*;

/// Range of the seeds along each axis, in the unit cube.
const SEED_INTERVAL: [f64; 2] = [0.02, 0.98];
/// Seed of the random numbers for nodes.
const NODES_SEED: u64 = 1;
/// Seed of the random numbers for particles.
const PARTICLES_SEED: u64 = 7;

/// The nodes at which velocities are given.
pub enum Nodes {
    /// A grid over the unit cube: coordinates of the nodes, the same along each axis.
    Grid(Vec<f64>),
    /// Scattered points in the unit cube.
    Points(Vec<[f64; 3]>),
    /// Nodes of tetrahedra that fill the box.
    Tetrahedra(Tetrahedra),
    /// Nodes of hexahedra, or of hexahedra and wedges, that fill the box.
    Cubes(Cubes),
    /// None: the velocity is a formula, which the library evaluates, and the reference as a function.
    Formula(Box<Flow>, fn([f64; 3], f64) -> [f64; 3]),
}

/// A workload with its field on the host.
pub struct Workload {
    pub kind: WorkloadKind,
    pub nodes: Nodes,
    pub times: Vec<f64>,
    /// For each frame, `u, v, w` of each node; on a grid x varies fastest.
    pub frames: Vec<Vec<f32>>,
    /// The obstacle, if there is one.
    pub ball: Option<Ball>,
}

impl Workload {
    /// Generates a workload from its formula.
    pub fn new(kind: WorkloadKind) -> Result<Self> {
        let times = kind.times();
        let nodes = match kind.base() {
            WorkloadKind::W1 | WorkloadKind::W1Idw => Nodes::Points(scattered()),
            WorkloadKind::W1Uneven => Nodes::Points(clustered()),
            WorkloadKind::W3 | WorkloadKind::W3Double | WorkloadKind::W3Walls => {
                Nodes::Tetrahedra(Tetrahedra::new(kind.cubes()))
            }
            WorkloadKind::W3Hex => Nodes::Cubes(Cubes::new(kind.cubes(), false)),
            WorkloadKind::W3Mixed => Nodes::Cubes(Cubes::new(kind.cubes(), true)),
            WorkloadKind::Flow => {
                let flow = Flow::named("double-gyre").context("the flow is not known")?;
                Nodes::Formula(flow.into(), flow::double_gyre)
            }
            WorkloadKind::Formula => {
                let formula = Formula::parse(flow::COMPONENTS, &flow::DEFINITIONS)?;
                Nodes::Formula(Flow::Formula(formula).into(), flow::velocity)
            }
            WorkloadKind::Density => Nodes::Grid(evenly_spaced(DENSITY_NODES, 1.0)),
            WorkloadKind::W2Axes => Nodes::Grid(unevenly_spaced(NODES)),
            _ => Nodes::Grid(evenly_spaced(NODES, 1.0)),
        };
        let positions = nodes.positions();
        let frames = times.iter().map(|&t| sample(&positions, t)).collect();
        let ball = (kind == WorkloadKind::ObstacleSurface).then(Ball::new);
        Ok(Workload { kind, nodes, times, frames, ball })
    }

    /// Start positions of `count` particles, or of the workload's own number.
    pub fn seeds(&self, count: Option<usize>) -> Vec<[f64; 3]> {
        let [low, high] = match self.kind {
            WorkloadKind::Density => [0.0, 1.0],
            _ => SEED_INTERVAL,
        };
        let random = |count| random::points(PARTICLES_SEED, count, low, high);
        if self.kind.is_long() {
            let mut seeds = count.map_or_else(lattice, random);
            if self.kind == WorkloadKind::W1Uneven {
                seeds.iter_mut().step_by(2).for_each(|x| *x = in_cluster(*x));
            }
            return self.at_walls(self.scaled_to_box(seeds));
        }
        let count = count.unwrap_or(self.kind.particles());
        let mut seeds = random(count);
        if self.kind == WorkloadKind::W2Sorted {
            seeds.sort_by_key(|&seed| morton_code(seed));
        }
        if self.ball.is_some() {
            seeds.iter_mut().for_each(|x| *x = Ball::beside(*x));
        }
        self.scaled_to_box(seeds)
    }

    /// Moves every fourth seed to within 0.01 of the high wall along x, if the workload is about walls.
    fn at_walls(&self, mut seeds: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        if self.kind == WorkloadKind::W3Walls {
            seeds.iter_mut().step_by(4).for_each(|x| x[0] = 1.0 - 0.01 * x[0]);
        }
        seeds
    }

    /// Scales positions in the unit cube to the box.
    fn scaled_to_box(&self, mut positions: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        let size = self.kind.size();
        positions.iter_mut().for_each(|x| *x = std::array::from_fn(|d| x[d] * size[d]));
        positions
    }
}

impl Nodes {
    /// The number of nodes.
    pub fn count(&self) -> usize {
        match self {
            Nodes::Grid(axis) => axis.len().pow(3),
            _ => self.points().len(),
        }
    }

    /// The nodes of scattered points and of meshes.
    pub fn points(&self) -> &[[f64; 3]] {
        match self {
            Nodes::Points(points) => points,
            Nodes::Tetrahedra(mesh) => &mesh.points,
            Nodes::Cubes(mesh) => &mesh.points,
            Nodes::Grid(_) | Nodes::Formula(..) => &[],
        }
    }

    /// The positions of the nodes, in their order.
    fn positions(&self) -> Vec<[f64; 3]> {
        match self {
            Nodes::Grid(axis) => {
                let n = axis.len();
                let position = |i: usize| [axis[i % n], axis[i / n % n], axis[i / (n * n)]];
                (0..n.pow(3)).map(position).collect()
            }
            _ => self.points().to_vec(),
        }
    }
}

/// Uniform random points in the unit cube, including its corners, so that they span it.
fn scattered() -> Vec<[f64; 3]> {
    let mut points = random::points(NODES_SEED, POINTS, 0.0, 1.0);
    for (i, corner) in points.iter_mut().take(8).enumerate() {
        *corner = [i >> 2, i >> 1 & 1, i & 1].map(|side| side as f64);
    }
    points
}

/// [`scattered`] with the second half of the points moved into a small cube.
fn clustered() -> Vec<[f64; 3]> {
    let mut points = scattered();
    points[POINTS / 2..].iter_mut().for_each(|x| *x = in_cluster(*x));
    points
}

/// A position in the unit cube scaled to the small cube in its middle, in single precision.
fn in_cluster(position: [f64; 3]) -> [f64; 3] {
    position.map(|x| f64::from((0.5 + CLUSTER * (x - 0.5)) as f32))
}

fn sample(positions: &[[f64; 3]], t: f64) -> Vec<f32> {
    let velocities = positions.par_iter().map(|&x| flow::velocity(x, t).map(|u| u as f32));
    velocities.collect::<Vec<_>>().into_flattened()
}

/// Seeds on a lattice with z varying fastest, rounded to single precision.
fn lattice() -> Vec<[f64; 3]> {
    let [low, high] = SEED_INTERVAL;
    let coordinate = |i: usize, count: usize| {
        let x = low + (high - low) * i as f64 / (count - 1) as f64;
        f64::from(x as f32)
    };
    let [nx, ny, nz] = LATTICE;
    let seed = |i: usize| {
        [coordinate(i / (ny * nz), nx), coordinate(i / nz % ny, ny), coordinate(i % nz, nz)]
    };
    (0..nx * ny * nz).map(seed).collect()
}

/// The Morton code of a point in the unit cube: the interleaved bits of its coordinates. Points
/// with similar codes are close in space.
fn morton_code(point: [f64; 3]) -> u64 {
    const BITS: u32 = 10;
    let cells = point.map(|x| (x * f64::from(1 << BITS)) as u64);
    (0..BITS).rev().fold(0, |code, bit| {
        cells.iter().rev().fold(code, |code, cell| code << 1 | cell >> bit & 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_varies_fastest_on_the_grid() {
        let positions = Nodes::Grid(evenly_spaced(3, 1.0)).positions();
        assert_eq!(positions[1], [0.5, 0.0, 0.0]);
        assert_eq!(positions[3], [0.0, 0.5, 0.0]);
        assert_eq!(positions[26], [1.0; 3]);
    }

    #[test]
    fn seeds_have_requested_number_and_spatial_order() {
        let workload = |kind| Workload {
            kind,
            nodes: Nodes::Grid(vec![]),
            times: vec![],
            frames: vec![],
            ball: None,
        };
        let lattice = workload(WorkloadKind::W1).seeds(None);
        assert_eq!(
            (lattice.len(), lattice[0], lattice[1][2] > 0.1),
            (7500, [0.02_f32.into(); 3], true)
        );
        let plain = workload(WorkloadKind::W2).seeds(Some(500));
        let mut sorted = workload(WorkloadKind::W2Sorted).seeds(Some(500));
        assert!(sorted.is_sorted_by_key(|&seed| morton_code(seed)));
        assert_ne!(plain, sorted);
        let order = |a: &[f64; 3], b: &[f64; 3]| a.partial_cmp(b).unwrap();
        let mut plain = plain;
        plain.sort_by(order);
        sorted.sort_by(order);
        assert_eq!(plain, sorted);
    }

    #[test]
    fn morton_code_interleaves_bits() {
        assert_eq!(morton_code([0.0; 3]), 0);
        assert_eq!(morton_code([0.5, 0.0, 0.0]), 1 << 27);
        assert_eq!(morton_code([0.0, 0.5, 0.0]), 1 << 28);
        assert_eq!(morton_code([0.0, 0.0, 0.5]), 1 << 29);
    }
}

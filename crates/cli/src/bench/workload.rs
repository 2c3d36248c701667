//! What is traced: fields and seeds that other programs trace, too.

use super::{
    data, flow, random,
    tetrahedra::{CUBES, Tetrahedra},
};
use anyhow::Result;
use rayon::prelude::*;
use std::path::Path;

/// The workloads, by the names that the command line gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Scattered nodes, the nearest one's velocity, reflecting walls.
    W1,
    /// A grid, trilinear, linear between frames.
    W2,
    /// The same with its seeds in spatial order.
    W2Sorted,
    /// The same with its first frame only.
    W2Steady,
    /// Tetrahedra, linear in each of them and between frames.
    W3,
    /// Twice as many of the same size.
    W3Double,
}

/// Nodes of `w1`.
pub const POINTS: usize = 185_865;
/// Frames of `w1`.
pub const POINT_FRAMES: usize = 40;
/// Frames of `w3`.
pub const MESH_FRAMES: usize = 40;
/// Nodes of `w2` along an axis.
pub const NODES: usize = 64;
/// Frames of `w2`.
pub const GRID_FRAMES: usize = 10;
/// Seeds of `w1` and `w3` along each axis, unless the command line says how many.
pub const LATTICE: [usize; 3] = [30, 25, 10];
/// Seeds of `w2`, unless the command line says how many.
pub const GRID_SEEDS: usize = 100_000;

/// The cube in which seeds lie.
const SEEDS_WITHIN: [f64; 2] = [0.02, 0.98];
/// Where the random numbers of nodes and of seeds begin.
const NODES_FROM: u64 = 1;
const SEEDS_FROM: u64 = 7;

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] =
        [Kind::W1, Kind::W2, Kind::W2Sorted, Kind::W2Steady, Kind::W3, Kind::W3Double];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::W1 => "w1",
            Kind::W2 => "w2",
            Kind::W2Sorted => "w2-sorted",
            Kind::W2Steady => "w2-steady",
            Kind::W3 => "w3",
            Kind::W3Double => "w3-double",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Kind::W1 => "185,865 scattered nodes x 40 frames, nearest node, reflecting walls",
            Kind::W2 => "64^3 grid x 10 frames, trilinear, linear in time",
            Kind::W2Sorted => "64^3 grid x 10 frames, trilinear, seeds in spatial order",
            Kind::W2Steady => "64^3 grid, one frame, trilinear",
            Kind::W3 => "1,053,696 tetrahedra x 40 frames, linear in space and time",
            Kind::W3Double => "2,107,392 tetrahedra x 40 frames, of the same size in a box of 2",
        }
    }

    /// Whether its seeds lie on a lattice, and are followed for four units of time.
    pub fn is_long(self) -> bool {
        matches!(self, Kind::W1 | Kind::W3 | Kind::W3Double)
    }

    /// RK4 steps of a whole run.
    pub fn steps(self) -> u64 {
        if self.is_long() { 1500 } else { 200 }
    }

    /// Length of a step.
    pub fn dt(self) -> f64 {
        if self.is_long() { 4.0 / 1500.0 } else { 0.01 }
    }

    /// The greatest corner of its box; the least is the origin.
    pub fn size(self) -> [f64; 3] {
        if self == Kind::W3Double { [2.0, 1.0, 1.0] } else { [1.0; 3] }
    }

    /// Whether the peers' scripts have its arrays.
    pub fn has_data(self) -> bool {
        self != Kind::W3Double
    }

    /// Whether walls at the sides of the unit cube reflect.
    pub fn reflects(self) -> bool {
        self == Kind::W1
    }

    /// Cubes along each axis that are split into tetrahedra.
    pub fn cubes(self) -> [usize; 3] {
        self.size().map(|length| length as usize * CUBES)
    }

    fn times(self) -> Vec<f64> {
        match self {
            Kind::W1 => even(POINT_FRAMES, 4.0),
            Kind::W3 | Kind::W3Double => even(MESH_FRAMES, 4.0),
            Kind::W2Steady => vec![0.0],
            _ => even(GRID_FRAMES, 2.0),
        }
    }
}

/// Where velocities are given.
pub enum Nodes {
    /// On a grid over the unit cube: coordinates of its nodes, the same along each axis.
    Grid(Vec<f64>),
    /// At scattered points in the unit cube.
    Points(Vec<[f64; 3]>),
    /// At the nodes of tetrahedra that fill the box.
    Tetrahedra(Tetrahedra),
}

/// A workload with its field on the host.
pub struct Workload {
    pub kind: Kind,
    pub nodes: Nodes,
    pub times: Vec<f64>,
    /// `u, v, w` of each node, for each frame; on a grid x varies fastest.
    pub frames: Vec<Vec<f32>>,
}

impl Workload {
    /// Makes a workload by its formula, or reads its arrays from the folder `data`.
    pub fn new(kind: Kind, data: Option<&Path>) -> Result<Self> {
        let times = kind.times();
        let nodes = match (kind, data) {
            (Kind::W1, Some(folder)) => Nodes::Points(data::points(folder)?),
            (Kind::W1, None) => Nodes::Points(scattered()),
            (Kind::W3, Some(folder)) => Nodes::Tetrahedra(data::tetrahedra(folder)?),
            (Kind::W3 | Kind::W3Double, _) => Nodes::Tetrahedra(Tetrahedra::new(kind.cubes())),
            _ => Nodes::Grid(even(NODES, 1.0)),
        };
        let frames = match data {
            Some(folder) => data::frames(folder, kind, times.len())?,
            None => {
                let places = nodes.places();
                times.iter().map(|&t| sample(&places, t)).collect()
            }
        };
        Ok(Workload { kind, nodes, times, frames })
    }

    /// Where its particles start: its own number of them, or as many as asked for.
    pub fn seeds(&self, count: Option<usize>, data: Option<&Path>) -> Result<Vec<[f64; 3]>> {
        let [low, high] = SEEDS_WITHIN;
        let random = |count| random::points(SEEDS_FROM, count, low, high);
        if self.kind.is_long() {
            let seeds = match (count, data) {
                (Some(count), _) => random(count),
                (None, Some(folder)) => data::lattice(folder)?,
                (None, None) => lattice(),
            };
            return Ok(self.spread(seeds));
        }
        let count = count.unwrap_or(GRID_SEEDS);
        let mut seeds = match data {
            Some(folder) if count <= GRID_SEEDS => data::seeds(folder)?,
            _ => random(count),
        };
        seeds.truncate(count);
        if self.kind == Kind::W2Sorted {
            seeds.sort_by_key(|&seed| along_curve(seed));
        }
        Ok(seeds)
    }

    /// Stretches places in the unit cube over the box.
    fn spread(&self, mut places: Vec<[f64; 3]>) -> Vec<[f64; 3]> {
        let size = self.kind.size();
        places.iter_mut().for_each(|place| *place = std::array::from_fn(|d| place[d] * size[d]));
        places
    }
}

impl Nodes {
    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Nodes::Grid(axis) => axis.len().pow(3),
            Nodes::Points(points) => points.len(),
            Nodes::Tetrahedra(mesh) => mesh.points.len(),
        }
    }

    /// Where each of them is, in their order.
    fn places(&self) -> Vec<[f64; 3]> {
        match self {
            Nodes::Points(points) => points.clone(),
            Nodes::Tetrahedra(mesh) => mesh.points.clone(),
            Nodes::Grid(axis) => {
                let n = axis.len();
                let place = |i: usize| [axis[i % n], axis[i / n % n], axis[i / (n * n)]];
                (0..n.pow(3)).map(place).collect()
            }
        }
    }
}

/// Evenly spaced numbers from 0 to `end`.
fn even(count: usize, end: f64) -> Vec<f64> {
    (0..count).map(|i| end * i as f64 / (count - 1) as f64).collect()
}

/// Uniform points of the unit cube, its corners among them, so that they span all of it.
fn scattered() -> Vec<[f64; 3]> {
    let mut points = random::points(NODES_FROM, POINTS, 0.0, 1.0);
    for (i, corner) in points.iter_mut().take(8).enumerate() {
        *corner = [i >> 2, i >> 1 & 1, i & 1].map(|side| side as f64);
    }
    points
}

fn sample(places: &[[f64; 3]], t: f64) -> Vec<f32> {
    let velocities = places.par_iter().map(|&place| flow::velocity(place, t).map(|u| u as f32));
    velocities.collect::<Vec<_>>().into_flattened()
}

/// Seeds on a lattice, z varying fastest, in numbers that single precision has.
fn lattice() -> Vec<[f64; 3]> {
    let [low, high] = SEEDS_WITHIN;
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

/// Where a point of the unit cube lies on Morton's curve: the bits of its coordinates in turn, so
/// that what is near on the curve is near in space.
fn along_curve(place: [f64; 3]) -> u64 {
    const BITS: u32 = 10;
    let cells = place.map(|x| (x * f64::from(1 << BITS)) as u64);
    (0..BITS).rev().fold(0, |code, bit| {
        cells.iter().rev().fold(code, |code, cell| code << 1 | cell >> bit & 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_varies_fastest_on_the_grid() {
        let places = Nodes::Grid(even(3, 1.0)).places();
        assert_eq!(places[1], [0.5, 0.0, 0.0]);
        assert_eq!(places[3], [0.0, 0.5, 0.0]);
        assert_eq!(places[26], [1.0; 3]);
    }

    #[test]
    fn seeds_are_as_many_as_asked_for_and_lie_within() {
        let workload =
            |kind| Workload { kind, nodes: Nodes::Grid(vec![]), times: vec![], frames: vec![] };
        let lattice = workload(Kind::W1).seeds(None, None).unwrap();
        assert_eq!(
            (lattice.len(), lattice[0], lattice[1][2] > 0.1),
            (7500, [0.02_f32.into(); 3], true)
        );
        let plain = workload(Kind::W2).seeds(Some(500), None).unwrap();
        let mut sorted = workload(Kind::W2Sorted).seeds(Some(500), None).unwrap();
        assert!(sorted.is_sorted_by_key(|&seed| along_curve(seed)));
        assert_ne!(plain, sorted);
        let order = |a: &[f64; 3], b: &[f64; 3]| a.partial_cmp(b).unwrap();
        let mut plain = plain;
        plain.sort_by(order);
        sorted.sort_by(order);
        assert_eq!(plain, sorted);
    }

    #[test]
    fn the_curve_takes_its_bits_in_turn() {
        assert_eq!(along_curve([0.0; 3]), 0);
        assert_eq!(along_curve([0.5, 0.0, 0.0]), 1 << 27);
        assert_eq!(along_curve([0.0, 0.5, 0.0]), 1 << 28);
        assert_eq!(along_curve([0.0, 0.0, 0.5]), 1 << 29);
    }
}

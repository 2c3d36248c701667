//! The mesh of `w3`: a box of cubes with displaced inner nodes, each cube split into six tetrahedra
//! around its main diagonal.

use crate::{
    oracle::{
        Point,
        mesh::{NodeWeights, in_product, in_wedge},
        vectors::{cross, dot, minus},
    },
    random,
};
use burntrace::CellKind;

/// Number of cubes per unit length.
pub const CUBES: usize = 56;
/// Maximum displacement of inner nodes along each axis, in cube edges.
const MAX_DISPLACEMENT: f64 = 0.2;
/// Seed of the random displacements.
const DISPLACEMENT_SEED: u64 = 3;

/// A mesh of tetrahedra.
pub struct Tetrahedra {
    pub points: Vec<[f64; 3]>,
    pub cells: Vec<[u32; 4]>,
}

/// Numbers of nodes and tetrahedra for numbers of cubes along each axis.
pub fn counts(cubes: [usize; 3]) -> [usize; 2] {
    [cubes.iter().map(|n| n + 1).product(), 6 * cubes.iter().product::<usize>()]
}

impl Tetrahedra {
    /// The mesh for numbers of cubes along each axis. z varies fastest among nodes and cubes.
    pub fn new(cubes: [usize; 3]) -> Self {
        let points = points(cubes);
        let cube = |i: usize| [i / cubes[2] / cubes[1], i / cubes[2] % cubes[1], i % cubes[2]];
        let all = (0..cubes.iter().product()).flat_map(|i| split(cube(i), cubes));
        let cells = all.map(|cell| positive(cell, &points)).collect();
        Tetrahedra { points, cells }
    }
}

/// A mesh of cubes with displaced inner nodes.
pub struct Cubes {
    pub points: Vec<[f64; 3]>,
    /// The nodes of each cube.
    cells: Vec<[u32; 8]>,
    /// Number of cubes along each axis.
    cubes: [usize; 3],
    /// Whether in every second column along z each cube is two wedges.
    has_wedges: bool,
}

/// The nodes of a cube that belong to each of two wedges.
const WEDGES: [[usize; 6]; 2] = [[0, 1, 2, 4, 5, 6], [0, 2, 3, 4, 6, 7]];

impl Cubes {
    /// The cubes of [`Tetrahedra`], in the same order.
    pub fn new(cubes: [usize; 3], has_wedges: bool) -> Self {
        let [_, ny, nz] = cubes.map(|n| n + 1);
        let node = |[i, j, k]: [usize; 3]| ((i * ny + j) * nz + k) as u32;
        let cell = |c: usize| {
            let [i, j, k] = [c / cubes[2] / cubes[1], c / cubes[2] % cubes[1], c % cubes[2]];
            // Around the lower face, then around the upper one, as VTK numbers them.
            let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
            std::array::from_fn(|n| node([i + corners[n % 4][0], j + corners[n % 4][1], k + n / 4]))
        };
        let cells = (0..cubes.iter().product()).map(cell).collect();
        Cubes { points: points(cubes), cells, cubes, has_wedges }
    }

    /// Whether a cube is two wedges.
    fn is_split(&self, cube: usize) -> bool {
        let column = cube / self.cubes[2];
        self.has_wedges && (column / self.cubes[1] + column % self.cubes[1]) % 2 == 1
    }

    /// The kinds and nodes of all cells.
    pub fn parts(&self) -> impl Iterator<Item = (CellKind, Vec<u32>)> {
        self.cells.iter().enumerate().flat_map(|(cube, nodes)| match self.is_split(cube) {
            true => {
                let wedge = |part: [usize; 6]| part.map(|k| nodes[k]).to_vec();
                WEDGES.map(|part| (CellKind::Wedge, wedge(part))).to_vec()
            }
            false => vec![(CellKind::Hexahedron, nodes.to_vec())],
        })
    }

    /// The weights of the nodes of a cube at a point, and how far it is inside.
    fn weights(&self, cube: usize, point: Point) -> (NodeWeights, f64) {
        let nodes = self.cells[cube].map(|node| self.points[node as usize]);
        if !self.is_split(cube) {
            return in_product(&nodes, point);
        }
        let [first, second] = WEDGES.map(|part| {
            let (few, inside) = in_wedge(&part.map(|k| nodes[k]), point);
            let mut weights = [0.0; 8];
            part.iter().zip(few).for_each(|(k, weight)| weights[*k] = weight);
            (weights, inside)
        });
        if first.1 >= second.1 { first } else { second }
    }

    /// The nodes of the cube that contains a point, and their weights there: of the cube of the undisplaced mesh, or
    /// else of one around it, whichever the point is farthest inside.
    pub fn find(&self, point: Point) -> ([u32; 8], NodeWeights) {
        let (mut best, mut most) = (([0; 8], [f64::NAN; 8]), f64::NEG_INFINITY);
        for offset in OFFSETS {
            let cube: [Option<usize>; 3] = std::array::from_fn(|d| {
                let at = ((point[d] * CUBES as f64) as usize).min(self.cubes[d] - 1);
                at.checked_add_signed(offset[d]).filter(|at| *at < self.cubes[d])
            });
            let [Some(i), Some(j), Some(k)] = cube else { continue };
            let cube = (i * self.cubes[1] + j) * self.cubes[2] + k;
            let (weights, inside) = self.weights(cube, point);
            if inside > most {
                (best, most) = ((self.cells[cube], weights), inside);
            }
            if most >= 0.0 {
                break;
            }
        }
        best
    }
}

/// The cube itself, and those around it.
const OFFSETS: [[isize; 3]; 27] = {
    let (mut offsets, mut n) = ([[0; 3]; 27], 0);
    while n < 27 {
        // From the middle one on.
        let m = ((n + 13) % 27) as isize;
        offsets[n] = [m / 9 - 1, m / 3 % 3 - 1, m % 3 - 1];
        n += 1;
    }
    offsets
};

/// The nodes of all cubes. Only inner ones are displaced, so that the walls stay plane.
fn points(cubes: [usize; 3]) -> Vec<[f64; 3]> {
    let [_, ny, nz] = cubes.map(|n| n + 1);
    let [count, _] = counts(cubes);
    let displacements =
        random::points(DISPLACEMENT_SEED, count, -MAX_DISPLACEMENT, MAX_DISPLACEMENT);
    let point = |(i, displacement): (usize, [f64; 3])| {
        let corner = [i / nz / ny, i / nz % ny, i % nz];
        let is_inside = (0..3).all(|d| 0 < corner[d] && corner[d] < cubes[d]);
        std::array::from_fn(|d| {
            let along = corner[d] as f64 + if is_inside { displacement[d] } else { 0.0 };
            // Rounded to single precision.
            f64::from((along / CUBES as f64) as f32)
        })
    };
    (0..).zip(displacements).map(point).collect()
}

/// The tetrahedra of one cube. Each follows three edges from the low to the high corner, one for
/// each order of the axes.
fn split(cube: [usize; 3], cubes: [usize; 3]) -> [[u32; 4]; 6] {
    const ORDERS: [[usize; 2]; 6] = [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]];
    let [_, ny, nz] = cubes.map(|n| n + 1);
    let node = |[i, j, k]: [usize; 3]| ((i * ny + j) * nz + k) as u32;
    ORDERS.map(|[first, second]| {
        let [mut one, mut two] = [cube; 2];
        one[first] += 1;
        two[first] += 1;
        two[second] += 1;
        [node(cube), node(one), node(two), node(cube.map(|i| i + 1))]
    })
}

/// The tetrahedron with its nodes ordered for a positive volume.
fn positive([a, b, c, d]: [u32; 4], points: &[[f64; 3]]) -> [u32; 4] {
    let volume = six_volumes([a, b, c, d].map(|node| points[node as usize]));
    if volume < 0.0 { [a, c, b, d] } else { [a, b, c, d] }
}

/// Six times the signed volume of a tetrahedron.
fn six_volumes([a, b, c, d]: [Point; 4]) -> f64 {
    dot(minus(b, a), cross(minus(c, a), minus(d, a)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tetrahedra_fill_their_box() {
        let cubes = [4, 3, 2];
        let mesh = Tetrahedra::new(cubes);
        assert_eq!([mesh.points.len(), mesh.cells.len()], counts(cubes));
        let volume = |cell: &[u32; 4]| six_volumes(cell.map(|node| mesh.points[node as usize]));
        assert!(mesh.cells.iter().all(|cell| volume(cell) > 0.0));
        let sum: f64 = mesh.cells.iter().map(volume).sum::<f64>() / 6.0;
        let box_volume = 24.0 / (CUBES as f64).powi(3);
        assert!((sum / box_volume - 1.0).abs() < 1e-6, "{sum} {box_volume}");
    }

    #[test]
    fn cubes_reproduce_positions() {
        assert_eq!(OFFSETS[0], [0; 3]);
        for (has_wedges, parts) in [(false, 24), (true, 36)] {
            let mesh = Cubes::new([4, 3, 2], has_wedges);
            assert_eq!(mesh.parts().count(), parts);
            check(&mesh);
        }
    }

    fn check(mesh: &Cubes) {
        for point in random::points(5, 5000, 0.0, 2.0 / CUBES as f64) {
            let (nodes, weights) = mesh.find(point);
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            assert!(weights.iter().all(|weight| *weight > -1e-12));
            let at = |d: usize| {
                let terms = nodes.iter().zip(weights);
                terms.map(|(node, weight)| weight * mesh.points[*node as usize][d]).sum::<f64>()
            };
            assert!((0..3).all(|d| (at(d) - point[d]).abs() < 1e-15));
        }
    }

    #[test]
    fn only_inner_nodes_are_displaced() {
        let mesh = Tetrahedra::new([2, 2, 2]);
        let h = 1.0 / CUBES as f64;
        let moved = |i: usize| {
            let corner = [i / 9, i / 3 % 3, i % 3];
            (0..3).map(|d| (mesh.points[i][d] - corner[d] as f64 * h).abs()).fold(0.0, f64::max)
        };
        let most = (0..27).filter(|&i| i != 13).map(moved).fold(0.0, f64::max);
        assert!(most < 1e-8 && moved(13) > 1e-4 && moved(13) <= 0.2 * h, "{most} {}", moved(13));
    }
}

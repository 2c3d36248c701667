//! The mesh of `w3`: a box of cubes whose inner corners are moved, each cube split into six
//! tetrahedra around its main diagonal.

use super::random;

/// Cubes along an edge of length 1.
pub const CUBES: usize = 56;
/// How far a node inside is moved along each axis at most, in edges of a cube.
const MOVED: f64 = 0.2;
/// Where the random numbers of the nodes begin.
const MOVED_FROM: u64 = 3;

/// Tetrahedra, and where their nodes are.
pub struct Tetrahedra {
    pub points: Vec<[f64; 3]>,
    pub cells: Vec<[u32; 4]>,
}

/// How many nodes and tetrahedra there are in so many cubes along each axis.
pub fn counts(cubes: [usize; 3]) -> [usize; 2] {
    [cubes.iter().map(|n| n + 1).product(), 6 * cubes.iter().product::<usize>()]
}

impl Tetrahedra {
    /// So many cubes along each axis; z varies fastest among nodes and cubes.
    pub fn new(cubes: [usize; 3]) -> Self {
        let points = points(cubes);
        let each = |i: usize| [i / cubes[2] / cubes[1], i / cubes[2] % cubes[1], i % cubes[2]];
        let all = (0..cubes.iter().product()).flat_map(|cube| split(each(cube), cubes));
        let cells = all.map(|cell| positive(cell, &points)).collect();
        Tetrahedra { points, cells }
    }
}

/// The corners of all cubes, those inside moved at random, so that the walls stay plane.
fn points(cubes: [usize; 3]) -> Vec<[f64; 3]> {
    let [_, ny, nz] = cubes.map(|n| n + 1);
    let [count, _] = counts(cubes);
    let moved = random::points(MOVED_FROM, count, -MOVED, MOVED);
    let point = |(i, moved): (usize, [f64; 3])| {
        let corner = [i / nz / ny, i / nz % ny, i % nz];
        let is_inside = (0..3).all(|d| 0 < corner[d] && corner[d] < cubes[d]);
        std::array::from_fn(|d| {
            let along = corner[d] as f64 + if is_inside { moved[d] } else { 0.0 };
            // In numbers that single precision has.
            f64::from((along / CUBES as f64) as f32)
        })
    };
    (0..).zip(moved).map(point).collect()
}

/// The tetrahedra of one cube: each leads from its least corner to its greatest along three edges,
/// one for each order of the axes.
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

/// The same tetrahedron with a positive volume.
fn positive([a, b, c, d]: [u32; 4], points: &[[f64; 3]]) -> [u32; 4] {
    let volume = six_volumes([a, b, c, d].map(|node| points[node as usize]));
    if volume < 0.0 { [a, c, b, d] } else { [a, b, c, d] }
}

/// Six times the volume of a tetrahedron; negative where it is turned inside out.
pub fn six_volumes([a, b, c, d]: [[f64; 3]; 4]) -> f64 {
    let [u, v, w]: [[f64; 3]; 3] = [b, c, d].map(|p| std::array::from_fn(|i| p[i] - a[i]));
    u[0] * (v[1] * w[2] - v[2] * w[1])
        + u[1] * (v[2] * w[0] - v[0] * w[2])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
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
    fn nodes_are_moved_inside_only() {
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

//! Exact search for the tetrahedron that contains a point: a uniform grid of bins, each with the
//! tetrahedra whose bounding boxes overlap it.

use crate::{
    oracle::{
        Point,
        mesh::{NodeWeights, bounding_box, in_simplex},
    },
    tetrahedra::Tetrahedra,
};

/// A bin grid of tetrahedra.
pub struct Bins<'a> {
    mesh: &'a Tetrahedra,
    /// Bounding box of each tetrahedron: low and high corner.
    boxes: Vec<[[f64; 3]; 2]>,
    /// Number of bins along each axis.
    sides: [usize; 3],
    /// Edge length of a bin.
    edge: f64,
    /// Start of each bin in `entries`.
    starts: Vec<usize>,
    /// Tetrahedra of all bins.
    entries: Vec<u32>,
}

/// Average number of tetrahedra per bin: the six of one cube.
const PER_BIN: f64 = 6.0;

impl<'a> Bins<'a> {
    /// Sorts tetrahedra into bins. The low corner of the mesh must be the origin.
    pub fn new(mesh: &'a Tetrahedra) -> Self {
        let size = mesh
            .points
            .iter()
            .fold([0.0; 3], |size: [f64; 3], point| std::array::from_fn(|d| size[d].max(point[d])));
        let bins = (mesh.cells.len() as f64 / PER_BIN).max(1.0);
        let edge = (size.iter().product::<f64>() / bins).cbrt();
        let sides = size.map(|length| (length / edge).ceil().max(1.0) as usize);
        let boxes = mesh.cells.iter().map(|&cell| bounding_box(&corners(mesh, cell))).collect();
        let mut bins = Bins { mesh, boxes, sides, edge, starts: Vec::new(), entries: Vec::new() };
        bins.fill();
        bins
    }

    /// Counts the tetrahedra of each bin, then stores them.
    fn fill(&mut self) {
        let mut starts = vec![0; self.sides.iter().product::<usize>() + 1];
        for &bounds in &self.boxes {
            self.overlapped(bounds).for_each(|bin| starts[bin + 1] += 1);
        }
        for bin in 1..starts.len() {
            starts[bin] += starts[bin - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[starts.len() - 1]];
        for (cell, &bounds) in (0..).zip(&self.boxes) {
            for bin in self.overlapped(bounds) {
                entries[next[bin]] = cell;
                next[bin] += 1;
            }
        }
        (self.starts, self.entries) = (starts, entries);
    }

    /// The bins that a box overlaps.
    fn overlapped(&self, bounds: [[f64; 3]; 2]) -> impl Iterator<Item = usize> + use<> {
        let [low, high] = bounds.map(|corner| self.bin(corner));
        let [_, ny, nz] = self.sides;
        (low[0]..=high[0]).flat_map(move |i| {
            (low[1]..=high[1])
                .flat_map(move |j| (low[2]..=high[2]).map(move |k| (i * ny + j) * nz + k))
        })
    }

    /// The bin of a point, clamped to the grid.
    fn bin(&self, point: [f64; 3]) -> [usize; 3] {
        std::array::from_fn(|d| ((point[d] / self.edge) as usize).min(self.sides[d] - 1))
    }

    /// Finds the tetrahedron that contains a point. If rounding leaves the point outside all of
    /// them, returns the one with the largest minimum weight.
    pub fn find(&self, point: Point) -> ([u32; 4], NodeWeights) {
        let [i, j, k] = self.bin(point);
        let bin = (i * self.sides[1] + j) * self.sides[2] + k;
        let entries = &self.entries[self.starts[bin]..self.starts[bin + 1]];
        let mut best = (f64::NEG_INFINITY, ([0; 4], [f64::NAN; 8]));
        let near = entries.iter().filter(|&&cell| self.is_near(cell as usize, point));
        for &cell in near {
            let cell = self.mesh.cells[cell as usize];
            let (weights, min) = in_simplex(&corners(self.mesh, cell), point);
            if min > best.0 {
                best = (min, (cell, weights));
            }
            if min >= 0.0 {
                break;
            }
        }
        best.1
    }

    /// Whether a point is in the bounding box of a tetrahedron, up to rounding.
    fn is_near(&self, cell: usize, point: [f64; 3]) -> bool {
        let [low, high] = self.boxes[cell];
        let slack = 1e-9 * self.edge;
        (0..3).all(|d| low[d] - slack <= point[d] && point[d] <= high[d] + slack)
    }
}

fn corners(mesh: &Tetrahedra, cell: [u32; 4]) -> [[f64; 3]; 4] {
    cell.map(|node| mesh.points[node as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn found_tetrahedron_contains_point() {
        let mesh = Tetrahedra::new([7, 5, 3]);
        let bins = Bins::new(&mesh);
        let mut points = random::points(1, 2000, 0.0, 3.0 / 56.0);
        // At nodes one weight is 1, and the high corner of the box is in the last bin.
        points.extend(&mesh.points);
        for point in points {
            let (cell, weights) = bins.find(point);
            assert!(weights.iter().all(|&weight| weight >= -1e-12), "{point:?}: {weights:?}");
            let corners = corners(&mesh, cell);
            let at = |d: usize| (0..4).map(|i| weights[i] * corners[i][d]).sum::<f64>();
            assert!((0..3).all(|d| (at(d) - point[d]).abs() < 1e-14), "{point:?}");
        }
    }
}

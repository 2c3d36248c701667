//! The tetrahedron of a place, exactly: the box of all tetrahedra is cut into bins, each of which
//! knows the tetrahedra whose boxes reach into it.

use super::tetrahedra::{Tetrahedra, six_volumes};

/// Tetrahedra by bins.
pub struct Bins<'a> {
    mesh: &'a Tetrahedra,
    /// Least and greatest corner of each tetrahedron's box.
    boxes: Vec<[[f64; 3]; 2]>,
    /// Bins along each axis.
    sides: [usize; 3],
    /// Edge of a bin.
    edge: f64,
    /// Where the tetrahedra of each bin begin in `entries`.
    starts: Vec<usize>,
    entries: Vec<u32>,
}

/// Tetrahedra for each bin, on average: a cube is split into so many.
const PER_BIN: f64 = 6.0;

/// A tetrahedron's nodes and their weights at a place.
pub type Share = ([u32; 4], [f64; 4]);

impl<'a> Bins<'a> {
    /// Sorts tetrahedra into bins. Their box begins at the origin.
    pub fn new(mesh: &'a Tetrahedra) -> Self {
        let size = mesh
            .points
            .iter()
            .fold([0.0; 3], |size: [f64; 3], point| std::array::from_fn(|d| size[d].max(point[d])));
        let bins = (mesh.cells.len() as f64 / PER_BIN).max(1.0);
        let edge = (size.iter().product::<f64>() / bins).cbrt();
        let sides = size.map(|length| (length / edge).ceil().max(1.0) as usize);
        let boxes = mesh.cells.iter().map(|&cell| around(corners(mesh, cell))).collect();
        let mut bins = Bins { mesh, boxes, sides, edge, starts: Vec::new(), entries: Vec::new() };
        bins.fill();
        bins
    }

    /// Counts the tetrahedra of each bin, then enters them.
    fn fill(&mut self) {
        let mut starts = vec![0; self.sides.iter().product::<usize>() + 1];
        for &bounds in &self.boxes {
            self.reached(bounds).for_each(|bin| starts[bin + 1] += 1);
        }
        for bin in 1..starts.len() {
            starts[bin] += starts[bin - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![0; starts[starts.len() - 1]];
        for (cell, &bounds) in (0..).zip(&self.boxes) {
            for bin in self.reached(bounds) {
                entries[next[bin]] = cell;
                next[bin] += 1;
            }
        }
        (self.starts, self.entries) = (starts, entries);
    }

    /// The bins into which a box reaches.
    fn reached(&self, bounds: [[f64; 3]; 2]) -> impl Iterator<Item = usize> + use<> {
        let [low, high] = bounds.map(|corner| self.bin(corner));
        let [_, ny, nz] = self.sides;
        (low[0]..=high[0]).flat_map(move |i| {
            (low[1]..=high[1])
                .flat_map(move |j| (low[2]..=high[2]).map(move |k| (i * ny + j) * nz + k))
        })
    }

    /// The bin of a place, or the one nearest to it.
    fn bin(&self, place: [f64; 3]) -> [usize; 3] {
        std::array::from_fn(|d| ((place[d] / self.edge) as usize).min(self.sides[d] - 1))
    }

    /// The tetrahedron that has a place, with the weights of its nodes. Where rounding leaves the
    /// place in none, it is the one that it lies beyond by least.
    pub fn find(&self, place: [f64; 3]) -> Share {
        let [i, j, k] = self.bin(place);
        let bin = (i * self.sides[1] + j) * self.sides[2] + k;
        let entries = &self.entries[self.starts[bin]..self.starts[bin + 1]];
        let mut best = (f64::NEG_INFINITY, ([0; 4], [f64::NAN; 4]));
        let near = entries.iter().filter(|&&cell| self.is_near(cell as usize, place));
        for &cell in near {
            let cell = self.mesh.cells[cell as usize];
            let weights = weights(corners(self.mesh, cell), place);
            let least = weights.into_iter().fold(f64::INFINITY, f64::min);
            if least > best.0 {
                best = (least, (cell, weights));
            }
            if least >= 0.0 {
                break;
            }
        }
        best.1
    }

    /// Whether a place is in the box of a tetrahedron, or beside it by no more than rounding.
    fn is_near(&self, cell: usize, place: [f64; 3]) -> bool {
        let [low, high] = self.boxes[cell];
        let slack = 1e-9 * self.edge;
        (0..3).all(|d| low[d] - slack <= place[d] && place[d] <= high[d] + slack)
    }
}

fn corners(mesh: &Tetrahedra, cell: [u32; 4]) -> [[f64; 3]; 4] {
    cell.map(|node| mesh.points[node as usize])
}

fn around(corners: [[f64; 3]; 4]) -> [[f64; 3]; 2] {
    let over = |pick: fn(f64, f64) -> f64| {
        std::array::from_fn(|d| corners.iter().map(|corner| corner[d]).reduce(pick).unwrap_or(0.0))
    };
    [over(f64::min), over(f64::max)]
}

/// Barycentric coordinates by Cramer's rule: the volume with a corner's place taken by the point,
/// in parts of the whole.
fn weights(corners: [[f64; 3]; 4], place: [f64; 3]) -> [f64; 4] {
    let whole = six_volumes(corners);
    std::array::from_fn(|i| {
        let mut part = corners;
        part[i] = place;
        six_volumes(part) / whole
    })
}

#[cfg(test)]
mod tests {
    use super::{super::random, *};

    #[test]
    fn every_place_is_in_the_tetrahedron_that_is_found() {
        let mesh = Tetrahedra::new([7, 5, 3]);
        let bins = Bins::new(&mesh);
        let mut places = random::points(1, 2000, 0.0, 3.0 / 56.0);
        // Nodes have one of the weights at 1, and the farthest corner is in the last bin.
        places.extend(&mesh.points);
        for place in places {
            let (cell, weights) = bins.find(place);
            assert!(weights.iter().all(|&weight| weight >= -1e-12), "{place:?}: {weights:?}");
            let corners = corners(&mesh, cell);
            let at = |d: usize| (0..4).map(|i| weights[i] * corners[i][d]).sum::<f64>();
            assert!((0..3).all(|d| (at(d) - place[d]).abs() < 1e-14), "{place:?}");
        }
    }
}

//! A search lattice for scattered nodes.

use crate::{Domain, Precision};
use burntrace_kernels::{PointShape, Weighting};

/// Mean number of nodes in a cell: few enough for a linear search, enough to have fewer cells than
/// nodes.
const NODES_PER_CELL: f64 = 3.0;

/// Maximum number of cells along an axis, which single precision represents exactly. The product
/// over the axes is about a third of the number of nodes, and fits an `i32`.
const MAX_CELLS: usize = 1 << 20;

/// Nodes sorted by lattice cell.
pub(super) struct Lattice {
    cells: [usize; 3],
    origin: [f64; 3],
    per_length: [f64; 3],
    /// Node indices, cell by cell, increasing in each cell.
    pub order: Vec<usize>,
    /// Start of each cell in `order`, followed by the length of `order`.
    pub starts: Vec<i32>,
}

impl Lattice {
    pub fn new(positions: &[[f64; 3]], domain: &Domain, precision: Precision) -> Self {
        let cells = cells(domain.size(), positions.len());
        let per = |d: usize| {
            if domain.is_flat(d) { 0.0 } else { cells[d] as f64 / domain.size()[d] }
        };
        let mut lattice = Lattice {
            cells,
            origin: domain.low,
            per_length: [0, 1, 2].map(per),
            order: vec![0; positions.len()],
            starts: vec![0; cells.iter().product::<usize>() + 1],
        };
        let cells: Vec<usize> = positions.iter().map(|p| lattice.cell(p, precision)).collect();
        lattice.sort(&cells);
        lattice
    }

    pub fn shape(&self, weighting: Weighting) -> PointShape {
        PointShape {
            count: self.order.len(),
            cells: self.cells,
            origin: self.origin,
            per_length: self.per_length,
            weighting,
        }
    }

    /// Counting sort.
    fn sort(&mut self, cells: &[usize]) {
        for cell in cells {
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        let mut next = self.starts.clone();
        for (node, cell) in cells.iter().enumerate() {
            self.order[next[*cell] as usize] = node;
            next[*cell] += 1;
        }
    }

    /// The cell of a position.
    fn cell(&self, p: &[f64; 3], precision: Precision) -> usize {
        let index = [0, 1, 2].map(|d| {
            let cell = precision.cell(p[d], self.origin[d], self.per_length[d]);
            cell.min(self.cells[d] - 1)
        });
        (index[2] * self.cells[1] + index[1]) * self.cells[0] + index[0]
    }
}

/// Cells per axis for `count` nodes in a box, with edges as equal as possible.
fn cells(size: [f64; 3], count: usize) -> [usize; 3] {
    let wanted = (count as f64 / NODES_PER_CELL).max(1.0);
    let mut thick = size.map(|length| length > 0.0);
    // An axis shorter than a cell gets one cell; the others share the rest.
    for _ in 0..3 {
        let axes = (0..3).filter(|d| thick[*d]);
        let root = 1.0 / axes.clone().count().max(1) as f64;
        // Take roots first: the volume may overflow.
        let edge = axes.map(|d| size[d].powf(root)).product::<f64>() / wanted.powf(root);
        match (0..3).find(|d| thick[*d] && size[*d] < edge) {
            Some(thin) => thick[thin] = false,
            None => {
                let along = |d: usize| if thick[d] { (size[d] / edge).round() as usize } else { 1 };
                return [0, 1, 2].map(|d| along(d).clamp(1, MAX_CELLS));
            }
        }
    }
    [1; 3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_nearly_cubic() {
        assert_eq!(cells([1.0; 3], 3000), [10; 3]);
        assert_eq!(cells([4.0, 1.0, 0.0], 1200), [40, 10, 1]);
        assert_eq!(cells([1000.0, 1.0, 1.0], 30), [10, 1, 1]);
        assert_eq!(cells([1.0, 0.0, 0.0], 30_000), [10_000, 1, 1]);
        assert_eq!(cells([1.0, 1.0, 0.0], 12_000_000), [2000, 2000, 1]);
        assert_eq!(cells([0.0; 3], 5), [1; 3]);
        assert_eq!(cells([1e-9, 1e9, 1.0], 1), [1; 3]);
        assert_eq!(cells([1e-120; 3], 3000), [10; 3]);
        assert_eq!(cells([1e120; 3], 3000), [10; 3]);
    }

    #[test]
    fn every_node_is_in_its_cell_once() {
        let positions: Vec<[f64; 3]> =
            (0..500).map(|i| [0.618, 0.414, 0.732].map(|s| (i as f64 * s).fract())).collect();
        let domain = Domain::new([0.0; 3], [1.0; 3]).unwrap();
        let lattice = Lattice::new(&positions, &domain, Precision::F32);
        let mut seen = lattice.order.clone();
        seen.sort_unstable();
        assert!(seen.iter().copied().eq(0..500));
        assert_eq!(lattice.starts.last(), Some(&500));
        for (cell, ends) in lattice.starts.windows(2).enumerate() {
            for node in &lattice.order[ends[0] as usize..ends[1] as usize] {
                assert_eq!(lattice.cell(&positions[*node], Precision::F32), cell);
            }
        }
    }
}

//! Derivatives of values in cells.

use crate::{
    Floats,
    mesh::{Cells, CellsAtPoints},
    vectors::{dot, minus},
};
use rayon::prelude::*;

/// Directions in which the centres around a cell spread less than this part of the whole are none: nothing changes along them.
const NEGLIGIBLE: f64 = 1e-9;

/// The centres of cells, and which cells are around each.
#[derive(Clone, Debug)]
pub(in crate::field::derived) struct Around {
    centres: Vec<[f64; 3]>,
    /// The cells, whose nodes are the numbers of points.
    cells: Cells,
    at_points: CellsAtPoints,
}

impl Around {
    /// Of cells, by the number of each point.
    pub fn new(points: &[[f64; 3]], cells: &Cells, numbers: &[u32]) -> Self {
        let all = (0..cells.len()).into_par_iter();
        let centres = all.map(|cell| cells.centre(cell, points)).collect();
        let mut cells = cells.clone();
        cells.connectivity.iter_mut().for_each(|node| *node = numbers[*node as usize]);
        let at_points = CellsAtPoints::new(points.len(), &cells);
        Around { centres, cells, at_points }
    }

    /// Number of cells.
    pub fn count(&self) -> usize {
        self.centres.len()
    }

    /// The other cells that share a point with one, each once.
    fn of(&self, cell: usize) -> impl Iterator<Item = usize> {
        let at = |point: &u32| self.at_points.at(*point as usize);
        let mut all: Vec<u32> = self.cells.nodes(cell).iter().flat_map(at).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|other| other as usize).filter(move |other| *other != cell)
    }

    /// The derivatives by x, y and z of each component in each cell: those of the linear function that fits the differences from the cells that
    /// share a point with it best, each by the inverse square of its distance. They are exact for linear functions, at walls, too, and 0 along directions in which there is
    /// no other cell. A value that is missing is left out.
    pub fn gradients(&self, values: &Floats, components: usize) -> Vec<f64> {
        let all = (0..self.count()).into_par_iter();
        all.flat_map_iter(|cell| self.gradient(cell, values, components)).collect()
    }

    fn gradient(&self, cell: usize, values: &Floats, components: usize) -> Vec<f64> {
        let value = |cell: usize, c: usize| values.get(components * cell + c);
        let is_missing = |cell: usize| (0..components).any(|c| value(cell, c).is_nan());
        let mut slopes = vec![f64::NAN; 3 * components];
        if is_missing(cell) {
            return slopes;
        }
        let (mut spread, mut sums) = ([[0.0; 3]; 3], vec![[0.0; 3]; components]);
        for other in self.of(cell).filter(|other| !is_missing(*other)) {
            let arm = minus(self.centres[other], self.centres[cell]);
            let weight = 1.0 / dot(arm, arm);
            if !weight.is_finite() {
                continue;
            }
            (0..3).for_each(|i| (0..3).for_each(|j| spread[i][j] += weight * arm[i] * arm[j]));
            for (c, sum) in sums.iter_mut().enumerate() {
                let change = weight * (value(other, c) - value(cell, c));
                (0..3).for_each(|d| sum[d] += change * arm[d]);
            }
        }
        let (sizes, directions) = axes(spread);
        let least = NEGLIGIBLE * sizes.into_iter().fold(0.0, f64::max);
        let spanned = sizes.iter().zip(&directions).filter(|(size, _)| **size > least);
        for (slopes, sum) in slopes.as_chunks_mut::<3>().0.iter_mut().zip(sums) {
            *slopes = [0.0; 3];
            for (size, direction) in spanned.clone() {
                let along = dot(sum, *direction) / size;
                (0..3).for_each(|d| slopes[d] += along * direction[d]);
            }
        }
        slopes
    }
}

/// The eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations (Golub and Van Loan, *Matrix Computations*, 8.5).
fn axes(mut matrix: [[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    // The rows are the vectors.
    let mut vectors = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..12 {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if matrix[p][q] == 0.0 {
                continue;
            }
            let half = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
            let tangent = half.signum() / (half.abs() + half.hypot(1.0));
            let cosine = 1.0 / tangent.hypot(1.0);
            let sine = tangent * cosine;
            let turned = |a: f64, b: f64| [cosine * a - sine * b, sine * a + cosine * b];
            for row in &mut matrix {
                [row[p], row[q]] = turned(row[p], row[q]);
            }
            for k in 0..3 {
                [matrix[p][k], matrix[q][k]] = turned(matrix[p][k], matrix[q][k]);
                [vectors[p][k], vectors[q][k]] = turned(vectors[p][k], vectors[q][k]);
            }
        }
    }
    ([0, 1, 2].map(|d| matrix[d][d]), vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_make_up_their_matrix() {
        for matrix in [
            [[2.0, -1.0, 0.5], [-1.0, 3.0, 0.25], [0.5, 0.25, 1.0]],
            // Of one direction, and of none.
            [[1.0, 2.0, -2.0], [2.0, 4.0, -4.0], [-2.0, -4.0, 4.0]],
            [[0.0; 3]; 3],
        ] {
            let (sizes, vectors) = axes(matrix);
            for i in 0..3 {
                for j in 0..3 {
                    let sum: f64 = (0..3).map(|k| sizes[k] * vectors[k][i] * vectors[k][j]).sum();
                    assert!((sum - matrix[i][j]).abs() < 1e-14, "{matrix:?}: {sum}");
                    let product = dot(vectors[i], vectors[j]);
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-14, "{vectors:?}");
                }
            }
        }
    }
}

//! Derivatives of values in cells.

use crate::{Floats, mesh::Cells};
use rayon::prelude::*;

/// Directions in which the centres around a cell spread less than this part of the whole are none: nothing changes along them.
const NEGLIGIBLE: f64 = 1e-9;

/// The derivatives by x, y and z of each component in each cell: those of the linear function that fits the differences from the cells that
/// share a point with it best, each by the inverse square of its distance. They are exact for linear functions, at walls, too, and 0 along directions in which there is
/// no other cell. A value that is missing is left out.
pub(super) fn gradients(
    (points, cells): (&[[f64; 3]], &Cells),
    values: &Floats,
    components: usize,
) -> Vec<f64> {
    let all = 0..cells.len();
    let centres: Vec<[f64; 3]> =
        all.clone().into_par_iter().map(|cell| cells.centre(cell, points)).collect();
    let around = CellsAround::new(points.len(), cells);
    let value = |cell: usize, c: usize| values.get(components * cell + c);
    let of_cell = |cell: usize| {
        let mut slopes = vec![f64::NAN; 3 * components];
        if (0..components).any(|c| value(cell, c).is_nan()) {
            return slopes;
        }
        let (mut spread, mut sums) = ([[0.0; 3]; 3], vec![[0.0; 3]; components]);
        for other in around.of(cells, cell) {
            let arm = [0, 1, 2].map(|d| centres[other][d] - centres[cell][d]);
            let weight = 1.0 / dot(arm, arm);
            if !weight.is_finite() || (0..components).any(|c| value(other, c).is_nan()) {
                continue;
            }
            (0..3).for_each(|i| (0..3).for_each(|j| spread[i][j] += weight * arm[i] * arm[j]));
            for (c, sum) in sums.iter_mut().enumerate() {
                let change = weight * (value(other, c) - value(cell, c));
                (0..3).for_each(|d| sum[d] += change * arm[d]);
            }
        }
        let (sizes, directions) = axes(spread);
        let least = NEGLIGIBLE * sizes.iter().fold(0.0, |most: f64, size| most.max(*size));
        for (slopes, sum) in slopes.as_chunks_mut::<3>().0.iter_mut().zip(sums) {
            *slopes = [0.0; 3];
            for (size, direction) in
                sizes.iter().zip(&directions).filter(|(size, _)| **size > least)
            {
                let along = dot(sum, *direction) / size;
                (0..3).for_each(|d| slopes[d] += along * direction[d]);
            }
        }
        slopes
    };
    all.into_par_iter().flat_map_iter(of_cell).collect()
}

/// The cells at each point, one point after another.
struct CellsAround {
    starts: Vec<u32>,
    cells: Vec<u32>,
}

impl CellsAround {
    fn new(points: usize, cells: &Cells) -> Self {
        let mut starts = vec![0; points + 1];
        cells.connectivity.iter().for_each(|point| starts[*point as usize + 1] += 1);
        (0..points).for_each(|point| starts[point + 1] += starts[point]);
        let (mut next, mut at) = (starts.clone(), vec![0; cells.connectivity.len()]);
        for cell in 0..cells.len() {
            for point in cells.nodes(cell) {
                let place = &mut next[*point as usize];
                at[*place as usize] = cell as u32;
                *place += 1;
            }
        }
        CellsAround { starts, cells: at }
    }

    /// The other cells that share a point with one, each once.
    fn of(&self, cells: &Cells, cell: usize) -> impl Iterator<Item = usize> {
        let at = |point: &u32| {
            let point = *point as usize;
            &self.cells[self.starts[point] as usize..self.starts[point + 1] as usize]
        };
        let mut all: Vec<u32> = cells.nodes(cell).iter().flat_map(at).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(|other| other as usize).filter(move |other| *other != cell)
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|d| a[d] * b[d]).sum()
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

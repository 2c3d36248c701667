//! The values of a field of which a sample is the weighted sum.

use super::Real;
use crate::{MAX_CELL_NODES, MAX_NEIGHBOURS};

/// Room for the values in a sample of a frame, which are taken in pairs.
pub(super) const MAX_SHARES: usize =
    if MAX_CELL_NODES > MAX_NEIGHBOURS { MAX_CELL_NODES } else { MAX_NEIGHBOURS }
        .next_multiple_of(2)
        + 2;

/// The values of a frame of which a sample is the weighted sum.
pub(crate) struct Shares<F> {
    /// The cell of the sample, if the values depend on it alone.
    pub cell: Option<usize>,
    /// A cell whose values the reader has, and which are not written again.
    pub known: Option<usize>,
    pub count: usize,
    pub values: [usize; MAX_SHARES],
    pub weights: [F; MAX_SHARES],
    /// Instead of the weights, if the values are fluxes through faces.
    pub faces: Option<FaceShares<F>>,
}

/// The values of four nodes of a cell of which a velocity is a sum.
#[derive(Clone, Copy)]
pub(crate) struct FaceShares<F> {
    /// The velocity by each flux, and by the vertical velocity.
    pub by_flux: [[F; 4]; 3],
    /// The weights of the three numbers of each node.
    pub weights: [[F; 3]; 4],
}

impl<F: Real> Shares<F> {
    pub fn none() -> Self {
        let (values, weights) = ([0; MAX_SHARES], [F::zero(); MAX_SHARES]);
        Shares { cell: None, known: None, count: 0, values, weights, faces: None }
    }

    /// The sample of a cell, as the weighted sum of a number of values.
    #[inline(always)]
    pub fn of(
        &mut self,
        (cell, count): (usize, usize),
        value: impl Fn(usize) -> usize,
        weight: impl Fn(usize) -> F,
    ) {
        (self.cell, self.count) = (Some(cell), count);
        // By index: an iterator call might not be inlined.
        if self.known != self.cell {
            for k in 0..count {
                self.values[k] = value(k);
            }
        }
        for k in 0..count {
            self.weights[k] = weight(k);
        }
    }

    /// A sample that is one value.
    #[inline(always)]
    pub fn only(&mut self, value: usize) {
        (self.cell, self.count) = (Some(value), 1);
        (self.values[0], self.weights[0]) = (value, F::one());
    }

    /// The sample of a cell as a sum of the numbers of four of its nodes.
    #[inline(always)]
    pub fn of_faces(&mut self, cell: usize, nodes: [i32; 4], faces: FaceShares<F>) {
        (self.cell, self.count, self.faces) = (Some(cell), nodes.len(), Some(faces));
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for k in 0..nodes.len() {
            self.values[k] = nodes[k] as usize;
        }
    }

    /// The sample of a cell, as the weighted sum of the values at its nodes.
    #[inline(always)]
    pub fn of_cell(&mut self, cell: usize, nodes: &[i32], weights: &[F]) {
        self.of((cell, nodes.len()), |k| nodes[k] as usize, |k| weights[k]);
    }
}

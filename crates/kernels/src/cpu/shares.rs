//! The values of a field of which a sample is the weighted sum.

use super::Real;
use crate::{MAX_CELL_NODES, MAX_NEIGHBOURS};

/// Number of values that are taken together.
pub(super) const BLOCK_OF_SHARES: usize = 8;

/// Room for the values in a sample of a frame.
pub(super) const MAX_SHARES: usize = BLOCKS * BLOCK_OF_SHARES;
pub(super) const BLOCKS: usize =
    if MAX_CELL_NODES > MAX_NEIGHBOURS { MAX_CELL_NODES } else { MAX_NEIGHBOURS }
        .div_ceil(BLOCK_OF_SHARES);

/// The values of a frame of which a sample is the weighted sum.
pub(crate) struct Shares<F> {
    /// The cell of the sample, if the values depend on it alone.
    pub cell: Option<usize>,
    /// A cell whose values the reader has, and which are not written again.
    pub known: Option<usize>,
    pub count: usize,
    pub values: [usize; MAX_SHARES],
    /// The weights of the values, and 0 after the last one.
    pub weights: [[F; BLOCK_OF_SHARES]; BLOCKS],
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
        let (values, weights) = ([0; MAX_SHARES], [[F::zero(); BLOCK_OF_SHARES]; BLOCKS]);
        Shares { cell: None, known: None, count: 0, values, weights, faces: None }
    }

    /// A sample that depends on no value.
    #[inline(always)]
    pub fn nothing(&mut self) {
        self.start(None, 0);
    }

    /// The sample of a cell, as the weighted sum of a number of values.
    #[inline(always)]
    pub fn of(
        &mut self,
        (cell, count): (usize, usize),
        value: impl Fn(usize) -> usize,
        weight: impl Fn(usize) -> F,
    ) {
        self.start(Some(cell), count);
        self.name(count, value);
        let weights = self.weights.as_flattened_mut();
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for k in 0..count {
            weights[k] = weight(k);
        }
    }

    /// The sample of a cell, as the weighted sum of eight values.
    #[inline(always)]
    pub fn of_eight(
        &mut self,
        cell: usize,
        value: impl Fn(usize) -> usize,
        weights: [F; BLOCK_OF_SHARES],
    ) {
        self.start(Some(cell), weights.len());
        self.name(weights.len(), value);
        self.weights[0] = weights;
    }

    /// A sample that is one value.
    #[inline(always)]
    pub fn only(&mut self, value: usize) {
        self.of((value, 1), |_| value, |_| F::one());
    }

    /// A sample as the mean of the values of nodes with weights relative to each other. They depend on no cell.
    #[inline(always)]
    pub fn mean(
        &mut self,
        count: usize,
        nodes: &[u32; MAX_NEIGHBOURS],
        relative: &[F; MAX_NEIGHBOURS],
    ) {
        self.start(None, count);
        let weights = self.weights.as_flattened_mut();
        let mut sum = F::zero();
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for k in 0..count {
            (self.values[k], weights[k]) = (nodes[k] as usize, relative[k]);
            sum += weights[k];
        }
        for weight in &mut weights[..count] {
            *weight /= sum;
        }
    }

    /// The sample of a cell as a sum of the numbers of four of its nodes.
    #[inline(always)]
    pub fn of_faces(&mut self, cell: usize, nodes: [i32; 4], faces: FaceShares<F>) {
        self.start(Some(cell), nodes.len());
        self.faces = Some(faces);
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

    /// Starts a sample of a number of values; there are no weights after them.
    #[inline(always)]
    fn start(&mut self, cell: Option<usize>, count: usize) {
        if count < self.count {
            self.weights.as_flattened_mut()[count..].fill(F::zero());
        }
        (self.cell, self.count) = (cell, count);
    }

    /// Writes the values of a cell, unless the reader knows them.
    #[inline(always)]
    fn name(&mut self, count: usize, value: impl Fn(usize) -> usize) {
        if self.known != self.cell {
            // By index, as above.
            for k in 0..count {
                self.values[k] = value(k);
            }
        }
    }
}

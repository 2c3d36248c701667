//! Velocities from the fluxes through the faces of cells; see [`MeshShape`].

use super::{super::CellFlow, General, kinds::CellTypes};
#[cfg(doc)]
use crate::MeshShape;
use crate::{
    cpu::{
        Real,
        frame_pair::{FramePair, blend},
        lanes::{Four, Lanes, three},
        shares::{FaceShares, Shares},
    },
    physics::{
        cells::host::{FaceValues, Jet, flow_through},
        prelude::host::Vec3,
    },
};

/// The nodes of a cell that have the values at its low and at its high faces along r, s and t.
const LOW: usize = 0;
const HIGH: [usize; 3] = [1, 3, 4];

impl<F: Real, T: CellTypes<F>> General<'_, F, T> {
    /// The nodes with the values at the high faces; in two dimensions the last one is the first node.
    #[inline(always)]
    fn high_nodes(&self, nodes: &[i32]) -> [i32; 3] {
        let last = if self.is_flat { LOW } else { HIGH[2] };
        [nodes[HIGH[0]], nodes[HIGH[1]], nodes[last]]
    }

    /// The values of a cell.
    #[inline(always)]
    fn face_values<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        pair: &FramePair<F>,
    ) -> FaceValues<F> {
        let nodes = self.nodes_of(cell);
        let [r, s, t] = self.high_nodes(nodes);
        // No closure: it might not be inlined.
        let low = blend::<F, L>(values, nodes[LOW] as usize, pair).array();
        let [r, ..] = blend::<F, L>(values, r as usize, pair).array();
        let [_, s, ..] = blend::<F, L>(values, s as usize, pair).array();
        let [_, _, t, _] = blend::<F, L>(values, t as usize, pair).array();
        FaceValues { low: Vec3(three(low)), high: Vec3([r, s, t]) }
    }

    /// The derivatives of a cell's linear coordinates at a point with respect to r and s.
    #[inline(always)]
    fn derivatives<L: Lanes<F>>(&self, cell: usize, at: Vec3<F>) -> [Vec3<F>; 2] {
        if self.heads[cell][3] != 0 {
            let Jet { by_r, by_s, .. } = self.jet::<L>(cell, at);
            return [by_r, by_s];
        }
        let (zero, one) = (F::zero(), F::one());
        [Vec3([one, zero, zero]), Vec3([zero, one, zero])]
    }

    /// The columns of a cell's linear map for x and y.
    #[inline(always)]
    fn columns(&self, cell: usize) -> [Vec3<F>; 2] {
        let [_, x, y, _] = &self.records[cell];
        [Vec3(three(*x)), Vec3(three(*y))]
    }

    /// The derivatives of the velocity with respect to r, s and t.
    #[inline(always)]
    fn flow_rates<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: Vec3<F>,
        pair: &FramePair<F>,
    ) -> [[F; 4]; 3] {
        let FaceValues { low: Vec3(low), high: Vec3(high) } =
            self.face_values::<L>(values, cell, pair);
        let [du, dv, dw] = [0, 1, 2].map(|d| high[d] - low[d]);
        let [u, v] = [low[0] + at.0[0] * du, low[1] + at.0[1] * dv];
        let [Vec3(by_r), Vec3(by_s)] = self.derivatives::<L>(cell, at);
        // The derivatives of those change with the other coordinate only.
        let mixed = match self.heads[cell][3] as usize / 4 {
            0 => [F::zero(); 2],
            terms => [self.terms[terms + MIXED][0], self.terms[terms + MIXED][1]],
        };
        let determinant = by_r[0] * by_s[1] - by_r[1] * by_s[0];
        let along = [0, 1].map(|k| (by_r[k] * u + by_s[k] * v) / determinant);
        let rate = |of_sum: [F; 2], of_determinant: F| {
            [0, 1].map(|k| (of_sum[k] - along[k] * of_determinant) / determinant)
        };
        let by_r = rate(
            [0, 1].map(|k| by_r[k] * du + mixed[k] * v),
            by_r[0] * mixed[1] - by_r[1] * mixed[0],
        );
        let by_s = rate(
            [0, 1].map(|k| mixed[k] * u + by_s[k] * dv),
            mixed[0] * by_s[1] - mixed[1] * by_s[0],
        );
        let zero = F::zero();
        let [by_r, by_s] = [by_r, by_s].map(|along| self.in_chart(cell, along));
        [[by_r[0], by_r[1], zero, zero], [by_s[0], by_s[1], zero, zero], [zero, zero, dw, zero]]
    }

    /// A horizontal vector in a cell's linear coordinates, times the determinant of its linear map.
    #[inline(always)]
    fn in_chart(&self, cell: usize, [r, s]: [F; 2]) -> [F; 2] {
        let [Vec3(x), Vec3(y)] = self.columns(cell);
        [y[1] * r - y[0] * s, x[0] * s - x[1] * r]
    }
}

impl<F: Real, T: CellTypes<F>> CellFlow<F> for General<'_, F, T> {
    #[inline(always)]
    fn flow<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> [F; 3] {
        let at = Vec3(three(at.array()));
        let values = self.face_values::<L>(values, cell, pair);
        let [x, y] = self.columns(cell);
        let [by_r, by_s] = self.derivatives::<L>(cell, at);
        flow_through(&values, at, by_r, by_s, x, y).0
    }

    #[inline(always)]
    fn flow_slopes<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> [L::Four; 3] {
        let at = Vec3(three(at.array()));
        let rates = self.flow_rates::<L>(values, cell, at, pair);
        self.along_axes::<L>(cell, at, &rates)
    }

    #[inline(always)]
    fn flow_shares<L: Lanes<F>>(&self, cell: usize, at: L::Four, shares: &mut Shares<F>) {
        let at = Vec3(three(at.array()));
        let (zero, one) = (F::zero(), F::one());
        let nodes = self.nodes_of(cell);
        let high = self.high_nodes(nodes);
        let [by_r, by_s] = self.derivatives::<L>(cell, at);
        let [x, y] = self.columns(cell);
        let mut by_flux = [[zero; 4]; 3];
        // By index: an iterator call or a closure might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for d in 0..3 {
            let mut unit = [zero; 3];
            unit[d] = one;
            let values = FaceValues { low: Vec3(unit), high: Vec3(unit) };
            let [u, v, w] = flow_through(&values, at, by_r, by_s, x, y).0;
            by_flux[d] = [u, v, w, zero];
        }
        let [r, s, t] = at.0;
        let weights = match self.is_flat {
            true => [[one - r, one - s, zero], [r, zero, zero], [zero, s, zero], [zero; 3]],
            false => {
                [[one - r, one - s, one - t], [r, zero, zero], [zero, s, zero], [zero, zero, t]]
            }
        };
        shares.of_faces(
            cell,
            [nodes[LOW], high[0], high[1], high[2]],
            FaceShares { by_flux, weights },
        );
    }
}

/// The number of the term r s of a cell with vertical sides.
const MIXED: usize = 3;

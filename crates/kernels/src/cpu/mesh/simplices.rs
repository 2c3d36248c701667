//! Triangles and tetrahedra: one vector operation for each axis gives the shares of all nodes, and
//! the least of them names the face that a position is beyond.

use super::{CellQuery, Containment, Shapes};
use crate::{
    CELL_RECORD, MeshShape,
    cpu::{
        FieldArrays, Real,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Portable, Vector},
    },
};

/// Cells that are all triangles, or all tetrahedra.
pub(in crate::cpu) struct Simplices<'a, F> {
    /// Origin and border, and the slopes of the shares along each axis.
    records: &'a [[[F; 4]; 4]],
    /// Nodes, and the cells opposite them.
    links: &'a [[[i32; 4]; 2]],
    /// The shares at the origin. In a triangle the last one, which nobody has, is out of the way.
    unit: [F; 4],
    corners: usize,
}

impl<'a, F: Real> Simplices<'a, F> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &MeshShape) -> Self {
        let last = if shape.dimension == 2 { F::one() } else { F::zero() };
        Simplices {
            records: bytemuck::cast_slice(&field.places[..CELL_RECORD * shape.cells]),
            links: bytemuck::cast_slice(&field.index[..shape.connectivity_at()]),
            unit: [F::one(), F::zero(), F::zero(), last],
            corners: shape.dimension + 1,
        }
    }

    /// The mean of the values at some nodes of one frame.
    #[inline(always)]
    fn sum<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        nodes: &[i32; 4],
        at: L::Four,
        frame: usize,
    ) -> L::Four {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| frame + nodes[k] as usize);
        let sum = L::Four::new(values[a]) * at.spread::<0>();
        let sum = L::Four::new(values[b]).fma(at.spread::<1>(), sum);
        let sum = L::Four::new(values[c]).fma(at.spread::<2>(), sum);
        if self.corners == 3 { sum } else { L::Four::new(values[d]).fma(at.spread::<3>(), sum) }
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> (L::Four, L::Four) {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let shares = L::Four::new(*x).fma(d.spread::<0>(), L::Four::new(self.unit));
        let shares = L::Four::new(*y).fma(d.spread::<1>(), shares);
        (L::Four::new(*z).fma(d.spread::<2>(), shares), d.spread::<3>())
    }
}

impl<F: Real> Shapes<F> for Simplices<'_, F> {
    #[inline(always)]
    fn look<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four> {
        let (shares, border) = self.shares::<L>(cell, p);
        if shares.reaches(border) {
            return CellQuery { at: shares, standing: Containment::Inside, face: 0 };
        }
        let is_border = shares.reaches(L::Four::splat(F::zero()) - border);
        let standing = if is_border { Containment::Border } else { Containment::Outside };
        CellQuery { at: shares, standing, face: shares.least() }
    }

    #[inline(always)]
    fn beyond(&self, cell: usize, face: usize) -> i32 {
        self.links[cell][1][face]
    }

    #[inline(always)]
    fn mean<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        moment: &FramePair<F>,
    ) -> L::Four {
        let nodes = &self.links[cell][0];
        let [first, second] = moment.frames;
        let [w0, w1] = moment.weights;
        let mean = self.sum::<L>(values, nodes, at, first) * L::Four::splat(w0);
        if w1 == F::zero() {
            mean
        } else {
            self.sum::<L>(values, nodes, at, second).fma(L::Four::splat(w1), mean)
        }
    }

    fn wall(&self, cell: usize, p: [F; 3]) -> Option<usize> {
        let shares = self.shares::<Portable>(cell, crate::cpu::four::<F, Portable>(&p)).0.array();
        let is_wall = |k: &usize| shares[*k] < F::zero() && self.beyond(cell, *k) < 0;
        let walls = (0..self.corners).filter(is_wall);
        walls.reduce(|a, b| if shares[b] < shares[a] { b } else { a })
    }

    fn slope(&self, cell: usize, _: [F; 3], face: usize) -> ([F; 3], F) {
        let [origin, x, y, z] = &self.records[cell];
        ([x[face], y[face], z[face]], -origin[3])
    }
}

//! Triangles and tetrahedra: one vector operation per axis gives all barycentric weights, and the
//! smallest of them selects the face that a position is beyond.

use super::{CellFlow, CellGeometry, CellQuery};
use crate::{
    CELL_RECORD, MeshShape,
    cpu::{
        Real,
        field::FieldArrays,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Portable, Vector, four, prefetch, three},
        shares::Shares,
    },
    physics::{
        cells::host::{BORDER, INSIDE, OUTSIDE},
        prelude::host::Vec3,
        vector::host::{cross, dot},
    },
};

/// Cells that are all triangles, or all tetrahedra.
pub(in crate::cpu) struct Simplices<'a, F> {
    /// Origin and tolerance, and the gradients of the weights along each axis.
    records: &'a [[[F; 4]; 4]],
    /// Nodes, and the cells opposite them.
    links: &'a [[[i32; 4]; 2]],
    /// The weights at the origin. In a triangle the unused fourth is 1, so that it is never the
    /// smallest.
    unit: [F; 4],
    corners: usize,
    /// Number of values in a frame.
    count: usize,
}

impl<'a, F: Real> Simplices<'a, F> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &MeshShape) -> Self {
        let last = if shape.dimension == 2 { F::one() } else { F::zero() };
        Simplices {
            records: bytemuck::cast_slice(&field.coordinates[..CELL_RECORD * shape.cells]),
            links: bytemuck::cast_slice(&field.index[..shape.connectivity_at()]),
            unit: [F::one(), F::zero(), F::zero(), last],
            corners: shape.dimension + 1,
            count: shape.values,
        }
    }

    /// The weighted sum of the values at some nodes of one frame.
    #[inline(always)]
    fn sum<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        [a, b, c, d]: [usize; 4],
        at: L::Four,
    ) -> L::Four {
        let sum = L::Four::new(values[a]) * at.spread::<0>();
        let sum = L::Four::new(values[b]).fma(at.spread::<1>(), sum);
        let sum = L::Four::new(values[c]).fma(at.spread::<2>(), sum);
        if self.corners == 3 { sum } else { L::Four::new(values[d]).fma(at.spread::<3>(), sum) }
    }

    /// The weighted sum of the values at some nodes, interpolated in time.
    #[inline(always)]
    fn mean_of<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        nodes: &[i32; 4],
        at: L::Four,
        pair: &FramePair<F>,
    ) -> L::Four {
        let nodes = nodes.map(|node| node as usize);
        // Of the same length, so that one test of an index serves both.
        let frame = |start: usize| &values[start..][..self.count];
        let first = self.sum::<L>(frame(pair.first), nodes, at);
        let mean = first * L::Four::splat(pair.first_weight);
        if pair.second_weight == F::zero() {
            return mean;
        }
        let second = self.sum::<L>(frame(pair.second), nodes, at);
        second.fma(L::Four::splat(pair.second_weight), mean)
    }

    #[inline(always)]
    fn weights<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> (L::Four, L::Four) {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let weights = L::Four::new(*x).fma(d.spread::<0>(), L::Four::new(self.unit));
        let weights = L::Four::new(*y).fma(d.spread::<1>(), weights);
        (L::Four::new(*z).fma(d.spread::<2>(), weights), d.spread::<3>())
    }
}

impl<F: Real> CellFlow<F> for Simplices<'_, F> {}

impl<F: Real> CellGeometry<F> for Simplices<'_, F> {
    const IS_LINEAR: bool = true;

    #[inline(always)]
    fn query<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four> {
        let (weights, tolerance) = self.weights::<L>(cell, p);
        if weights.reaches(tolerance) {
            return CellQuery { at: weights, containment: INSIDE, face: 0 };
        }
        let is_border = weights.reaches(L::Four::splat(F::zero()) - tolerance);
        let containment = if is_border { BORDER } else { OUTSIDE };
        CellQuery { at: weights, containment, face: weights.argmin() }
    }

    #[inline(always)]
    fn beyond(&self, cell: usize, face: usize) -> i32 {
        self.links[cell][1][face]
    }

    #[inline(always)]
    fn prefetch_around(&self, cell: usize) {
        for next in self.links[cell][1] {
            // Beyond a boundary face is no cell.
            let next = next as usize;
            let record = self.records.get(next);
            // A record may begin in one line of the cache and end in the next.
            prefetch(record);
            prefetch(record.map(|record| &record[3]));
            prefetch(self.links.get(next));
        }
    }

    #[inline(always)]
    fn mean<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> L::Four {
        self.mean_of::<L>(values, &self.links[cell][0], at, pair)
    }

    /// The weights are linear, and their derivatives the records of the cell.
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        _: L::Four,
        pair: &FramePair<F>,
    ) -> [L::Four; 3] {
        let [_, x, y, z] = &self.records[cell];
        let nodes = &self.links[cell][0];
        [
            self.mean_of::<L>(values, nodes, L::Four::new(*x), pair),
            self.mean_of::<L>(values, nodes, L::Four::new(*y), pair),
            self.mean_of::<L>(values, nodes, L::Four::new(*z), pair),
        ]
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, cell: usize, at: L::Four, shares: &mut Shares<F>) {
        shares.of_cell(cell, &self.links[cell][0][..self.corners], &at.array());
    }

    #[inline]
    fn wall(&self, cell: usize, p: [F; 3]) -> Option<usize> {
        let weights = self.weights::<Portable>(cell, four::<F, Portable>(&p)).0.array();
        let is_wall = |k: &usize| weights[*k] < F::zero() && self.beyond(cell, *k) < 0;
        let walls = (0..self.corners).filter(is_wall);
        walls.reduce(|a, b| if weights[b] < weights[a] { b } else { a })
    }

    /// With the arithmetic of all weights.
    #[inline(always)]
    fn depth(&self, cell: usize, p: [F; 3], face: usize) -> F {
        let [origin, x, y, z] = &self.records[cell];
        let along = |axis: &[F; 4], d: usize, sum: F| {
            let product = axis[face] * (p[d] - origin[d]);
            product + sum
        };
        along(z, 2, along(y, 1, along(x, 0, self.unit[face])))
    }

    #[inline(always)]
    fn depth_at(&self, _: usize, at: &[F; 4], face: usize) -> F {
        at[face]
    }

    fn tolerance(&self, cell: usize) -> F {
        -self.records[cell][0][3]
    }

    fn faces(&self) -> usize {
        self.corners
    }

    fn corners(&self, cell: usize) -> Option<[[F; 3]; 4]> {
        let [origin, x, y, z] = &self.records[cell];
        let origin = Vec3(three(*origin));
        let [a, b, mut c] = [1, 2, 3].map(|k| Vec3([x[k], y[k], z[k]]));
        if self.corners == 3 {
            c = cross(a, b);
        }
        // The edges from the origin are the columns of the inverse.
        let determinant = Vec3::new(dot(a, cross(b, c)));
        let edge = |normal: Vec3<F>| origin + normal / determinant;
        let last = if self.corners == 3 { origin } else { edge(cross(a, b)) };
        Some([origin.0, edge(cross(b, c)).0, edge(cross(c, a)).0, last.0])
    }

    /// The first face on the line behind which its end is. `None` if the line is not in the cell there.
    fn exit(&self, cell: usize, from: [F; 3], to: [F; 3]) -> Option<usize> {
        let [start, end] =
            [from, to].map(|p| self.weights::<Portable>(cell, four::<F, Portable>(&p)).0.array());
        let part = |k: usize| start[k] / (start[k] - end[k]);
        let left = (0..self.corners).filter(|k| end[*k] < F::zero());
        let face = left.reduce(|a, b| if part(b) < part(a) { b } else { a })?;
        let at = |k: usize| start[k] + part(face) * (end[k] - start[k]);
        (0..self.corners).all(|k| at(k) >= -self.tolerance(cell)).then_some(face)
    }

    fn gradient(&self, cell: usize, _: [F; 3], face: usize) -> ([F; 3], F) {
        let [origin, x, y, z] = &self.records[cell];
        ([x[face], y[face], z[face]], -origin[3])
    }
}

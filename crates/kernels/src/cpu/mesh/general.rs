//! Cells of any type, evaluated with the tables of their types.
//!
//! A cell's record maps positions linearly to coordinates `y`, an approximation of the parametric
//! coordinates relative to the centre. It is exact if the cell is a linear image of the reference
//! cell. Otherwise Newton's method solves `Y(r, s, t) = y`, where `Y` is near the identity for any
//! size and shape of the cell.

mod faces;
mod kinds;
mod linear;

use super::{CellGeometry, CellQuery};
use crate::{
    CELL_RECORD, MeshShape,
    cpu::{
        Real,
        chart::{Chart, InGroups},
        field::FieldArrays,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Portable, Vector, four, three},
        shares::Shares,
    },
    physics::{
        cells::host::{
            Jet, Margin, Newton, containment, depth_inside, gradient_of, improve, nearest_side,
            newton, surface_at, to_linear,
        },
        prelude::host::Vec3,
        region::host::Surface,
        vector::host::dot,
    },
};
use kinds::Kind;
pub(crate) use kinds::MeshKind;
pub(in crate::cpu) use kinds::{AnyTypes, CellTypes};
pub(in crate::cpu) use linear::Linear;
use linear::MOST;

/// Cells that are not all simplices.
pub(in crate::cpu) struct General<'a, F, T> {
    records: &'a [[[F; 4]; 4]],
    /// Type, and offsets of nodes, neighbours and terms.
    heads: &'a [[i32; 4]],
    nodes: &'a [i32],
    neighbours: &'a [i32],
    /// The whole coordinate tensor, in groups of four.
    terms: &'a [[F; 4]],
    /// Number of values in a frame.
    count: usize,
    types: T,
    is_flat: bool,
    /// Whether all cells are hexahedra or voxels.
    are_bricks: bool,
}

impl<'a, F: Real, T: CellTypes<F>> General<'a, F, T> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &MeshShape) -> Self {
        General {
            records: bytemuck::cast_slice(&field.coordinates[..CELL_RECORD * shape.cells]),
            heads: bytemuck::cast_slice(&field.index[..shape.connectivity_at()]),
            nodes: &field.index[shape.connectivity_at()..shape.neighbours_at()],
            neighbours: &field.index[shape.neighbours_at()..shape.near_reentrant_at()],
            terms: bytemuck::cast_slice(field.coordinates),
            count: shape.values,
            types: T::all(),
            is_flat: shape.dimension == 2,
            are_bricks: shape.kinds & !MeshKind::BRICKS.kinds() == 0,
        }
    }

    #[inline(always)]
    fn code(&self, cell: usize) -> i32 {
        self.heads[cell][0]
    }

    fn kind(&self, cell: usize) -> &Kind<F> {
        self.types.kind(self.code(cell))
    }

    #[inline(always)]
    fn nodes_of(&self, cell: usize) -> &[i32] {
        let [code, start, ..] = self.heads[cell];
        let count = if self.are_bricks { 8 } else { self.types.kind(code).nodes };
        &self.nodes[start as usize..][..count]
    }

    /// The linear coordinates of a position, and the tolerance of the cell.
    #[inline(always)]
    fn linear<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> (Vec3<F>, F) {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let linear = L::Four::new(*x) * d.spread::<0>();
        let linear = L::Four::new(*y).fma(d.spread::<1>(), linear);
        let linear = L::Four::new(*z).fma(d.spread::<2>(), linear);
        (Vec3(three(linear.array())), d.array()[3])
    }

    /// A cell's polynomial and its derivatives.
    #[inline(always)]
    fn jet<L: Lanes<F>>(&self, cell: usize, at: Vec3<F>) -> Jet<F> {
        let [code, .., start] = self.heads[cell];
        let terms = &self.terms[start as usize / 4..];
        let [value, by_r, by_s, by_t] = self.types.jet::<L>(code, terms, at.0);
        let mut jet = Jet {
            value: Vec3(three(value.array())),
            by_r: Vec3(three(by_r.array())),
            by_s: Vec3(three(by_s.array())),
            by_t: Vec3(three(by_t.array())),
        };
        if self.is_flat {
            jet.by_t.insert(2, F::one());
        }
        jet
    }

    /// The parametric coordinates of a position.
    #[inline(always)]
    fn solve<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> Newton<F> {
        let [code, .., terms] = self.heads[cell];
        let (linear, tolerance) = self.linear::<L>(cell, p);
        let mut newton = newton(linear, tolerance, self.types.kind(code).centre(), terms != 0);
        while newton.continues {
            let jet = self.jet::<L>(cell, newton.at);
            improve(&mut newton, &jet, code, self.types.kind(code).mesh);
        }
        newton
    }

    /// Derivatives along x, y and z at coordinates in a cell, from those with respect to r, s and t.
    #[inline(always)]
    fn along_axes<L: Lanes<F>>(
        &self,
        cell: usize,
        at: Vec3<F>,
        [r, s, t]: &[[F; 4]; 3],
    ) -> [L::Four; 3] {
        let jet = (self.heads[cell][3] != 0).then(|| self.jet::<L>(cell, at));
        let [_, x, y, z] = &self.records[cell];
        let columns = [x, y, z].map(|column| Vec3(three(*column)));
        let mut slopes = [[F::zero(); 4]; 3];
        for c in 0..4 {
            let gradient = Vec3([r[c], s[c], t[c]]);
            let linear = jet.as_ref().map_or(gradient, |jet| to_linear(gradient, jet));
            for d in 0..3 {
                slopes[d][c] = dot(linear, columns[d]);
            }
        }
        slopes.map(L::Four::new)
    }

    /// The gradient in space of the depth inside a face, at coordinates in its cell.
    fn gradient_at(&self, cell: usize, at: Vec3<F>, face: usize) -> [F; 3] {
        let [code, .., terms] = self.heads[cell];
        let mut gradient = gradient_of(code, face as i32, self.types.kind(code).mesh);
        if terms != 0 {
            gradient = to_linear(gradient, &self.jet::<Portable>(cell, at));
        }
        let [_, x, y, z] = &self.records[cell];
        [x, y, z].map(|column| dot(gradient, Vec3(three(*column))))
    }

    /// A position relative to a cell of any type.
    #[inline(always)]
    fn query_any<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four> {
        let newton = self.solve::<L>(cell, p);
        let code = self.code(cell);
        let Margin { face, smallest } = nearest_side(code, newton.at, self.types.kind(code).mesh);
        let containment = containment(&newton, smallest);
        CellQuery { at: four::<F, L>(&newton.at.0), containment, face: face as usize }
    }
}

impl<F: Real, T: CellTypes<F>> CellGeometry<F> for General<'_, F, T> {
    #[inline(always)]
    fn query<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four> {
        if T::ARE_LINEAR {
            let [query] = self.query_linear::<L, 1>(&[cell], &[p]);
            return query;
        }
        self.query_any::<L>(cell, p)
    }

    const TOGETHER: bool = T::ARE_LINEAR;
    const IS_FAST: bool = false;

    #[inline(always)]
    fn in_groups<C: Chart<F>>(work: impl InGroups) {
        T::in_groups::<C>(work);
    }

    #[inline(always)]
    fn query_together<L: Lanes<F>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> [CellQuery<L::Four>; G] {
        if !T::ARE_LINEAR {
            return self.query_each::<L, G>(cells, positions);
        }
        // Groups have no more.
        const { assert!(G <= MOST) };
        self.query_linear::<L, G>(cells, positions)
    }

    #[inline(always)]
    fn beyond(&self, cell: usize, face: usize) -> i32 {
        self.neighbours[self.heads[cell][2] as usize + face]
    }

    #[inline(always)]
    fn prefetch_around(&self, cell: usize) {
        if T::ARE_LINEAR {
            self.prefetch_linear(cell);
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
        let weights = self.types.weights::<L>(self.code(cell), three(at.array()));
        let (nodes, values) = (self.nodes_of(cell), (values, self.count));
        // A loop of a known length, for hexahedra.
        match <&[i32; 8]>::try_from(nodes) {
            Ok(nodes) if T::ARE_LINEAR => mean_of::<F, L>(values, nodes, weights.as_ref(), pair),
            _ => mean_of::<F, L>(values, nodes, weights.as_ref(), pair),
        }
    }

    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> [L::Four; 3] {
        let at = three(at.array());
        let nodes = self.nodes_of(cell);
        let weights = self.kind(cell).weight_slopes::<L>(at);
        let values = (values, self.count);
        let r = mean_of::<F, L>(values, nodes, &weights[0], pair).array();
        let s = mean_of::<F, L>(values, nodes, &weights[1], pair).array();
        let t = mean_of::<F, L>(values, nodes, &weights[2], pair).array();
        self.along_axes::<L>(cell, Vec3(at), &[r, s, t])
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, cell: usize, at: L::Four, shares: &mut Shares<F>) {
        let weights = self.types.weights::<L>(self.code(cell), three(at.array()));
        shares.of_cell(cell, self.nodes_of(cell), weights.as_ref());
    }

    fn wall(&self, cell: usize, p: [F; 3]) -> Option<usize> {
        let at = self.solve::<Portable>(cell, four::<F, Portable>(&p)).at;
        self.kind(cell).wall(at, |face| self.beyond(cell, face) < 0)
    }

    fn depth(&self, cell: usize, p: [F; 3], face: usize) -> F {
        let at = self.solve::<Portable>(cell, four::<F, Portable>(&p)).at;
        self.kind(cell).depth(at, face)
    }

    fn depth_at(&self, cell: usize, at: &[F; 4], face: usize) -> F {
        self.kind(cell).depth(Vec3(three(*at)), face)
    }

    fn tolerance(&self, cell: usize) -> F {
        -self.records[cell][0][3]
    }

    fn gradient(&self, cell: usize, p: [F; 3], face: usize) -> ([F; 3], F) {
        let Newton { at, tolerance, .. } = self.solve::<Portable>(cell, four::<F, Portable>(&p));
        (self.gradient_at(cell, at, face), tolerance)
    }

    fn surface(&self, cell: usize, p: [F; 3], face: usize) -> Option<Surface<F>> {
        let [code, .., terms] = self.heads[cell];
        let newton = (terms != 0).then(|| self.solve::<Portable>(cell, four::<F, Portable>(&p)))?;
        let depth =
            depth_inside(code, face as i32, newton.at, F::one(), self.types.kind(code).mesh);
        let gradient = Vec3(self.gradient_at(cell, newton.at, face));
        Some(surface_at(true, &newton, depth, gradient))
    }

    /// With X = ∂(r, s, t)/∂(x, y, z), l the gradient by the linear coordinates Y and M = l · ∂²Y/∂(r, s, t)², the
    /// derivatives are -Xᵀ M X, as those of X Y' = 1 are.
    fn gradient_slopes(&self, cell: usize, p: [F; 3], face: usize) -> Option<[[F; 3]; 3]> {
        let (zero, one) = (F::zero(), F::one());
        let [code, .., terms] = self.heads[cell];
        if terms == 0 {
            return None;
        }
        let at = self.solve::<Portable>(cell, four::<F, Portable>(&p)).at;
        let jet = self.jet::<Portable>(cell, at);
        let gradient = to_linear(gradient_of(code, face as i32, self.types.kind(code).mesh), &jet);
        let moved = |k: usize, by: F| {
            let mut at = at;
            at.0[k] += by;
            let Jet { by_r, by_s, by_t, .. } = self.jet::<Portable>(cell, at);
            [by_r, by_s, by_t].map(|slope| dot(slope, gradient))
        };
        // Exact: the terms are at most of second degree in each coordinate.
        let second = [0, 1, 2].map(|k| {
            let (high, low) = (moved(k, one), moved(k, -one));
            [0, 1, 2].map(|i| F::of(0.5) * (high[i] - low[i]))
        });
        let unit = |k: usize| Vec3([0, 1, 2].map(|d| if d == k { one } else { zero }));
        let inverse = [0, 1, 2].map(|k| to_linear(unit(k), &jet));
        let [_, x, y, z] = &self.records[cell];
        let columns = [x, y, z].map(|column| Vec3(three(*column)));
        let along = columns.map(|column| Vec3(inverse.map(|row| dot(row, column))));
        let bent = along.map(|along| Vec3(second.map(|row| -dot(Vec3(row), along))));
        Some(along.map(|row| bent.map(|column| dot(row, column))))
    }
}

/// The weighted sum of the values at some nodes, interpolated in time.
#[inline(always)]
fn mean_of<F: Real, L: Lanes<F>>(
    (values, count): (&[[F; 4]], usize),
    nodes: &[i32],
    weights: &[F],
    pair: &FramePair<F>,
) -> L::Four {
    let zero = L::Four::splat(F::zero());
    let first_weight = L::Four::splat(pair.first_weight);
    let (mut first, mut second) = (zero, zero);
    // By index: an iterator call might not be inlined.
    if pair.second_weight == F::zero() {
        let values = &values[pair.first..];
        for k in 0..nodes.len() {
            let value = L::Four::new(values[nodes[k] as usize]);
            first = value.fma(L::Four::splat(weights[k]), first);
        }
        return first * first_weight;
    }
    // Of the same length, so that one test of an index serves both.
    let [low, high] = [pair.first, pair.second].map(|start| &values[start..][..count]);
    for k in 0..nodes.len() {
        let (node, weight) = (nodes[k] as usize, L::Four::splat(weights[k]));
        first = L::Four::new(low[node]).fma(weight, first);
        second = L::Four::new(high[node]).fma(weight, second);
    }
    second.fma(L::Four::splat(pair.second_weight), first * first_weight)
}

//! Cells of any type, evaluated with the tables of their types.
//!
//! A cell's record maps positions linearly to coordinates `y`, an approximation of the parametric
//! coordinates relative to the centre. It is exact if the cell is a linear image of the reference
//! cell. Otherwise Newton's method solves `Y(r, s, t) = y`, where `Y` is near the identity for any
//! size and shape of the cell.

mod kinds;

use super::{CellGeometry, CellQuery, Containment};
use crate::{
    CELL_RECORD, MeshShape,
    cpu::{
        FieldArrays, Real,
        frame_pair::FramePair,
        lanes::{Four, Lanes, Portable, Vector},
    },
};
use kinds::{Kind, Powers};

/// Maximum number of Newton steps; two or three are usual.
const STEPS: usize = 16;
/// Newton's method stops beyond this distance, in parametric coordinates.
const FAR: f64 = 64.0;

/// Cells of any type.
pub(in crate::cpu) struct General<'a, F> {
    records: &'a [[[F; 4]; 4]],
    /// Type, and offsets of nodes, neighbours and terms.
    heads: &'a [[i32; 4]],
    nodes: &'a [i32],
    neighbours: &'a [i32],
    /// The whole coordinate tensor, in groups of four.
    terms: &'a [[F; 4]],
    kinds: Vec<Kind<F>>,
    is_flat: bool,
    /// Newton's method stops after a step this short: the remaining error is about its square.
    short: F,
}

/// Coordinates in a cell, and whether they were found.
struct Solved<F> {
    at: [F; 4],
    is_sound: bool,
}

/// The value of a cell's polynomial and its derivatives with respect to r, s and t.
type Jet<F> = [[F; 4]; 4];

impl<'a, F: Real> General<'a, F> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &MeshShape) -> Self {
        General {
            records: bytemuck::cast_slice(&field.coordinates[..CELL_RECORD * shape.cells]),
            heads: bytemuck::cast_slice(&field.index[..shape.connectivity_at()]),
            nodes: &field.index[shape.connectivity_at()..shape.neighbours_at()],
            neighbours: &field.index[shape.neighbours_at()..shape.bins_at()],
            terms: bytemuck::cast_slice(field.coordinates),
            kinds: Kind::all(),
            is_flat: shape.dimension == 2,
            short: F::of(0.25) * F::epsilon().sqrt(),
        }
    }

    #[inline(always)]
    fn kind(&self, cell: usize) -> &Kind<F> {
        &self.kinds[self.heads[cell][0] as usize]
    }

    /// The linear coordinates of a position, and the tolerance of the cell.
    #[inline(always)]
    fn linear<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> (L::Four, F) {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let linear = L::Four::new(*x) * d.spread::<0>();
        let linear = L::Four::new(*y).fma(d.spread::<1>(), linear);
        (L::Four::new(*z).fma(d.spread::<2>(), linear), d.array()[3])
    }

    /// A cell's polynomial and its derivatives.
    #[inline(always)]
    fn jet<L: Lanes<F>>(&self, cell: usize, at: &[F; 4]) -> Jet<F> {
        let (kind, start) = (self.kind(cell), self.heads[cell][3] as usize);
        let mut jet = [L::Four::splat(F::zero()); 4];
        let powers = Powers::new(at);
        let terms = &self.terms[start / 4..start / 4 + kind.exponents.len()];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for j in 0..terms.len() {
            let [m, r, s, t] = powers.jet(&kind.exponents[j]);
            let term = L::Four::new(terms[j]);
            jet[0] = term.fma(L::Four::splat(m), jet[0]);
            jet[1] = term.fma(L::Four::splat(r), jet[1]);
            jet[2] = term.fma(L::Four::splat(s), jet[2]);
            jet[3] = term.fma(L::Four::splat(t), jet[3]);
        }
        let mut jet = [jet[0].array(), jet[1].array(), jet[2].array(), jet[3].array()];
        if self.is_flat {
            jet[3][2] = F::one();
        }
        jet
    }

    /// The parametric coordinates with these linear coordinates.
    #[inline(always)]
    fn solve<L: Lanes<F>>(&self, cell: usize, linear: &[F; 4], tolerance: F) -> Solved<F> {
        let kind = self.kind(cell);
        let mut at = add(&kind.centre, linear);
        if self.heads[cell][3] == 0 {
            return Solved { at, is_sound: true };
        }
        for _ in 0..STEPS {
            let [value, jr, js, jt] = self.jet::<L>(cell, &at);
            let rest = [linear[0] - value[0], linear[1] - value[1], linear[2] - value[2]];
            let (st, tr, rs) = (cross(&js, &jt), cross(&jt, &jr), cross(&jr, &js));
            let per = F::one() / (jr[0] * st[0] + jr[1] * st[1] + jr[2] * st[2]);
            let step = [dot(&rest, &st) * per, dot(&rest, &tr) * per, dot(&rest, &rs) * per];
            if !(step[0].abs() + step[1].abs() + step[2].abs()).is_finite() {
                // Where r and s are undefined: the apex of a pyramid, or a collapsed cell.
                return Solved { at, is_sound: max_norm(&rest) <= tolerance };
            }
            for d in 0..3 {
                at[d] += step[d];
            }
            let scale = kind.scale(at[2]);
            if step[0].abs().max(step[1].abs()) <= self.short * scale && step[2].abs() <= self.short
            {
                return Solved { at, is_sound: true };
            }
            if max_norm(&[at[0], at[1], at[2]]) > F::of(FAR) * scale {
                break;
            }
        }
        Solved { at: add(&kind.centre, linear), is_sound: false }
    }
}

impl<F: Real> CellGeometry<F> for General<'_, F> {
    #[inline(always)]
    fn query<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> CellQuery<L::Four> {
        let (linear, tolerance) = self.linear::<L>(cell, p);
        let Solved { at, is_sound } = self.solve::<L>(cell, &linear.array(), tolerance);
        let (face, margin) = self.kind(cell).nearest_side(&at);
        let containment = if is_sound && margin >= tolerance {
            Containment::Inside
        } else if is_sound && margin >= -tolerance {
            Containment::Border
        } else {
            Containment::Outside
        };
        CellQuery { at: L::Four::new(at), containment, face }
    }

    #[inline(always)]
    fn beyond(&self, cell: usize, face: usize) -> i32 {
        self.neighbours[self.heads[cell][2] as usize + face]
    }

    #[inline(always)]
    fn mean<L: Lanes<F>>(
        &self,
        values: &[[F; 4]],
        cell: usize,
        at: L::Four,
        pair: &FramePair<F>,
    ) -> L::Four {
        let kind = self.kind(cell);
        let weights = kind.weights::<L>(&at.array());
        let start = self.heads[cell][1] as usize;
        let nodes = &self.nodes[start..start + kind.nodes];
        let mean = sum::<F, L>(values, nodes, &weights, pair.first);
        let mean = mean * L::Four::splat(pair.first_weight);
        if pair.second_weight == F::zero() {
            return mean;
        }
        let second = sum::<F, L>(values, nodes, &weights, pair.second);
        second.fma(L::Four::splat(pair.second_weight), mean)
    }

    fn wall(&self, cell: usize, p: [F; 3]) -> Option<usize> {
        let (linear, tolerance) =
            self.linear::<Portable>(cell, crate::cpu::four::<F, Portable>(&p));
        let at = self.solve::<Portable>(cell, &linear.array(), tolerance).at;
        self.kind(cell).wall(&at, |face| self.beyond(cell, face) < 0)
    }

    fn gradient(&self, cell: usize, p: [F; 3], face: usize) -> ([F; 3], F) {
        let (linear, tolerance) =
            self.linear::<Portable>(cell, crate::cpu::four::<F, Portable>(&p));
        let linear = linear.array();
        let plane = self.kind(cell).plane(face);
        let mut gradient = [plane[1], plane[2], plane[3]];
        if self.heads[cell][3] != 0 {
            let at = self.solve::<Portable>(cell, &linear, tolerance).at;
            let [_, jr, js, jt] = self.jet::<Portable>(cell, &at);
            let (st, tr, rs) = (cross(&js, &jt), cross(&jt, &jr), cross(&jr, &js));
            let per = F::one() / dot(&[jr[0], jr[1], jr[2]], &st);
            let [a, b, c] = gradient;
            gradient = [0, 1, 2].map(|d| (a * st[d] + b * tr[d] + c * rs[d]) * per);
        }
        let [_, x, y, z] = &self.records[cell];
        ([x, y, z].map(|column| dot(&gradient, &[column[0], column[1], column[2]])), tolerance)
    }
}

/// The weighted sum of the values at some nodes of one frame.
#[inline(always)]
fn sum<F: Real, L: Lanes<F>>(
    values: &[[F; 4]],
    nodes: &[i32],
    weights: &[F],
    frame: usize,
) -> L::Four {
    let mut sum = L::Four::splat(F::zero());
    // By index: an iterator call might not be inlined.
    #[allow(clippy::needless_range_loop)]
    for k in 0..nodes.len() {
        let value = L::Four::new(values[frame + nodes[k] as usize]);
        sum = value.fma(L::Four::splat(weights[k]), sum);
    }
    sum
}

#[inline(always)]
fn add<F: Real>(a: &[F; 4], b: &[F; 4]) -> [F; 4] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2], F::zero()]
}

#[inline(always)]
fn cross<F: Real>(a: &[F; 4], b: &[F; 4]) -> [F; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn dot<F: Real>(a: &[F; 3], b: &[F; 3]) -> F {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn max_norm<F: Real>(v: &[F; 3]) -> F {
    v[0].abs().max(v[1].abs()).max(v[2].abs())
}

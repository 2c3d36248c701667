//! Positions in cells without nodes in the middle of their edges: in vectors of up to eight positions, each in a cell of its
//! own, of any of these types. A single position takes the same arithmetic, so that results do not depend on the others.

mod types;
mod vectors;
mod width;

pub(in crate::cpu) use types::Linear;
pub(super) use width::MOST;

use super::{
    General,
    kinds::{CellTypes, Kind, MeshKind},
};
use crate::{
    CellKind,
    cpu::{
        Real,
        lanes::{Four, Lanes, Portable, Vector, prefetch, three},
        mesh::{CellGeometry, CellQuery},
    },
    physics::{
        cells::host::{BORDER, INSIDE, Margin, OUTSIDE, nearest_side},
        prelude::host::Vec3,
        vector::host::is_within,
    },
};
use vectors::{
    Terms, Vectors, choose, difference, inverse, jacobian, largest, small, sum, times, value,
};
use width::{Narrow, Wide, Width};

/// Minimum and maximum number of corrections with one Jacobian.
const FIRST: usize = 3;
const LAST: usize = 12;

const PYRAMID: i32 = CellKind::Pyramid as i32;

/// Positions relative to cells.
pub(super) struct InCells<V, const G: usize> {
    /// The parametric coordinates of each position.
    at: [V; G],
    /// A bit for each position: whether its coordinates are found, and inside by more than the tolerance of its cell.
    found: u32,
    inside: u32,
}

impl<F: Real, T: CellTypes<F>> General<'_, F, T> {
    /// Positions relative to cells.
    #[inline(always)]
    pub(super) fn query_linear<L: Lanes<F>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> [CellQuery<L::Four>; G] {
        let InCells { at, found, inside } = match G {
            1 => self.locate_in_cells::<L, Narrow, G>(cells, positions),
            _ => self.locate_in_cells::<L, Wide, G>(cells, positions),
        };
        let mut queries = [CellQuery { at: at[0], containment: INSIDE, face: 0 }; G];
        for g in 0..G {
            queries[g].at = at[g];
            if inside >> g & 1 == 0 {
                let place = (found >> g & 1 == 1).then_some(at[g].array());
                let query = self.query_beyond(cells[g], positions[g].array(), place);
                let CellQuery { at, containment, face } = query;
                queries[g] = CellQuery { at: L::Four::new(at), containment, face };
            }
        }
        queries
    }

    /// A position that is not inside a cell, with its coordinates unless they are not found, as in a folded cell, or in a pyramid.
    #[cold]
    #[inline(never)]
    fn query_beyond(&self, cell: usize, p: [F; 4], at: Option<[F; 4]>) -> CellQuery<[F; 4]> {
        let Some(at) = at else {
            let query = self.query_any::<Portable>(cell, <Portable as Lanes<F>>::Four::new(p));
            let CellQuery { at, containment, face } = query;
            return CellQuery { at: at.array(), containment, face };
        };
        let code = self.code(cell);
        let point = Vec3(three(at));
        // Sides that are known to the compiler, where possible.
        let Margin { face, smallest } = match self.are_bricks {
            true => nearest_side(code, point, MeshKind::BRICKS),
            false => nearest_side(code, point, self.types.kind(code).mesh),
        };
        // Not a number is beyond no side.
        let is_sound = is_within(point, F::max_value());
        let is_border = is_sound && smallest >= -self.tolerance(cell);
        let containment = if is_border { BORDER } else { OUTSIDE };
        CellQuery { at, containment, face: face as usize }
    }

    /// The parametric coordinates of positions in cells.
    #[inline(always)]
    fn locate_in_cells<L: Lanes<F>, W: Width<F, L>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> InCells<L::Four, G> {
        let zero = W::Vector::splat(F::zero());
        let mut rows = [L::Four::splat(F::zero()); MOST];
        let (mut straight, mut known, mut starts) = (0, 0, [0; MOST]);
        // By index: an iterator call might not be inlined.
        for lane in 0..W::LANES {
            // The lanes without a position repeat the first one.
            let g = if lane < G { lane } else { 0 };
            let [code, .., start] = self.heads[cells[g]];
            rows[lane] = self.linear_in_cell::<L>(cells[g], positions[g]);
            // The Jacobian of a pyramid differs too much from place to place.
            let is_pyramid = code == PYRAMID;
            starts[lane] = if is_pyramid { 0 } else { start as usize / 4 };
            known |= u32::from(!is_pyramid) << lane;
            straight |= u32::from(starts[lane] == 0) << lane;
        }
        let [x, y, z, tolerance] = W::columns(&rows);
        let [r, s, t, leaning] = self.frames::<L, W, G>(cells);
        let (linear, guess) = ([x, y, z], [x + r, y + s, z + t]);
        let (mut at, mut size) = (guess, zero);
        if straight != W::ALL {
            (at, size) = match self.is_flat {
                true => self.solve_together::<L, W, G, 2, 4>(&starts, linear, guess, straight),
                false => self.solve_together::<L, W, G, 3, 8>(&starts, linear, guess, straight),
            };
        }
        let found = size.less(small()) & known;
        let inside = found & tolerance.less(self.depth(at, leaning));
        let rows = W::rows([at[0], at[1], at[2], zero]);
        let mut at = *positions;
        at.copy_from_slice(&rows[..G]);
        InCells { at, found, inside }
    }

    /// The middle of each cell in parametric coordinates, and how its sides lean; see [`Kind`].
    #[inline(always)]
    fn frames<L: Lanes<F>, W: Width<F, L>, const G: usize>(
        &self,
        cells: &[usize; G],
    ) -> [W::Vector; 4] {
        if self.are_bricks {
            let half = W::Vector::splat(F::of(0.5));
            return [half, half, half, W::Vector::splat(F::zero())];
        }
        let mut rows = [L::Four::splat(F::zero()); MOST];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for lane in 0..W::LANES {
            let g = if lane < G { lane } else { 0 };
            rows[lane] = L::Four::new(self.types.kind(self.code(cells[g])).frame);
        }
        W::columns(&rows)
    }

    /// The smallest distance of points from the sides of their cells, negative beyond one.
    #[inline(always)]
    fn depth<V: Vector<F>>(&self, [r, s, mut t]: Vectors<V>, leaning: V) -> V {
        let [zero, one] = [V::splat(F::zero()), V::splat(F::one())];
        if self.is_flat {
            t = V::splat(F::of(0.5));
        }
        let (mut below_r, mut below_s, mut below_t) = (one - r, one - s, one - t);
        if !self.are_bricks {
            let no_triangle = zero - leaning.min(one);
            let no_tetra = zero - (leaning - one).max(zero);
            below_r = no_tetra.fma(t, no_triangle.fma(s, below_r));
            below_s = no_tetra.fma(t, no_triangle.fma(r, below_s));
            below_t = no_tetra.fma(r + s, below_t);
        }
        // In this order NaN, which r and s both are, remains.
        t.min(below_t).min(r.min(s)).min(below_r.min(below_s))
    }

    /// Asks for the cells around one. Their nodes, neighbours and terms are expected where they are if all cells in between are of
    /// the same type, and curved if this one is: there is no time to read it.
    #[inline(always)]
    pub(super) fn prefetch_linear(&self, cell: usize) {
        let [code, nodes, start, terms] = self.heads[cell].map(|number| number as usize);
        let Kind { faces, nodes: corners, .. } = *self.types.kind(code as i32);
        for face in start..start + faces {
            // Beyond a boundary face is no cell.
            let next = self.neighbours[face] as usize;
            let Some(record) = self.records.get(next) else { continue };
            // What is longer than a line of the cache may begin in any place of one.
            prefetch(Some(record));
            prefetch(Some(&record[3]));
            prefetch(self.heads.get(next));
            let cells = next.wrapping_sub(cell);
            let after = |first: usize, each: usize| first.wrapping_add(cells.wrapping_mul(each));
            prefetch(self.nodes.get(after(nodes, corners)));
            prefetch(self.neighbours.get(after(start, faces)));
            if terms != 0 {
                let terms = after(terms / 4, 8);
                prefetch(self.terms.get(terms));
                prefetch(self.terms.get(terms.wrapping_add(4)));
                prefetch(self.terms.get(terms.wrapping_add(7)));
            }
        }
    }

    /// The linear coordinates of a position in a cell, and the tolerance of its faces.
    #[inline(always)]
    fn linear_in_cell<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> L::Four {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let (zero, one) = (F::zero(), F::one());
        let linear = L::Four::new([zero, zero, zero, one]) * d;
        let linear = L::Four::new(*x).fma(d.spread::<0>(), linear);
        let linear = L::Four::new(*y).fma(d.spread::<1>(), linear);
        L::Four::new(*z).fma(d.spread::<2>(), linear)
    }

    /// The points at which the polynomials of cells have values, in `D` dimensions, and the sizes of the last corrections. In
    /// cells that are `straight`, one bit for each, that is the guess.
    ///
    /// A polynomial is near the identity, so that what it differs by improves the guess. From there one Jacobian
    /// serves all corrections, of which each is at most a hundredth of the last one in usual cells. That is three
    /// evaluations of the polynomial instead of two or three of a Jacobian and its inverse, one after the other.
    #[inline(always)]
    fn solve_together<
        L: Lanes<F>,
        W: Width<F, L>,
        const G: usize,
        const D: usize,
        const N: usize,
    >(
        &self,
        starts: &[usize; MOST],
        linear: Vectors<W::Vector>,
        guess: Vectors<W::Vector>,
        straight: u32,
    ) -> (Vectors<W::Vector>, W::Vector) {
        let terms = &self.terms_of_cells::<L, W, G, N>(starts);
        let [zero, one] = [W::Vector::splat(F::zero()), W::Vector::splat(F::one())];
        let rest = difference(linear, value::<F, _, D>(terms, guess));
        let mut at = sum(guess, rest);
        let inverse = inverse::<F, _, D>(jacobian::<F, _, D>(terms, at));
        let curved = if straight == 0 { one } else { W::lanes_without(straight) };
        let mut size = one;
        for k in 1..=LAST {
            let rest = difference(linear, value::<F, _, D>(terms, at));
            let step = times::<F, _, D>(&inverse, rest);
            let next = sum(at, step);
            if k < FIRST {
                at = next;
                continue;
            }
            // Each position stops at its own last correction.
            at = choose(size, small(), at, next);
            size = size.where_less(small(), size, largest(step));
            if k == FIRST && straight != 0 {
                size = curved.where_less(one, zero, size);
            }
            if size.less(small()) == W::ALL {
                break;
            }
        }
        if straight != 0 {
            at = choose(curved, one, guess, at);
        }
        (at, size)
    }

    /// The first `N` terms of cells, from their rows in the table. Those of a straight cell are arbitrary.
    #[inline(always)]
    fn terms_of_cells<L: Lanes<F>, W: Width<F, L>, const G: usize, const N: usize>(
        &self,
        starts: &[usize; MOST],
    ) -> Terms<Vectors<W::Vector>> {
        let mut terms = [[W::Vector::splat(F::zero()); 3]; 8];
        // Of a length that is known, so that one test serves all terms.
        let mut lanes = [&self.terms[starts[0]..][..N]; MOST];
        for lane in 1..MOST {
            if lane < G {
                lanes[lane] = &self.terms[starts[lane]..][..N];
            }
        }
        for j in 0..N {
            if G == 1 {
                for d in 0..3 {
                    terms[j][d] = W::Vector::splat(lanes[0][j][d]);
                }
            } else {
                let mut rows = [L::Four::splat(F::zero()); MOST];
                for lane in 0..MOST {
                    rows[lane] = L::Four::new(lanes[lane][j]);
                }
                let [x, y, z, _] = W::columns(&rows);
                terms[j] = [x, y, z];
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests;

//! Positions in hexahedra and voxels: in vectors of up to four positions, each in a cell of its own. A single position
//! takes the same arithmetic, so that results do not depend on the others.

use super::{General, kinds::CellTypes};
use crate::{
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

/// Minimum and maximum number of corrections with one Jacobian.
const FIRST: usize = 3;
const LAST: usize = 12;

/// A vector of each of four positions, by components.
type Vectors<V> = [V; 3];

/// The terms of a trilinear polynomial: 1, r, s, rs, t, rt, st, rst.
type Terms<T> = [T; 8];

/// Positions relative to bricks.
pub(super) struct InBricks<V, const G: usize> {
    /// The parametric coordinates of each position.
    at: [V; G],
    /// A bit for each position: whether its coordinates are found, and inside by more than the tolerance of its cell.
    found: u32,
    inside: u32,
}

impl<F: Real, T: CellTypes<F>> General<'_, F, T> {
    /// Positions relative to bricks.
    #[inline(always)]
    pub(super) fn query_bricks<L: Lanes<F>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> [CellQuery<L::Four>; G] {
        let InBricks { at, found, inside } = self.locate_in_bricks::<L, G>(cells, positions);
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

    /// A position that is not inside a brick, with its coordinates unless they are not found, as in a folded cell.
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
        let Margin { face, smallest } = nearest_side(code, point, self.types.sides(code));
        // Not a number is beyond no side.
        let is_sound = is_within(point, F::max_value());
        let is_border = is_sound && smallest >= -self.tolerance(cell);
        let containment = if is_border { BORDER } else { OUTSIDE };
        CellQuery { at, containment, face: face as usize }
    }

    /// The parametric coordinates of positions in bricks.
    #[inline(always)]
    fn locate_in_bricks<L: Lanes<F>, const G: usize>(
        &self,
        cells: &[usize; G],
        positions: &[L::Four; G],
    ) -> InBricks<L::Four, G> {
        let zero = L::Four::splat(F::zero());
        let mut rows = [zero; 4];
        let (mut curved, mut starts) = ([F::zero(); 4], [0; 4]);
        // By index: an iterator call might not be inlined.
        for lane in 0..4 {
            // The lanes without a position repeat the first one.
            let g = if lane < G { lane } else { 0 };
            rows[lane] = self.linear_in_brick::<L>(cells[g], positions[g]);
            starts[lane] = self.heads[cells[g]][3] as usize / 4;
            curved[lane] = if starts[lane] == 0 { F::zero() } else { F::one() };
        }
        let [x, y, z, tolerance] = L::Four::transposed(rows);
        let half = L::Four::splat(F::of(0.5));
        let (linear, guess) = ([x, y, z], [x + half, y + half, z + half]);
        let (mut at, mut size) = (guess, zero);
        let curved = L::Four::new(curved);
        if zero.less(curved) != 0 {
            let terms = self.terms_of_bricks::<L, G>(&starts);
            (at, size) = solve::<F, L>(&terms, linear, guess, curved);
        }
        let found = size.less(small::<F, L>());
        let inside = found & tolerance.less(depth::<F, L>(at));
        let rows = L::Four::transposed([at[0], at[1], at[2], zero]);
        let mut at = *positions;
        at.copy_from_slice(&rows[..G]);
        InBricks { at, found, inside }
    }

    /// Asks for the bricks around one. Their nodes, neighbours and terms are expected where they are in a mesh of
    /// curved bricks: there is no time to read it.
    #[inline(always)]
    pub(super) fn prefetch_bricks(&self, cell: usize) {
        let start = self.heads[cell][2] as usize;
        for face in start..start + 6 {
            // Beyond a boundary face is no cell.
            let next = self.neighbours[face] as usize;
            let Some(record) = self.records.get(next) else { continue };
            // What is longer than a line of the cache may begin in any place of one.
            prefetch(Some(record));
            prefetch(Some(&record[3]));
            prefetch(self.heads.get(next));
            prefetch(self.nodes.get(8 * next));
            prefetch(self.neighbours.get(6 * next));
            let terms = 4 * self.records.len() + 8 * next;
            prefetch(self.terms.get(terms));
            prefetch(self.terms.get(terms + 4));
            prefetch(self.terms.get(terms + 7));
        }
    }

    /// The linear coordinates of a position in a brick, and the tolerance of its faces.
    #[inline(always)]
    fn linear_in_brick<L: Lanes<F>>(&self, cell: usize, p: L::Four) -> L::Four {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let (zero, one) = (F::zero(), F::one());
        let linear = L::Four::new([zero, zero, zero, one]) * d;
        let linear = L::Four::new(*x).fma(d.spread::<0>(), linear);
        let linear = L::Four::new(*y).fma(d.spread::<1>(), linear);
        L::Four::new(*z).fma(d.spread::<2>(), linear)
    }

    /// The terms of bricks, from their rows in the table. Those of a straight brick are arbitrary.
    #[inline(always)]
    fn terms_of_bricks<L: Lanes<F>, const G: usize>(
        &self,
        starts: &[usize; 4],
    ) -> Terms<Vectors<L::Four>> {
        // Of a length that is known, so that one test serves all terms.
        let lanes = [
            &self.terms[starts[0]..][..8],
            &self.terms[starts[1]..][..8],
            &self.terms[starts[2]..][..8],
            &self.terms[starts[3]..][..8],
        ];
        let zero = L::Four::splat(F::zero());
        let mut terms = [[zero; 3]; 8];
        for j in 0..8 {
            if G == 1 {
                for d in 0..3 {
                    terms[j][d] = L::Four::splat(lanes[0][j][d]);
                }
            } else {
                let mut rows = [zero; 4];
                for lane in 0..4 {
                    rows[lane] = L::Four::new(lanes[lane][j]);
                }
                let [x, y, z, _] = L::Four::transposed(rows);
                terms[j] = [x, y, z];
            }
        }
        terms
    }
}

/// The size below which a correction is rounding.
#[inline(always)]
fn small<F: Real, L: Lanes<F>>() -> L::Four {
    L::Four::splat(F::of(8.0) * F::epsilon())
}

/// The points at which polynomials have values, and the sizes of the last corrections. Where a cell is not `curved`, that is
/// the guess.
///
/// A polynomial is near the identity, so that what it differs by improves the guess. From there one Jacobian
/// serves all corrections, of which each is at most a hundredth of the last one in usual cells. That is three
/// evaluations of the polynomial instead of two or three of a Jacobian and its inverse, one after the other.
#[inline(always)]
fn solve<F: Real, L: Lanes<F>>(
    terms: &Terms<Vectors<L::Four>>,
    linear: Vectors<L::Four>,
    guess: Vectors<L::Four>,
    curved: L::Four,
) -> (Vectors<L::Four>, L::Four) {
    let (zero, one) = (L::Four::splat(F::zero()), L::Four::splat(F::one()));
    let rest = difference::<F, L>(linear, value::<F, L>(terms, guess));
    let mut at = sum::<F, L>(guess, rest);
    let inverse = inverse::<F, L>(jacobian::<F, L>(terms, at));
    let mut size = one;
    for k in 1..=LAST {
        let rest = difference::<F, L>(linear, value::<F, L>(terms, at));
        let step = times::<F, L>(&inverse, rest);
        let next = sum::<F, L>(at, step);
        if k < FIRST {
            at = next;
            continue;
        }
        // Each position stops at its own last correction.
        at = choose::<F, L>(size, small::<F, L>(), at, next);
        size = size.where_less(small::<F, L>(), size, largest::<F, L>(step));
        if k == FIRST {
            size = curved.where_less(one, zero, size);
        }
        if size.less(small::<F, L>()) == 0b1111 {
            break;
        }
    }
    (choose::<F, L>(curved, one, guess, at), size)
}

/// Trilinear polynomials at points.
#[inline(always)]
fn value<F: Real, L: Lanes<F>>(
    terms: &Terms<Vectors<L::Four>>,
    [r, s, t]: Vectors<L::Four>,
) -> Vectors<L::Four> {
    let mut value = [r; 3];
    for d in 0..3 {
        let term = |j: usize| terms[j][d];
        let low = term(3).fma(r, term(2)).fma(s, term(1).fma(r, term(0)));
        let high = term(7).fma(r, term(6)).fma(s, term(5).fma(r, term(4)));
        value[d] = high.fma(t, low);
    }
    value
}

/// Their derivatives with respect to r, s and t.
#[inline(always)]
fn jacobian<F: Real, L: Lanes<F>>(
    terms: &Terms<Vectors<L::Four>>,
    [r, s, t]: Vectors<L::Four>,
) -> [Vectors<L::Four>; 3] {
    let mut columns = [[r; 3]; 3];
    for d in 0..3 {
        let term = |j: usize| terms[j][d];
        let [low_by_s, high_by_s] = [term(3).fma(r, term(2)), term(7).fma(r, term(6))];
        columns[0][d] = term(7).fma(s, term(5)).fma(t, term(3).fma(s, term(1)));
        columns[1][d] = high_by_s.fma(t, low_by_s);
        columns[2][d] = high_by_s.fma(s, term(5).fma(r, term(4)));
    }
    columns
}

/// The rows of the inverses of matrices with these columns.
#[inline(always)]
fn inverse<F: Real, L: Lanes<F>>([a, b, c]: [Vectors<L::Four>; 3]) -> [Vectors<L::Four>; 3] {
    let mut rows = [cross::<F, L>(b, c), cross::<F, L>(c, a), cross::<F, L>(a, b)];
    let scale = L::Four::splat(F::one()).per(dot::<F, L>(a, rows[0]));
    // By index: an iterator call might not be inlined.
    #[allow(clippy::needless_range_loop)]
    for d in 0..3 {
        rows[d] = [rows[d][0] * scale, rows[d][1] * scale, rows[d][2] * scale];
    }
    rows
}

/// The product of matrices with these rows, and vectors.
#[inline(always)]
fn times<F: Real, L: Lanes<F>>(
    rows: &[Vectors<L::Four>; 3],
    v: Vectors<L::Four>,
) -> Vectors<L::Four> {
    [dot::<F, L>(rows[0], v), dot::<F, L>(rows[1], v), dot::<F, L>(rows[2], v)]
}

#[inline(always)]
fn dot<F: Real, L: Lanes<F>>(a: Vectors<L::Four>, b: Vectors<L::Four>) -> L::Four {
    a[2].fma(b[2], a[1].fma(b[1], a[0] * b[0]))
}

#[inline(always)]
fn cross<F: Real, L: Lanes<F>>(a: Vectors<L::Four>, b: Vectors<L::Four>) -> Vectors<L::Four> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn sum<F: Real, L: Lanes<F>>(a: Vectors<L::Four>, b: Vectors<L::Four>) -> Vectors<L::Four> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn difference<F: Real, L: Lanes<F>>(a: Vectors<L::Four>, b: Vectors<L::Four>) -> Vectors<L::Four> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The vectors of `yes` where `x < bound`, of `no` elsewhere.
#[inline(always)]
fn choose<F: Real, L: Lanes<F>>(
    x: L::Four,
    bound: L::Four,
    yes: Vectors<L::Four>,
    no: Vectors<L::Four>,
) -> Vectors<L::Four> {
    [
        x.where_less(bound, yes[0], no[0]),
        x.where_less(bound, yes[1], no[1]),
        x.where_less(bound, yes[2], no[2]),
    ]
}

/// The largest component, without its sign.
#[inline(always)]
fn largest<F: Real, L: Lanes<F>>(v: Vectors<L::Four>) -> L::Four {
    let zero = L::Four::splat(F::zero());
    let mut largest = zero;
    #[allow(clippy::needless_range_loop)]
    for d in 0..3 {
        let size = v[d].where_less(zero, zero - v[d], v[d]);
        largest = size.where_less(largest, largest, size);
    }
    largest
}

/// The smallest distance of points from the sides of the unit cube, negative beyond one.
#[inline(always)]
fn depth<F: Real, L: Lanes<F>>(at: Vectors<L::Four>) -> L::Four {
    let one = L::Four::splat(F::one());
    let mut depth = one;
    #[allow(clippy::needless_range_loop)]
    for d in 0..3 {
        let high = one - at[d];
        let side = at[d].where_less(high, at[d], high);
        depth = depth.where_less(side, depth, side);
    }
    depth
}

#[cfg(test)]
mod tests;

//! Positions in cells without nodes in the middle of their edges: in vectors of up to eight positions, each in a cell of its
//! own, of any of these types. A single position takes the same arithmetic, so that results do not depend on the others.

use super::{
    General,
    kinds::{CellTypes, MeshKind},
};
use crate::{
    CellKind,
    cpu::{
        Real,
        lanes::{Eight, Four, Lanes, Portable, Vector, prefetch, three},
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

/// The most positions at once.
pub(super) const MOST: usize = 8;

const PYRAMID: i32 = CellKind::Pyramid as i32;

/// A vector of each of eight positions, by components.
type Vectors<V> = [V; 3];

/// The terms of a trilinear polynomial: 1, r, s, rs, t, rt, st, rst.
type Terms<T> = [T; 8];

/// The vectors in which coordinates of positions are: a lane for each position.
trait Width<F: Real, L: Lanes<F>> {
    type Vector: Vector<F>;
    const LANES: usize;
    /// A bit for each lane.
    const ALL: u32 = (1 << Self::LANES) - 1;

    /// The components of rows, of which there are as many as lanes.
    fn columns(rows: &[L::Four; MOST]) -> [Self::Vector; 4];

    /// The rows of components.
    fn rows(columns: [Self::Vector; 4]) -> [L::Four; MOST];

    /// 0 in the lanes with these bits, and 1 in the others.
    fn lanes_without(bits: u32) -> Self::Vector;
}

/// For a single position, which all lanes repeat.
struct Narrow;
/// For several positions.
struct Wide;

impl<F: Real, L: Lanes<F>> Width<F, L> for Narrow {
    type Vector = L::Four;
    const LANES: usize = 4;

    #[inline(always)]
    fn columns(rows: &[L::Four; MOST]) -> [L::Four; 4] {
        let [row, ..] = *rows;
        [row.spread::<0>(), row.spread::<1>(), row.spread::<2>(), row.spread::<3>()]
    }

    #[inline(always)]
    fn rows(columns: [L::Four; 4]) -> [L::Four; MOST] {
        let [row, ..] = L::Four::transposed(columns);
        [row; MOST]
    }

    #[inline(always)]
    fn lanes_without(bits: u32) -> L::Four {
        L::Four::splat(if bits == 0 { F::one() } else { F::zero() })
    }
}

impl<F: Real, L: Lanes<F>> Width<F, L> for Wide {
    type Vector = L::Eight;
    const LANES: usize = MOST;

    #[inline(always)]
    fn columns(rows: &[L::Four; MOST]) -> [L::Eight; 4] {
        let [a, b, c, d, e, f, g, h] = *rows;
        let rows = [[a, e], [b, f], [c, g], [d, h]];
        let mut joined = [L::Eight::splat(F::zero()); 4];
        // By index: an iterator call might not be inlined.
        for k in 0..4 {
            joined[k] = L::Eight::joined(rows[k]);
        }
        L::Eight::transposed(joined)
    }

    #[inline(always)]
    fn rows(columns: [L::Eight; 4]) -> [L::Four; MOST] {
        let [a, b, c, d] = L::Eight::transposed(columns);
        let ([a, e], [b, f], [c, g], [d, h]) = (a.halves(), b.halves(), c.halves(), d.halves());
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn lanes_without(bits: u32) -> L::Eight {
        let mut lanes = [F::one(); MOST];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for lane in 0..MOST {
            if bits >> lane & 1 == 1 {
                lanes[lane] = F::zero();
            }
        }
        L::Eight::new(&lanes)
    }
}

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
            false => nearest_side(code, point, self.types.sides(code)),
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

    /// The middle of each cell in parametric coordinates, and how its sides lean; see [`Kind::frame`](super::kinds::Kind).
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
            rows[lane] = L::Four::new(*self.types.frame(self.code(cells[g])));
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
        let code = code as i32;
        let (faces, corners) = (self.types.faces(code), self.types.nodes(code));
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

/// The size below which a correction is rounding.
#[inline(always)]
fn small<F: Real, V: Vector<F>>() -> V {
    V::splat(F::of(8.0) * F::epsilon())
}

/// Trilinear polynomials at points; in two dimensions bilinear ones, with 0 for the third component.
#[inline(always)]
fn value<F: Real, V: Vector<F>, const D: usize>(
    terms: &Terms<Vectors<V>>,
    [r, s, t]: Vectors<V>,
) -> Vectors<V> {
    let mut value = [V::splat(F::zero()); 3];
    for d in 0..D {
        let term = |j: usize| terms[j][d];
        value[d] = term(3).fma(r, term(2)).fma(s, term(1).fma(r, term(0)));
        if D == 3 {
            let high = term(7).fma(r, term(6)).fma(s, term(5).fma(r, term(4)));
            value[d] = high.fma(t, value[d]);
        }
    }
    value
}

/// Their derivatives with respect to r, s and t.
#[inline(always)]
fn jacobian<F: Real, V: Vector<F>, const D: usize>(
    terms: &Terms<Vectors<V>>,
    [r, s, t]: Vectors<V>,
) -> [Vectors<V>; 3] {
    let mut columns = [[r; 3]; 3];
    for d in 0..D {
        let term = |j: usize| terms[j][d];
        columns[0][d] = term(3).fma(s, term(1));
        columns[1][d] = term(3).fma(r, term(2));
        if D == 3 {
            let high_by_s = term(7).fma(r, term(6));
            columns[0][d] = term(7).fma(s, term(5)).fma(t, columns[0][d]);
            columns[1][d] = high_by_s.fma(t, columns[1][d]);
            columns[2][d] = high_by_s.fma(s, term(5).fma(r, term(4)));
        }
    }
    columns
}

/// The rows of the inverses of matrices with these columns.
#[inline(always)]
fn inverse<F: Real, V: Vector<F>, const D: usize>([a, b, c]: [Vectors<V>; 3]) -> [Vectors<V>; 3] {
    let (zero, one) = (V::splat(F::zero()), V::splat(F::one()));
    let (mut rows, scale);
    if D == 2 {
        rows = [[b[1], zero - b[0], zero], [zero - a[1], a[0], zero], [zero; 3]];
        scale = one.per(a[0] * b[1] - a[1] * b[0]);
    } else {
        rows = [cross(b, c), cross(c, a), cross(a, b)];
        scale = one.per(dot(a, rows[0]));
    }
    // By index: an iterator call might not be inlined.
    #[allow(clippy::needless_range_loop)]
    for d in 0..D {
        rows[d] = [rows[d][0] * scale, rows[d][1] * scale, rows[d][2] * scale];
    }
    rows
}

/// The product of matrices with these rows, and vectors.
#[inline(always)]
fn times<F: Real, V: Vector<F>, const D: usize>(
    rows: &[Vectors<V>; 3],
    v: Vectors<V>,
) -> Vectors<V> {
    if D == 2 {
        let along = |[x, y, _]: Vectors<V>| y.fma(v[1], x * v[0]);
        return [along(rows[0]), along(rows[1]), V::splat(F::zero())];
    }
    [dot(rows[0], v), dot(rows[1], v), dot(rows[2], v)]
}

#[inline(always)]
fn dot<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> V {
    a[2].fma(b[2], a[1].fma(b[1], a[0] * b[0]))
}

#[inline(always)]
fn cross<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> Vectors<V> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
fn sum<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> Vectors<V> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
fn difference<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> Vectors<V> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The vectors of `yes` where `x < bound`, of `no` elsewhere.
#[inline(always)]
fn choose<F: Real, V: Vector<F>>(x: V, bound: V, yes: Vectors<V>, no: Vectors<V>) -> Vectors<V> {
    [
        x.where_less(bound, yes[0], no[0]),
        x.where_less(bound, yes[1], no[1]),
        x.where_less(bound, yes[2], no[2]),
    ]
}

/// The largest component, without its sign. NaN if one is infinite or NaN, of which maxima may take no notice.
#[inline(always)]
fn largest<F: Real, V: Vector<F>>([x, y, z]: Vectors<V>) -> V {
    let zero = V::splat(F::zero());
    let (size_x, size_y, size_z) = ((zero - x).max(x), (zero - y).max(y), (zero - z).max(z));
    size_x.max(size_y).max(size_z) + zero * (x + y + z)
}

#[cfg(test)]
mod tests;

//! Positions in hexahedra and voxels, in vectors.

use super::{General, kinds::CellTypes};
use crate::{
    cpu::{
        Real,
        lanes::{Four, Lanes, Vector},
        mesh::{CellGeometry, CellQuery},
        three,
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

/// The terms of a trilinear polynomial: 1, r, s, rs, t, rt, st, rst.
type Terms<V> = [V; 8];

/// The columns of a matrix.
type Columns<V> = [V; 3];

impl<F: Real, T: CellTypes<F>> General<'_, F, T> {
    /// A position relative to a brick; `None` if the coordinates are not found, as in a folded cell.
    #[inline(always)]
    pub(super) fn query_brick<L: Lanes<F>>(
        &self,
        cell: usize,
        p: L::Four,
    ) -> Option<CellQuery<L::Four>> {
        let [origin, x, y, z] = &self.records[cell];
        let d = p - L::Four::new(*origin);
        let linear = L::Four::new(*x) * d.spread::<0>();
        let linear = L::Four::new(*y).fma(d.spread::<1>(), linear);
        let linear = L::Four::new(*z).fma(d.spread::<2>(), linear);
        let tolerance = d.spread::<3>();
        let at = self.brick_coordinates::<L>(cell, linear)?;
        let high = L::Four::splat(F::one()) - at;
        let margin = at.where_less(high, at, high);
        if margin.inside(tolerance, high.where_less(at, at, high)).has_three() {
            return Some(CellQuery { at, containment: INSIDE, face: 0 });
        }
        let code = self.code(cell);
        let point = Vec3(three(at.array()));
        let Margin { face, smallest } = nearest_side(code, point, self.types.sides(code));
        // Not a number is beyond no side.
        let is_sound = is_within(point, F::max_value());
        let is_border = is_sound && smallest >= -self.tolerance(cell);
        let containment = if is_border { BORDER } else { OUTSIDE };
        Some(CellQuery { at, containment, face: face as usize })
    }

    /// The parametric coordinates with given linear ones.
    ///
    /// The polynomial is near the identity, so that what it differs by improves the first guess. From there one Jacobian
    /// serves all corrections, of which each is at most a hundredth of the last one in usual cells. That is three
    /// evaluations of the polynomial instead of two or three of a Jacobian and its inverse, one after the other.
    #[inline(always)]
    fn brick_coordinates<L: Lanes<F>>(&self, cell: usize, linear: L::Four) -> Option<L::Four> {
        let half = F::of(0.5);
        let guess = L::Four::new([half, half, half, F::zero()]) + linear;
        let start = self.heads[cell][3] as usize / 4;
        if start == 0 {
            return Some(guess);
        }
        let terms = &self.terms[start..start + 8];
        let terms = [0, 1, 2, 3, 4, 5, 6, 7].map(|j| L::Four::new(terms[j]));
        let mut at = guess + (linear - value::<F, L>(&terms, guess));
        let inverse = inverse::<F, L>(jacobian::<F, L>(&terms, at));
        let small = L::Four::splat(F::of(8.0) * F::epsilon());
        let low = L::Four::splat(F::zero()) - small;
        for k in 1..=LAST {
            let step = times::<F, L>(&inverse, linear - value::<F, L>(&terms, at));
            at = at + step;
            if k >= FIRST && step.inside(low, small).has_three() {
                return Some(at);
            }
        }
        None
    }
}

/// A trilinear polynomial at a point.
#[inline(always)]
fn value<F: Real, L: Lanes<F>>(terms: &Terms<L::Four>, at: L::Four) -> L::Four {
    let (r, s, t) = (at.spread::<0>(), at.spread::<1>(), at.spread::<2>());
    let low = terms[3].fma(r, terms[2]).fma(s, terms[1].fma(r, terms[0]));
    let high = terms[7].fma(r, terms[6]).fma(s, terms[5].fma(r, terms[4]));
    high.fma(t, low)
}

/// Its derivatives with respect to r, s and t.
#[inline(always)]
fn jacobian<F: Real, L: Lanes<F>>(terms: &Terms<L::Four>, at: L::Four) -> Columns<L::Four> {
    let (r, s, t) = (at.spread::<0>(), at.spread::<1>(), at.spread::<2>());
    let [low_by_s, high_by_s] = [terms[3].fma(r, terms[2]), terms[7].fma(r, terms[6])];
    [
        terms[7].fma(s, terms[5]).fma(t, terms[3].fma(s, terms[1])),
        high_by_s.fma(t, low_by_s),
        high_by_s.fma(s, terms[5].fma(r, terms[4])),
    ]
}

#[inline(always)]
fn inverse<F: Real, L: Lanes<F>>([a, b, c]: Columns<L::Four>) -> Columns<L::Four> {
    let zero = L::Four::splat(F::zero());
    let first = cross::<F, L>(b, c);
    let products = a * first;
    let determinant = products.spread::<0>() + products.spread::<1>() + products.spread::<2>();
    let rows = [first, cross::<F, L>(c, a), cross::<F, L>(a, b), zero];
    let [x, y, z, _] = L::Four::transposed(rows);
    let scale = L::Four::splat(F::one()).per(determinant);
    [x * scale, y * scale, z * scale]
}

#[inline(always)]
fn times<F: Real, L: Lanes<F>>([x, y, z]: &Columns<L::Four>, v: L::Four) -> L::Four {
    z.fma(v.spread::<2>(), y.fma(v.spread::<1>(), *x * v.spread::<0>()))
}

#[inline(always)]
fn cross<F: Real, L: Lanes<F>>(a: L::Four, b: L::Four) -> L::Four {
    (a * b.rotated() - a.rotated() * b).rotated()
}

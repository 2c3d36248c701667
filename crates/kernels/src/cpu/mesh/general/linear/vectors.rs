//! Arithmetic on a vector of each of several positions.

use crate::cpu::{Real, lanes::Vector};

/// A vector of each of eight positions, by components.
pub(super) type Vectors<V> = [V; 3];

/// The terms of a trilinear polynomial: 1, r, s, rs, t, rt, st, rst.
pub(super) type Terms<T> = [T; 8];

/// The size below which a correction is rounding.
#[inline(always)]
pub(super) fn small<F: Real, V: Vector<F>>() -> V {
    V::splat(F::of(8.0) * F::epsilon())
}

/// Trilinear polynomials at points; in two dimensions bilinear ones, with 0 for the third component.
#[inline(always)]
pub(super) fn value<F: Real, V: Vector<F>, const D: usize>(
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
pub(super) fn jacobian<F: Real, V: Vector<F>, const D: usize>(
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
pub(super) fn inverse<F: Real, V: Vector<F>, const D: usize>(
    [a, b, c]: [Vectors<V>; 3],
) -> [Vectors<V>; 3] {
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
pub(super) fn times<F: Real, V: Vector<F>, const D: usize>(
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
pub(super) fn dot<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> V {
    a[2].fma(b[2], a[1].fma(b[1], a[0] * b[0]))
}

#[inline(always)]
pub(super) fn cross<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> Vectors<V> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline(always)]
pub(super) fn sum<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> Vectors<V> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(super) fn difference<F: Real, V: Vector<F>>(a: Vectors<V>, b: Vectors<V>) -> Vectors<V> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The vectors of `yes` where `x < bound`, of `no` elsewhere.
#[inline(always)]
pub(super) fn choose<F: Real, V: Vector<F>>(
    x: V,
    bound: V,
    yes: Vectors<V>,
    no: Vectors<V>,
) -> Vectors<V> {
    [
        x.where_less(bound, yes[0], no[0]),
        x.where_less(bound, yes[1], no[1]),
        x.where_less(bound, yes[2], no[2]),
    ]
}

/// The largest component, without its sign. NaN if one is infinite or NaN, of which maxima may take no notice.
#[inline(always)]
pub(super) fn largest<F: Real, V: Vector<F>>([x, y, z]: Vectors<V>) -> V {
    let zero = V::splat(F::zero());
    let (size_x, size_y, size_z) = ((zero - x).max(x), (zero - y).max(y), (zero - z).max(z));
    size_x.max(size_y).max(size_z) + zero * (x + y + z)
}

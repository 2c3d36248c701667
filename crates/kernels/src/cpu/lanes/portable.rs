//! Plain arrays, which the compiler maps to the baseline vectors of the target.

use super::{Eight, Four, Lanes, Real, Task, Vector};
use std::ops::{Add, Mul, Sub};

/// Vectors as plain arrays.
pub struct Portable;

impl<F: Real> Lanes<F> for Portable {
    const IS_PORTABLE: bool = true;
    const FUSES: bool = FUSES;
    type Four = Array<F, 4>;
    type Eight = Array<F, 8>;

    #[inline(never)]
    fn apart(task: impl Task<F>) {
        task.run::<Portable>();
    }
}

/// An array of lanes.
#[derive(Clone, Copy)]
pub struct Array<F, const N: usize>([F; N]);

/// Whether every processor of the compilation target has fused multiply-add; elsewhere it would be
/// a function call.
const FUSES: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

impl<F: Real, const N: usize> Array<F, N> {
    #[inline(always)]
    fn lanes(self, other: Self, work: impl Fn(F, F) -> F) -> Self {
        let mut out = self;
        for l in 0..N {
            out.0[l] = work(self.0[l], other.0[l]);
        }
        out
    }
}

macro_rules! operator {
    ($($name:ident $function:ident)*) => {$(
        impl<F: Real, const N: usize> $name for Array<F, N> {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.lanes(other, |a, b| a.$function(b))
            }
        }
    )*};
}
operator!(Add add  Sub sub  Mul mul);

impl<F: Real, const N: usize> Vector<F> for Array<F, N> {
    #[inline(always)]
    fn splat(x: F) -> Self {
        Array([x; N])
    }

    #[inline(always)]
    fn fma(self, factor: Self, term: Self) -> Self {
        if !FUSES {
            return self * factor + term;
        }
        let mut out = self;
        for l in 0..N {
            out.0[l] = self.0[l].mul_add(factor.0[l], term.0[l]);
        }
        out
    }

    #[inline(always)]
    fn per(self, divisor: Self) -> Self {
        self.lanes(divisor, |a, b| a / b)
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.lanes(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.lanes(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn where_less(self, bound: Self, yes: Self, no: Self) -> Self {
        let mut out = no;
        for l in 0..N {
            out.0[l] = if self.0[l] < bound.0[l] { yes.0[l] } else { no.0[l] };
        }
        out
    }

    #[inline(always)]
    fn less(self, bound: Self) -> u32 {
        let mut bits = 0;
        for l in 0..N {
            bits |= u32::from(self.0[l] < bound.0[l]) << l;
        }
        bits
    }
}

impl<F: Real> Four<F> for Array<F, 4> {
    #[inline(always)]
    fn new(lanes: [F; 4]) -> Self {
        Array(lanes)
    }

    #[inline(always)]
    fn array(self) -> [F; 4] {
        self.0
    }

    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        // `max` returns the other operand if one is NaN.
        self.lanes(low, |x, low| x.max(low)).lanes(high, |x, high| x.min(high))
    }

    #[inline(always)]
    fn trunc(self) -> Self {
        let mut out = self;
        for l in 0..4 {
            out.0[l] = F::from_i32(self.0[l].as_i32());
        }
        out
    }

    #[inline(always)]
    fn as_i32(self) -> [i32; 4] {
        // Not by `map`, whose call is not inlined.
        let [x, y, z, w] = self.0;
        [x.as_i32(), y.as_i32(), z.as_i32(), w.as_i32()]
    }

    #[inline(always)]
    fn inside(self, low: Self, high: Self) -> Self {
        let mut mask = self;
        for l in 0..4 {
            let is_inside = low.0[l] <= self.0[l] && self.0[l] <= high.0[l];
            mask.0[l] = if is_inside { F::one() } else { F::zero() };
        }
        mask
    }

    #[inline(always)]
    fn and(self, mask: Self) -> Self {
        self * mask
    }

    #[inline(always)]
    fn has_three(self) -> bool {
        self.0[0] * self.0[1] * self.0[2] != F::zero()
    }

    #[inline(always)]
    fn spread<const LANE: i32>(self) -> Self {
        Array([self.0[LANE as usize]; 4])
    }

    #[inline(always)]
    fn reaches(self, bound: Self) -> bool {
        let mut reaches = true;
        for l in 0..4 {
            reaches &= self.0[l] >= bound.0[l];
        }
        reaches
    }

    #[inline(always)]
    fn argmin(self) -> usize {
        let mut smallest = 0;
        for l in 1..4 {
            if self.0[l] < self.0[smallest] {
                smallest = l;
            }
        }
        smallest
    }

    #[inline(always)]
    fn rotated(self) -> Self {
        let [x, y, z, w] = self.0;
        Array([y, z, x, w])
    }

    #[inline(always)]
    fn transposed(rows: [Self; 4]) -> [Self; 4] {
        let mut columns = rows;
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for l in 0..4 {
            for k in 0..4 {
                columns[l].0[k] = rows[k].0[l];
            }
        }
        columns
    }
}

impl<F: Real> Eight<F, Array<F, 4>> for Array<F, 8> {
    #[inline(always)]
    unsafe fn read(values: *const [F; 4]) -> Self {
        // SAFETY: the caller guarantees that two values of four numbers are readable.
        Array(unsafe { values.cast::<[F; 8]>().read() })
    }

    #[inline(always)]
    fn halves(self) -> [Array<F, 4>; 2] {
        let [a, b, c, d, e, f, g, h] = self.0;
        [Array([a, b, c, d]), Array([e, f, g, h])]
    }

    #[inline(always)]
    fn joined([low, high]: [Array<F, 4>; 2]) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (low.0, high.0);
        Array([a, b, c, d, e, f, g, h])
    }

    #[inline(always)]
    fn new(lanes: &[F; 8]) -> Self {
        Array(*lanes)
    }

    #[inline(always)]
    fn array(self) -> [F; 8] {
        self.0
    }

    #[inline(always)]
    fn smallest(self) -> F {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
    }

    #[inline(always)]
    fn largest(self) -> F {
        let [a, b, c, d, e, f, g, h] = self.0;
        a.max(b).max(c.max(d)).max(e.max(f).max(g.max(h)))
    }
}

use super::*;
use std::fmt::Debug;

/// Compares the widest vectors with plain arrays.
struct Check<F>([[F; 8]; 3]);

/// The results of all operations on vectors, as numbers.
fn results<F: Real, L: Lanes<F>>([a, b, c]: &[[F; 8]; 3]) -> Vec<F> {
    let [x, y, z] = [a, b, c].map(L::Eight::new);
    let mut all = Vec::new();
    for eight in [x + y, x - y, x * y, x.min(y), x.max(y), x.where_less(y, z, x)] {
        all.extend(eight.array());
        all.extend(eight.halves().map(Four::array).as_flattened());
    }
    let turned = L::Eight::transposed([x, y, z, L::Eight::joined([y, x].map(|v| v.halves()[0]))]);
    all.extend(turned.map(Eight::array).as_flattened());
    all.extend(x.per(y).array());
    // SAFETY: two values of four numbers.
    let read = unsafe { L::Eight::read(b.as_chunks::<4>().0.as_ptr()) };
    all.extend(read.array());
    all.extend([x.smallest(), y.largest(), F::of(x.less(y).into())]);
    let [[x, x2], [y, y2], [z, z2]] = [x, y, z].map(Eight::halves);
    let low = L::Four::splat(F::of(-2.0));
    let high = L::Four::new([F::of(1.5); 4]);
    let fours = [
        x + y,
        x - y,
        x * y,
        x.per(y),
        x.clamp(low, high),
        x.trunc(),
        x.spread::<0>(),
        x.spread::<1>(),
        x.spread::<2>(),
        x.spread::<3>(),
        x.where_less(y, z, x2),
        x.rotated(),
    ];
    all.extend(fours.map(Four::array).as_flattened());
    all.extend(L::Four::transposed([x, y, z, x2]).map(Four::array).as_flattened());
    all.extend(x.as_i32().map(F::from_i32));
    let flags = [
        x.inside(low, high).has_three(),
        y2.inside(low, high).and(z2.inside(low, high)).has_three(),
        x.reaches(y),
        y.reaches(x.clamp(x, y)),
    ];
    all.extend(flags.map(|flag| F::of(u8::from(flag).into())));
    all.extend([x.less(y), z.less(x)].map(|bits| F::of(bits.into())));
    all.extend([x, y, z].map(|four| F::of(four.argmin() as f64)));
    all
}

impl<F: Real + Debug> Task<F> for Check<F> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        assert_eq!(results::<F, L>(&self.0), results::<F, Portable>(&self.0));
        // A fused operation rounds once.
        let x = F::one() + F::of(f64::from(f32::EPSILON));
        let fused = L::Four::splat(x).fma(L::Four::splat(x), L::Four::splat(F::of(-1.0)));
        let expected = if L::FUSES { x.mul_add(x, F::of(-1.0)) } else { x * x - F::one() };
        assert_eq!(fused.array(), [expected; 4]);
        // NaN becomes the lower bound.
        let bounds = [F::of(-2.0), F::one()].map(L::Four::splat);
        let clamped = L::Four::splat(F::of(f64::NAN)).clamp(bounds[0], bounds[1]);
        assert_eq!(clamped.array(), [F::of(-2.0); 4]);
    }
}

fn check<F: Real + Debug>() {
    // Numbers without a pattern, and equal ones among them.
    let number = |k: usize| F::of(((k * k * 37 + 11 * k) % 23) as f64 * 0.37 - 3.9);
    for first in 0..50 {
        let row = |r: usize| std::array::from_fn(|l| number(first + 8 * r + l));
        dispatch(Check([row(0), row(1), row(2)]));
    }
}

#[test]
fn widest_vectors_compute_as_plain_arrays_do() {
    check::<f32>();
    check::<f64>();
}

//! Four numbers at once.

use crate::{FormulaNumber, Function, Operator, cpu::Real};

/// Four numbers. `FUSES`: whether the code is compiled for a processor with fused multiply-add.
#[derive(Clone, Copy)]
pub(super) struct Quad<F, const FUSES: bool>(pub [F; 4]);

impl<F: Real, const FUSES: bool> Quad<F, FUSES> {
    #[inline(always)]
    fn map(&self, function: impl Fn(F) -> F) -> Self {
        let mut result = *self;
        // By index: a call might not be inlined and vectorised.
        for lane in 0..4 {
            result.0[lane] = function(self.0[lane]);
        }
        result
    }

    #[inline(always)]
    fn zip(&self, other: &Self, operation: impl Fn(F, F) -> F) -> Self {
        let mut result = *self;
        for lane in 0..4 {
            result.0[lane] = operation(self.0[lane], other.0[lane]);
        }
        result
    }

    /// Whether the vectorised sine and cosine are accurate for all numbers.
    #[inline(always)]
    fn has_small_angles(&self) -> bool {
        let mut are_small = FUSES;
        for lane in 0..4 {
            are_small &= self.0[lane].abs() < F::LARGE_ANGLE;
        }
        are_small
    }
}

/// A function of each number, by the standard library.
#[inline(never)]
fn each<F: Real>(numbers: &[F; 4], function: Function) -> [F; 4] {
    numbers.map(|x| x.apply(function))
}

/// An operation on each pair of numbers, by the standard library.
#[inline(never)]
fn each_pair<F: Real>(a: &[F; 4], operator: Operator, b: &[F; 4]) -> [F; 4] {
    [0, 1, 2, 3].map(|lane| a[lane].combine(operator, &b[lane]))
}

impl<F: Real, const FUSES: bool> FormulaNumber for Quad<F, FUSES> {
    #[inline(always)]
    fn apply(&self, function: Function) -> Self {
        match function {
            Function::Neg => self.map(|x| -x),
            Function::Sqrt => self.map(|x| x.sqrt()),
            Function::Abs => self.map(|x| x.abs()),
            Function::Floor => self.map(|x| x.floor()),
            Function::Sin => self.sin_cos()[0],
            Function::Cos => self.sin_cos()[1],
            _ => Quad(each(&self.0, function)),
        }
    }

    #[inline(always)]
    fn sin_cos(&self) -> [Self; 2] {
        if !self.has_small_angles() {
            return [Function::Sin, Function::Cos].map(|function| Quad(each(&self.0, function)));
        }
        let [sine, cosine] = F::sin_cos_of_small(&self.0);
        [Quad(sine), Quad(cosine)]
    }

    #[inline(always)]
    fn combine(&self, operator: Operator, other: &Self) -> Self {
        match operator {
            Operator::Add => self.zip(other, |a, b| a + b),
            Operator::Sub => self.zip(other, |a, b| a - b),
            Operator::Mul => self.zip(other, |a, b| a * b),
            Operator::Div => self.zip(other, |a, b| a / b),
            Operator::Min => self.choose_less(other, self, other),
            Operator::Max => self.choose_less(other, other, self),
            Operator::Pow | Operator::Atan2 => Quad(each_pair(&self.0, operator, &other.0)),
        }
    }

    #[inline(always)]
    fn choose_less(&self, bound: &Self, yes: &Self, no: &Self) -> Self {
        let mut result = *no;
        for lane in 0..4 {
            let (a, b) = (self.0[lane], bound.0[lane]);
            // The sum is not a number.
            let other = if a >= b { no.0[lane] } else { a + b };
            result.0[lane] = if a < b { yes.0[lane] } else { other };
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest errors of sine and cosine, in units of epsilon, over angles in a range.
    fn errors<F: Real>([low, high]: [f64; 2]) -> [f64; 2] {
        let mut worst = [0.0_f64; 2];
        for i in 0..200_000 {
            let x = F::of(low + (high - low) * f64::from(i) / 199_999.0);
            let both = Quad::<F, true>([x; 4]).sin_cos().map(|quad| quad.0[2].exact());
            for (worst, (found, exact)) in
                worst.iter_mut().zip(both.into_iter().zip([x.exact().sin(), x.exact().cos()]))
            {
                *worst = worst.max((found - exact).abs() / F::epsilon().exact());
            }
        }
        worst
    }

    #[test]
    fn sines_and_cosines_are_right_to_rounding() {
        for range in [[-4.0, 4.0], [-100.0, 100.0], [-7.9e3, 7.9e3], [1e6, 1e9], [1e12, 1e15]] {
            for worst in [errors::<f32>(range), errors::<f64>(range)] {
                assert!(worst.iter().all(|error| *error <= 1.0), "{range:?}: {worst:?}");
            }
        }
        let special = Quad::<f64, true>([f64::INFINITY, f64::NAN, -0.0, 1.0]).sin_cos();
        assert!(special.iter().all(|quad| quad.0[0].is_nan() && quad.0[1].is_nan()));
        assert_eq!((special[0].0[2], special[1].0[2]), (0.0, 1.0));
        assert!((special[0].0[3] - 1.0_f64.sin()).abs() < 1e-15);
    }

    #[test]
    fn relative_error_near_a_multiple_of_pi_is_small() {
        for n in [1.0, 2.0, 7.0, 1000.0] {
            let x = n * std::f64::consts::PI;
            let [sine, _] = Quad::<f64, true>([x; 4]).sin_cos();
            assert!((sine.0[0] / x.sin() - 1.0).abs() < 1e-9, "{n}: {} {}", sine.0[0], x.sin());
        }
    }

    #[test]
    fn lanes_are_independent() {
        let a = Quad::<f64, true>([1.0, 2.0, f64::NAN, -4.0]);
        let (b, one, zero) = (Quad([2.0, 2.0, 1.0, 2.0]), Quad([1.0; 4]), Quad([0.0; 4]));
        let [chosen, lower] = [a.choose_less(&b, &one, &zero).0, a.combine(Operator::Min, &b).0];
        assert_eq!((chosen[0], chosen[1], chosen[3]), (1.0, 0.0, 1.0));
        assert_eq!((lower[0], lower[1], lower[3]), (1.0, 2.0, -4.0));
        assert!(chosen[2].is_nan() && lower[2].is_nan());
        let power = b.combine(Operator::Pow, &a).0;
        assert_eq!((power[0], power[1], power[3]), (2.0, 4.0, 0.0625));
        assert_eq!(b.apply(Function::Exp).0[0], 2.0_f64.exp());
        assert_eq!(a.apply(Function::Floor).0[3], -4.0);
    }
}

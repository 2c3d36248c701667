//! Numbers with derivatives: formulas give the derivatives of a velocity by the position.

use crate::{
    FormulaNumber, Function, Operator,
    cpu::{Real, dual::Dual},
};

impl<F: Real> FormulaNumber for Dual<F> {
    fn apply(&self, function: Function) -> Self {
        let x = self.value;
        let value = x.apply(function);
        self.map(value, slope(function, x, value))
    }

    fn combine(&self, operator: Operator, other: &Self) -> Self {
        let (a, b) = (*self, *other);
        match operator {
            Operator::Add => a + b,
            Operator::Sub => a - b,
            Operator::Mul => a * b,
            Operator::Div => a / b,
            Operator::Min => a.choose_less(&b, &a, &b),
            Operator::Max => a.choose_less(&b, &b, &a),
            Operator::Pow => power(a, b),
            Operator::Atan2 => {
                let square = a.value * a.value + b.value * b.value;
                let value = a.value.combine(operator, &b.value);
                a.with(b, value, [b.value / square, -a.value / square])
            }
        }
    }

    fn choose_less(&self, bound: &Self, yes: &Self, no: &Self) -> Self {
        let (a, b) = (self.value, bound.value);
        // The sum is not a number.
        if a < b {
            *yes
        } else if a >= b {
            *no
        } else {
            Dual::constant(a + b)
        }
    }
}

/// The derivative of a function, whose value at `x` is `y`.
fn slope<F: Real>(function: Function, x: F, y: F) -> F {
    let one = F::one();
    match function {
        Function::Neg => -one,
        Function::Sqrt => F::of(0.5) / y,
        Function::Abs if x < F::zero() => -one,
        Function::Abs => one,
        Function::Floor => F::zero(),
        Function::Sin => x.apply(Function::Cos),
        Function::Cos => -x.apply(Function::Sin),
        Function::Tan => one + y * y,
        Function::Asin => one / (one - x * x).sqrt(),
        Function::Acos => -one / (one - x * x).sqrt(),
        Function::Atan => one / (one + x * x),
        Function::Sinh => x.apply(Function::Cosh),
        Function::Cosh => x.apply(Function::Sinh),
        Function::Tanh => one - y * y,
        Function::Exp => y,
        Function::Log => one / x,
    }
}

/// A power. The derivative by a constant exponent is not needed: it would be NaN for a negative base.
fn power<F: Real>(a: Dual<F>, b: Dual<F>) -> Dual<F> {
    let value = a.value.combine(Operator::Pow, &b.value);
    let by_base = b.value * a.value.combine(Operator::Pow, &(b.value - F::one()));
    let base = a.map(value, by_base);
    if b.slopes.iter().all(|slope| *slope == F::zero()) {
        return base;
    }
    base.with(b, value, [F::one(), value * a.value.apply(Function::Log)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the derivatives of an operation with central differences.
    fn check(name: &str, at: [f64; 2], operation: impl Fn(Dual<f64>, Dual<f64>) -> Dual<f64>) {
        let dual = operation(Dual::variable(at[0], 0), Dual::variable(at[1], 1));
        for d in 0..2 {
            let moved = |h: f64| {
                let [mut a, mut b] = at;
                *[&mut a, &mut b][d] += h;
                operation(Dual::constant(a), Dual::constant(b)).value
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            let error = (dual.slopes[d] - difference).abs();
            assert!(error < 1e-8 * (1.0 + difference.abs()), "{name}, {d}: {error:e}");
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let functions = [
            Function::Neg,
            Function::Sqrt,
            Function::Abs,
            Function::Floor,
            Function::Sin,
            Function::Cos,
            Function::Tan,
            Function::Asin,
            Function::Acos,
            Function::Atan,
            Function::Sinh,
            Function::Cosh,
            Function::Tanh,
            Function::Exp,
            Function::Log,
        ];
        for function in functions {
            check(&format!("{function:?}"), [0.4, 0.3], |a, b| (a * b).apply(function));
        }
        let operators = [
            Operator::Add,
            Operator::Sub,
            Operator::Mul,
            Operator::Div,
            Operator::Min,
            Operator::Max,
            Operator::Pow,
            Operator::Atan2,
        ];
        for operator in operators {
            check(&format!("{operator:?}"), [0.7, 1.3], |a, b| (a * b).combine(operator, &b));
        }
    }

    #[test]
    fn power_of_a_negative_base_has_a_derivative() {
        let cube = Dual::variable(-2.0, 0).combine(Operator::Pow, &Dual::constant(3.0));
        assert_eq!((cube.value, cube.slopes[0]), (-8.0, 12.0));
    }
}

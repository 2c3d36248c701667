//! Fields that are formulas: straight-line programs of elementary operations.

use std::{collections::HashSet, sync::Mutex};

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The number with the other sign.
    Neg,
    /// Square root.
    Sqrt,
    /// Absolute value.
    Abs,
    /// The largest integer that is not larger.
    Floor,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Tangent of an angle in radians.
    Tan,
    /// Inverse sine.
    Asin,
    /// Inverse cosine.
    Acos,
    /// Inverse tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// The exponential function.
    Exp,
    /// Natural logarithm.
    Log,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient.
    Div,
    /// The smaller number; not a number if one of them is not.
    Min,
    /// The larger number; not a number if one of them is not.
    Max,
    /// The first number to the power of the second.
    Pow,
    /// The angle of the point (second, first), in radians.
    Atan2,
}

/// A step of a [`Program`]. Operands are indices of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// A function of a value.
    Unary(Function, u16),
    /// An operation on two values.
    Binary(Operator, u16, u16),
    /// The third value where the first is less than the second, the fourth where it is not, and not a number where one
    /// of the two is not.
    ChooseLess([u16; 4]),
}

/// A straight-line program. Its values are its inputs, then its constants, then the result of each instruction;
/// an instruction uses values before its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of constants.
    pub constants: usize,
    /// The instructions, in order.
    pub code: Vec<Instruction>,
    /// The values that are its results.
    pub outputs: Vec<u16>,
}

/// Numbers that formulas are evaluated with.
pub trait FormulaNumber: Clone {
    /// A function of the number.
    fn apply(&self, function: Function) -> Self;
    /// An operation on the number and another.
    fn combine(&self, operator: Operator, other: &Self) -> Self;
    /// The sine and the cosine of the number.
    fn sin_cos(&self) -> [Self; 2] {
        [Function::Sin, Function::Cos].map(|function| self.apply(function))
    }
    /// `yes` where the number is less than a bound, `no` where it is not, and not a number where one of them is not.
    fn choose_less(&self, bound: &Self, yes: &Self, no: &Self) -> Self;
}

impl Program {
    /// Maximum number of values of a program.
    pub const MAX_VALUES: usize = 1024;

    /// Number of values.
    pub fn values(&self) -> usize {
        self.inputs + self.constants + self.code.len()
    }

    /// The same program, kept until the process ends. Equal programs are kept once.
    ///
    /// # Panics
    ///
    /// If it has more than [`MAX_VALUES`](Self::MAX_VALUES) values, or an operand that is not a value before it.
    pub fn kept(self) -> &'static Program {
        static ALL: Mutex<Option<HashSet<&'static Program>>> = Mutex::new(None);
        assert!(self.values() <= Program::MAX_VALUES && self.is_ordered(), "not a valid program");
        // A panic while the lock is held leaves a valid set.
        let mut all = ALL.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let all = all.get_or_insert_default();
        if let Some(known) = all.get(&self) {
            return known;
        }
        let new: &'static Program = Box::leak(Box::new(self));
        all.insert(new);
        new
    }

    /// Whether each operand is a value before its instruction.
    fn is_ordered(&self) -> bool {
        let before = |(i, instruction): (usize, &Instruction)| {
            let known = |value: &u16| usize::from(*value) < self.inputs + self.constants + i;
            match instruction {
                Instruction::Unary(_, a) => known(a),
                Instruction::Binary(_, a, b) => known(a) && known(b),
                Instruction::ChooseLess(all) => all.iter().all(known),
            }
        };
        self.code.iter().enumerate().all(before)
            && self.outputs.iter().all(|value| usize::from(*value) < self.values())
    }

    /// Appends the results of all instructions to the values, which are the inputs and constants.
    pub fn run<N: FormulaNumber>(&self, values: &mut Vec<N>) {
        for instruction in &self.code {
            values.push(instruction.result(values));
        }
    }
}

impl Instruction {
    /// The result, from the values before it.
    #[inline(always)]
    pub(crate) fn result<N: FormulaNumber>(&self, values: &[N]) -> N {
        let value = |i: u16| &values[usize::from(i)];
        match *self {
            Instruction::Unary(function, a) => value(a).apply(function),
            Instruction::Binary(operator, a, b) => value(a).combine(operator, value(b)),
            Instruction::ChooseLess([a, b, yes, no]) => {
                value(a).choose_less(value(b), value(yes), value(no))
            }
        }
    }
}

/// Shape of a field that is a formula. Its constants are the field's coordinates: those of `velocity`, two numbers for
/// each of `clock`, whose sum is the constant, and those of `on_cards`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormulaShape {
    /// The velocity u, v, w. Its inputs are x, y, z and the results of `clock`.
    pub velocity: &'static Program,
    /// What depends on the time alone, which is its input; evaluated in double precision on CPUs.
    pub clock: &'static Program,
    /// The velocity on graphics cards. Its inputs are x, y, z, the time since a [`FormulaStart`] and its results.
    pub on_cards: &'static Program,
}

impl FormulaShape {
    /// Number of results of a [`FormulaStart`].
    pub(crate) fn start_results(&self) -> usize {
        self.on_cards.inputs - 4
    }
}

/// What a formula's velocity on graphics cards takes from a time near those of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaStart {
    /// The time.
    pub time: f64,
    /// What depends on that time alone.
    pub results: Vec<f64>,
}

macro_rules! scalar {
    ($($float:ident)*) => {$(
        impl FormulaNumber for $float {
            #[inline(always)]
            fn apply(&self, function: Function) -> Self {
                let x = *self;
                match function {
                    Function::Neg => -x,
                    Function::Sqrt => x.sqrt(),
                    Function::Abs => x.abs(),
                    Function::Floor => x.floor(),
                    Function::Sin => x.sin(),
                    Function::Cos => x.cos(),
                    Function::Tan => x.tan(),
                    Function::Asin => x.asin(),
                    Function::Acos => x.acos(),
                    Function::Atan => x.atan(),
                    Function::Sinh => x.sinh(),
                    Function::Cosh => x.cosh(),
                    Function::Tanh => x.tanh(),
                    Function::Exp => x.exp(),
                    Function::Log => x.ln(),
                }
            }

            #[inline(always)]
            fn combine(&self, operator: Operator, other: &Self) -> Self {
                let (a, b) = (*self, *other);
                match operator {
                    Operator::Add => a + b,
                    Operator::Sub => a - b,
                    Operator::Mul => a * b,
                    Operator::Div => a / b,
                    Operator::Min => a.choose_less(&b, &a, &b),
                    Operator::Max => a.choose_less(&b, &b, &a),
                    Operator::Pow => a.powf(b),
                    Operator::Atan2 => a.atan2(b),
                }
            }

            #[inline(always)]
            fn choose_less(&self, bound: &Self, yes: &Self, no: &Self) -> Self {
                // The sum is not a number.
                if self < bound { *yes } else if self >= bound { *no } else { self + bound }
            }
        }
    )*};
}
scalar!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn square_plus(outputs: Vec<u16>) -> Program {
        let code = vec![
            Instruction::Binary(Operator::Mul, 0, 0),
            Instruction::Binary(Operator::Add, 2, 1),
        ];
        Program { inputs: 1, constants: 1, code, outputs }
    }

    #[test]
    fn equal_programs_are_kept_once() {
        let [one, other] = [(); 2].map(|()| square_plus(vec![3]).kept());
        assert!(std::ptr::eq(one, other));
        let mut values = vec![3.0, 1.0];
        one.run(&mut values);
        assert_eq!(values, [3.0, 1.0, 9.0, 10.0]);
    }

    #[test]
    #[should_panic(expected = "not a valid program")]
    fn result_that_is_no_value_is_refused() {
        square_plus(vec![4]).kept();
    }

    #[test]
    fn comparisons_with_nan_have_no_value() {
        for [a, b] in [[f64::NAN, 1.0], [1.0, f64::NAN]] {
            assert!(a.combine(Operator::Min, &b).is_nan() && a.combine(Operator::Max, &b).is_nan());
            assert!(a.choose_less(&b, &1.0, &2.0).is_nan());
        }
        assert_eq!(f64::INFINITY.combine(Operator::Min, &1.0), 1.0);
    }
}

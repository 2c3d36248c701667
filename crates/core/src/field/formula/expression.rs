//! Expressions of position and time.

use burntrace_kernels::{Function, Operator};
use std::{
    ops::{Add, Div, Mul, Neg, Sub},
    sync::Arc,
};

/// A number that depends on position and time: a part of a [`Formula`](super::Formula).
#[derive(Clone, Debug)]
pub struct Expression(Arc<Node>);

/// How an expression is made.
#[derive(Debug)]
pub(super) enum Node {
    Number(f64),
    /// Coordinate along x, y or z, or the time since the start of a launch.
    Coordinate(usize),
    Time,
    Unary(Function, Expression),
    Binary(Operator, Expression, Expression),
    /// The third where the first is less than the second, the fourth elsewhere.
    ChooseLess([Expression; 4]),
}

impl Expression {
    fn new(node: Node) -> Self {
        Expression(Arc::new(node))
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        &self.0
    }

    /// The value of an expression that is a number.
    pub(super) fn number(&self) -> Option<f64> {
        match **self.node() {
            Node::Number(x) => Some(x),
            _ => None,
        }
    }

    /// The coordinate x.
    pub fn x() -> Self {
        Expression::new(Node::Coordinate(0))
    }

    /// The coordinate y.
    pub fn y() -> Self {
        Expression::new(Node::Coordinate(1))
    }

    /// The coordinate z.
    pub fn z() -> Self {
        Expression::new(Node::Coordinate(2))
    }

    /// The time since the start of a launch, as a fourth coordinate.
    pub(super) fn since_start() -> Self {
        Expression::new(Node::Coordinate(3))
    }

    /// The time t.
    pub fn time() -> Self {
        Expression::new(Node::Time)
    }

    /// `yes` where `a < b`, `no` where it is not. It has no value where `a` or `b` has none.
    pub fn choose_less(
        a: impl Into<Expression>,
        b: impl Into<Expression>,
        yes: impl Into<Expression>,
        no: impl Into<Expression>,
    ) -> Self {
        Expression::new(Node::ChooseLess([a.into(), b.into(), yes.into(), no.into()]))
    }

    /// A function of the number.
    pub fn apply(self, function: Function) -> Self {
        Expression::new(Node::Unary(function, self))
    }

    /// An operation on the number and another.
    pub fn combine(self, operator: Operator, other: impl Into<Expression>) -> Self {
        Expression::new(Node::Binary(operator, self, other.into()))
    }

    /// The number to the power of another. Small integer powers are products, which are right for negative numbers
    /// on all devices.
    pub fn pow(self, exponent: impl Into<Expression>) -> Self {
        let exponent = exponent.into();
        match exponent.number() {
            Some(n) if n.fract() == 0.0 && n.abs() <= 16.0 => self.integer_power(n as i32),
            Some(0.5) => self.sqrt(),
            _ => self.combine(Operator::Pow, exponent),
        }
    }

    fn integer_power(self, exponent: i32) -> Self {
        if exponent < 0 {
            return Expression::from(1.0) / self.integer_power(-exponent);
        }
        match exponent {
            0 => 1.0.into(),
            1 => self,
            even if even % 2 == 0 => self.square().integer_power(even / 2),
            odd => self.clone() * self.integer_power(odd - 1),
        }
    }

    /// The square of the number.
    pub fn square(self) -> Self {
        self.clone() * self
    }

    /// The smaller of two numbers.
    pub fn min(self, other: impl Into<Expression>) -> Self {
        self.combine(Operator::Min, other)
    }

    /// The larger of two numbers.
    pub fn max(self, other: impl Into<Expression>) -> Self {
        self.combine(Operator::Max, other)
    }

    /// The root of the sum of two squares, which are not computed: they might be too large or too small.
    pub fn hypot(self, other: impl Into<Expression>) -> Self {
        let (a, b) = (self.abs(), other.into().abs());
        let (large, small) = (a.clone().max(b.clone()), a.min(b));
        let ratio = small / large.clone();
        let root = large.clone() * (ratio.square() + 1.0).sqrt();
        Expression::choose_less(0.0, large.clone(), root, large)
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $function:ident)*) => {
        impl Expression {$(
            $(#[$doc])*
            pub fn $name(self) -> Self {
                self.apply(Function::$function)
            }
        )*}
    };
}
functions! {
    /// Square root.
    sqrt Sqrt
    /// Absolute value.
    abs Abs
    /// Sine, of radians.
    sin Sin
    /// Cosine, of radians.
    cos Cos
    /// The exponential function.
    exp Exp
    /// Natural logarithm.
    ln Log
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Expression::new(Node::Number(number))
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident)*) => {$(
        impl<E: Into<Expression>> $trait<E> for Expression {
            type Output = Expression;
            fn $method(self, other: E) -> Expression {
                self.combine(Operator::$trait, other)
            }
        }
    )*};
}
operators!(Add add Sub sub Mul mul Div div);

impl Neg for Expression {
    type Output = Expression;
    fn neg(self) -> Expression {
        self.apply(Function::Neg)
    }
}

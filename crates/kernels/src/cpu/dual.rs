//! Numbers with derivatives: the same physics gives the Jacobian of a path's end.

use super::Real;
use crate::physics::prelude::host::{CastFrom, Float};
use std::{
    cmp::Ordering,
    ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign},
};

/// Number of variables: the coordinates of both ends of a path.
pub(crate) const VARIABLES: usize = 6;

/// A number and its derivatives by the variables (forward-mode differentiation).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual<F> {
    pub value: F,
    pub slopes: [F; VARIABLES],
}

impl<F: Real> Dual<F> {
    pub fn constant(value: F) -> Self {
        Dual { value, slopes: [F::zero(); VARIABLES] }
    }

    /// Variable number `which`.
    pub fn variable(value: F, which: usize) -> Self {
        let mut variable = Dual::constant(value);
        variable.slopes[which] = F::one();
        variable
    }

    /// A function of the number, from its value and its derivative there.
    pub(super) fn map(self, value: F, slope: F) -> Self {
        let mut slopes = self.slopes;
        // Not by `map`, whose call is not inlined.
        for x in &mut slopes {
            *x = if *x == F::zero() { *x } else { slope * *x };
        }
        Dual { value, slopes }
    }

    /// A function of two numbers, from its value and its derivatives there.
    pub(super) fn with(self, other: Self, value: F, [a, b]: [F; 2]) -> Self {
        let mut slopes = self.slopes;
        for (x, y) in slopes.iter_mut().zip(other.slopes) {
            *x = a * *x + b * y;
        }
        Dual { value, slopes }
    }
}

impl<F: Real> PartialEq for Dual<F> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<F: Real> PartialOrd for Dual<F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<F: Real> Add for Dual<F> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.with(other, self.value + other.value, [F::one(), F::one()])
    }
}

impl<F: Real> Sub for Dual<F> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.with(other, self.value - other.value, [F::one(), -F::one()])
    }
}

impl<F: Real> Mul for Dual<F> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.with(other, self.value * other.value, [other.value, self.value])
    }
}

impl<F: Real> Div for Dual<F> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let quotient = self.value / other.value;
        self.with(other, quotient, [F::one() / other.value, -quotient / other.value])
    }
}

impl<F: Real> Neg for Dual<F> {
    type Output = Self;
    fn neg(self) -> Self {
        self.map(-self.value, -F::one())
    }
}

macro_rules! assign {
    ($($trait:ident $fn:ident $op:tt)*) => {$(
        impl<F: Real> $trait for Dual<F> {
            fn $fn(&mut self, other: Self) {
                *self = *self $op other;
            }
        }
    )*};
}
assign!(AddAssign add_assign + SubAssign sub_assign - MulAssign mul_assign * DivAssign div_assign /);

macro_rules! cast {
    ($($from:ty)*) => {$(
        impl<F: Real> CastFrom<$from> for Dual<F> {
            fn cast_from(value: $from) -> Self {
                Dual::constant(F::cast_from(value))
            }
        }
    )*};
}
cast!(i32 u32 f32 f64);

impl<F: Real> Float for Dual<F> {
    type Stored = F;
    const HAS_SLOPES: bool = true;

    fn new(value: f32) -> Self {
        Dual::constant(F::new(value))
    }

    fn load(stored: F) -> Self {
        Dual::constant(stored)
    }

    fn store(self) -> F {
        self.value
    }

    fn abs(self) -> Self {
        if self.value < F::zero() { -self } else { self }
    }

    fn floor(self) -> Self {
        Dual::constant(self.value.floor())
    }

    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        // At 0 there is no derivative; only differences of positions that are equal get there.
        let slope = if root > F::zero() { F::of(0.5) / root } else { F::zero() };
        self.map(root, slope)
    }

    fn powf(self, exponent: Self) -> Self {
        let power = self.value.powf(exponent.value);
        self.map(power, exponent.value * power / self.value)
    }

    fn max_value() -> Self {
        Dual::constant(F::max_value())
    }

    fn epsilon() -> Self {
        Dual::constant(F::epsilon())
    }

    fn as_i32(self) -> i32 {
        self.value.as_i32()
    }

    fn as_variable(self, which: usize) -> Self {
        Dual::variable(self.value, which)
    }

    fn lateness(point: [Self; 3], path: [Self; 3], normal: [Self; 3]) -> Self {
        let (mut off, mut speed) = (Dual::constant(F::zero()), F::zero());
        for d in 0..3 {
            off += normal[d] * (point[d] - Dual::constant(point[d].value));
            speed += normal[d].value * path[d].value;
        }
        match speed == F::zero() {
            true => Dual::constant(F::zero()),
            false => off * Dual::constant(-F::one() / speed),
        }
    }
}

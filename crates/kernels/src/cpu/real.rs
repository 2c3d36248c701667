//! The numbers of a CPU.

use super::{
    formula::Angle,
    lanes::{self, Task},
};
use crate::{FormulaNumber, physics::prelude::host::Float};

/// The float types of fields and positions.
pub trait Real:
    Float<Stored = Self> + FormulaNumber + Angle + burn::tensor::Element + bytemuck::Pod + Send + Sync
{
    /// Runs a task with the widest vectors that this crate has for the architecture, and compiles it for no others.
    ///
    /// # Panics
    ///
    /// If the processor does not have them.
    fn run_widest(task: impl Task<Self>);
    /// Converts from double precision, with rounding.
    fn of(value: f64) -> Self;
    /// The number in double precision.
    fn exact(self) -> f64;
    /// 0.
    fn zero() -> Self;
    /// 1.
    fn one() -> Self;
    /// Positive infinity.
    fn infinity() -> Self;
    /// The most negative finite number.
    fn min_value() -> Self;
    /// The next smaller number.
    fn next_down(self) -> Self;
    /// `self * factor + term`, rounded once.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// The smaller of two numbers, if one is NaN the other.
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers, if one is NaN the other.
    fn max(self, other: Self) -> Self;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
    /// The float of an integer.
    fn from_i32(value: i32) -> Self;
    /// A node number as bits, to be carried in a lane.
    fn of_bits(bits: u32) -> Self;
    /// The bits set by [`of_bits`](Real::of_bits).
    fn bits(self) -> u32;
}

macro_rules! real {
    ($($float:ident)*) => {$(
        impl Real for $float {
            #[inline]
            fn run_widest(task: impl Task<Self>) {
                lanes::run_widest(task);
            }
            #[inline(always)]
            fn of(value: f64) -> Self {
                value as $float
            }
            #[inline(always)]
            fn exact(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn zero() -> Self {
                0.0
            }
            #[inline(always)]
            fn one() -> Self {
                1.0
            }
            #[inline(always)]
            fn infinity() -> Self {
                $float::INFINITY
            }
            #[inline(always)]
            fn min_value() -> Self {
                $float::MIN
            }
            #[inline(always)]
            fn next_down(self) -> Self {
                $float::next_down(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                $float::mul_add(self, factor, term)
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                $float::min(self, other)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $float::max(self, other)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $float::is_finite(self)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $float::is_nan(self)
            }
            #[inline(always)]
            fn from_i32(value: i32) -> Self {
                value as $float
            }
            #[inline(always)]
            fn of_bits(bits: u32) -> Self {
                $float::from_bits(bits.into())
            }
            #[inline(always)]
            fn bits(self) -> u32 {
                self.to_bits() as u32
            }
        }
    )*};
}
real!(f32 f64);

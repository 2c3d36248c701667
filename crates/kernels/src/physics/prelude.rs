//! The vocabulary of code that runs on the host and on devices: the same names on either side.
//!
//! `device` is CubeCL's prelude. `host` gives the same names meaning in plain Rust.

pub(crate) mod host {
    use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

    pub(crate) use crate::Side;
    pub(crate) use crate::cpu::{
        gates::{GateLog, log_crossing},
        launch::Launch,
        mesh::MeshKind,
    };

    /// A number of the arithmetic: `f32`, `f64`, or a [`Dual`](crate::cpu::dual::Dual).
    pub trait Float:
        Copy
        + std::fmt::Debug
        + PartialOrd
        + Add<Output = Self>
        + Sub<Output = Self>
        + Mul<Output = Self>
        + Div<Output = Self>
        + Neg<Output = Self>
        + AddAssign
        + SubAssign
        + MulAssign
        + DivAssign
        + CastFrom<i32>
        + CastFrom<u32>
        + CastFrom<f32>
        + CastFrom<f64>
    {
        /// The numbers that buffers hold.
        type Stored: Float;
        fn new(value: f32) -> Self;
        fn load(stored: Self::Stored) -> Self;
        fn store(self) -> Self::Stored;
        fn abs(self) -> Self;
        fn floor(self) -> Self;
        fn sqrt(self) -> Self;
        fn powf(self, exponent: Self) -> Self;
        fn max_value() -> Self;
        /// Machine epsilon.
        fn epsilon() -> Self;
        fn as_i32(self) -> i32;
        /// Whether numbers have derivatives.
        const HAS_SLOPES: bool = false;
        /// The number as a variable by which others are derived.
        #[inline(always)]
        fn as_variable(self, _which: usize) -> Self {
            self
        }
        /// See [`lateness`].
        #[inline(always)]
        fn lateness(_point: [Self; 3], _path: [Self; 3], _normal: [Self; 3]) -> Self {
            Self::new(0.0)
        }
    }

    /// Conversion with rounding, as CubeCL's `Cast`.
    pub trait CastFrom<T> {
        fn cast_from(value: T) -> Self;
    }

    impl<F: Float> CastFrom<F> for i32 {
        #[inline(always)]
        fn cast_from(value: F) -> i32 {
            value.as_i32()
        }
    }

    macro_rules! cast {
        ($($from:ty => $to:ty)*) => {$(
            impl CastFrom<$from> for $to {
                #[inline(always)]
                fn cast_from(value: $from) -> $to {
                    value as $to
                }
            }
        )*};
    }
    cast!(u32 => u32 u32 => i32);
    cast!(i32 => f32 u32 => f32 f32 => f32 f64 => f32 i32 => f64 u32 => f64 f32 => f64 f64 => f64);

    macro_rules! float {
        ($($float:ident)*) => {$(
            impl Float for $float {
                type Stored = $float;
                #[inline(always)]
                fn new(value: f32) -> Self {
                    value as $float
                }
                #[inline(always)]
                fn load(stored: Self) -> Self {
                    stored
                }
                #[inline(always)]
                fn store(self) -> Self {
                    self
                }
                #[inline(always)]
                fn abs(self) -> Self {
                    $float::abs(self)
                }
                #[inline(always)]
                fn floor(self) -> Self {
                    $float::floor(self)
                }
                #[inline(always)]
                fn sqrt(self) -> Self {
                    $float::sqrt(self)
                }
                #[inline(always)]
                fn powf(self, exponent: Self) -> Self {
                    $float::powf(self, exponent)
                }
                #[inline(always)]
                fn max_value() -> Self {
                    $float::MAX
                }
                #[inline(always)]
                fn epsilon() -> Self {
                    $float::EPSILON
                }
                #[inline(always)]
                fn as_i32(self) -> i32 {
                    self as i32
                }
            }
        )*};
    }
    float!(f32 f64);

    /// Integers as CubeCL makes them from constants.
    pub(crate) trait Int {
        fn new(value: i64) -> Self;
    }

    impl Int for i32 {
        #[inline(always)]
        fn new(value: i64) -> i32 {
            value as i32
        }
    }

    #[inline(always)]
    pub(crate) fn select<T>(condition: bool, yes: T, no: T) -> T {
        if condition { yes } else { no }
    }

    #[inline(always)]
    pub(crate) fn min<T: PartialOrd>(a: T, b: T) -> T {
        if b < a { b } else { a }
    }

    #[inline(always)]
    pub(crate) fn max<T: PartialOrd>(a: T, b: T) -> T {
        if b > a { b } else { a }
    }

    #[inline(always)]
    pub(crate) fn clamp<T: PartialOrd>(x: T, low: T, high: T) -> T {
        if x < low {
            low
        } else if x > high {
            high
        } else {
            x
        }
    }

    #[inline(always)]
    pub(crate) fn rounding<F: Float>() -> F {
        F::epsilon()
    }

    /// A number, rounded.
    #[inline(always)]
    pub(crate) fn constant<F: Float>(value: f64) -> F {
        F::cast_from(value)
    }

    /// `x^(-1/5)` for `x > 0`.
    #[inline(always)]
    pub(crate) fn inverse_fifth_root<F: Float>(x: F) -> F {
        x.powf(F::cast_from(-0.2_f64))
    }

    #[inline(always)]
    pub(crate) fn size_bits<F: Float>() -> usize {
        8 * size_of::<F::Stored>()
    }

    /// The upper half of a product of 64 bits.
    #[inline(always)]
    pub(crate) fn high_product(a: u32, b: u32) -> u32 {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }

    #[inline(always)]
    pub(crate) fn wrapping_product(a: u32, b: u32) -> u32 {
        a.wrapping_mul(b)
    }

    #[inline(always)]
    pub(crate) fn wrapping_sum(a: u32, b: u32) -> u32 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    pub(crate) fn next_number(number: i32) -> i32 {
        number.wrapping_add(1)
    }

    #[inline(always)]
    pub(crate) fn saturating_sum(a: i32, b: i32) -> i32 {
        a.saturating_add(b)
    }

    /// How far a point of a path that was found by bisection moves along the path, relative to a
    /// surface with this normal: zero, but for its derivatives.
    #[inline(always)]
    pub(crate) fn slip<F: Float>(point: Vec3<F>, path: Vec3<F>, normal: Vec3<F>) -> Vec3<F> {
        if !F::HAS_SLOPES {
            return Vec3([F::new(0.0); 3]);
        }
        let late = lateness(point, path, normal);
        Vec3(path.0.map(|along| -late * F::load(along.store())))
    }

    /// How much later a path reaches a surface with this normal than at a point that was found by bisection,
    /// as a fraction of the path: zero, but for its derivatives.
    #[inline(always)]
    pub(crate) fn lateness<F: Float>(point: Vec3<F>, path: Vec3<F>, normal: Vec3<F>) -> F {
        F::lateness(point.0, path.0, normal.0)
    }

    /// Whether a cell type belongs to a group: on the host, a [`MeshKind`] is a single type.
    #[inline(always)]
    pub(crate) fn is_of(_kind: i32, _group: u32, _all: u32) -> bool {
        true
    }

    /// Whether a term with this constant coefficient is computed. A branch costs more than the term.
    #[inline(always)]
    pub(crate) fn occurs(_coefficient: f32) -> bool {
        true
    }

    /// On the host, an expression of compile time is like any other.
    macro_rules! comptime {
        ($value:expr) => {
            $value
        };
    }
    pub(crate) use comptime;

    /// Position, direction or velocity.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Vec3<F>(pub [F; 3]);

    impl<F: Float> Vec3<F> {
        #[inline(always)]
        pub fn new(x: F) -> Self {
            Vec3([x; 3])
        }
        #[inline(always)]
        pub fn extract(self, axis: usize) -> F {
            self.0[axis]
        }
        #[inline(always)]
        pub fn insert(&mut self, axis: usize, x: F) {
            self.0[axis] = x;
        }
    }

    macro_rules! lanewise {
        ($($op:ident $fn:ident $assign:ident $assign_fn:ident)*) => {$(
            impl<F: Float> $op for Vec3<F> {
                type Output = Self;
                #[inline(always)]
                fn $fn(self, other: Self) -> Self {
                    let (Vec3([ax, ay, az]), Vec3([bx, by, bz])) = (self, other);
                    Vec3([ax.$fn(bx), ay.$fn(by), az.$fn(bz)])
                }
            }
            impl<F: Float> $assign for Vec3<F> {
                #[inline(always)]
                fn $assign_fn(&mut self, other: Self) {
                    *self = (*self).$fn(other);
                }
            }
        )*};
    }
    lanewise!(
        Add add AddAssign add_assign
        Sub sub SubAssign sub_assign
        Mul mul MulAssign mul_assign
        Div div DivAssign div_assign
    );
}

#[cfg(feature = "cube")]
pub(crate) mod device {
    pub(crate) use crate::Side;
    pub(crate) use crate::cube::{
        launch::{EndLog as GateLog, Launch},
        mesh::MeshKind,
        reinjection::log_crossing,
    };
    pub(crate) use burn_cubecl::cubecl::{self, prelude::*};

    /// Position, direction or velocity; the fourth lane is unused.
    pub(crate) type Vec3<F> = Vector<F, Const<4>>;

    #[cube]
    pub(crate) fn size_bits<F: Float>() -> comptime_type!(usize) {
        F::size_bits()
    }

    /// A constant in double precision, rounded to the kernel's. Devices without double precision
    /// must not receive doubles.
    #[cube]
    pub(crate) fn constant<F: Float>(#[comptime] value: f64) -> F {
        if F::size_bits().comptime() <= 32 {
            F::new(comptime!(value as f32))
        } else {
            F::cast_from(comptime!(value))
        }
    }

    /// `x^(-1/5)` for `x > 0`. Vulkan has no powers of doubles; single precision suffices.
    #[cube]
    pub(crate) fn inverse_fifth_root<F: Float>(x: F) -> F {
        F::cast_from(f32::cast_from(max(x, F::new(1e-30_f32))).powf(-0.2_f32))
    }

    /// Whether a cell type belongs to a group, given that it is one of `all`.
    #[cube]
    pub(crate) fn is_of(kind: i32, #[comptime] group: u32, #[comptime] all: u32) -> bool {
        let mut is_one = true;
        if comptime!(group != all) {
            let bits = comptime!(group as i32).runtime();
            is_one = ((bits >> kind) & 1i32) == 1i32;
        }
        is_one
    }

    /// Whether a term with this constant coefficient is computed.
    pub(crate) fn occurs(coefficient: f32) -> bool {
        coefficient != 0.0
    }

    #[cube]
    pub(crate) fn high_product(a: u32, b: u32) -> u32 {
        a.mul_hi(b)
    }

    #[cube]
    pub(crate) fn wrapping_product(a: u32, b: u32) -> u32 {
        a * b
    }

    #[cube]
    pub(crate) fn wrapping_sum(a: u32, b: u32) -> u32 {
        a + b
    }

    #[cube]
    pub(crate) fn next_number(number: i32) -> i32 {
        number + 1i32
    }

    /// Devices have no saturating sum.
    #[cube]
    pub(crate) fn saturating_sum(a: i32, b: i32) -> i32 {
        a + b
    }

    /// Zero; see the host's function.
    #[cube]
    pub(crate) fn slip<F: Float>(_point: Vec3<F>, _path: Vec3<F>, _normal: Vec3<F>) -> Vec3<F> {
        Vec3::<F>::new(F::new(0.0_f32))
    }

    /// Zero; see the host's function.
    #[cube]
    pub(crate) fn lateness<F: Float>(_point: Vec3<F>, _path: Vec3<F>, _normal: Vec3<F>) -> F {
        F::new(0.0_f32)
    }

    /// Machine epsilon of `F`. (`F::EPSILON` is the half-precision value for every `F`.)
    #[cube]
    pub(crate) fn rounding<F: Float>() -> F {
        let single = F::new(f32::EPSILON);
        if F::size_bits().comptime() <= 32 {
            single
        } else {
            let root = single / F::new(8.0_f32);
            root * root
        }
    }
}

//! The courses of kernels over the square of the distance, free of branches, so that a compiler makes
//! vectors of them.

use crate::density::kernel::Profile;
use burntrace_kernels::host::{Lanes, Portable, Real};

/// A float with an exponential function that can be inlined.
pub(in crate::density) trait Number: Real {
    /// `exp(x)` for `x <= 0`, to rounding; what is too small to have all its digits is some other small
    /// number.
    fn exp_of<L: Lanes<Self>>(self) -> Self;
    /// `self * factor + term`, rounded once where the processor can.
    #[inline(always)]
    fn fused<L: Lanes<Self>>(self, factor: Self, term: Self) -> Self {
        if L::FUSES { self.mul_add(factor, term) } else { self * factor + term }
    }
    /// In double precision.
    fn double(self) -> f64;
}

/// `exp(x) = 2^k exp(x - k ln 2)`, the latter by Taylor's series for arguments up to `ln(2) / 2`: seven
/// and thirteen terms leave less than rounding does. Adding 1.5 times the float's precision rounds to a
/// whole number and leaves it in the lowest bits.
macro_rules! number {
    ($float:ident: $round:expr, $digits:expr, $least:expr, $high:expr, $low:expr,
     [$($inverse:expr),*]) => {
        impl Number for $float {
            #[inline(always)]
            fn double(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn exp_of<L: Lanes<Self>>(self) -> Self {
                let x = if self > $least { self } else { $least };
                let rounded = x.fused::<L>(std::$float::consts::LOG2_E, $round);
                let k = rounded - $round;
                let rest = k.fused::<L>(-$low, k.fused::<L>(-$high, x));
                let mut sum: $float = 0.0;
                $(sum = sum.fused::<L>(rest, 1.0 / $inverse);)*
                <$float>::from_bits(sum.to_bits().wrapping_add(rounded.to_bits() << $digits))
            }
        }
    };
}
number!(f32: 12_582_912.0, 23, -87.0, 0.693_359_4, -2.121_944_4e-4,
    [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]);
number!(f64: 6_755_399_441_055_744.0, 52, -708.0,
    0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10,
    [6_227_020_800.0, 479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5040.0, 720.0,
     120.0, 24.0, 6.0, 2.0, 1.0, 1.0]);

/// The course of a kernel.
pub(super) trait Course {
    /// Whether it is cut off where a coordinate exceeds the cut, and not at a distance.
    const IS_BOX: bool = false;
    /// Whether it is not 0 by itself where it is cut off at a distance.
    const IS_CUT: bool = false;
    /// Its value for a square of the distance; 0 beyond its end, unless it is cut off there.
    fn at<F: Number, L: Lanes<F>>(square: F) -> F;
}

pub(super) struct Gaussian;

impl Course for Gaussian {
    const IS_BOX: bool = true;
    #[inline(always)]
    fn at<F: Number, L: Lanes<F>>(square: F) -> F {
        (F::of(-0.5) * square).exp_of::<L>()
    }
}

pub(super) struct RoundGaussian;

impl Course for RoundGaussian {
    const IS_CUT: bool = true;
    #[inline(always)]
    fn at<F: Number, L: Lanes<F>>(square: F) -> F {
        Gaussian::at::<F, L>(square)
    }
}

/// What is left of a distance up to an end; 0 beyond.
#[inline(always)]
fn left<F: Number>(end: f64, q: F) -> F {
    (F::of(end) - q).max(F::zero())
}

#[inline(always)]
fn cube<F: Number>(x: F) -> F {
    x * x * x
}

macro_rules! courses {
    ($($name:ident($q:ident) = $value:expr;)*) => {$(
        pub(super) struct $name;

        impl Course for $name {
            #[inline(always)]
            fn at<F: Number, L: Lanes<F>>(square: F) -> F {
                let $q = square.sqrt();
                $value
            }
        }
    )*};
}
courses! {
    CubicSpline(q) = F::of(0.25) * cube(left(2.0, q)) - cube(left(1.0, q));
    QuinticSpline(q) = fifth(left(3.0, q)) - F::of(6.0) * fifth(left(2.0, q))
        + F::of(15.0) * fifth(left(1.0, q));
    WendlandC2(q) = wendland::<F, L>(q, 4, [1.0, 4.0, 0.0, 0.0]);
    WendlandC4(q) = wendland::<F, L>(q, 6, [1.0, 6.0, 35.0 / 3.0, 0.0]);
    WendlandC6(q) = wendland::<F, L>(q, 8, [1.0, 8.0, 25.0, 32.0]);
    LineC2(q) = wendland::<F, L>(q, 3, [1.0, 3.0, 0.0, 0.0]);
    LineC4(q) = wendland::<F, L>(q, 5, [1.0, 5.0, 8.0, 0.0]);
    LineC6(q) = wendland::<F, L>(q, 7, [1.0, 7.0, 19.0, 21.0]);
}

#[inline(always)]
fn fifth<F: Number>(x: F) -> F {
    x * x * x * x * x
}

/// `(1 - s)^power (a + b s + c s^2 + d s^3)` with `s = q / 2`.
#[inline(always)]
fn wendland<F: Number, L: Lanes<F>>(q: F, power: usize, [a, b, c, d]: [f64; 4]) -> F {
    let s = F::of(0.5) * q;
    let rest = left(1.0, s);
    let mut product =
        F::of(d).fused::<L>(s, F::of(c)).fused::<L>(s, F::of(b)).fused::<L>(s, F::of(a));
    for _ in 0..power {
        product = product * rest;
    }
    product
}

/// Runs a body with the type of a profile's course.
macro_rules! with_course {
    ($profile:expr, $course:ident => $body:expr) => {
        with_course!(@ $profile, $course => $body;
            Gaussian RoundGaussian CubicSpline QuinticSpline WendlandC2 WendlandC4 WendlandC6 LineC2 LineC4 LineC6)
    };
    (@ $profile:expr, $course:ident => $body:expr; $($name:ident)*) => {
        match $profile {
            $($crate::density::kernel::Profile::$name => {
                type $course = $crate::density::cpu::course::$name;
                $body
            })*
        }
    };
}
pub(super) use with_course;

/// The value of a profile.
pub(in crate::density) fn course<F: Number>(profile: Profile, square: F) -> F {
    with_course!(profile, C => C::at::<F, Portable>(square))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right_to_rounding() {
        for i in 0..200_000 {
            let x = -f64::from(i) * 4e-4;
            let (exact, single) = (x.exp(), f64::from(x as f32).exp());
            assert!((x.exp_of::<Portable>() / exact - 1.0).abs() < 4.0 * f64::EPSILON, "{x}");
            let error = f64::from((x as f32).exp_of::<Portable>()) / single - 1.0;
            assert!(error.abs() < 3.0 * f64::from(f32::EPSILON), "{x}: {error}");
        }
        assert!(
            (-1e9_f64).exp_of::<Portable>() < 1e-300 && (-1e9_f32).exp_of::<Portable>() < 1e-37
        );
    }
}

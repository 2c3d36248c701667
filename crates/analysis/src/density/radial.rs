//! Radial kernels as functions of the squared distance, free of branches so that the compiler
//! vectorises them.

use super::profile::Profile;
use burntrace_kernels::host::{Lanes, Portable, Real};

/// A float with an exponential function that can be inlined.
pub(super) trait Number: Real {
    /// `exp(x)` for `x <= 0`, to rounding. Subnormal results are replaced by another tiny number.
    fn exp_of<L: Lanes<Self>>(self) -> Self;
    /// `self * factor + term`, rounded once where the processor can.
    #[inline(always)]
    fn fused<L: Lanes<Self>>(self, factor: Self, term: Self) -> Self {
        if L::FUSES { self.mul_add(factor, term) } else { self * factor + term }
    }
    /// The value in double precision.
    fn double(self) -> f64;
}

/// `exp(x) = 2^k exp(x - k ln 2)`, the latter by its Taylor series for arguments up to `ln(2) / 2`. The
/// truncation error of seven (f32) and thirteen (f64) terms is below rounding. Adding 1.5 times the
/// float's precision rounds to an integer and leaves it in the lowest bits.
macro_rules! impl_number {
    ($float:ident: $round:expr, $digits:expr, $min:expr, $high:expr, $low:expr,
     [$($inverse:expr),*]) => {
        impl Number for $float {
            #[inline(always)]
            fn double(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn exp_of<L: Lanes<Self>>(self) -> Self {
                let x = if self > $min { self } else { $min };
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
impl_number!(f32: 12_582_912.0, 23, -87.0, 0.693_359_4, -2.121_944_4e-4,
    [5040.0, 720.0, 120.0, 24.0, 6.0, 2.0, 1.0, 1.0]);
impl_number!(f64: 6_755_399_441_055_744.0, 52, -708.0,
    0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10,
    [6_227_020_800.0, 479_001_600.0, 39_916_800.0, 3_628_800.0, 362_880.0, 40_320.0, 5040.0, 720.0,
     120.0, 24.0, 6.0, 2.0, 1.0, 1.0]);

/// A kernel as a function of the squared distance.
pub(super) trait RadialKernel {
    /// Whether the kernel is truncated in each coordinate instead of at a distance.
    const IS_BOX: bool = false;
    /// Whether the kernel is nonzero at the distance of its truncation.
    const IS_CUT: bool = false;
    /// Value for a squared distance; 0 beyond a compact support. The caller truncates.
    fn at<F: Number, L: Lanes<F>>(square: F) -> F;
}

pub(super) struct Gaussian;

impl RadialKernel for Gaussian {
    const IS_BOX: bool = true;
    #[inline(always)]
    fn at<F: Number, L: Lanes<F>>(square: F) -> F {
        (F::of(-0.5) * square).exp_of::<L>()
    }
}

pub(super) struct RoundGaussian;

impl RadialKernel for RoundGaussian {
    const IS_CUT: bool = true;
    #[inline(always)]
    fn at<F: Number, L: Lanes<F>>(square: F) -> F {
        Gaussian::at::<F, L>(square)
    }
}

/// `max(end - q, 0)`.
#[inline(always)]
fn remaining<F: Number>(end: f64, q: F) -> F {
    (F::of(end) - q).max(F::zero())
}

#[inline(always)]
fn cube<F: Number>(x: F) -> F {
    x * x * x
}

macro_rules! radial_kernels {
    ($($name:ident($q:ident) = $value:expr;)*) => {$(
        pub(super) struct $name;

        impl RadialKernel for $name {
            #[inline(always)]
            fn at<F: Number, L: Lanes<F>>(square: F) -> F {
                let $q = square.sqrt();
                $value
            }
        }
    )*};
}
radial_kernels! {
    CubicSpline(q) = F::of(0.25) * cube(remaining(2.0, q)) - cube(remaining(1.0, q));
    QuinticSpline(q) = fifth(remaining(3.0, q)) - F::of(6.0) * fifth(remaining(2.0, q))
        + F::of(15.0) * fifth(remaining(1.0, q));
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
    let rest = remaining(1.0, s);
    let mut product =
        F::of(d).fused::<L>(s, F::of(c)).fused::<L>(s, F::of(b)).fused::<L>(s, F::of(a));
    for _ in 0..power {
        product *= rest;
    }
    product
}

/// Evaluates an expression with the radial kernel of a profile as a type.
macro_rules! with_radial_kernel {
    ($profile:expr, $kernel:ident => $body:expr) => {
        with_radial_kernel!(@ $profile, $kernel => $body;
            Gaussian RoundGaussian CubicSpline QuinticSpline WendlandC2 WendlandC4 WendlandC6 LineC2 LineC4 LineC6)
    };
    (@ $profile:expr, $kernel:ident => $body:expr; $($name:ident)*) => {
        match $profile {
            $($crate::density::profile::Profile::$name => {
                type $kernel = $crate::density::radial::$name;
                $body
            })*
        }
    };
}
pub(super) use with_radial_kernel;

/// The value of a profile for a squared distance.
pub(super) fn profile_value<F: Number>(profile: Profile, square: F) -> F {
    with_radial_kernel!(profile, K => K::at::<F, Portable>(square))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_exact_to_rounding() {
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

//! AVX2 with fused multiply-add: x86 processors since 2013.
//!
//! Every vector operation below requires both features. The module is private, and [`Avx2`] is
//! named only by [`run`], which is called after detection: a vector of this module exists only if
//! the processor has the instructions.

mod pairs;
mod shuffles;

use super::{Eight, Four, Lanes, Real, Task, Vector};
use pairs::*;
use shuffles::{spread, spread_wide, transpose, transpose_halves, transpose_wide, turn};
use std::{
    arch::x86_64::*,
    ops::{Add, Mul, Sub},
};

/// 256-bit vectors.
pub struct Avx2;

impl Lanes<f32> for Avx2 {
    const FUSES: bool = true;
    type Four = Single4;
    type Eight = Single8;

    fn apart(task: impl Task<f32>) {
        // SAFETY: see the module.
        unsafe { run(task) }
    }
}

impl Lanes<f64> for Avx2 {
    const FUSES: bool = true;
    type Four = Double4;
    type Eight = Double8;

    fn apart(task: impl Task<f64>) {
        // SAFETY: see the module.
        unsafe { run(task) }
    }
}

/// Compiles and runs a task for these instructions.
///
/// # Safety
///
/// The processor must support AVX2, FMA, BMI1 and POPCNT.
#[inline(never)]
#[target_feature(enable = "avx2,fma,bmi1,popcnt")]
pub(super) unsafe fn run<F: Real>(task: impl Task<F>)
where
    Avx2: Lanes<F>,
{
    task.run::<Avx2>();
}

#[derive(Clone, Copy)]
pub struct Single4(__m128);
#[derive(Clone, Copy)]
pub struct Single8(__m256);
#[derive(Clone, Copy)]
pub struct Double4(__m256d);
#[derive(Clone, Copy)]
pub struct Double8([__m256d; 2]);

macro_rules! vector {
    ($name:ident $float:ident: $add:ident $sub:ident $mul:ident $splat:ident $fma:ident
     $divide:ident $min:ident $max:ident $where_less:ident $less:ident) => {
        vector!(@operator $name Add add $add);
        vector!(@operator $name Sub sub $sub);
        vector!(@operator $name Mul mul $mul);

        impl Vector<$float> for $name {
            #[inline(always)]
            fn splat(x: $float) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $splat(x) })
            }
            #[inline(always)]
            fn fma(self, factor: Self, term: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $fma(self.0, factor.0, term.0) })
            }
            #[inline(always)]
            fn per(self, divisor: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $divide(self.0, divisor.0) })
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $min(self.0, other.0) })
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $max(self.0, other.0) })
            }
            #[inline(always)]
            fn where_less(self, bound: Self, yes: Self, no: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $where_less(self.0, bound.0, yes.0, no.0) })
            }
            #[inline(always)]
            fn less(self, bound: Self) -> u32 {
                // SAFETY: see the module.
                unsafe { $less(self.0, bound.0) }
            }
        }
    };
    (@operator $name:ident $trait:ident $function:ident $instruction:ident) => {
        impl $trait for $name {
            type Output = Self;
            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $instruction(self.0, other.0) })
            }
        }
    };
}
vector!(Single4 f32: _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_set1_ps _mm_fmadd_ps
        _mm_div_ps _mm_min_ps _mm_max_ps where_less less);
vector!(Single8 f32: _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_set1_ps _mm256_fmadd_ps
        _mm256_div_ps _mm256_min_ps _mm256_max_ps where_less_of_eight less_of_eight);
vector!(Double4 f64: _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_set1_pd _mm256_fmadd_pd
        _mm256_div_pd _mm256_min_pd _mm256_max_pd where_less_wide less_wide);
vector!(Double8 f64: add_pair sub_pair mul_pair splat_pair fma_pair
        div_pair min_pair max_pair where_less_pair less_pair);

/// Lanes of `yes` where `x < bound`, of `no` elsewhere; and where that is, as bits.
macro_rules! compare {
    ($($vector:ident: $where_less:ident $less:ident $compare:ident $blend:ident $mask:ident;)*) => {$(
        #[inline(always)]
        unsafe fn $where_less(x: $vector, bound: $vector, yes: $vector, no: $vector) -> $vector {
            // SAFETY: see the module.
            unsafe { $blend(no, yes, $compare::<_CMP_LT_OQ>(x, bound)) }
        }

        #[inline(always)]
        unsafe fn $less(x: $vector, bound: $vector) -> u32 {
            // SAFETY: see the module.
            unsafe { $mask($compare::<_CMP_LT_OQ>(x, bound)) as u32 }
        }
    )*};
}
compare!(__m128: where_less less _mm_cmp_ps _mm_blendv_ps _mm_movemask_ps;
         __m256: where_less_of_eight less_of_eight _mm256_cmp_ps _mm256_blendv_ps _mm256_movemask_ps;
         __m256d: where_less_wide less_wide _mm256_cmp_pd _mm256_blendv_pd _mm256_movemask_pd;);

macro_rules! four {
    ($name:ident $float:ident: $load:ident $store:ident $min:ident $max:ident $round:ident
     $integers:ident $compare:ident $and:ident $mask:ident $spread:ident $turn:ident
     $transpose:ident) => {
        impl Four<$float> for $name {
            #[inline(always)]
            fn new(lanes: [$float; 4]) -> Self {
                // SAFETY: see the module; four numbers are read from four.
                $name(unsafe { $load(lanes.as_ptr()) })
            }
            #[inline(always)]
            fn array(self) -> [$float; 4] {
                let mut lanes = [0.0; 4];
                // SAFETY: see the module; four numbers are written to four.
                unsafe { $store(lanes.as_mut_ptr(), self.0) };
                lanes
            }
            #[inline(always)]
            fn clamp(self, low: Self, high: Self) -> Self {
                // SAFETY: see the module. `max` returns its second operand if one is NaN.
                $name(unsafe { $min($max(self.0, low.0), high.0) })
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $round::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(self.0) })
            }
            #[inline(always)]
            fn as_i32(self) -> [i32; 4] {
                let mut integers = [0; 4];
                // SAFETY: see the module; four integers are written to four.
                unsafe { _mm_storeu_si128(integers.as_mut_ptr().cast(), $integers(self.0)) };
                integers
            }
            #[inline(always)]
            fn inside(self, low: Self, high: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe {
                    let above = $compare::<_CMP_LE_OQ>(low.0, self.0);
                    let below = $compare::<_CMP_LE_OQ>(self.0, high.0);
                    $and(above, below)
                })
            }
            #[inline(always)]
            fn and(self, mask: Self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $and(self.0, mask.0) })
            }
            #[inline(always)]
            fn has_three(self) -> bool {
                // SAFETY: see the module.
                unsafe { $mask(self.0) & 0b111 == 0b111 }
            }
            #[inline(always)]
            fn spread<const LANE: i32>(self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $spread::<LANE>(self.0) })
            }
            #[inline(always)]
            fn reaches(self, bound: Self) -> bool {
                // SAFETY: see the module.
                unsafe { $mask($compare::<_CMP_GE_OQ>(self.0, bound.0)) == 0b1111 }
            }
            #[inline(always)]
            fn argmin(self) -> usize {
                // SAFETY: see the module. NaN equals nothing: then the result is lane 0.
                unsafe {
                    let two = $min(self.0, $turn::<0b10_11_00_01>(self.0));
                    let smallest = $min(two, $turn::<0b01_00_11_10>(two));
                    let mask = $mask($compare::<_CMP_EQ_OQ>(self.0, smallest));
                    (mask | 0b1_0000).trailing_zeros() as usize & 0b11
                }
            }
            #[inline(always)]
            fn rotated(self) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $turn::<0b11_00_10_01>(self.0) })
            }
            #[inline(always)]
            fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
                // SAFETY: see the module.
                let [a, b, c, d] = unsafe { $transpose([a.0, b.0, c.0, d.0]) };
                [$name(a), $name(b), $name(c), $name(d)]
            }
        }
    };
}
four!(Single4 f32: _mm_loadu_ps _mm_storeu_ps _mm_min_ps _mm_max_ps _mm_round_ps
      _mm_cvttps_epi32 _mm_cmp_ps _mm_and_ps _mm_movemask_ps spread turn
      transpose);
four!(Double4 f64: _mm256_loadu_pd _mm256_storeu_pd _mm256_min_pd _mm256_max_pd _mm256_round_pd
      _mm256_cvttpd_epi32 _mm256_cmp_pd _mm256_and_pd _mm256_movemask_pd
      spread_wide _mm256_permute4x64_pd transpose_wide);

macro_rules! eight {
    ($name:ident $float:ident $four:ident: $read:ident $store:ident
     $halves:ident $joined:ident $transpose:ident $smallest:ident $largest:ident) => {
        impl Eight<$float, $four> for $name {
            #[inline(always)]
            unsafe fn read(values: *const [$float; 4]) -> Self {
                // SAFETY: see the module; the caller guarantees that two values are readable.
                $name(unsafe { $read(values.cast()) })
            }
            #[inline(always)]
            fn halves(self) -> [$four; 2] {
                // SAFETY: see the module.
                unsafe { $halves(self.0) }.map($four)
            }
            #[inline(always)]
            fn joined([low, high]: [$four; 2]) -> Self {
                // SAFETY: see the module.
                $name(unsafe { $joined([low.0, high.0]) })
            }
            #[inline(always)]
            fn transposed([a, b, c, d]: [Self; 4]) -> [Self; 4] {
                // SAFETY: see the module.
                let [a, b, c, d] = unsafe { $transpose([a.0, b.0, c.0, d.0]) };
                [$name(a), $name(b), $name(c), $name(d)]
            }
            #[inline(always)]
            fn new(lanes: &[$float; 8]) -> Self {
                // SAFETY: see the module; eight numbers are read from eight.
                $name(unsafe { $read(lanes.as_ptr()) })
            }
            #[inline(always)]
            fn array(self) -> [$float; 8] {
                let mut lanes = [0.0; 8];
                // SAFETY: see the module; eight numbers are written to eight.
                unsafe { $store(lanes.as_mut_ptr(), self.0) };
                lanes
            }
            #[inline(always)]
            fn smallest(self) -> $float {
                // SAFETY: see the module.
                unsafe { $smallest(self.0) }
            }
            #[inline(always)]
            fn largest(self) -> $float {
                // SAFETY: see the module.
                unsafe { $largest(self.0) }
            }
        }
    };
}
eight!(Single8 f32 Single4: _mm256_loadu_ps _mm256_storeu_ps
       halves joined transpose_halves smallest largest);
eight!(Double8 f64 Double4: read_pair store_pair
       halves_pair halves_pair transpose_pair smallest_pair largest_pair);

#[inline(always)]
unsafe fn halves(x: __m256) -> [__m128; 2] {
    // SAFETY: see the module.
    unsafe { [_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x)] }
}

#[inline(always)]
unsafe fn joined([low, high]: [__m128; 2]) -> __m256 {
    // SAFETY: see the module.
    unsafe { _mm256_set_m128(high, low) }
}

/// Reduces eight lanes to one: the halves, then neighbours at a distance of two and of one.
macro_rules! reduce {
    ($($single:ident $double:ident: $min4:ident $min_pd:ident)*) => {$(
        #[inline(always)]
        unsafe fn $single(x: __m256) -> f32 {
            // SAFETY: see the module.
            unsafe {
                let [low, high] = halves(x);
                let four = $min4(low, high);
                let two = $min4(four, turn::<0b01_00_11_10>(four));
                _mm_cvtss_f32($min4(two, turn::<0b10_11_00_01>(two)))
            }
        }

        #[inline(always)]
        unsafe fn $double(x: [__m256d; 2]) -> f64 {
            // SAFETY: see the module.
            unsafe {
                let four = $min_pd(x[0], x[1]);
                let two = $min_pd(four, _mm256_permute4x64_pd::<0b01_00_11_10>(four));
                _mm256_cvtsd_f64($min_pd(two, _mm256_permute4x64_pd::<0b10_11_00_01>(two)))
            }
        }
    )*};
}
reduce!(smallest smallest_pair: _mm_min_ps _mm256_min_pd
        largest largest_pair: _mm_max_ps _mm256_max_pd);

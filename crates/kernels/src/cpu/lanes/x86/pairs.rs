//! Two vectors of four numbers in double precision, as one of eight.

use super::{less_wide, shuffles::transpose_wide, where_less_wide};
use std::arch::x86_64::*;

macro_rules! pair {
    ($($name:ident $instruction:ident)*) => {$(
        #[inline(always)]
        pub unsafe fn $name(a: [__m256d; 2], b: [__m256d; 2]) -> [__m256d; 2] {
            // SAFETY: see the module.
            unsafe { [$instruction(a[0], b[0]), $instruction(a[1], b[1])] }
        }
    )*};
}
pair!(add_pair _mm256_add_pd  sub_pair _mm256_sub_pd  mul_pair _mm256_mul_pd
      min_pair _mm256_min_pd  max_pair _mm256_max_pd  div_pair _mm256_div_pd);

#[inline(always)]
pub unsafe fn splat_pair(x: f64) -> [__m256d; 2] {
    // SAFETY: see the module.
    [unsafe { _mm256_set1_pd(x) }; 2]
}

#[inline(always)]
pub unsafe fn fma_pair(a: [__m256d; 2], b: [__m256d; 2], c: [__m256d; 2]) -> [__m256d; 2] {
    // SAFETY: see the module.
    unsafe { [_mm256_fmadd_pd(a[0], b[0], c[0]), _mm256_fmadd_pd(a[1], b[1], c[1])] }
}

#[inline(always)]
pub unsafe fn transpose_pair([a, b, c, d]: [[__m256d; 2]; 4]) -> [[__m256d; 2]; 4] {
    // SAFETY: see the module.
    let [low, high] = unsafe {
        [transpose_wide([a[0], b[0], c[0], d[0]]), transpose_wide([a[1], b[1], c[1], d[1]])]
    };
    [[low[0], high[0]], [low[1], high[1]], [low[2], high[2]], [low[3], high[3]]]
}

#[inline(always)]
pub unsafe fn read_pair(from: *const f64) -> [__m256d; 2] {
    // SAFETY: see the module; the caller guarantees that eight numbers are readable.
    unsafe { [_mm256_loadu_pd(from), _mm256_loadu_pd(from.add(4))] }
}

#[inline(always)]
pub unsafe fn store_pair(to: *mut f64, x: [__m256d; 2]) {
    // SAFETY: see the module; the caller guarantees that eight numbers are writable.
    unsafe {
        _mm256_storeu_pd(to, x[0]);
        _mm256_storeu_pd(to.add(4), x[1]);
    }
}

#[inline(always)]
pub unsafe fn where_less_pair(
    x: [__m256d; 2],
    bound: [__m256d; 2],
    yes: [__m256d; 2],
    no: [__m256d; 2],
) -> [__m256d; 2] {
    // SAFETY: see the module.
    unsafe {
        [
            where_less_wide(x[0], bound[0], yes[0], no[0]),
            where_less_wide(x[1], bound[1], yes[1], no[1]),
        ]
    }
}

#[inline(always)]
pub unsafe fn halves_pair(x: [__m256d; 2]) -> [__m256d; 2] {
    x
}

#[inline(always)]
pub unsafe fn less_pair(x: [__m256d; 2], bound: [__m256d; 2]) -> u32 {
    // SAFETY: see the module.
    unsafe { less_wide(x[0], bound[0]) | less_wide(x[1], bound[1]) << 4 }
}

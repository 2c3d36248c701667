//! Lanes in another order.

use std::arch::x86_64::*;

#[inline(always)]
pub unsafe fn transpose([a, b, c, d]: [__m128; 4]) -> [__m128; 4] {
    // SAFETY: see the module.
    unsafe {
        let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        [
            _mm_movelh_ps(ab, cd),
            _mm_movehl_ps(cd, ab),
            _mm_movelh_ps(ab_high, cd_high),
            _mm_movehl_ps(cd_high, ab_high),
        ]
    }
}

/// Each half by itself.
#[inline(always)]
pub unsafe fn transpose_halves([a, b, c, d]: [__m256; 4]) -> [__m256; 4] {
    // SAFETY: see the module.
    unsafe {
        let (ab, cd) = (_mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(ab, cd),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab, cd),
            _mm256_shuffle_ps::<0b01_00_01_00>(ab_high, cd_high),
            _mm256_shuffle_ps::<0b11_10_11_10>(ab_high, cd_high),
        ]
    }
}

#[inline(always)]
pub unsafe fn transpose_wide([a, b, c, d]: [__m256d; 4]) -> [__m256d; 4] {
    // SAFETY: see the module.
    unsafe {
        let (even_ab, odd_ab) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (even_cd, odd_cd) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        [
            _mm256_permute2f128_pd::<0x20>(even_ab, even_cd),
            _mm256_permute2f128_pd::<0x20>(odd_ab, odd_cd),
            _mm256_permute2f128_pd::<0x31>(even_ab, even_cd),
            _mm256_permute2f128_pd::<0x31>(odd_ab, odd_cd),
        ]
    }
}

#[inline(always)]
pub unsafe fn turn<const LANES: i32>(x: __m128) -> __m128 {
    // SAFETY: see the module.
    unsafe { _mm_shuffle_ps::<LANES>(x, x) }
}

#[inline(always)]
pub unsafe fn spread<const LANE: i32>(x: __m128) -> __m128 {
    // SAFETY: see the module.
    unsafe {
        match LANE {
            0 => turn::<0b00_00_00_00>(x),
            1 => turn::<0b01_01_01_01>(x),
            2 => turn::<0b10_10_10_10>(x),
            _ => turn::<0b11_11_11_11>(x),
        }
    }
}

#[inline(always)]
pub unsafe fn spread_wide<const LANE: i32>(x: __m256d) -> __m256d {
    // SAFETY: see the module.
    unsafe {
        match LANE {
            0 => _mm256_permute4x64_pd::<0b00_00_00_00>(x),
            1 => _mm256_permute4x64_pd::<0b01_01_01_01>(x),
            2 => _mm256_permute4x64_pd::<0b10_10_10_10>(x),
            _ => _mm256_permute4x64_pd::<0b11_11_11_11>(x),
        }
    }
}

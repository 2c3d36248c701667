//! Counter-based random numbers: Philox4x32-10, and normal variates computed from its bits.
//!
//! J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw: *Parallel random numbers: as easy as 1, 2,
//! 3*, SC 2011. A random number is a function of its address alone; there is no generator state.
//! Results therefore do not depend on the order of evaluation or on the number of threads, batches
//! or devices, particle records hold no generator, and a resumed run draws the same numbers.
//!
//! In kernels, an address consists of the seed of the run and
//!
//! * `slot`: the particle's slot;
//! * `generation`: the particle instance in that slot;
//! * `draw`: the step number;
//! * `stream`: the purpose, such as [`WALK`]. The highest bit of every stream is set. When the
//!   library generates seeds it fills the counter differently, (64-bit slot, generation, draw),
//!   with small draw numbers, so that the two kinds of counters never coincide.
//!
//! # Normal variates
//!
//! `physics::normals` computes the formula from `normal_constants` on all devices; the square
//! root is the only platform function used: G. E. P. Box, M. E. Muller: *A note on the generation
//! of random normal deviates*, Ann. Math. Stat. 29 (1958), 610. A 32-bit word `w` represents `u =
//! (w + 1/2) / 2^32`, which is neither 0 nor 1; no variate exceeds `sqrt(66 ln 2) < 6.77` in
//! magnitude.
//!
//! Radius `sqrt(-2 ln u)`: `u = 2^-k (1 + t)` with `1 + t` between `sqrt(1/2)` and `sqrt(2)`; `k`
//! and `t` are computed in integers. So `t` is rounded only on conversion to a float, and there is
//! no cancellation near `u = 1`. With `s = t / (2 + t)`, `|s| < 0.1716`,
//!
//! ```text
//! ln (1 + t) = 2 artanh s = t - s (t - s^2 (2/3 + 2/5 s^2 + 2/7 s^4 + ...))
//! ```
//!
//! in the form of K. C. Ng's `log1p` (fdlibm, `s_log1p.c`, 1993), which starts from the exact `t`.
//!
//! Angle `2 pi u`: the nearest multiple of a right angle is subtracted in integers as well. Sine
//! and cosine of the remainder, at most `pi / 4` in magnitude and never 0, are Taylor series.

use crate::physics::normals::host::{self as normals, Bits};

/// The stream of the random walk.
pub const WALK: u32 = 1 << 31;

/// Philox4x32-10: 128 random bits of a counter and a key.
#[inline(always)]
pub fn philox([a, b, c, d]: [u32; 4], [low, high]: [u32; 2]) -> [u32; 4] {
    let Bits { a, b, c, d } = normals::philox(Bits { a, b, c, d }, low, high);
    [a, b, c, d]
}

/// The low and the high half of a 64-bit word.
#[inline(always)]
pub fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

/// 128 random bits of an address.
#[inline(always)]
pub fn bits(seed: u64, slot: u32, generation: u32, draw: u32, stream: u32) -> [u32; 4] {
    philox([slot, generation, draw, stream], halves(seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `kat_vectors` of the authors' Random123 library.
    #[test]
    fn philox_matches_known_answers() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([u32::MAX; 4], [u32::MAX; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn bits_depend_on_every_part_of_the_address() {
        let reference = bits(1, 2, 3, 4, 5);
        let others = [
            bits(2, 2, 3, 4, 5),
            bits(1 | 1 << 32, 2, 3, 4, 5),
            bits(1, 3, 3, 4, 5),
            bits(1, 2, 4, 4, 5),
            bits(1, 2, 3, 5, 5),
            bits(1, 2, 3, 4, 6),
        ];
        assert!(others.iter().all(|other| *other != reference));
        assert_eq!(reference, bits(1, 2, 3, 4, 5));
    }
}

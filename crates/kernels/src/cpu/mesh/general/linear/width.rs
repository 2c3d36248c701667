//! Vectors with a lane for each of several positions.

use crate::cpu::{
    Real,
    lanes::{Eight, Four, Lanes, Vector},
};

/// The most positions at once.
pub(in crate::cpu) const MOST: usize = 8;

/// The vectors in which coordinates of positions are: a lane for each position.
pub(super) trait Width<F: Real, L: Lanes<F>> {
    type Vector: Vector<F>;
    const LANES: usize;
    /// A bit for each lane.
    const ALL: u32 = (1 << Self::LANES) - 1;

    /// The components of rows, of which there are as many as lanes.
    fn columns(rows: &[L::Four; MOST]) -> [Self::Vector; 4];

    /// The rows of components.
    fn rows(columns: [Self::Vector; 4]) -> [L::Four; MOST];

    /// 0 in the lanes with these bits, and 1 in the others.
    fn lanes_without(bits: u32) -> Self::Vector;
}

/// For a single position, which all lanes repeat.
pub(super) struct Narrow;
/// For several positions.
pub(super) struct Wide;

impl<F: Real, L: Lanes<F>> Width<F, L> for Narrow {
    type Vector = L::Four;
    const LANES: usize = 4;

    #[inline(always)]
    fn columns(rows: &[L::Four; MOST]) -> [L::Four; 4] {
        let [row, ..] = *rows;
        [row.spread::<0>(), row.spread::<1>(), row.spread::<2>(), row.spread::<3>()]
    }

    #[inline(always)]
    fn rows(columns: [L::Four; 4]) -> [L::Four; MOST] {
        let [row, ..] = L::Four::transposed(columns);
        [row; MOST]
    }

    #[inline(always)]
    fn lanes_without(bits: u32) -> L::Four {
        L::Four::splat(if bits == 0 { F::one() } else { F::zero() })
    }
}

impl<F: Real, L: Lanes<F>> Width<F, L> for Wide {
    type Vector = L::Eight;
    const LANES: usize = MOST;

    #[inline(always)]
    fn columns(rows: &[L::Four; MOST]) -> [L::Eight; 4] {
        let [a, b, c, d, e, f, g, h] = *rows;
        let rows = [[a, e], [b, f], [c, g], [d, h]];
        let mut joined = [L::Eight::splat(F::zero()); 4];
        // By index: an iterator call might not be inlined.
        for k in 0..4 {
            joined[k] = L::Eight::joined(rows[k]);
        }
        L::Eight::transposed(joined)
    }

    #[inline(always)]
    fn rows(columns: [L::Eight; 4]) -> [L::Four; MOST] {
        let [a, b, c, d] = L::Eight::transposed(columns);
        let ([a, e], [b, f], [c, g], [d, h]) = (a.halves(), b.halves(), c.halves(), d.halves());
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn lanes_without(bits: u32) -> L::Eight {
        let mut lanes = [F::one(); MOST];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for lane in 0..MOST {
            if bits >> lane & 1 == 1 {
                lanes[lane] = F::zero();
            }
        }
        L::Eight::new(&lanes)
    }
}

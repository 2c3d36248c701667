//! The nodes within a ball.

use super::{Cloud, Visitor, WIDTH};
use crate::cpu::{
    Real,
    lanes::{Lanes, Vector},
};
use std::ops::Range;

/// Maximum number of nodes in a list.
pub(super) const MAX_LIST: usize = 32;

/// The nodes within a ball, in their order, and their number. Beyond [`MAX_LIST`] nodes are only counted.
pub(super) struct Ball<F> {
    pub square: F,
    pub count: usize,
    pub node: [u32; MAX_LIST + WIDTH],
}

impl<F: Real> Ball<F> {
    #[inline(always)]
    pub fn new(reach: F) -> Self {
        Ball { square: reach * reach, count: 0, node: [0; MAX_LIST + WIDTH] }
    }
}

impl<F: Real, L: Lanes<F>> Visitor<F, L> for Ball<F> {
    #[inline(always)]
    fn visit(&mut self, cloud: &Cloud<F>, position: &[F; 3], nodes: Range<usize>) {
        let mut start = nodes.start;
        while start < nodes.end {
            let squares = cloud.squares::<L>(position, start..nodes.end);
            let bits = squares.less(L::Eight::splat(self.square));
            let at = self.count.min(MAX_LIST);
            let lanes = &LANES[bits as usize % LANES.len()];
            #[allow(clippy::needless_range_loop)]
            for l in 0..WIDTH {
                self.node[at + l] = start as u32 + u32::from(lanes[l]);
            }
            self.count += bits.count_ones() as usize;
            start += WIDTH;
        }
    }

    #[inline(always)]
    fn bound(&self) -> F {
        // Far too many nodes: the ball will be smaller.
        if self.count > 8 * MAX_LIST { -F::one() } else { self.square }
    }
}

/// For each set of lanes as bits, the lanes in the set.
static LANES: [[u8; WIDTH]; 1 << WIDTH] = lanes();

const fn lanes() -> [[u8; WIDTH]; 1 << WIDTH] {
    let mut all = [[0; WIDTH]; 1 << WIDTH];
    let mut bits = 0;
    while bits < all.len() {
        let (mut lane, mut count) = (0, 0);
        while lane < WIDTH {
            if bits >> lane & 1 == 1 {
                all[bits][count] = lane as u8;
                count += 1;
            }
            lane += 1;
        }
        bits += 1;
    }
    all
}

//! Search of the nearest nodes without a list of candidates.

use super::{Cloud, Finder, Visitor, WIDTH};
use crate::{
    MAX_NEIGHBOURS,
    cpu::{
        Real,
        lanes::{Eight, Lanes},
    },
};
use std::ops::Range;

/// The nearest nodes of a position, in their order.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<F> {
    /// The smallest squared distance.
    pub nearest: F,
    pub square: [F; MAX_NEIGHBOURS],
    pub node: [u32; MAX_NEIGHBOURS],
}

/// Finds the nearest nodes.
#[inline(always)]
pub(super) fn search<F: Real, L: Lanes<F>>(
    cloud: &Cloud<F>,
    needed: usize,
    position: &[F; 3],
) -> Neighbours<F> {
    let reach = cloud.start_reach::<L>(position).unwrap_or(cloud.first_reach);
    let sorted = cloud.find::<L, _>(position, reach, Sorted::nothing(needed));
    let mut found =
        Neighbours { nearest: sorted.square[0], square: sorted.square, node: sorted.node };
    for n in 1..needed {
        let mut at = n;
        while at > 0 && found.node[at] < found.node[at - 1] {
            found.node.swap(at, at - 1);
            found.square.swap(at, at - 1);
            at -= 1;
        }
    }
    found
}

/// The nearest nodes, sorted by distance.
#[derive(Clone, Copy)]
struct Sorted<F> {
    needed: usize,
    square: [F; MAX_NEIGHBOURS],
    node: [u32; MAX_NEIGHBOURS],
}

impl<F: Real> Sorted<F> {
    #[inline(always)]
    fn nothing(needed: usize) -> Self {
        let far = [F::infinity(); MAX_NEIGHBOURS];
        Sorted { needed, square: far, node: [0; MAX_NEIGHBOURS] }
    }

    /// Inserts a node into the sorted list, and drops the last one.
    #[inline(always)]
    fn insert(&mut self, square: F, node: u32) {
        let mut at = self.needed - 1;
        while at > 0 && square < self.square[at - 1] {
            self.square[at] = self.square[at - 1];
            self.node[at] = self.node[at - 1];
            at -= 1;
        }
        self.square[at] = square;
        self.node[at] = node;
    }
}

impl<F: Real, L: Lanes<F>> Visitor<F, L> for Sorted<F> {
    #[inline(always)]
    fn visit(&mut self, cloud: &Cloud<F>, position: &[F; 3], nodes: Range<usize>) {
        let mut start = nodes.start;
        while start < nodes.end {
            let squares = cloud.squares::<L>(position, start..nodes.end).array();
            // By index: an iterator call might not be inlined and unrolled.
            #[allow(clippy::needless_range_loop)]
            for l in 0..WIDTH {
                if squares[l] < self.square[self.needed - 1] {
                    self.insert(squares[l], (start + l) as u32);
                }
            }
            start += WIDTH;
        }
    }

    #[inline(always)]
    fn bound(&self) -> F {
        self.square[self.needed - 1]
    }
}

impl<F: Real, L: Lanes<F>> Finder<F, L> for Sorted<F> {
    type Found = Self;

    #[inline(always)]
    fn found(&self) -> (Self, F) {
        (*self, self.square[self.needed - 1])
    }
}

//! The velocity of the nearest node.

use super::{Cloud, Finder, WIDTH, square_distance};
use crate::{
    PointShape,
    cpu::{
        FieldArrays, Real, Sampler,
        adjoint::{Differentiable, Shares},
        frame_pair::{FramePair, blend},
        lanes::{Eight, Four, Lanes, Vector},
        three,
    },
};
use std::ops::Range;

/// The nearest node and the distance of the second nearest, separately for each lane of the vectors
/// of nodes.
struct NearestTwo<F, L: Lanes<F>> {
    first: L::Eight,
    second: L::Eight,
    /// Index of the first node of the vector with the nearest node, as bits.
    start: L::Eight,
}

impl<F, L: Lanes<F>> Clone for NearestTwo<F, L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, L: Lanes<F>> Copy for NearestTwo<F, L> {}

/// The nearest node, its squared distance, and the squared distance of the second nearest.
type Nearer<F> = (u32, F, F);

impl<F: Real, L: Lanes<F>> NearestTwo<F, L> {
    #[inline(always)]
    fn nothing() -> Self {
        let far = L::Eight::splat(F::infinity());
        NearestTwo { first: far, second: far, start: L::Eight::splat(F::zero()) }
    }
}

impl<F: Real, L: Lanes<F>> Finder<F, L> for NearestTwo<F, L> {
    type Found = Nearer<F>;

    #[inline(always)]
    fn visit(&mut self, cloud: &Cloud<F>, position: &[F; 3], nodes: Range<usize>) {
        let mut start = nodes.start;
        while start < nodes.end {
            let square = cloud.squares::<L>(position, start..nodes.end);
            let here = L::Eight::splat(F::of_bits(start as u32));
            self.start = square.where_less(self.first, here, self.start);
            self.second = self.second.min(square.max(self.first));
            self.first = self.first.min(square);
            start += WIDTH;
        }
    }

    #[inline(always)]
    fn found(&self) -> (Nearer<F>, F) {
        let (first, second, start) = (self.first.array(), self.second.array(), self.start.array());
        let node = |l: usize| start[l].bits() + l as u32;
        let mut best = 0;
        for l in 1..WIDTH {
            let is_tie = first[l] == first[best] && node(l) < node(best);
            if first[l] < first[best] || is_tie {
                best = l;
            }
        }
        let mut next = second[best];
        // By index: an iterator call might not be inlined and unrolled.
        #[allow(clippy::needless_range_loop)]
        for l in 0..WIDTH {
            if l != best && first[l] < next {
                next = first[l];
            }
        }
        ((node(best), first[best], next), next)
    }
}

/// Nearest-node interpolation.
pub(in crate::cpu) struct Nearest<'a, F> {
    cloud: Cloud<'a, F>,
    velocity: &'a [[F; 4]],
}

/// The last search of a particle.
#[derive(Clone, Copy, Default)]
pub(in crate::cpu) struct LastSearch<F> {
    position: [F; 3],
    node: u32,
    /// Distance of the second node; 0 before the first search.
    second: F,
    /// Squared displacement within which the nearest node stays the nearest: half the difference
    /// between the two distances.
    safe: F,
}

impl<'a, F: Real> Nearest<'a, F> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &PointShape, frames: usize) -> Self {
        Nearest { cloud: Cloud::new(field, shape, frames), velocity: field.velocity }
    }

    #[inline(always)]
    fn node<L: Lanes<F>>(&self, position: [F; 3], last: &mut LastSearch<F>) -> usize {
        let moved = square_distance(&last.position, &position);
        if moved < last.safe {
            return last.node as usize;
        }
        let reach = self.cloud.reach_after(last.second, moved.sqrt());
        let (node, first, second) =
            self.cloud.find(&position, reach, NearestTwo::<F, L>::nothing());
        let (first, second) = (first.sqrt(), second.sqrt());
        let slack = F::of(32.0) * F::epsilon() * second;
        let half = (F::of(0.5) * (second - first) - slack).max(F::zero());
        *last = LastSearch { position, node, second, safe: half * half };
        node as usize
    }
}

impl<F: Real> Sampler<F> for Nearest<'_, F> {
    type Hint = LastSearch<F>;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut LastSearch<F>,
    ) -> L::Four {
        let position = self.cloud.search_position(three(position.array()));
        let node = self.node::<L>(position, hint);
        blend::<F, L>(self.velocity, node, pair)
    }
}

impl<F: Real> Differentiable<F> for Nearest<'_, F> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut LastSearch<F>,
    ) -> (L::Four, [L::Four; 3]) {
        (self.sample::<L>(position, pair, hint), [L::Four::splat(F::zero()); 3])
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(
        &self,
        position: L::Four,
        hint: &mut LastSearch<F>,
        shares: &mut Shares<F>,
    ) {
        let position = self.cloud.search_position(three(position.array()));
        shares.only(self.node::<L>(position, hint));
    }
}

//! The mean of the nearest nodes, weighted by a power of the inverse distance.

use super::{Cloud, Finder, WIDTH, square_distance};
use crate::{
    MAX_NEIGHBOURS, PointShape,
    cpu::{
        FieldArrays, Real, Sampler,
        frame_pair::{FramePair, blend},
        lanes::{Eight, Four, Lanes, Vector},
        three,
    },
};
use std::ops::Range;

/// The nearest nodes, in order of distance.
#[derive(Clone, Copy)]
struct Neighbours<F> {
    needed: usize,
    square: [F; MAX_NEIGHBOURS],
    node: [u32; MAX_NEIGHBOURS],
}

impl<F: Real> Neighbours<F> {
    #[inline(always)]
    fn nothing(needed: usize) -> Self {
        let far = [F::infinity(); MAX_NEIGHBOURS];
        Neighbours { needed, square: far, node: [0; MAX_NEIGHBOURS] }
    }

    /// Takes a node into the order, and drops the one that is now too far down.
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

impl<F: Real, L: Lanes<F>> Finder<F, L> for Neighbours<F> {
    type Found = Self;

    #[inline(always)]
    fn look(&mut self, cloud: &Cloud<F>, place: &[F; 3], nodes: Range<usize>) {
        let mut start = nodes.start;
        while start < nodes.end {
            let squares = cloud.squares::<L>(place, start..nodes.end).array();
            // By index: an iterator might be called where it should be inlined and unrolled.
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
    fn found(&self) -> (Self, F) {
        (*self, self.square[self.needed - 1])
    }
}

/// The mean of the nearest nodes, weighted by a power of the inverse distance.
pub(in crate::cpu) struct InverseDistance<'a, F> {
    cloud: Cloud<'a, F>,
    velocity: &'a [[F; 4]],
    neighbours: usize,
    /// Half the power of the distance: the power of its square.
    half_power: F,
}

/// The place of a particle's last search and the distance of the farthest neighbour there; 0
/// before the first one.
#[derive(Clone, Copy, Default)]
pub(in crate::cpu) struct LastReach<F> {
    place: [F; 3],
    reach: F,
}

impl<'a, F: Real> InverseDistance<'a, F> {
    /// # Panics
    ///
    /// Where the neighbours are none, more than [`MAX_NEIGHBOURS`] or more than the nodes.
    pub fn new(
        field: &FieldArrays<'a, F>,
        shape: &PointShape,
        frames: usize,
        neighbours: usize,
        power: f64,
    ) -> Self {
        let most = MAX_NEIGHBOURS.min(shape.count);
        assert!((1..=most).contains(&neighbours), "{neighbours} neighbours; 1 to {most} can be");
        InverseDistance {
            cloud: Cloud::new(field, shape, frames),
            velocity: field.velocity,
            neighbours,
            half_power: F::of(0.5 * power),
        }
    }

    #[inline(always)]
    fn neighbours<L: Lanes<F>>(&self, place: [F; 3], last: &mut LastReach<F>) -> Neighbours<F> {
        let moved = square_distance(&last.place, &place).sqrt();
        let reach = self.cloud.reach_after(last.reach, moved);
        let found = self.cloud.find::<L, _>(&place, reach, Neighbours::nothing(self.neighbours));
        *last = LastReach { place, reach: found.square[self.neighbours - 1].sqrt() };
        found
    }

    /// The weight of a node, relative to that of the nearest one, so that no distance is too
    /// small for it.
    #[inline(always)]
    fn weight(&self, nearest: F, square: F) -> F {
        if square == nearest {
            return F::one();
        }
        let ratio = nearest / square;
        if self.half_power == F::one() { ratio } else { ratio.powf(self.half_power) }
    }
}

impl<F: Real> Sampler<F> for InverseDistance<'_, F> {
    type Hint = LastReach<F>;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        moment: &FramePair<F>,
        hint: &mut LastReach<F>,
    ) -> L::Four {
        let place = self.cloud.place(three(position.array()));
        let found = self.neighbours::<L>(place, hint);
        let mut sum = L::Four::splat(F::zero());
        let mut weights = F::zero();
        for n in 0..self.neighbours {
            let weight = self.weight(found.square[0], found.square[n]);
            let node = found.node[n] as usize;
            let velocity = blend::<F, L>(self.velocity, node, moment);
            sum = velocity.fma(L::Four::splat(weight), sum);
            weights = weights + weight;
        }
        sum * L::Four::splat(F::one() / weights)
    }
}

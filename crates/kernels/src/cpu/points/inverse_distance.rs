//! The mean of the nearest nodes, weighted by inverse distance to a power.

use super::{Cloud, Finder, WIDTH, square_distance};
use crate::{
    MAX_NEIGHBOURS, PointShape,
    cpu::{
        FieldArrays, Real, Sampler,
        adjoint::{Differentiable, Shares},
        frame_pair::{FramePair, blend},
        lanes::{Eight, Four, Lanes, Vector},
        three,
    },
};
use std::ops::Range;

/// The nearest nodes, sorted by distance.
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

impl<F: Real, L: Lanes<F>> Finder<F, L> for Neighbours<F> {
    type Found = Self;

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
    fn found(&self) -> (Self, F) {
        (*self, self.square[self.needed - 1])
    }
}

/// Inverse distance weighting of the nearest nodes.
pub(in crate::cpu) struct InverseDistance<'a, F> {
    cloud: Cloud<'a, F>,
    velocity: &'a [[F; 4]],
    neighbours: usize,
    /// Half the power of the distance: the power of its square.
    half_power: F,
}

/// Position of a particle's last search and the distance of the farthest neighbour there; 0 before
/// the first search.
#[derive(Clone, Copy, Default)]
pub(in crate::cpu) struct LastReach<F> {
    position: [F; 3],
    reach: F,
}

impl<'a, F: Real> InverseDistance<'a, F> {
    /// # Panics
    ///
    /// If `neighbours` is 0, more than [`MAX_NEIGHBOURS`] or more than the number of nodes.
    pub fn new(
        field: &FieldArrays<'a, F>,
        shape: &PointShape,
        frames: usize,
        neighbours: usize,
        power: f64,
    ) -> Self {
        let limit = MAX_NEIGHBOURS.min(shape.count);
        assert!((1..=limit).contains(&neighbours), "{neighbours} neighbours; use 1 to {limit}");
        InverseDistance {
            cloud: Cloud::new(field, shape, frames),
            velocity: field.velocity,
            neighbours,
            half_power: F::of(0.5 * power),
        }
    }

    #[inline(always)]
    fn neighbours<L: Lanes<F>>(&self, position: [F; 3], last: &mut LastReach<F>) -> Neighbours<F> {
        let moved = square_distance(&last.position, &position).sqrt();
        let reach = self.cloud.reach_after(last.reach, moved);
        let found = self.cloud.find::<L, _>(&position, reach, Neighbours::nothing(self.neighbours));
        *last = LastReach { position, reach: found.square[self.neighbours - 1].sqrt() };
        found
    }

    /// The weight of a node relative to that of the nearest one, which avoids overflow at small
    /// distances.
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
        pair: &FramePair<F>,
        hint: &mut LastReach<F>,
    ) -> L::Four {
        let position = self.cloud.search_position(three(position.array()));
        let found = self.neighbours::<L>(position, hint);
        let mut sum = L::Four::splat(F::zero());
        let mut weights = F::zero();
        for n in 0..self.neighbours {
            let weight = self.weight(found.square[0], found.square[n]);
            let node = found.node[n] as usize;
            let velocity = blend::<F, L>(self.velocity, node, pair);
            sum = velocity.fma(L::Four::splat(weight), sum);
            weights += weight;
        }
        sum * L::Four::splat(F::one() / weights)
    }
}

impl<F: Real> Differentiable<F> for InverseDistance<'_, F> {
    /// The derivative of a weight `s^(-p/2)` of the squared distance `s` is `-p / s` times the weight and
    /// the offset from the node. At a node it is zero for powers above 1.
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut LastReach<F>,
    ) -> (L::Four, [L::Four; 3]) {
        let mean = self.sample::<L>(position, pair, hint);
        let position = self.cloud.search_position(three(position.array()));
        let found = self.neighbours::<L>(position, hint);
        let mut slopes = [L::Four::splat(F::zero()); 3];
        if found.square[0] == F::zero() {
            return (mean, slopes);
        }
        let mut weights = F::zero();
        for n in 0..self.neighbours {
            let (square, node) = (found.square[n], found.node[n] as usize);
            let weight = self.weight(found.square[0], square);
            let deviation = blend::<F, L>(self.velocity, node, pair) - mean;
            let factor = -(self.half_power + self.half_power) * weight / square;
            for d in 0..3 {
                let offset = (position[d] - self.cloud.axes[d][node]) * self.cloud.counts[d];
                slopes[d] = deviation.fma(L::Four::splat(factor * offset), slopes[d]);
            }
            weights += weight;
        }
        (mean, slopes.map(|slope| slope * L::Four::splat(F::one() / weights)))
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(
        &self,
        position: L::Four,
        hint: &mut LastReach<F>,
        shares: &mut Shares<F>,
    ) {
        let position = self.cloud.search_position(three(position.array()));
        let found = self.neighbours::<L>(position, hint);
        (shares.cell, shares.count) = (None, self.neighbours);
        let mut sum = F::zero();
        for n in 0..self.neighbours {
            shares.values[n] = found.node[n] as usize;
            shares.weights[n] = self.weight(found.square[0], found.square[n]);
            sum += shares.weights[n];
        }
        for weight in &mut shares.weights[..self.neighbours] {
            *weight /= sum;
        }
    }
}

//! The mean of the nearest nodes, weighted by inverse distance to a power.

use super::{
    Cloud,
    candidates::{Candidates, ListSize},
    sorted::Neighbours,
};
use crate::{
    MAX_NEIGHBOURS, PointShape,
    cpu::{
        Real,
        field::FieldArrays,
        frame_pair::{FramePair, blend},
        lanes::{Four, Lanes, Vector, three},
        sampler::{Differentiable, Sampler},
        shares::Shares,
    },
};
/// The candidates of a particle.
type List<F> = Candidates<F, 4>;
/// Number of nodes that a list should have.
const WANTED: f64 = 24.0;

/// Inverse distance weighting of the nearest nodes.
pub(in crate::cpu) struct InverseDistance<'a, F> {
    cloud: Cloud<'a, F>,
    velocity: &'a [[F; 4]],
    neighbours: usize,
    lists: ListSize<F>,
    /// Half the power of the distance: the power of its square.
    half_power: F,
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
        let cloud = Cloud::new(field, shape, frames);
        InverseDistance {
            lists: ListSize::new(&cloud, neighbours, WANTED),
            cloud,
            velocity: field.velocity,
            neighbours,
            half_power: F::of(0.5 * power),
        }
    }

    #[inline(always)]
    fn neighbours<L: Lanes<F>>(&self, position: [F; 3], candidates: &mut List<F>) -> Neighbours<F> {
        candidates.neighbours::<L>(&self.cloud, &self.lists, &position)
    }

    /// The weight of a node relative to that of the nearest one, which avoids overflow at small
    /// distances.
    #[inline(always)]
    fn weight(&self, nearest: F, square: F) -> F {
        let ratio = nearest / square;
        let weight = if self.half_power == F::one() { ratio } else { ratio.powf(self.half_power) };
        if square == nearest { F::one() } else { weight }
    }
}

impl<F: Real> Sampler<F> for InverseDistance<'_, F> {
    const IS_FAST: bool = false;

    type Hint = List<F>;
    type Chart = crate::cpu::chart::Flat;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut List<F>,
    ) -> L::Four {
        let position = self.cloud.search_position(three(position.array()));
        let found = self.neighbours::<L>(position, hint);
        let mut sum = L::Four::splat(F::zero());
        let mut weights = F::zero();
        for n in 0..self.neighbours {
            let weight = self.weight(found.nearest, found.square[n]);
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
        hint: &mut List<F>,
    ) -> (L::Four, [L::Four; 3]) {
        let mean = self.sample::<L>(position, pair, hint);
        let position = self.cloud.search_position(three(position.array()));
        let found = self.neighbours::<L>(position, hint);
        let mut slopes = [L::Four::splat(F::zero()); 3];
        if found.nearest == F::zero() {
            return (mean, slopes);
        }
        let mut weights = F::zero();
        for n in 0..self.neighbours {
            let (square, node) = (found.square[n], found.node[n] as usize);
            let weight = self.weight(found.nearest, square);
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
    fn shares<L: Lanes<F>>(&self, position: L::Four, hint: &mut List<F>, shares: &mut Shares<F>) {
        let position = self.cloud.search_position(three(position.array()));
        let found = self.neighbours::<L>(position, hint);
        let mut weights = [F::zero(); MAX_NEIGHBOURS];
        // By index: a closure might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for n in 0..self.neighbours {
            weights[n] = self.weight(found.nearest, found.square[n]);
        }
        shares.mean(self.neighbours, &found.node, &weights);
    }
}

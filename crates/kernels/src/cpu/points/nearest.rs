//! The velocity of the nearest node.

use super::{
    Cloud,
    candidates::{Candidates, ListSize},
};
use crate::{
    PointShape,
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
type List<F> = Candidates<F, 2>;
/// Number of nodes that a list should have.
const WANTED: f64 = 12.0;

/// Nearest-node interpolation.
pub(in crate::cpu) struct Nearest<'a, F> {
    cloud: Cloud<'a, F>,
    lists: ListSize<F>,
    velocity: &'a [[F; 4]],
}

impl<'a, F: Real> Nearest<'a, F> {
    pub fn new(field: &FieldArrays<'a, F>, shape: &PointShape, frames: usize) -> Self {
        let cloud = Cloud::new(field, shape, frames);
        Nearest { lists: ListSize::new(&cloud, 1, WANTED), cloud, velocity: field.velocity }
    }

    #[inline(always)]
    fn node<L: Lanes<F>>(&self, position: [F; 3], candidates: &mut List<F>) -> usize {
        let position = self.cloud.search_position(position);
        candidates.nearest::<L>(&self.cloud, &self.lists, &position)
    }
}

impl<F: Real> Sampler<F> for Nearest<'_, F> {
    type Hint = List<F>;
    type Chart = crate::cpu::chart::Flat;

    #[inline(always)]
    fn sample<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut List<F>,
    ) -> L::Four {
        let node = self.node::<L>(three(position.array()), hint);
        blend::<F, L>(self.velocity, node, pair)
    }
}

impl<F: Real> Differentiable<F> for Nearest<'_, F> {
    #[inline(always)]
    fn slopes<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut List<F>,
    ) -> (L::Four, [L::Four; 3]) {
        (self.sample::<L>(position, pair, hint), [L::Four::splat(F::zero()); 3])
    }

    #[inline(always)]
    fn shares<L: Lanes<F>>(&self, position: L::Four, hint: &mut List<F>, shares: &mut Shares<F>) {
        shares.only(self.node::<L>(three(position.array()), hint));
    }
}

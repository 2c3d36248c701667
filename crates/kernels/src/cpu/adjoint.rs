//! The adjoint of a launch: gradients by the positions at its start and by the field's values, from those
//! by the positions at its end.
//!
//! It is the exact derivative of the steps that were taken (discretise, then optimise); the lengths of
//! adaptive steps count as constants. A tile of particles takes the steps of the launch once more, one
//! by one, and keeps its states. Then the steps are reversed, the last one first.

mod reverse;
mod stages;
mod states;
mod values;

pub(crate) use values::Shares;

use super::{
    Arrays, Method, Position, Real, Sampler, Slots,
    arrays::chunks,
    dual::Dual,
    frame_pair::FramePair,
    lanes::{self, Lanes},
    launch::{Launch, LaunchData},
    launch_data,
    order::Order,
    sampler::{FieldArrays, WithSampler},
    step::SegmentContext,
    tile::Tile,
    with_method,
};
use crate::{Record, Segment};
use rayon::prelude::*;
use reverse::Reverse;
use states::{Coefficients, States};
use values::{ValueGradients, add_parts, frames_read, parts_of};

/// Number of particles whose states are kept at a time: few enough for a cache.
const TILE: usize = 32;

/// A sampler whose values have derivatives by the position and by the field's values.
pub(crate) trait Differentiable<F: Real>: Sampler<F> {
    /// The value at a position, and its derivatives along x, y and z.
    fn slopes<L: Lanes<F>>(
        &self,
        position: L::Four,
        pair: &FramePair<F>,
        hint: &mut Self::Hint,
    ) -> (L::Four, [L::Four; 3]);

    /// The values of a frame of which the value at a position is the weighted sum.
    fn shares<L: Lanes<F>>(&self, position: L::Four, hint: &mut Self::Hint, shares: &mut Shares<F>);
}

/// A launch that was taken, with the particles at its start.
#[derive(Clone, Copy)]
pub(crate) struct Taken<'a, F> {
    pub position: &'a [Position<F>],
    pub record: &'a [Record],
    pub fraction: &'a [F],
    pub field: &'a FieldArrays<'a, F>,
    pub geometry: (&'a [[F; 3]], &'a [i32]),
    pub segment: &'a Segment,
}

/// The gradients of a particle.
#[derive(Clone, Copy)]
pub(crate) struct Gradient<F> {
    /// By its position: at the end of the launch, and then at the start.
    pub position: [F; 3],
    /// By the drift.
    pub drift: [F; 3],
    /// By the diffusivity along each axis.
    pub diffusivity: [F; 3],
}

impl<F: Real> Gradient<F> {
    /// The gradients before any step is reversed.
    pub fn by_end(position: [F; 3]) -> Self {
        let zero = [F::zero(); 3];
        Gradient { position, drift: zero, diffusivity: zero }
    }
}

/// Turns the gradients by the positions after a launch into those by the positions before it and by the
/// drift and diffusivity, and adds the gradients by the field's values to `values`, if given.
///
/// # Panics
///
/// If slots are re-used.
pub(crate) fn pull_back<F: Real>(
    taken: &Taken<F>,
    gradients: &mut [Gradient<F>],
    values: Option<&mut [[F; 4]]>,
) {
    let Taken { field, geometry, segment, .. } = *taken;
    let is_reused = segment.reinjection.is_some();
    assert!(!is_reused, "gradients of re-used slots are those of tensor operations");
    if segment.steps.is_empty() {
        return;
    }
    let data = launch_data(field, geometry, segment);
    let work = PullBack { taken, data: &data, gradients, values };
    field.with_sampler(segment.clock.frames, work);
}

struct PullBack<'a, F> {
    taken: &'a Taken<'a, F>,
    data: &'a LaunchData<'a, F>,
    gradients: &'a mut [Gradient<F>],
    values: Option<&'a mut [[F; 4]]>,
}

impl<F: Real> WithSampler<F> for PullBack<'_, F> {
    fn run<S: Differentiable<F>>(self, sampler: S) {
        with_method!(self.taken.segment.scheme, M => self.run_scheme::<S, M>(&sampler));
    }
}

impl<F: Real> PullBack<'_, F> {
    fn run_scheme<S: Differentiable<F>, M: Method>(self, sampler: &S) {
        let segment = self.taken.segment;
        let context = SegmentContext::<F>::new::<M>(segment, self.data.launch(sampler.region()));
        let adjoint = Adjoint {
            context: &context,
            exact: self.data.launch_dual(sampler.region()),
            sampler,
            coefficients: Coefficients::new(M::TABLEAU),
        };
        let Taken { position, record, fraction, .. } = self.taken;
        let (mut position, mut record) = (position.to_vec(), record.to_vec());
        let mut fraction = fraction.to_vec();
        let arrays = Arrays {
            position: &mut position,
            record: &mut record,
            fraction: &mut fraction,
            slots: Slots::From(segment.first_slot as usize),
        };
        let steps = segment.steps.len();
        let order = Order::new(&arrays, steps).unwrap_or_else(|| Order::unsorted(&arrays));
        let mut ordered = order.gather(&arrays);
        let mut gradients = order.take(self.gradients);
        let tiles = chunks(ordered.arrays(), TILE).zip(gradients.par_chunks_mut(TILE)).collect();
        let values = adjoint.tiles::<M>(tiles, self.values.is_some());
        order.put(&gradients, self.gradients);
        if let Some(all) = self.values {
            add_parts(all, &values);
        }
    }
}

/// A few particles, and their gradients.
type GradientTile<'a, F> = (Arrays<'a, F>, &'a mut [Gradient<F>]);

/// What the particles of a launch share.
struct Adjoint<'a, F: Real, S> {
    context: &'a SegmentContext<'a, F>,
    /// The launch with derivatives, for paths that meet a wall.
    exact: Launch<'a, Dual<F>>,
    sampler: &'a S,
    coefficients: Coefficients<F>,
}

impl<F: Real, S: Differentiable<F>> Adjoint<'_, F, S> {
    /// Reverses all tiles. Returns the gradients by the field's values in parts, if they are wanted.
    fn tiles<M: Method>(
        &self,
        mut tiles: Vec<GradientTile<F>>,
        by_values: bool,
    ) -> Vec<ValueGradients<F>> {
        let read = frames_read(self.context);
        let parts = by_values.then(|| parts_of(&read, tiles.len()));
        let per_part = parts.map_or(1, |parts| tiles.len().div_ceil(parts)).max(1);
        let part = |tiles: &mut [GradientTile<F>]| {
            let mut values = by_values.then(|| ValueGradients::zeros(&read));
            tiles.iter_mut().for_each(|tile| self.tile::<M>(tile, values.as_mut()));
            values
        };
        let values: Vec<_> = tiles.par_chunks_mut(per_part).map(part).collect();
        values.into_iter().flatten().collect()
    }

    fn tile<M: Method>(
        &self,
        (arrays, gradients): &mut GradientTile<F>,
        values: Option<&mut ValueGradients<F>>,
    ) {
        let (mut states, slots) = (States::new(arrays.position.len()), arrays.slots);
        let steps = self.context.segment.steps.len();
        if self.context.launch.features.adaptive {
            let mut accepted = Vec::new();
            let mut tile =
                Tile::<F, S, M>::new(arrays.reborrow(), self.context, self.sampler, 0..steps);
            tile.accepted = Some(&mut accepted);
            lanes::dispatch(tile);
            states.push_accepted(accepted);
        } else {
            for j in 0..steps {
                states.push(arrays);
                let (arrays, step) = (arrays.reborrow(), j..j + 1);
                lanes::dispatch(Tile::<F, S, M>::new(arrays, self.context, self.sampler, step));
            }
        }
        lanes::dispatch(Reverse { adjoint: self, states: &states, slots, gradients, values });
    }
}

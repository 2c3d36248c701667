//! The adjoint of a launch: gradients by the positions at its start and by the field's values, from those
//! by the positions at its end.
//!
//! It is the exact derivative of the steps that were taken (discretise, then optimise). A tile of
//! particles takes the steps of the launch once more, one by one, and keeps its states. Then the steps
//! are reversed, the last one first.

mod reverse;
mod states;
mod values;

pub(crate) use values::Shares;

use super::{
    Arrays, Method, Position, Real, Sampler, Slots,
    arrays::chunks,
    check_clock,
    dual::Dual,
    frame_pair::FramePair,
    lanes::{self, Lanes},
    launch::{Launch, LaunchData},
    order::Order,
    sampler::{FieldArrays, WithSampler},
    step::SegmentContext,
    tile::Tile,
    with_method,
};
use crate::{
    Record, Segment,
    functions::triangle_rows,
    physics::{features::Features, tables::Tables},
};
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

/// Turns the gradients by the positions after a launch into those by the positions before it, and adds
/// the gradients by the field's values to `values`, if given.
///
/// # Panics
///
/// If slots are re-used, steps adapt, or the diffusivity varies.
pub(crate) fn pull_back<F: Real>(
    taken: &Taken<F>,
    gradients: &mut [[F; 3]],
    values: Option<&mut [[F; 4]]>,
) {
    let Taken { field, geometry, segment, .. } = *taken;
    assert!(
        segment.has_adjoint(),
        "gradients of re-used slots, adaptive steps and varying diffusivities are those of tensor \
         operations"
    );
    if segment.steps.is_empty() {
        return;
    }
    check_clock(segment);
    let first_triangle = geometry.0.len().saturating_sub(triangle_rows(&segment.obstacles));
    let tables = Tables::new((field.shape, field.groups), segment, first_triangle);
    let data = LaunchData::new(tables, geometry, Features::new(field.shape, segment));
    let work = PullBack { taken, data: &data, gradients, values };
    field.with_sampler(segment.clock.frames, work);
}

struct PullBack<'a, F> {
    taken: &'a Taken<'a, F>,
    data: &'a LaunchData<'a, F>,
    gradients: &'a mut [[F; 3]],
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
        let tiles = chunks(ordered.arrays(), TILE).zip(gradients.par_chunks_mut(TILE));
        let mut tiles: Vec<(Arrays<F>, &mut [[F; 3]])> = tiles.collect();
        let read = frames_read(&context);
        let parts = self.values.as_ref().map(|_| parts_of(&read, tiles.len()));
        let per_part = parts.map_or(1, |parts| tiles.len().div_ceil(parts)).max(1);
        let values: Vec<Option<ValueGradients<F>>> = tiles
            .par_chunks_mut(per_part)
            .map(|tiles| {
                let mut values = parts.map(|_| ValueGradients::zeros(&read));
                tiles.iter_mut().for_each(|tile| adjoint.tile::<M>(tile, values.as_mut()));
                values
            })
            .collect();
        drop(tiles);
        order.put(&gradients, self.gradients);
        if let Some(all) = self.values {
            add_parts(all, &values.into_iter().flatten().collect::<Vec<_>>());
        }
    }
}

/// What the particles of a launch share.
struct Adjoint<'a, F: Real, S> {
    context: &'a SegmentContext<'a, F>,
    /// The launch with derivatives, for paths that meet a wall.
    exact: Launch<'a, Dual<F>>,
    sampler: &'a S,
    coefficients: Coefficients<F>,
}

impl<F: Real, S: Differentiable<F>> Adjoint<'_, F, S> {
    fn tile<M: Method>(
        &self,
        (arrays, gradients): &mut (Arrays<F>, &mut [[F; 3]]),
        values: Option<&mut ValueGradients<F>>,
    ) {
        let mut states = States::new(arrays.position.len());
        for j in 0..self.context.segment.steps.len() {
            states.push(arrays);
            let (arrays, step) = (arrays.reborrow(), j..j + 1);
            lanes::dispatch(Tile::<F, S, M>::new(arrays, self.context, self.sampler, step));
        }
        let slots = arrays.slots;
        lanes::dispatch(Reverse { adjoint: self, states: &states, slots, gradients, values });
    }
}

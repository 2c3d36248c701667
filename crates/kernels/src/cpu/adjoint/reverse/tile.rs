//! The particles of a tile, a few after the others, and their steps in reverse.

use super::{Gradient, Reverse, Sums};
use crate::cpu::{
    Real,
    adjoint::{
        flight::{Course, Flight, Way},
        replay::{GROUP, Replay, TakenStep},
        shared::Shared,
        stages::{Scratch, Stages},
        states::States,
        step_field::{GroupField, SingleField},
        values::Pending,
    },
    arrays::Arrays,
    lanes::{Lanes, Portable, Task},
    probe::{Hinted, Probe},
    sampler::Differentiable,
};

/// The steps of a tile in reverse, in the field of a sampler.
pub(in crate::cpu::adjoint) struct ReverseTile<'r, 'a, F: Real, S> {
    pub shared: &'r Shared<'a, F>,
    pub arrays: Arrays<'r, F>,
    pub gradients: &'r mut [Gradient<F>],
    pub sums: &'r mut Sums<F>,
    pub sampler: &'r S,
}

impl<F: Real, S: Differentiable<F>> Task<F> for ReverseTile<'_, '_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        if self.shared.is_irregular() {
            return self.irregular::<L>();
        }
        let steps = self.shared.context.segment.steps.len();
        let mut stages = Vec::new();
        stages.resize_with(if L::IS_PORTABLE { 1 } else { steps }, Stages::new);
        let mut pending = std::array::from_fn(|_| Pending::none());
        for first in (0..self.gradients.len()).step_by(GROUP) {
            self.group::<L>(first, &mut stages, &mut pending);
        }
    }
}

impl<F: Real, S: Differentiable<F>> ReverseTile<'_, '_, F, S> {
    /// Takes a few particles through all steps, and reverses these before the next ones: their part of the field stays cached.
    #[inline(always)]
    fn group<L: Lanes<F>>(
        &mut self,
        first: usize,
        stages: &mut [Stages<L::Four, GROUP>],
        pending: &mut [Pending<F>; GROUP],
    ) {
        let ReverseTile { shared, arrays, gradients, sums, sampler } = self;
        let rows = first..gradients.len().min(first + GROUP);
        let gradients = &mut gradients[rows.clone()];
        let mut flight = Flight::new(*shared, arrays.part(rows));
        let mut field = GroupField::new(*sampler);
        let (mut course, mut ways) = (Course::unknown::<F>(), Vec::new());
        for j in 0..shared.context.segment.steps.len() {
            let at = if const { L::IS_PORTABLE } { 0 } else { j };
            let around = (&mut field, &mut stages[at]);
            ways.push(flight.step::<L, _>(j, &mut course, around));
        }
        let mut scratch = Scratch::<L::Four, GROUP>::new::<F>();
        let mut reverse = Reverse { replay: flight.replay(), gradients, sums };
        for j in (0..ways.len()).rev() {
            let flew = |way: &Way| *way != Way::Alone;
            if const { !L::IS_PORTABLE } && ways[j].iter().any(flew) {
                let around = (&mut scratch, &mut *pending);
                reverse.together::<L, _>((j, &ways[j]), &stages[j], around, &mut field);
            }
            #[allow(clippy::needless_range_loop)]
            for g in 0..reverse.gradients.len() {
                let wanted = ways[j][g] == Way::Alone && !reverse.gradients[g].is_zero();
                if let Some(step) = reverse.replay.taken(g, j).filter(|_| wanted) {
                    alone::<F, S, L>(&mut reverse, &mut pending[g], sampler, step);
                }
            }
        }
        if let Some(values) = &mut reverse.sums.values {
            for pending in pending {
                pending.finish::<L>(values);
            }
        }
    }

    /// Reverses irregular steps, particle after particle.
    #[inline(always)]
    fn irregular<L: Lanes<F>>(self) {
        let ReverseTile { shared, mut arrays, gradients, sums, sampler } = self;
        let (slots, states) = (arrays.slots, shared.irregular(&mut arrays));
        let States { parts, last, .. } = &states;
        let replay = Replay { shared, states: &states, slots };
        let mut reverse = Reverse { replay, gradients, sums };
        let mut pending = Pending::none();
        // The instance to which the gradient of each particle belongs, where slots are re-used.
        let mut instances = last.clone();
        for row in (0..parts.len()).rev() {
            reverse.enter(&mut instances, row);
            let step = replay.irregular(row);
            if !reverse.gradients[step.i].is_zero() {
                alone::<F, S, L>(&mut reverse, &mut pending, sampler, step);
            }
        }
        if let Some(values) = &mut reverse.sums.values {
            pending.finish::<L>(values);
        }
        for (i, generation) in instances.into_iter().enumerate() {
            reverse.pass_to_start(i, generation);
        }
    }
}

/// The step of a single particle in reverse.
#[inline(always)]
fn alone<F: Real, S: Differentiable<F>, L: Lanes<F>>(
    reverse: &mut Reverse<F>,
    pending: &mut Pending<F>,
    sampler: &S,
    step: TakenStep<F>,
) {
    if const { !L::IS_PORTABLE } {
        let mut field = GroupField::<F, S, 1>::new(sampler);
        reverse.step::<L, _>(pending, step, &mut field);
    } else {
        let mut hint = S::Hint::default();
        alone_portable(reverse, pending, &mut Hinted::new(sampler, &mut hint), step);
    }
}

/// The step of a single particle in reverse without the widest vectors: compiled once for a precision.
#[inline(never)]
fn alone_portable<F: Real>(
    reverse: &mut Reverse<F>,
    pending: &mut Pending<F>,
    probe: &mut dyn Probe<F>,
    step: TakenStep<F>,
) {
    reverse.step::<Portable, _>(pending, step, &mut SingleField(probe));
}

//! The steps of a tile in reverse.

use super::{
    replay::{GROUP, Replay, TakenStep, Timed, whole_step},
    stages::{Group, transpose},
    states::Coefficients,
    step_field::{GroupField, SingleField, StepField},
    values::{Pending, ValueGradients},
};
use crate::{
    cpu::{
        Real,
        chart::Chart,
        lanes::{Four, Lanes, Portable, Task, Vector, four, three},
        paths::{by_ends, transposed},
        probe::{Hinted, Probe},
        sampler::Differentiable,
    },
    scheme::MAX_STAGES,
};

/// The gradients of a particle.
#[derive(Clone, Copy)]
pub(crate) struct Gradient<F> {
    /// By its position: at the end of the launch, and then at the start.
    pub position: [F; 3],
    /// By the fraction of the step in which it ended: after the launch, and then before it.
    pub fraction: F,
    /// By the drift.
    pub drift: [F; 3],
    /// By the diffusivity along each axis.
    pub diffusivity: [F; 3],
}

impl<F: Real> Gradient<F> {
    /// The gradients before any step is reversed.
    pub fn by_end(position: [F; 3], fraction: F) -> Self {
        let zero = [F::zero(); 3];
        Gradient { position, fraction, drift: zero, diffusivity: zero }
    }

    fn is_zero(&self) -> bool {
        self.position == [F::zero(); 3] && self.fraction == F::zero()
    }
}

/// The gradient by the release position of an instance that started in a launch.
#[derive(Clone, Copy)]
pub(super) struct StartGradient<F> {
    pub slot: u32,
    pub generation: i32,
    /// The row of the position.
    pub row: usize,
    pub gradient: [F; 3],
}

/// The steps of a tile in reverse.
pub(super) struct Reverse<'a, F: Real> {
    pub replay: Replay<'a, F>,
    pub gradients: &'a mut [Gradient<F>],
    pub values: Option<&'a mut ValueGradients<F>>,
    pub starts: &'a mut Vec<StartGradient<F>>,
}

/// The steps of a tile in reverse, in the field of a sampler.
pub(super) struct ReverseTile<'r, 'a, F: Real, S> {
    pub reverse: &'r mut Reverse<'a, F>,
    pub sampler: &'r S,
}

impl<F: Real, S: Differentiable<F>> Task<F> for ReverseTile<'_, '_, F, S> {
    /// Takes a few particles through all steps before the next ones: their part of the field stays cached.
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let ReverseTile { reverse, sampler } = self;
        let mut pending = std::array::from_fn(|_| Pending::none());
        let mut group = Group::<F, L::Four, GROUP>::new(&mut pending);
        // The instance to which the gradient of each particle belongs, where slots are re-used.
        let mut instances = reverse.replay.states.last.clone();
        for first in reverse.replay.groups() {
            for round in (0..reverse.replay.rounds()).rev() {
                reverse.enter(&mut instances, round);
                let moves = |i: usize| !reverse.gradients[i].is_zero();
                let taken = reverse.replay.taken(first, round, moves);
                if let Some(whole) = whole_step::<F, L>(&taken) {
                    let members = std::array::from_fn(|g| first + g);
                    let mut field = GroupField::new(sampler);
                    reverse.step::<L, _, GROUP>(&mut group, &members, whole, &mut field);
                    continue;
                }
                // By index: an iterator call might not be inlined.
                #[allow(clippy::needless_range_loop)]
                for g in 0..GROUP {
                    let Some(step) = taken[g] else { continue };
                    if const { !L::IS_PORTABLE } {
                        let mut alone = Group::new(std::array::from_mut(&mut group.pending[g]));
                        let mut field = GroupField::new(sampler);
                        reverse.step::<L, _, 1>(&mut alone, &[step.i], step, &mut field);
                        continue;
                    }
                    let mut hint = S::Hint::default();
                    let probe = &mut Hinted::new(sampler, &mut hint);
                    step_alone(reverse, &mut group.pending[g], probe, step);
                }
            }
            if let Some(values) = &mut reverse.values {
                group.pending.iter_mut().for_each(|pending| pending.pass_to(values));
            }
        }
        for (i, generation) in instances.into_iter().enumerate() {
            reverse.pass_to_start(i, generation);
        }
    }
}

/// The step of a single particle in reverse without the widest vectors: compiled once for a precision.
#[inline(never)]
fn step_alone<F: Real>(
    reverse: &mut Reverse<F>,
    pending: &mut Pending<F>,
    probe: &mut dyn Probe<F>,
    step: TakenStep<F>,
) {
    let mut group = Group::new(std::array::from_mut(pending));
    reverse.step::<Portable, _, 1>(&mut group, &[step.i], step, &mut SingleField(probe));
}

/// The gradients by the ends of a path, in place of the gradient by the end of the step.
#[derive(Clone, Copy)]
struct Landing<V> {
    from: V,
    to: V,
}

impl<F: Real> Reverse<'_, F> {
    /// Passes a gradient to the start of its instance if a round belongs to an earlier one in its slot.
    #[inline(always)]
    fn enter(&mut self, instances: &mut [i32], round: usize) {
        let states = self.replay.states;
        let (false, Some(parts)) = (instances.is_empty(), &states.parts) else { return };
        let (i, generation) = (parts[round].i, states.record[round].generation);
        if instances[i] != generation {
            self.pass_to_start(i, instances[i]);
            instances[i] = generation;
        }
    }

    /// Passes the gradient of a particle to the release position of its instance if that started in the launch.
    /// It does not depend on the instance before.
    fn pass_to_start(&mut self, i: usize, generation: i32) {
        let Some(restart) = self.replay.states.restart(i, generation) else { return };
        let gradient = &mut self.gradients[i];
        let by_start = std::mem::replace(&mut gradient.position, [F::zero(); 3]);
        gradient.fraction = F::zero();
        let slot = self.replay.slots.get(i);
        let start = |row| StartGradient { slot, generation, row, gradient: by_start };
        self.starts.extend(restart.row.map(start));
    }

    /// Reverses a step of particles, the states of which follow one another from its row on.
    #[inline(always)]
    fn step<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        group: &mut Group<F, L::Four, G>,
        members: &[usize; G],
        step: TakenStep<F>,
        field: &mut E,
    ) {
        let (replay, mut part) = (self.replay, None);
        let timed = replay.timed(&step, &mut part);
        let free = replay.sample::<L, E, G>(step.row, timed, field, &mut group.stages);
        let mut landings = [None; G];
        for g in 0..G {
            let step = step.of(members[g], g);
            if let Some(to) = replay.end::<L, E, G>(&step, &free, timed, (&mut *field, g)) {
                let [from, _] = free.from.of(g);
                let around = (&mut *field, g);
                landings[g] = Some(self.landing::<L, E, G>(&step, (from, to), timed, around));
            }
        }
        let (gradients, by_drift) = self.pull::<L, E, G>(&landings, group, timed, field);
        for g in 0..G {
            let gradient = &mut self.gradients[members[g]];
            // Only the last step of a particle has its end.
            gradient.fraction = F::zero();
            if landings[g].is_some() {
                gradient.position = three(gradients[g].array());
                let sum = four::<F, L>(&gradient.drift) + by_drift[g];
                gradient.drift = three(sum.array());
            }
        }
    }

    /// The gradients by the ends of the path of a step. Adds those by the diffusivity, and by the start of
    /// a walk in a diffusivity that varies.
    #[inline(always)]
    fn landing<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        step: &TakenStep<F>,
        (from, to): ([F; 3], L::Four),
        (h, pairs): Timed<F>,
        (field, g): (&mut E, usize),
    ) -> Landing<L::Four> {
        let Gradient { position: gradient, fraction, .. } = self.gradients[step.i];
        let mut landing = Landing { from: L::Four::splat(F::zero()), to: four::<F, L>(&gradient) };
        if let Some(end) = self.replay.path_end::<L, E, G>(step.row, (from, to), (&mut *field, g)) {
            let full_dt = self.replay.shared.context.segment.steps[step.j].h;
            let part = fraction.exact() * h.exact() / full_dt;
            let [from, to] = by_ends(&end, gradient, part);
            landing = Landing { from: four::<F, L>(&from), to: four::<F, L>(&to) };
        }
        let part = (from, h, &pairs[0]);
        let Some(slopes) = self.replay.walk_slopes::<L, E, G>(step, part, (field, g)) else {
            return landing;
        };
        let to = three(landing.to.array());
        let by = &mut self.gradients[step.i].diffusivity;
        let mut by_start = [F::zero(); 3];
        for (by, slopes) in [(by, slopes.by_diffusivity), (&mut by_start, slopes.by_start)] {
            for (to, slopes) in to.iter().zip(slopes) {
                for (sum, slope) in by.iter_mut().zip(slopes) {
                    *sum += *to * slope;
                }
            }
        }
        Landing { from: landing.from + four::<F, L>(&by_start), ..landing }
    }

    /// The gradients by the starts of a step, and by its drift; adds those by the field's values. Those of
    /// particles without a landing have no meaning.
    #[inline(always)]
    fn pull<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        landings: &[Option<Landing<L::Four>>; G],
        Group { stages, shares, pending }: &mut Group<F, L::Four, G>,
        (h, pairs): Timed<F>,
        field: &mut E,
    ) -> ([L::Four; G], [L::Four; G]) {
        let shared = self.replay.shared;
        let Coefficients { stages: count, a, b } = &shared.coefficients;
        let zero = L::Four::splat(F::zero());
        let mut by_stage = [[zero; G]; MAX_STAGES];
        let (mut gradients, mut by_drift) = ([zero; G], [zero; G]);
        for s in (0..*count).rev() {
            for g in 0..G {
                let Some(Landing { from, to }) = landings[g] else { continue };
                let [by_start, to] = stages.transposed::<F>((*count, g), to);
                if s + 1 == *count {
                    gradients[g] = from + by_start;
                }
                let mut by_velocity = to * L::Four::splat(b[s] * h);
                for r in s + 1..*count {
                    if a[r][s] != F::zero() {
                        by_velocity = by_stage[r][g].fma(L::Four::splat(a[r][s] * h), by_velocity);
                    }
                }
                by_drift[g] = by_drift[g] + by_velocity;
                if let Some(values) = &mut self.values {
                    let at = stages.at[s][g];
                    field.shares(g, at, shares);
                    pending[g].add::<L>(shares, &pairs[s], by_velocity, values);
                }
                let [u, v, w, up] = transpose(stages.slopes[s][g]);
                let mut by_point = w * by_velocity.spread::<2>();
                if const { !E::Chart::IS_FLAT } {
                    by_point = up.fma(by_velocity.spread::<3>(), by_point);
                }
                let by_point = v.fma(by_velocity.spread::<1>(), by_point);
                by_stage[s][g] = u.fma(by_velocity.spread::<0>(), by_point);
                if let Some(jacobians) = stages.clip(s, g) {
                    let by_point = three(by_stage[s][g].array());
                    let [by_start, by_free] =
                        jacobians.map(|jacobian| four::<F, L>(&transposed(&jacobian, by_point)));
                    gradients[g] = gradients[g] + by_start;
                    by_stage[s][g] = by_free;
                }
                let [by_start, by_sum] = stages.transposed::<F>((s, g), by_stage[s][g]);
                gradients[g] = gradients[g] + by_start;
                by_stage[s][g] = by_sum;
            }
        }
        (gradients, by_drift)
    }
}

//! The steps of a tile forward, with the derivatives of the positions.

use super::{
    replay::{GROUP, Replay, TakenStep, whole_step},
    stages::{Stages, transpose},
    states::Coefficients,
    step_field::{GroupField, SingleField, StepField},
};
use crate::{
    cpu::{
        Real,
        lanes::{Four, Lanes, Portable, Task, Vector, four, three},
        paths::product,
        probe::{Hinted, Probe},
        sampler::Differentiable,
    },
    scheme::MAX_STAGES,
};

/// The derivatives of a particle's position by three numbers: a row for each component.
pub(crate) type Tangents<F> = [[F; 3]; 3];

/// The steps of a tile, with the derivatives of its positions: those before, which become those after.
pub(super) struct Forward<'a, F: Real> {
    pub replay: Replay<'a, F>,
    /// During the steps a row holds the derivatives by one number.
    pub tangents: &'a mut [Tangents<F>],
}

/// The steps of a tile, in the field of a sampler.
pub(super) struct ForwardTile<'r, 'a, F: Real, S> {
    pub forward: &'r mut Forward<'a, F>,
    pub sampler: &'r S,
}

impl<F: Real, S: Differentiable<F>> Task<F> for ForwardTile<'_, '_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        let ForwardTile { forward, sampler } = self;
        forward.tangents.iter_mut().for_each(turn);
        let (mut stages, mut alone) = (Stages::new(), Stages::new());
        for first in forward.replay.groups() {
            for round in 0..forward.replay.rounds() {
                let taken = forward.replay.taken(first, round, |_| true);
                if let Some(whole) = whole_step::<F, L>(&taken) {
                    let members = std::array::from_fn(|g| first + g);
                    let mut field = GroupField::new(sampler);
                    forward.step::<L, _, GROUP>(&mut stages, &members, whole, &mut field);
                    continue;
                }
                // By index: an iterator call might not be inlined.
                #[allow(clippy::needless_range_loop)]
                for g in 0..GROUP {
                    let Some(step) = taken[g] else { continue };
                    if const { !L::IS_PORTABLE } {
                        let mut field = GroupField::new(sampler);
                        forward.step::<L, _, 1>(&mut alone, &[step.i], step, &mut field);
                        continue;
                    }
                    let mut hint = S::Hint::default();
                    step_alone(forward, &mut Hinted::new(sampler, &mut hint), step);
                }
            }
        }
        forward.tangents.iter_mut().for_each(turn);
    }
}

/// The step of a single particle without the widest vectors: compiled once for a precision.
#[inline(never)]
fn step_alone<F: Real>(forward: &mut Forward<F>, probe: &mut dyn Probe<F>, step: TakenStep<F>) {
    let field = &mut SingleField(probe);
    forward.step::<Portable, _, 1>(&mut Stages::new(), &[step.i], step, field);
}

impl<F: Real> Forward<'_, F> {
    /// A step of particles, the states of which follow one another from its row on.
    #[inline(always)]
    fn step<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        stages: &mut Stages<L::Four, G>,
        members: &[usize; G],
        step: TakenStep<F>,
        field: &mut E,
    ) {
        let (replay, mut part) = (self.replay, None);
        let timed = replay.timed(&step, &mut part);
        let (h, pairs) = timed;
        let free = replay.sample::<L, E, G>(step.row, timed, field, stages);
        #[allow(clippy::needless_range_loop)]
        for g in 0..G {
            let step = step.of(members[g], g);
            let Some(to) = replay.end::<L, E, G>(&step, &free, timed, (&mut *field, g)) else {
                continue;
            };
            let columns = self.tangents[step.i].map(|column| four::<F, L>(&column));
            let mut ends = self.ends::<L, G>(columns, (stages, g), h);
            let [from, _] = free.from.of(g);
            let (walk, around) = ((from, h, &pairs[0]), (&mut *field, g));
            if let Some(slopes) = replay.walk_slopes::<L, E, G>(&step, walk, around) {
                let [x, y, z, _] = transpose(slopes.by_start.map(|row| four::<F, L>(&row)));
                for d in 0..3 {
                    ends[d] = linear::<F, L>([x, y, z], columns[d]) + ends[d];
                }
            }
            let end = replay.path_end::<L, E, G>(step.row, (from, to), (&mut *field, g));
            if let Some([by_start, by_end]) = end.and_then(|end| end.jacobians) {
                for d in 0..3 {
                    let [start, end] = [columns[d], ends[d]].map(|change| three(change.array()));
                    let [start, end] = [product(&by_start, start), product(&by_end, end)];
                    ends[d] = four::<F, L>(&start) + four::<F, L>(&end);
                }
            }
            self.tangents[step.i] = ends.map(|column| three(column.array()));
        }
    }

    /// The changes of the free end of a step, from those of its start.
    #[inline(always)]
    fn ends<L: Lanes<F>, const G: usize>(
        &self,
        columns: [L::Four; 3],
        (stages, g): (&Stages<L::Four, G>, usize),
        h: F,
    ) -> [L::Four; 3] {
        let Coefficients { stages: count, a, b } = &self.replay.shared.coefficients;
        let zero = L::Four::splat(F::zero());
        let mut velocity = [[zero; 3]; MAX_STAGES];
        let mut ends = columns;
        for s in 0..=*count {
            let weights = if s < *count { &a[s] } else { b };
            for d in 0..3 {
                let turn = stages.turn(s, g);
                let mut at = if turn.is_some() { zero } else { columns[d] };
                for r in 0..s {
                    if weights[r] != F::zero() {
                        at = velocity[r][d].fma(L::Four::splat(weights[r] * h), at);
                    }
                }
                if let Some(turn) = turn {
                    at = turn.product(columns[d], at);
                }
                if s == *count {
                    ends[d] = at;
                    continue;
                }
                if let Some([by_start, by_free]) = stages.clip(s, g) {
                    let [start, free] = [columns[d], at].map(|change| three(change.array()));
                    let [start, free] = [product(by_start, start), product(by_free, free)];
                    at = four::<F, L>(&start) + four::<F, L>(&free);
                }
                velocity[s][d] = linear::<F, L>(stages.slopes[s][g], at);
            }
        }
        ends
    }
}

/// Turns rows into columns.
fn turn<F: Copy>(rows: &mut [[F; 3]; 3]) {
    *rows = [0, 1, 2].map(|d| rows.map(|row| row[d]));
}

/// The product of a matrix, given by its columns, and a change.
#[inline(always)]
fn linear<F: Real, L: Lanes<F>>([x, y, z]: [L::Four; 3], change: L::Four) -> L::Four {
    let product = z * change.spread::<2>();
    let product = y.fma(change.spread::<1>(), product);
    x.fma(change.spread::<0>(), product)
}

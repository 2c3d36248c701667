//! The steps of a tile forward, with the derivatives of the positions.

use super::{
    flight::{Course, Flight, Way},
    replay::{GROUP, Replay, TakenStep, Timed},
    shared::Shared,
    stages::{Stages, transpose},
    step_field::{GroupField, SingleField, StepField},
};
use crate::{
    cpu::{
        Real,
        arrays::Arrays,
        lanes::{Four, Lanes, Portable, Task, Vector, four, three},
        method::Coefficients,
        paths::{PathEnd, product},
        probe::{Hinted, Probe},
        sampler::Differentiable,
    },
    physics::prelude::host::Vec3,
    scheme::MAX_STAGES,
};

/// The derivatives of a particle's position by three numbers: a row for each component.
pub(crate) type Tangents<F> = [[F; 3]; 3];

/// Steps, with the derivatives of the positions: those before, which become those after.
pub(super) struct Forward<'a, F: Real> {
    pub replay: Replay<'a, F>,
    /// During the steps a row holds the derivatives by one number.
    pub tangents: &'a mut [Tangents<F>],
}

/// The steps of a tile, in the field of a sampler.
pub(super) struct ForwardTile<'r, 'a, F: Real, S> {
    pub shared: &'r Shared<'a, F>,
    pub arrays: Arrays<'r, F>,
    pub tangents: &'r mut [Tangents<F>],
    pub sampler: &'r S,
}

impl<F: Real, S: Differentiable<F>> Task<F> for ForwardTile<'_, '_, F, S> {
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        self.tangents.iter_mut().for_each(turn);
        if self.shared.is_irregular() {
            self.irregular::<L>();
        } else {
            for first in (0..self.tangents.len()).step_by(GROUP) {
                self.group::<L>(first);
            }
        }
        self.tangents.iter_mut().for_each(turn);
    }
}

impl<F: Real, S: Differentiable<F>> ForwardTile<'_, '_, F, S> {
    /// Takes a few particles through all steps.
    // By index: an iterator call might not be inlined.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn group<L: Lanes<F>>(&mut self, first: usize) {
        let ForwardTile { shared, arrays, tangents, sampler } = self;
        let rows = first..tangents.len().min(first + GROUP);
        let tangents = &mut tangents[rows.clone()];
        let mut flight = Flight::new(*shared, arrays.part(rows));
        let mut field = GroupField::<F, S, GROUP>::new(*sampler);
        let (mut course, mut stages) = (Course::unknown::<F>(), Stages::new());
        for j in 0..shared.context.segment.steps.len() {
            let ways = flight.step::<L, _>(j, &mut course, (&mut field, &mut stages));
            let replay = flight.replay();
            let mut forward = Forward { replay, tangents: &mut *tangents };
            let first = TakenStep::whole(0, j, j * GROUP);
            for i in 0..forward.tangents.len() {
                if const { !L::IS_PORTABLE } && ways[i] != Way::Alone {
                    let (step, around) = (first.of(i, i), (&mut field, i));
                    let ends = forward.free::<L, _, GROUP>(&step, replay.whole(j), &stages, around);
                    let ends = ends.map(|column| three(column.array()));
                    let end = stages.met(i).map(|to| replay.met_from(step.row, three(to.array())));
                    forward.keep(i, ends, end);
                } else if let Some(step) = replay.taken(i, j) {
                    alone::<F, S, L>(&mut forward, sampler, step);
                }
            }
        }
    }

    /// Takes irregular steps, particle after particle.
    #[inline(always)]
    fn irregular<L: Lanes<F>>(&mut self) {
        let ForwardTile { shared, arrays, tangents, sampler } = self;
        let (slots, states) = (arrays.slots, shared.irregular(arrays));
        let replay = Replay { shared: *shared, states: &states, slots };
        let mut forward = Forward { replay, tangents };
        for row in 0..states.parts.len() {
            alone::<F, S, L>(&mut forward, sampler, replay.irregular(row));
        }
    }
}

/// The step of a single particle.
#[inline(always)]
fn alone<F: Real, S: Differentiable<F>, L: Lanes<F>>(
    forward: &mut Forward<F>,
    sampler: &S,
    step: TakenStep<F>,
) {
    if const { !L::IS_PORTABLE } {
        forward.step::<L, _>(step, &mut GroupField::<F, S, 1>::new(sampler));
    } else {
        let mut hint = S::Hint::default();
        alone_portable(forward, &mut Hinted::new(sampler, &mut hint), step);
    }
}

/// The step of a single particle without the widest vectors: compiled once for a precision.
#[inline(never)]
fn alone_portable<F: Real>(forward: &mut Forward<F>, probe: &mut dyn Probe<F>, step: TakenStep<F>) {
    forward.step::<Portable, _>(step, &mut SingleField(probe));
}

impl<F: Real> Forward<'_, F> {
    /// A step of a single particle.
    #[inline(always)]
    fn step<L: Lanes<F>, E: StepField<F, L, 1>>(&mut self, step: TakenStep<F>, field: &mut E) {
        let (replay, mut part, mut stages) = (self.replay, None, Stages::new());
        let timed = replay.timed(&step, &mut part);
        let start = replay.start::<L, E, 1>([step.row], field);
        let free = replay.sample::<L, E, 1>(&start, timed, field, &mut stages);
        let Some(to) = replay.end::<L, E, 1>(&step, &free, timed, (&mut *field, 0)) else { return };
        let ends = self.free::<L, E, 1>(&step, timed, &stages, (&mut *field, 0));
        let is_free = replay.is_free::<L, E, 1>((start.at[0], to.at[0]), (field, 0));
        // Written out: calls of closures might not be inlined.
        let mut end = None;
        if !is_free {
            end = Some(replay.met_from(step.row, three(to.at[0].array())));
        }
        let [x, y, z] = ends;
        self.keep(step.i, [three(x.array()), three(y.array()), three(z.array())], end);
    }

    /// Keeps the changes of the end of a step, from those of its free end.
    fn keep(&mut self, i: usize, mut ends: [[F; 3]; 3], end: Option<PathEnd>) {
        if let Some([by_start, by_end]) = end.and_then(|end| end.jacobians) {
            let columns = self.tangents[i];
            for d in 0..3 {
                let (start, end) = (product(&by_start, columns[d]), product(&by_end, ends[d]));
                ends[d] = (Vec3(start) + Vec3(end)).0;
            }
        }
        self.tangents[i] = ends;
    }

    /// The changes of the free end of a step, after its random walk.
    #[inline(always)]
    fn free<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &self,
        step: &TakenStep<F>,
        (h, pairs): Timed<F>,
        stages: &Stages<L::Four, G>,
        (field, g): (&mut E, usize),
    ) -> [L::Four; 3] {
        let columns = self.tangents[step.i].map(|column| four::<F, L>(&column));
        let mut ends = self.ends::<L, G>(columns, (stages, g), h);
        if let Some(by_start) = self.replay.walk_slopes::<L, E, G>(step, (h, &pairs[0]), (field, g))
        {
            let [x, y, z, _] = transpose(by_start.map(|row| four::<F, L>(&row)));
            for d in 0..3 {
                ends[d] = linear::<F, L>([x, y, z], columns[d]) + ends[d];
            }
        }
        ends
    }

    /// The changes of the free end of a step, from those of its start.
    #[inline(always)]
    fn ends<L: Lanes<F>, const G: usize>(
        &self,
        columns: [L::Four; 3],
        (stages, g): (&Stages<L::Four, G>, usize),
        h: F,
    ) -> [L::Four; 3] {
        let Coefficients { stages: count, a, b, .. } = &self.replay.shared.context.coefficients;
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

//! Steps in reverse.

mod tile;

pub(super) use tile::ReverseTile;

use super::{
    flight::Way,
    replay::{GROUP, Replay, TakenStep, Timed},
    stages::{Scratch, Stages, transpose},
    step_field::StepField,
    times::TimedStep,
    values::{Pending, ValueGradients},
    walked::Walked,
};
use crate::{
    cpu::{
        Real,
        chart::Chart,
        lanes::{Four, Lanes, Vector, four, three},
        method::Coefficients,
        paths::{by_ends, transposed},
        shapes::RowGradients,
    },
    scheme::MAX_STAGES,
    status::ACTIVE,
};

/// The gradients of a particle.
#[derive(Clone, Copy)]
pub(crate) struct Gradient<F> {
    /// By its position: at the end of the launch, and then at the start.
    pub position: [F; 3],
    /// By the fraction of the step in which it ended: after the launch. Then before it, by the fraction of the step in which it
    /// is released, if it is.
    pub fraction: F,
    /// By the drift.
    pub drift: [F; 3],
    /// By the diffusivity along each axis.
    pub diffusivity: [F; 3],
    /// By the start and the end of the run, if their gradients are wanted.
    pub span: [F; 2],
}

impl<F: Real> Gradient<F> {
    /// The gradients before any step is reversed.
    pub fn by_end(position: [F; 3], fraction: F) -> Self {
        let zero = [F::zero(); 3];
        Gradient { position, fraction, drift: zero, diffusivity: zero, span: [F::zero(); 2] }
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

/// The gradients of a part of the tiles that are not those of particles.
pub(super) struct Sums<F> {
    /// By the field's values, if they are wanted.
    pub values: Option<ValueGradients<F>>,
    /// By the release positions of instances that started in the launch.
    pub starts: Vec<StartGradient<F>>,
    /// By the shapes of obstacles, if they are wanted.
    pub shapes: RowGradients,
}

/// Steps in reverse, of a tile or of a few of its particles.
pub(super) struct Reverse<'a, F: Real> {
    pub replay: Replay<'a, F>,
    pub gradients: &'a mut [Gradient<F>],
    pub sums: &'a mut Sums<F>,
}

/// The gradients by the ends of the path of a step, in place of the gradient by its end.
#[derive(Clone, Copy)]
struct Landing<V> {
    from: V,
    to: V,
}

/// What the reversal of steps works with.
type Around<'s, F, V, const G: usize> = (&'s mut Scratch<V, G>, &'s mut [Pending<F>; G]);

impl<F: Real> Reverse<'_, F> {
    /// Passes a gradient to the start of its instance if a row belongs to an earlier one in its slot.
    #[inline(always)]
    fn enter(&mut self, instances: &mut [i32], row: usize) {
        if instances.is_empty() {
            return;
        }
        let states = self.replay.states;
        let (i, generation) = (states.parts[row].i, states.record[row].generation);
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
        self.sums.starts.extend(restart.row.map(start));
    }

    /// Reverses a step of the particles of a flight that took it together.
    #[inline(always)]
    fn together<L: Lanes<F>, E: StepField<F, L, GROUP>>(
        &mut self,
        (j, ways): (usize, &[Way; GROUP]),
        stages: &Stages<L::Four, GROUP>,
        (scratch, pending): Around<F, L::Four, GROUP>,
        field: &mut E,
    ) {
        let (replay, timed) = (self.replay, self.replay.whole(j));
        let first = TakenStep::whole(0, j, j * GROUP);
        let (mut landings, mut late) = ([None; GROUP], [F::zero(); GROUP]);
        for g in 0..GROUP {
            if ways[g] == Way::Alone || self.gradients[g].is_zero() {
                continue;
            }
            let by_fraction = std::mem::replace(&mut self.gradients[g].fraction, F::zero());
            let step = first.of(g, g);
            let landing;
            (landing, late[g]) = match stages.met(g) {
                None => (self.free::<L>(g), F::zero()),
                Some(to) => self.met::<L>(&step, three(to.array()), by_fraction, timed.0),
            };
            let around = ((&mut *field, g), &mut pending[g]);
            landings[g] = Some(self.walked::<L, E, GROUP>(&step, timed, landing, around));
        }
        self.pull::<L, E, GROUP>(&landings, (stages, scratch), pending, timed, field);
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for g in 0..GROUP {
            if landings[g].is_some() {
                self.keep::<L, GROUP>(g, (scratch, g));
                let (is_release, is_timed) = replay.shared.is_timed(j, ACTIVE);
                if is_timed {
                    let step = (&first.of(g, g), timed);
                    let by_release =
                        self.by_times::<L, E, GROUP>(step, (stages, scratch), (&mut *field, g));
                    if is_release {
                        self.gradients[g].fraction = by_release + late[g];
                    }
                }
            }
        }
    }

    /// Reverses a step of a single particle.
    #[inline(always)]
    fn step<L: Lanes<F>, E: StepField<F, L, 1>>(
        &mut self,
        pending: &mut Pending<F>,
        step: TakenStep<F>,
        field: &mut E,
    ) {
        let (replay, mut part) = (self.replay, None);
        let (mut stages, mut scratch) = (Stages::new(), Scratch::new::<F>());
        let timed = replay.timed(&step, &mut part);
        let from = replay.start::<L, E, 1>([step.row], field);
        let free = replay.sample::<L, E, 1>(&from, timed, field, &mut stages);
        let by_fraction = std::mem::replace(&mut self.gradients[step.i].fraction, F::zero());
        // A particle that lost its position or ended as stagnant did not move.
        let Some(to) = replay.end::<L, E, 1>(&step, &free, timed, (&mut *field, 0)) else { return };
        let (landing, late) =
            match replay.is_free::<L, E, 1>((from.at[0], to.at[0]), (&mut *field, 0)) {
                true => (self.free::<L>(step.i), F::zero()),
                false => self.met::<L>(&step, three(to.at[0].array()), by_fraction, timed.0),
            };
        let around = ((&mut *field, 0), &mut *pending);
        let landing = self.walked::<L, E, 1>(&step, timed, landing, around);
        let (both, pending) = ((&stages, &mut scratch), std::array::from_mut(pending));
        self.pull::<L, E, 1>(&[Some(landing)], both, pending, timed, field);
        self.keep::<L, 1>(step.i, (&scratch, 0));
        let status = replay.states.record[step.row].status;
        let (is_release, is_timed) = replay.shared.is_timed(step.j, status);
        if is_timed {
            let both = (&stages, &scratch);
            let by_release = self.by_times::<L, E, 1>((&step, timed), both, (field, 0));
            if is_release {
                self.gradients[step.i].fraction = by_release + late;
            }
        }
    }

    /// The gradients by the ends of the path of a step to its free end.
    #[inline(always)]
    fn free<L: Lanes<F>>(&self, i: usize) -> Landing<L::Four> {
        let zero = L::Four::splat(F::zero());
        Landing { from: zero, to: four::<F, L>(&self.gradients[i].position) }
    }

    /// The gradients by the ends of the path of a step that met something on the way to a free end, and that by the fraction of the step at which the path starts if the
    /// particle ended on it.
    #[inline(always)]
    fn met<L: Lanes<F>>(
        &mut self,
        step: &TakenStep<F>,
        to: [F; 3],
        by_fraction: F,
        h: F,
    ) -> (Landing<L::Four>, F) {
        let (ends, late) = self.by_ends_of_met(step, to, by_fraction, h);
        let [from, to] = ends.map(|by| four::<F, L>(&by));
        (Landing { from, to }, late)
    }

    #[cold]
    #[inline(never)]
    fn by_ends_of_met(
        &mut self,
        step: &TakenStep<F>,
        to: [F; 3],
        by_fraction: F,
        h: F,
    ) -> ([[F; 3]; 2], F) {
        let Replay { shared, states, .. } = self.replay;
        let gradient = self.gradients[step.i].position;
        let full_dt = shared.context.segment.steps[step.j].h;
        let part = by_fraction.exact() * h.exact() / full_dt;
        let ([from, _], record) = (states.position[step.row], &states.record[step.row]);
        let path = ([from, to], record.near_cell());
        shared.add_shapes(path, (gradient, part), &mut self.sums.shapes);
        let end = self.replay.met_from(step.row, to);
        let late = end.end.map_or(0.0, |(_, reached)| by_fraction.exact() * (1.0 - reached));
        (by_ends(&end, gradient, part), F::of(late))
    }

    /// The gradients by the ends of a path before its random walk, which are those after it but for a diffusivity that
    /// varies. Adds those by the diffusivity.
    #[inline(always)]
    fn walked<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        step: &TakenStep<F>,
        (h, pairs): Timed<F>,
        landing: Landing<L::Four>,
        ((field, g), pending): ((&mut E, usize), &mut Pending<F>),
    ) -> Landing<L::Four> {
        let Replay { shared, states, .. } = self.replay;
        if !shared.context.launch.features.walk.is_on {
            return landing;
        }
        let [from, _] = states.position[step.row];
        let address = self.replay.address(step.i, step.row, step.j);
        let walk = Walked { shared, from, address, step: (h, &pairs[0]) };
        let to = three(landing.to.array());
        let Reverse { gradients, sums, .. } = self;
        let by = &mut gradients[step.i].diffusivity;
        let values = sums.values.as_mut().map(|values| (pending, values));
        let by_start = field.with_probe(g, |probe| walk.pull(to, by, values, probe));
        Landing { from: landing.from + four::<F, L>(&by_start), ..landing }
    }

    /// Keeps the gradients of a particle before a step.
    #[inline(always)]
    fn keep<L: Lanes<F>, const G: usize>(
        &mut self,
        i: usize,
        (scratch, g): (&Scratch<L::Four, G>, usize),
    ) {
        let gradient = &mut self.gradients[i];
        // Only the last step of a particle has its end.
        gradient.fraction = F::zero();
        gradient.position = three(scratch.by_start[g].array());
        let sum = four::<F, L>(&gradient.drift) + scratch.by_drift[g];
        gradient.drift = three(sum.array());
    }

    /// The gradient by the fraction of a step at which a particle starts. Adds those by the start and the end of the run, if
    /// they are wanted.
    #[inline(always)]
    fn by_times<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        (step, timed): (&TakenStep<F>, Timed<F>),
        (stages, scratch): (&Stages<L::Four, G>, &Scratch<L::Four, G>),
        (field, g): (&mut E, usize),
    ) -> F {
        let Replay { shared, states, .. } = self.replay;
        let record = &states.record[step.row];
        field.recall(g, record.location);
        let mut sampled = [([F::zero(); 4], [F::zero(); 4]); MAX_STAGES];
        // By index: an iterator call might not be inlined.
        #[allow(clippy::needless_range_loop)]
        for s in 0..shared.context.coefficients.stages {
            sampled[s] = (stages.at[s][g].array(), scratch.by_velocity[s][g].array());
        }
        let (is_release, _) = shared.is_timed(step.j, record.status);
        let taken = TimedStep { shared, j: step.j, part: step.part, timed, sampled, is_release };
        let span = &mut self.gradients[step.i].span;
        field.with_probe(g, |probe| taken.pull(span, probe))
    }

    /// The gradients by the starts of a step, by its drift and by the velocities of its stages; adds those by the field's values.
    /// Those of particles without a landing have no meaning.
    #[inline(always)]
    fn pull<L: Lanes<F>, E: StepField<F, L, G>, const G: usize>(
        &mut self,
        landings: &[Option<Landing<L::Four>>; G],
        (stages, scratch): (&Stages<L::Four, G>, &mut Scratch<L::Four, G>),
        pending: &mut [Pending<F>; G],
        (h, pairs): Timed<F>,
        field: &mut E,
    ) {
        let shared = self.replay.shared;
        let Coefficients { stages: count, a, b, .. } = &shared.context.coefficients;
        let zero = L::Four::splat(F::zero());
        let Scratch { by_velocity: all, by_start: gradients, by_drift } = scratch;
        let mut by_stage = [[zero; G]; MAX_STAGES];
        (*gradients, *by_drift) = ([zero; G], [zero; G]);
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
                all[s][g] = by_velocity;
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
        // Particle after particle: their cells change at different stages.
        for g in 0..G {
            if let (Some(values), Some(_)) = (&mut self.sums.values, &landings[g]) {
                for s in (0..*count).rev() {
                    field.shares(g, stages.at[s][g], pending[g].shares());
                    pending[g].add::<L>(&pairs[s], all[s][g], values);
                }
            }
        }
    }
}

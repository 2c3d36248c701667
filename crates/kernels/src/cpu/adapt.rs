//! Steps of particles one after another: adaptive ones, those of particles with inertia, and those of particles with factors of
//! a second velocity.

use super::{
    Real,
    inertial::{Flight, Flown, Own},
    lanes::{self, Four, Lanes, Task, three},
    method::AnyScheme,
    probe::{Probe, Width},
    step::{Attempt, Positions, Probed, Stages, StepResult, rk_attempt},
    tile::{Member, PartOfStep, Tile},
    trail::AcceptedStep,
};
use crate::{
    Adaptive, MAX_INSTANCES_PER_STEP, TrialOutcome,
    physics::{
        prelude::host::Vec3,
        step_size::host::{TrialStep, control, judge, length, slack},
        tables::CONTROL_MAX,
    },
    status::{ACTIVE, STEP_TOO_SMALL, WAITING},
};

/// Takes all particles of a tile through its steps, in as many adaptive ones as needed.
pub(super) fn adapt<F: Real>(tile: &mut Tile<F>, probe: &mut dyn Probe<F>) {
    lanes::dispatch(EachAlone { tile, probe });
}

struct EachAlone<'t, 'a, F: Real> {
    tile: &'t mut Tile<'a, F>,
    probe: &'t mut dyn Probe<F>,
}

/// A tile by certain vectors.
struct Adapt<'t, 'a, F: Real, L: Lanes<F>> {
    tile: &'t mut Tile<'a, F>,
    probe: &'t mut dyn Probe<F>,
    /// What a particle with inertia has beside its position.
    own: Own<F, L::Four, 1>,
}

impl<F: Real> Task<F> for EachAlone<'_, '_, F> {
    #[inline(always)]
    fn run<L: Lanes<F>>(self) {
        Adapt::<F, L> { tile: self.tile, probe: self.probe, own: Own::new() }.run();
    }
}

impl<F: Real, L: Lanes<F>> Adapt<'_, '_, F, L> {
    /// Takes all particles through all steps.
    #[inline(always)]
    fn run(mut self) {
        for i in 0..self.tile.arrays.position.len() {
            // For an active particle, the fraction holds the suggested length of its next step.
            let is_adaptive = self.tile.context.is_adaptive();
            let mut next_dt = match self.tile.arrays.record[i].status {
                ACTIVE if is_adaptive => self.tile.arrays.fraction[i],
                _ => F::zero(),
            };
            for j in self.tile.steps.clone() {
                self.tallied_step((i, j), &mut next_dt);
            }
            if is_adaptive && self.tile.arrays.record[i].status == ACTIVE {
                self.tile.arrays.fraction[i] = next_dt;
            }
        }
    }
}

impl<F: Real, L: Lanes<F>> Adapt<'_, '_, F, L> {
    /// Takes one particle through one step of the segment, and adds to its tallies. One that a condition ends may be followed by another one.
    #[inline(always)]
    fn tallied_step(&mut self, (i, j): (usize, usize), next_dt: &mut F) {
        let number = self.tile.context.segment.first_step + j as i32;
        for _ in 0..=MAX_INSTANCES_PER_STEP {
            let before = self.tile.before_step(i, None);
            self.step((i, j), next_dt);
            self.tile.tally((i, j), before, (&mut *self.probe, Width::of::<F, L>()));
            let record = &self.tile.arrays.record[i];
            if before.is_none() || record.status != WAITING || record.step != number {
                return;
            }
        }
        self.tile.arrays.defer_release(i, number);
    }

    /// Takes one particle through one step of the segment, in as many adaptive steps as needed.
    #[inline(always)]
    fn step(&mut self, (i, j): (usize, usize), next_dt: &mut F) {
        let number = self.tile.context.segment.first_step + j as i32;
        let full_dt = F::of(self.tile.context.segment.steps[j].h);
        let (mut instances, mut trials) = (0, 0);
        let mut start_fraction = F::zero();
        loop {
            let record = self.tile.arrays.record[i];
            if record.status == WAITING && record.step == number {
                if instances > MAX_INSTANCES_PER_STEP {
                    self.tile.arrays.defer_release(i, number);
                    break;
                }
                (start_fraction, *next_dt) = (self.tile.arrays.fraction[i], F::zero());
                trials = 0;
            } else if record.status != ACTIVE {
                break;
            }
            self.tile.arrays.record[i].status = ACTIVE;
            trials += 1;
            if trials > Adaptive::MAX_TRIALS {
                let step = PartOfStep { j, start: start_fraction, until: F::one() };
                self.tile.end((i, STEP_TOO_SMALL), step, self.probe);
                instances += 1;
                continue;
            }
            let left = (F::one() - start_fraction) * full_dt;
            let h = match self.tile.context.is_adaptive() {
                true => length(self.tile.context.launch.float(CONTROL_MAX), *next_dt, left),
                false => left,
            };
            let until = if h == left { F::one() } else { start_fraction + h / full_dt };
            let context = self.tile.context;
            let taken = match context.segment.inertia {
                None if !context.is_adaptive() => self.advance((i, j), start_fraction, h),
                None => self.attempt((i, j), [start_fraction, until], (h, full_dt), next_dt),
                Some(_) => self.fly((i, j), [start_fraction, until], (h, full_dt), next_dt),
            };
            match taken {
                TrialOutcome::Rejected => continue,
                // The next round ends it.
                TrialOutcome::Hopeless => trials = Adaptive::MAX_TRIALS,
                TrialOutcome::Accepted => {
                    start_fraction = until;
                    let is_active = self.tile.arrays.record[i].status == ACTIVE;
                    if until == F::one() && is_active {
                        break;
                    }
                    instances += usize::from(!is_active);
                }
            }
        }
    }

    /// Tries a step, and takes it if its error is small enough.
    #[inline(always)]
    fn attempt(
        &mut self,
        (i, j): (usize, usize),
        [start_fraction, until]: [F; 2],
        (h, full_dt): (F, F),
        next_dt: &mut F,
    ) -> TrialOutcome {
        let context = self.tile.context;
        let pairs = context.part(j, start_fraction * full_dt, h);
        self.probe.recall(self.tile.arrays.record[i].location);
        let from = Positions::load::<F, L>(&[self.tile.arrays.position[i]]);
        let Attempt { result, error, ends: [from, to] } =
            rk_attempt::<F, L>(&from, (h, &pairs), context, self.probed(i));
        let ends = [from, to, error].map(|vector| Vec3(three(vector.array())));
        if let Some(refused) = self.refused(i, ends, (h, full_dt, until), next_dt) {
            return refused;
        }
        self.keep((i, j), (start_fraction, h));
        let (to, slow) = (result.to.of(0), result.slow[0]);
        let member = Member { i, to, slow, probe: &mut *self.probe, velocity: None };
        let step = PartOfStep { j, start: start_fraction, until };
        self.tile.finish_step(member, step, Width::of::<F, L>());
        TrialOutcome::Accepted
    }

    /// The field as a particle sees it.
    #[inline(always)]
    fn probed(&mut self, i: usize) -> Probed<'_, F> {
        let slot = self.tile.arrays.slots.get(i);
        Probed { probe: &mut *self.probe, scaled: self.tile.context.scaled(slot) }
    }

    /// Takes the rest of a step, of a length `h`, from a fraction of it on.
    #[inline(always)]
    fn advance(&mut self, (i, j): (usize, usize), start: F, h: F) -> TrialOutcome {
        let context = self.tile.context;
        let part;
        let pairs = match start == F::zero() {
            true => context.frame_pairs(j),
            false => {
                part = context.part(j, start * F::of(context.segment.steps[j].h), h);
                &part
            }
        };
        self.probe.recall(self.tile.arrays.record[i].location);
        let from = self.tile.arrays.position[i];
        let at = Positions::load::<F, L>(&[from]);
        let probed = self.probed(i);
        let mut stages = Stages::<F, L, _, AnyScheme, 1>::new(&at, (h, pairs), context, probed);
        let StepResult { mut to, slow } = stages.step();
        if context.launch.features.walk.is_on {
            let step = (j, h, &pairs[0]);
            let displacement = self.tile.diffuse((i, from[0]), step, self.probe);
            to = to.moved_on::<F, L>(&[displacement]);
        }
        self.keep((i, j), (start, h));
        let probe = &mut *self.probe;
        let member = Member { i, to: to.of(0), slow: slow[0], probe, velocity: None };
        let step = PartOfStep { j, start, until: F::one() };
        self.tile.finish_step(member, step, Width::of::<F, L>());
        TrialOutcome::Accepted
    }

    /// As [`attempt`](Self::attempt), for a particle with inertia.
    #[inline(always)]
    fn fly(
        &mut self,
        (i, j): (usize, usize),
        [start_fraction, until]: [F; 2],
        (h, full_dt): (F, F),
        next_dt: &mut F,
    ) -> TrialOutcome {
        let context = self.tile.context;
        let Some(inertia) = &context.segment.inertia else { return TrialOutcome::Hopeless };
        let offset = start_fraction * full_dt;
        let part;
        let pairs = match h == full_dt {
            true => context.frame_pairs(j),
            false => {
                part = context.part(j, offset, h);
                &part
            }
        };
        self.probe.recall(self.tile.arrays.record[i].location);
        let from = Positions::load::<F, L>(&[self.tile.arrays.position[i]]);
        self.own.load::<L>(0, &self.tile.arrays.inertia[i]);
        let mut flight = Flight::<F, L, _, 1> {
            context,
            inertia,
            from: &from,
            pairs,
            when: (j, offset, h),
            fluid: Probed::new(&mut *self.probe),
            own: &mut self.own,
        };
        let Flown { to, change, error } = flight.fly();
        let ends = [from.at[0], to.at[0], error[0]].map(|vector| Vec3(three(vector.array())));
        if context.is_adaptive()
            && let Some(refused) = self.refused(i, ends, (h, full_dt, until), next_dt)
        {
            return refused;
        }
        self.keep((i, j), (start_fraction, h));
        let velocity = [self.own.velocity[0], change[0]].map(|vector| three(vector.array()));
        let probe = &mut *self.probe;
        let member = Member { i, to: to.of(0), slow: false, probe, velocity: Some(velocity) };
        let step = PartOfStep { j, start: start_fraction, until };
        self.tile.finish_step(member, step, Width::of::<F, L>());
        TrialOutcome::Accepted
    }

    /// Judges a trial step by its start, its end and its error; `None` if it is accepted.
    fn refused(
        &mut self,
        i: usize,
        [start, end, error]: [Vec3<F>; 3],
        (h, full_dt, until): (F, F, F),
        next_dt: &mut F,
    ) -> Option<TrialOutcome> {
        let is_last = until == F::one();
        let trial = TrialStep { suggested: *next_dt, h, is_last, slack: slack(full_dt) };
        let verdict = judge(&control(&self.tile.context.launch), start, end, error, &trial);
        *next_dt = verdict.next_dt;
        let record = &mut self.tile.arrays.record[i];
        if !verdict.is_accepted {
            record.rejected = record.rejected.saturating_add(1);
            return Some(TrialOutcome::of(&verdict));
        }
        record.accepted = record.accepted.saturating_add(1);
        None
    }

    /// Keeps a step that is accepted, if it is wanted.
    fn keep(&mut self, (i, j): (usize, usize), (start, h): (F, F)) {
        let Tile { arrays, trail, .. } = &mut *self.tile;
        if let Some(trail) = trail {
            let (position, record) = (arrays.position[i], arrays.record[i]);
            trail.steps.push(AcceptedStep { i, j, start, h, position, record });
        }
    }
}

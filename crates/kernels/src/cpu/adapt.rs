//! Adaptive steps, one particle after another.

use super::{
    Real,
    lanes::{self, Four, Lanes, Task, three},
    probe::{Probe, Width},
    step::{Attempt, Positions, rk_attempt},
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
    lanes::dispatch(Adapt { tile, probe });
}

struct Adapt<'t, 'a, F: Real> {
    tile: &'t mut Tile<'a, F>,
    probe: &'t mut dyn Probe<F>,
}

impl<F: Real> Task<F> for Adapt<'_, '_, F> {
    /// Takes all particles through all steps.
    #[inline(always)]
    fn run<L: Lanes<F>>(mut self) {
        for i in 0..self.tile.arrays.position.len() {
            // For an active particle, the fraction holds the suggested length of its next step.
            let mut next_dt = match self.tile.arrays.record[i].status {
                ACTIVE => self.tile.arrays.fraction[i],
                _ => F::zero(),
            };
            for j in self.tile.steps.clone() {
                self.step::<L>((i, j), &mut next_dt);
            }
            if self.tile.arrays.record[i].status == ACTIVE {
                self.tile.arrays.fraction[i] = next_dt;
            }
        }
    }
}

impl<F: Real> Adapt<'_, '_, F> {
    /// Takes one particle through one step of the segment, in as many adaptive steps as needed.
    #[inline(always)]
    fn step<L: Lanes<F>>(&mut self, (i, j): (usize, usize), next_dt: &mut F) {
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
            let h = length(self.tile.context.launch.float(CONTROL_MAX), *next_dt, left);
            let until = if h == left { F::one() } else { start_fraction + h / full_dt };
            match self.attempt::<L>((i, j), [start_fraction, until], (h, full_dt), next_dt) {
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
    fn attempt<L: Lanes<F>>(
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
            rk_attempt::<F, L>(&from, (h, &pairs), context, self.probe);
        let [start, end, error] = [from, to, error].map(|vector| Vec3(three(vector.array())));
        let is_last = until == F::one();
        let trial = TrialStep { suggested: *next_dt, h, is_last, slack: slack(full_dt) };
        let verdict = judge(&control(&context.launch), start, end, error, &trial);
        *next_dt = verdict.next_dt;
        let record = &mut self.tile.arrays.record[i];
        if !verdict.is_accepted {
            record.rejected = record.rejected.saturating_add(1);
            return TrialOutcome::of(&verdict);
        }
        record.accepted = record.accepted.saturating_add(1);
        self.keep((i, j), (start_fraction, h));
        let (to, slow) = (result.to.of(0), result.slow[0]);
        let member = Member { i, to, slow, probe: &mut *self.probe };
        let step = PartOfStep { j, start: start_fraction, until };
        self.tile.finish_step(member, step, Width::of::<F, L>());
        TrialOutcome::Accepted
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

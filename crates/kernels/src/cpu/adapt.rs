//! Adaptive steps, one particle after another.

use super::{
    Method, Real, Sampler,
    lanes::{Four, Lanes},
    single::Single,
    step::{Positions, rk_attempt},
    three,
    tile::{AcceptedStep, Tile},
};
use crate::{
    MAX_INSTANCES_PER_STEP,
    physics::{
        prelude::host::Vec3,
        step_size::host::{TrialStep, control, judge, length, slack},
        tables::CONTROL_MAX,
    },
    status::{ACTIVE, WAITING},
};

impl<F: Real, S: Sampler<F>, M: Method> Tile<'_, F, S, M> {
    /// Takes all particles through all steps.
    #[inline(always)]
    pub(super) fn adapt<L: Lanes<F>>(&mut self) {
        for i in 0..self.arrays.position.len() {
            // For an active particle, the fraction holds the suggested length of its next step.
            let mut next_dt = match self.arrays.record[i].status {
                ACTIVE => self.arrays.fraction[i],
                _ => F::zero(),
            };
            for j in self.steps.clone() {
                self.adapt_step::<L>((i, j), &mut next_dt);
            }
            if self.arrays.record[i].status == ACTIVE {
                self.arrays.fraction[i] = next_dt;
            }
        }
    }

    /// Takes one particle through one step of the segment, in as many adaptive steps as needed.
    #[inline(always)]
    fn adapt_step<L: Lanes<F>>(&mut self, (i, j): (usize, usize), next_dt: &mut F) {
        let number = self.context.segment.first_step + j as i32;
        let full_dt = F::of(self.context.segment.steps[j].h);
        let mut instances = 0;
        let mut start_fraction = F::zero();
        loop {
            let record = self.arrays.record[i];
            if record.status == WAITING && record.step == number {
                if instances > MAX_INSTANCES_PER_STEP {
                    self.arrays.defer_release(i, number);
                    break;
                }
                (start_fraction, *next_dt) = (self.arrays.fraction[i], F::zero());
            } else if record.status != ACTIVE {
                break;
            }
            self.arrays.record[i].status = ACTIVE;
            let left = (F::one() - start_fraction) * full_dt;
            let h = length(self.context.launch.float(CONTROL_MAX), *next_dt, left);
            let until = if h == left { F::one() } else { start_fraction + h / full_dt };
            let is_accepted =
                self.attempt::<L>((i, j), [start_fraction, until], (h, full_dt), next_dt);
            if is_accepted {
                start_fraction = until;
                let is_active = self.arrays.record[i].status == ACTIVE;
                if until == F::one() && is_active {
                    break;
                }
                instances += usize::from(!is_active);
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
    ) -> bool {
        let pairs = self.context.part(j, start_fraction * full_dt, h);
        let mut hint = self.sampler.recall(self.arrays.record[i].location);
        let from = Positions::load::<F, L>(|_| self.arrays.position[i]);
        let (result, error) =
            rk_attempt::<F, L, S, M>(&from, (h, &pairs), self.context, self.sampler, &mut hint);
        let ([at], [to]) = (from.at, result.to.at);
        let [start, end, error] = [at, to, error].map(|vector| Vec3(three(vector.array())));
        let is_last = until == F::one();
        let trial = TrialStep { suggested: *next_dt, h, is_last, slack: slack(full_dt) };
        let control = control(&self.context.launch);
        let verdict = judge(&control, start, end, error, &trial);
        *next_dt = verdict.next_dt;
        let record = &mut self.arrays.record[i];
        if !verdict.is_accepted {
            record.rejected = record.rejected.saturating_add(1);
            return false;
        }
        record.accepted = record.accepted.saturating_add(1);
        self.keep((i, j), (start_fraction, h));
        let field = (self.sampler, &mut hint);
        if !result.slow[0] && self.context.is_plain::<L, S>((at, to), field) {
            self.arrays.position[i] = result.to.of(0);
            self.arrays.record[i].location = S::note(&hint);
        } else {
            let mut single = Single {
                tile: &mut self.arrays,
                log: &mut self.log,
                trail: self.trail.as_deref_mut(),
                i,
                context: self.context,
                sampler: self.sampler,
                hint: &mut hint,
                j,
                until,
            };
            single.finish_step((result.to.of(0), result.slow[0]), start_fraction);
        }
        true
    }

    /// Keeps a step that is accepted, if it is wanted.
    #[inline(never)]
    fn keep(&mut self, (i, j): (usize, usize), (start, h): (F, F)) {
        if let Some(trail) = &mut self.trail {
            let (position, record) = (self.arrays.position[i], self.arrays.record[i]);
            trail.steps.push(AcceptedStep { i, j, start, h, position, record });
        }
    }
}

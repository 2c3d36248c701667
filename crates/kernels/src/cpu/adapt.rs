//! Adaptive steps, one particle after another.

use super::{
    Method, Real, Sampler, four,
    lanes::{Four, Lanes},
    single::Single,
    step::rk_attempt,
    three,
    tile::Tile,
};
use crate::{
    Adaptive, MAX_INSTANCES_PER_STEP,
    status::{ACTIVE, WAITING},
};

/// Adaptive step-size control in the kernel's precision.
pub(super) struct Control<F> {
    relative: F,
    absolute: F,
    min_step: F,
    max_step: F,
}

/// Result of a trial step.
struct Verdict<F> {
    is_accepted: bool,
    /// Ratio of the next step to this one.
    factor: F,
}

impl<F: Real> Control<F> {
    pub fn new(adaptive: &Adaptive) -> Self {
        Control {
            relative: F::of(adaptive.relative),
            absolute: F::of(adaptive.absolute),
            min_step: F::of(adaptive.min_step),
            max_step: F::of(adaptive.max_step),
        }
    }

    /// Length of a trial step within the remainder of a step, given the suggestion of the last one
    /// (0 for none); both have the sign of the step.
    #[inline(always)]
    fn length(&self, suggested: F, left: F) -> F {
        let limit = self.max_step.min(left.abs());
        let length = if suggested == F::zero() { limit } else { suggested.abs().min(limit) };
        // Avoids a remainder that is too short for a step of its own.
        let length = if length * F::of(1.0 + 1e-3) >= left.abs() { left.abs() } else { length };
        length * left.signum()
    }

    /// Accepts or rejects a trial step of length `h` by its error.
    #[inline(always)]
    fn judge(&self, from: &[F; 3], to: &[F; 3], error: &[F; 3], h: F, full_dt: F) -> Verdict<F> {
        let mut norm = F::zero();
        for d in 0..3 {
            let size = self.absolute + self.relative * from[d].abs().max(to[d].abs());
            let part = error[d].abs() / size;
            if part > norm || part.is_nan() {
                norm = part;
            }
        }
        let rounding = F::of(Adaptive::ROUNDINGS) * F::epsilon() * full_dt.abs();
        let is_minimum = h.abs() <= self.min_step || h.abs() <= rounding;
        let minimum = F::of(Adaptive::SHRINK);
        let factor = if norm == F::zero() {
            F::of(Adaptive::GROW)
        } else {
            F::of(Adaptive::SAFETY) * norm.powf(F::of(-0.2))
        };
        // A NaN norm gives the minimum factor.
        let factor = if factor >= minimum { factor.min(F::of(Adaptive::GROW)) } else { minimum };
        Verdict { is_accepted: norm <= F::one() || is_minimum, factor }
    }
}

impl<F: Real, S: Sampler<F>, M: Method> Tile<'_, F, S, M> {
    /// Takes all particles through all steps.
    #[inline(always)]
    pub(super) fn adapt<L: Lanes<F>>(&mut self, control: &Control<F>) {
        for i in 0..self.arrays.position.len() {
            // For an active particle, the fraction holds the suggested length of its next step.
            let mut next_dt = match self.arrays.record[i].status {
                ACTIVE => self.arrays.fraction[i],
                _ => F::zero(),
            };
            for j in self.steps.clone() {
                self.adapt_step::<L>(control, (i, j), &mut next_dt);
            }
            if self.arrays.record[i].status == ACTIVE {
                self.arrays.fraction[i] = next_dt;
            }
        }
    }

    /// Takes one particle through one step of the segment, in as many adaptive steps as needed.
    #[inline(always)]
    fn adapt_step<L: Lanes<F>>(
        &mut self,
        control: &Control<F>,
        (i, j): (usize, usize),
        next_dt: &mut F,
    ) {
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
            let h = control.length(*next_dt, left);
            let until = if h == left { F::one() } else { start_fraction + h / full_dt };
            let is_accepted =
                self.attempt::<L>(control, (i, j), [start_fraction, until], (h, full_dt), next_dt);
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
        control: &Control<F>,
        (i, j): (usize, usize),
        [start_fraction, until]: [F; 2],
        (h, full_dt): (F, F),
        next_dt: &mut F,
    ) -> bool {
        let from = self.arrays.position[i];
        let pairs = self.context.part::<M>(j, start_fraction * full_dt, h);
        let mut hint = self.sampler.recall(self.arrays.record[i].cell);
        let at = four::<F, L>(&from);
        let (result, error) =
            rk_attempt::<F, L, S, M>(at, (h, &pairs), self.context, self.sampler, &mut hint);
        let [to] = result.to;
        let verdict = control.judge(&from, &three(to.array()), &three(error.array()), h, full_dt);
        // A step shortened to end with the segment's step says little about the next one.
        let next = h * verdict.factor;
        let is_cut = until == F::one() && next_dt.abs() > next.abs();
        if !(verdict.is_accepted && is_cut) {
            *next_dt = next;
        }
        let record = &mut self.arrays.record[i];
        if !verdict.is_accepted {
            record.rejected = record.rejected.saturating_add(1);
            return false;
        }
        record.accepted = record.accepted.saturating_add(1);
        let is_plain = self.context.walls.contain::<L>(to)
            && !result.slow[0]
            && self.context.are_clear::<L, 1>(&[at], &[to])
            && (!S::ENDS || self.sampler.holds::<L>(to, &mut hint));
        if is_plain {
            self.arrays.position[i] = three(to.array());
            self.arrays.record[i].cell = S::note(&hint);
        } else {
            let mut single = Single {
                tile: &mut self.arrays,
                log: &mut self.log,
                i,
                context: self.context,
                sampler: self.sampler,
                hint: &mut hint,
                j,
                until,
            };
            single.finish_step::<M>((three(to.array()), result.slow[0]), start_fraction);
        }
        true
    }
}

//! Steps whose lengths follow from an estimate of their error, one particle after another.

use super::{
    Method, Real, Sampler, four,
    lanes::{Four, Lanes},
    single::Single,
    step::rk_attempt,
    three,
    tile::Tile,
};
use crate::{
    Adaptive, MAX_LIVES_A_STEP,
    status::{ACTIVE, WAITING},
};

/// The control of steps in the kernel's precision.
pub(super) struct Control<F> {
    relative: F,
    absolute: F,
    least: F,
    most: F,
}

/// What becomes of an attempt.
struct Verdict<F> {
    is_accepted: bool,
    /// By what the next step is longer.
    factor: F,
}

impl<F: Real> Control<F> {
    pub fn new(adaptive: &Adaptive) -> Self {
        Control {
            relative: F::of(adaptive.relative),
            absolute: F::of(adaptive.absolute),
            least: F::of(adaptive.least),
            most: F::of(adaptive.most),
        }
    }

    /// The length of an attempt within what is left of a step, given what the last one suggests (0
    /// for nothing); both have the sign of the step.
    #[inline(always)]
    fn length(&self, suggested: F, left: F) -> F {
        let most = self.most.min(left.abs());
        let length = if suggested == F::zero() { most } else { suggested.abs().min(most) };
        // What would be left over should not be too short for a step of its own.
        let length = if length * F::of(1.0 + 1e-3) >= left.abs() { left.abs() } else { length };
        length * left.signum()
    }

    /// Judges an attempt of length `h` by its error.
    #[inline(always)]
    fn judge(&self, from: &[F; 3], to: &[F; 3], error: &[F; 3], h: F, whole: F) -> Verdict<F> {
        let mut norm = F::zero();
        for d in 0..3 {
            let size = self.absolute + self.relative * from[d].abs().max(to[d].abs());
            let part = error[d].abs() / size;
            if part > norm || part.is_nan() {
                norm = part;
            }
        }
        let rounding = F::of(Adaptive::ROUNDINGS) * F::epsilon() * whole.abs();
        let is_least = h.abs() <= self.least || h.abs() <= rounding;
        let least = F::of(Adaptive::SHRINK);
        let factor = if norm == F::zero() {
            F::of(Adaptive::GROW)
        } else {
            F::of(Adaptive::SAFETY) * norm.powf(F::of(-0.2))
        };
        // A norm that is no number has no root.
        let factor = if factor >= least { factor.min(F::of(Adaptive::GROW)) } else { least };
        Verdict { is_accepted: norm <= F::one() || is_least, factor }
    }
}

impl<F: Real, S: Sampler<F>, M: Method> Tile<'_, F, S, M> {
    /// All particles through all steps.
    #[inline(always)]
    pub(super) fn adapt<L: Lanes<F>>(&mut self, control: &Control<F>) {
        for i in 0..self.arrays.position.len() {
            // Of a particle that goes on, the fraction is the length that its next step should have.
            let mut pace = match self.arrays.record[i].status {
                ACTIVE => self.arrays.fraction[i],
                _ => F::zero(),
            };
            for j in self.steps.clone() {
                self.adapt_step::<L>(control, (i, j), &mut pace);
            }
            if self.arrays.record[i].status == ACTIVE {
                self.arrays.fraction[i] = pace;
            }
        }
    }

    /// One particle through one step of the segment, in as many as it takes.
    #[inline(always)]
    fn adapt_step<L: Lanes<F>>(
        &mut self,
        control: &Control<F>,
        (i, j): (usize, usize),
        pace: &mut F,
    ) {
        let number = self.run.segment.first_step + j as i32;
        let whole = F::of(self.run.segment.steps[j].h);
        let mut lives = 0;
        let mut begun = F::zero();
        loop {
            let record = self.arrays.record[i];
            if record.status == WAITING && record.step == number {
                if lives > MAX_LIVES_A_STEP {
                    self.arrays.put_off(i, number);
                    break;
                }
                (begun, *pace) = (self.arrays.fraction[i], F::zero());
            } else if record.status != ACTIVE {
                break;
            }
            self.arrays.record[i].status = ACTIVE;
            let left = (F::one() - begun) * whole;
            let h = control.length(*pace, left);
            let until = if h == left { F::one() } else { begun + h / whole };
            let is_accepted = self.attempt::<L>(control, (i, j), [begun, until], (h, whole), pace);
            if is_accepted {
                begun = until;
                let is_active = self.arrays.record[i].status == ACTIVE;
                if until == F::one() && is_active {
                    break;
                }
                lives += usize::from(!is_active);
            }
        }
    }

    /// Tries a step, and takes it if its error is small enough.
    #[inline(always)]
    fn attempt<L: Lanes<F>>(
        &mut self,
        control: &Control<F>,
        (i, j): (usize, usize),
        [begun, until]: [F; 2],
        (h, whole): (F, F),
        pace: &mut F,
    ) -> bool {
        let from = self.arrays.position[i];
        let moments = self.run.part::<M>(j, begun * whole, h);
        let mut hint = self.sampler.recall(self.arrays.record[i].place);
        let at = four::<F, L>(&from);
        let (leap, error) =
            rk_attempt::<F, L, S, M>(at, (h, &moments), self.run, self.sampler, &mut hint);
        let [to] = leap.to;
        let verdict = control.judge(&from, &three(to.array()), &three(error.array()), h, whole);
        // A step that was cut short by the end of the segment's says little about the next one.
        let next = h * verdict.factor;
        let is_cut = until == F::one() && pace.abs() > next.abs();
        if !(verdict.is_accepted && is_cut) {
            *pace = next;
        }
        let record = &mut self.arrays.record[i];
        if !verdict.is_accepted {
            record.rejected = record.rejected.saturating_add(1);
            return false;
        }
        record.accepted = record.accepted.saturating_add(1);
        let is_plain = self.run.walls.contain::<L>(to)
            && !leap.slow[0]
            && self.run.are_clear::<L, 1>(&[at], &[to])
            && (!S::ENDS || self.sampler.holds::<L>(to, &mut hint));
        if is_plain {
            self.arrays.position[i] = three(to.array());
            self.arrays.record[i].place = S::note(&hint);
        } else {
            let mut single = Single {
                tile: &mut self.arrays,
                log: &mut self.log,
                i,
                run: self.run,
                sampler: self.sampler,
                hint: &mut hint,
                j,
                until,
            };
            single.settle::<M>((three(to.array()), leap.slow[0]), begun);
        }
        true
    }
}

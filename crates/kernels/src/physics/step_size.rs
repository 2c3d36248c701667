//! Adaptive step-size control.

use super::prelude::host::{Float, Vec3};
use crate::{Adaptive, TrialOutcome};
use burntrace_macros::host_device;
use host::{Control, TrialStep, Verdict};

#[host_device]
pub(crate) mod step_size {
    use crate::Adaptive;
    use crate::physics::{
        tables::{CONTROL, CONTROL_MIN},
        vector::both::is_within,
    };

    /// What decides on a trial step; see [`Adaptive`].
    pub(crate) struct Control<F: Float> {
        pub relative: F,
        pub absolute: F,
        pub min_step: F,
    }

    /// Result of a trial step.
    pub(crate) struct Verdict<F: Float> {
        pub is_accepted: bool,
        /// Whether no step that the time resolves meets the tolerance.
        pub is_hopeless: bool,
        /// Length suggested for the next trial step.
        pub next_dt: F,
    }

    /// A trial step within a step of length `full_dt`.
    pub(crate) struct TrialStep<F: Float> {
        /// The suggestion that it follows (0 for none), and its length.
        pub suggested: F,
        pub h: F,
        /// Whether it ends with the whole step.
        pub is_last: bool,
        /// The length below which steps are not divided.
        pub slack: F,
    }

    /// The control of a launch.
    #[inline(always)]
    pub(crate) fn control<F: Float>(launch: &Launch<F>) -> Control<F> {
        Control::<F> {
            relative: launch.float(CONTROL),
            absolute: launch.float(CONTROL + 1),
            min_step: launch.float(CONTROL_MIN),
        }
    }

    /// Length of a trial step within the remainder of a step, given the suggestion of the last one
    /// (0 for none); both have the sign of the step.
    #[inline(always)]
    pub(crate) fn length<F: Float>(max_step: F, suggested: F, left: F) -> F {
        let zero = F::new(0.0_f32);
        let size = left.abs();
        let limit = min(max_step, size);
        let mut length = select(suggested == zero, limit, min(suggested.abs(), limit));
        // Avoids a remainder that is too short for a step of its own.
        if length * constant::<F>(1.0 + 1e-3) >= size {
            length = size;
        }
        select(left < zero, -length, length)
    }

    /// The length below which a trial step within a step of length `full_dt` is not divided.
    #[inline(always)]
    pub(crate) fn slack<F: Float>(full_dt: F) -> F {
        F::new(Adaptive::ROUNDINGS as f32) * rounding::<F>() * full_dt.abs()
    }

    /// Accepts or rejects a trial step by its error.
    #[inline(always)]
    pub(crate) fn judge<F: Float>(
        control: &Control<F>,
        from: Vec3<F>,
        to: Vec3<F>,
        error: Vec3<F>,
        trial: &TrialStep<F>,
    ) -> Verdict<F> {
        let mut norm = F::new(0.0_f32);
        let mut is_number = true;
        #[unroll]
        for d in 0..3usize {
            let size = max(from.extract(d).abs(), to.extract(d).abs());
            let size = control.absolute + control.relative * size;
            let error = error.extract(d).abs();
            // The size is 0 at a coordinate 0, without an absolute tolerance.
            let part = select(error == F::new(0.0_f32), F::new(0.0_f32), error / size);
            is_number = is_number && part <= F::max_value();
            norm = max(norm, part);
        }
        let is_short = trial.h.abs() <= trial.slack;
        let is_minimum = trial.h.abs() <= control.min_step || is_short;
        // A particle that is lost ends for another reason.
        let is_hopeless = is_short
            && trial.h.abs() > control.min_step
            && norm > constant::<F>(Adaptive::HOPELESS)
            && is_within::<F>(to, F::max_value());
        let shrink = constant::<F>(Adaptive::SHRINK);
        let grow = constant::<F>(Adaptive::GROW);
        let mut factor = grow;
        if !is_number {
            factor = shrink;
        } else if norm > F::new(0.0_f32) {
            let ideal = constant::<F>(Adaptive::SAFETY) * inverse_fifth_root::<F>(norm);
            factor = clamp(ideal, shrink, grow);
        }
        let is_accepted = (is_minimum && !is_hopeless) || (is_number && norm <= F::new(1.0_f32));
        let next = trial.h * factor;
        // A step shortened to end with the whole step says little about the next one.
        let is_cut = is_accepted && trial.is_last && trial.suggested.abs() > next.abs();
        let next_dt = select(is_cut, trial.suggested, next);
        Verdict::<F> { is_accepted, is_hopeless, next_dt }
    }
}

impl TrialOutcome {
    pub(crate) fn of<F: Float>(verdict: &Verdict<F>) -> Self {
        match verdict.is_accepted {
            true => TrialOutcome::Accepted,
            false if verdict.is_hopeless => TrialOutcome::Hopeless,
            false => TrialOutcome::Rejected,
        }
    }
}

impl Adaptive {
    /// Length of a trial step within the remainder `left` of a step, given the suggestion of the
    /// last one (0 for none); both have the sign of the step.
    pub fn length(&self, suggested: f64, left: f64) -> f64 {
        host::length(self.max_step, suggested, left)
    }

    /// What becomes of a trial step `from -> to` of length `h`, and the length suggested for the next one, as the
    /// fused operation decides. `is_last` tells whether it ends with the whole step; steps up to `slack` are not
    /// divided.
    pub fn judge(
        &self,
        [from, to, error]: [[f64; 3]; 3],
        (suggested, h): (f64, f64),
        is_last: bool,
        slack: f64,
    ) -> (TrialOutcome, f64) {
        let Adaptive { relative, absolute, min_step, .. } = *self;
        let control = Control { relative, absolute, min_step };
        let trial = TrialStep { suggested, h, is_last, slack };
        let verdict = host::judge(&control, Vec3(from), Vec3(to), Vec3(error), &trial);
        (TrialOutcome::of(&verdict), verdict.next_dt)
    }
}

//! Adaptive step-size control.

use crate::physics::{
    prelude::host::{Float, Vec3},
    step_size::host::{self as step_size, Control, TrialStep, Verdict},
};

/// Tolerances and limits of adaptive steps. Each particle divides a step of the segment into steps
/// of its own, and reaches the end of the segment's step exactly.
///
/// A step is accepted if the largest component of `|error| / (absolute + relative max(|x|, |x'|))`
/// is at most 1. The next step is `0.9 norm^(-1/5)` times as long, a factor limited to the range
/// from 1/5 to 5 (Hairer, Norsett & Wanner, *Solving Ordinary Differential Equations I*, II.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Tolerance relative to the coordinates.
    pub relative: f64,
    /// Absolute tolerance, in the data's unit of length.
    pub absolute: f64,
    /// Minimum step, in the data's unit of time. A step this short is accepted whatever its error.
    pub min_step: f64,
    /// Maximum step, in the data's unit of time.
    pub max_step: f64,
}

/// What becomes of a trial step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// The particle takes it.
    Accepted,
    /// A shorter one follows.
    Rejected,
    /// No step that the time resolves meets the tolerance.
    Hopeless,
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
    /// Safety factor applied to the step that the error estimate allows.
    pub const SAFETY: f64 = 0.9;
    /// Minimum ratio of a step to the previous one.
    pub const SHRINK: f64 = 0.2;
    /// Maximum ratio of a step to the previous one.
    pub const GROW: f64 = 5.0;
    /// Length of an adaptive step that is not divided, in units of rounding of the segment's step.
    pub const ROUNDINGS: f64 = 64.0;
    /// The error in tolerances with which such a step is not accepted; with less, as at a jump of the velocity, it is.
    pub const HOPELESS: f64 = 1e4;
    /// Maximum number of trial steps of an instance within a step of the segment. Software rasterisers end a loop
    /// after 65,535 rounds.
    pub const MAX_TRIALS: usize = 10_000;

    /// Length of a trial step within the remainder `left` of a step, given the suggestion of the
    /// last one (0 for none); both have the sign of the step.
    pub fn length(&self, suggested: f64, left: f64) -> f64 {
        step_size::length(self.max_step, suggested, left)
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
        let verdict = step_size::judge(&control, Vec3(from), Vec3(to), Vec3(error), &trial);
        (TrialOutcome::of(&verdict), verdict.next_dt)
    }
}

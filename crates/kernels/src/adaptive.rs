//! Adaptive step-size control.

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
}

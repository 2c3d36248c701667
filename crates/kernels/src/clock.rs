//! Time inside a segment: steps placed within frame intervals, and what lies outside the frames.
//!
//! Time is `f64` on the host. A kernel sees the frame interval in which a step begins and the
//! time since that frame, so that a long run loses no resolution in single precision.

/// What a field is worth before its first and after its last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Outside {
    /// The nearest frame.
    #[default]
    Hold,
    /// Zero velocity.
    Zero,
    /// The frames again, from the other end.
    Periodic,
}

/// How a field is interpolated between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TimeInterpolation {
    /// Linearly.
    #[default]
    Linear,
    /// By the nearer frame; the later one where both are equally near.
    Nearest,
}

/// The frames of a field along the time axis.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Clock {
    /// Lengths of the intervals between successive frames, in the data's unit of time; empty for
    /// a steady field. With [`Outside::Periodic`] the last interval may lead back to frame 0.
    pub gaps: Vec<f64>,
    /// How many frames there are.
    pub frames: usize,
    /// What lies outside the frames.
    pub outside: Outside,
    /// What lies between them.
    pub in_time: TimeInterpolation,
}

/// One step of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The interval in which the step begins, an index into [`Clock::gaps`]. It is clamped to the
    /// first or last interval outside the frames.
    pub interval: usize,
    /// Time from that interval's first frame to the beginning of the step.
    pub since: f64,
    /// Length of the step; negative backward in time.
    pub h: f64,
}

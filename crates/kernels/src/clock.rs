//! Time within a segment: steps relative to frame intervals, and the field outside the frames.
//!
//! Time is `f64` on the host. A kernel gets the frame interval in which a step starts and the time
//! since that frame, so that long runs lose no resolution in single precision.

/// The value of a field before its first and after its last frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Outside {
    /// The value of the nearest frame.
    #[default]
    Hold,
    /// Zero velocity.
    Zero,
    /// The frames repeat.
    Periodic,
}

/// Interpolation between two frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum TimeInterpolation {
    /// Linear.
    #[default]
    Linear,
    /// The value of the nearer frame; at equal distance, of the later one.
    Nearest,
}

/// The frames of a field along the time axis.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Clock {
    /// Lengths of the intervals between successive frames, in the data's unit of time; empty for a
    /// steady field. With [`Outside::Periodic`] the last interval may lead back to frame 0.
    pub frame_intervals: Vec<f64>,
    /// Number of frames.
    pub frames: usize,
    /// Extrapolation outside the frames.
    pub outside: Outside,
    /// Interpolation between frames.
    pub in_time: TimeInterpolation,
}

/// One step of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The frame interval in which the step starts, an index into [`Clock::frame_intervals`].
    /// Outside the frames it is clamped to the first or last interval.
    pub interval: usize,
    /// Time from the first frame of that interval to the start of the step.
    pub since: f64,
    /// Length of the step, in the data's unit of time; negative backward in time.
    pub h: f64,
}

//! Steps whose lengths follow from an estimate of their error.

/// How accurate steps are, and how long they may be. Each particle has steps of its own, within
/// those of the segment: it comes to the end of each of these exactly.
///
/// A step is accepted where the greatest component of `|error| / (absolute + relative max(|x|,
/// |x'|))` is no more than 1; the next one is `0.9 norm^(-1/5)` as long, within a fifth and five
/// times of it (Hairer, Norsett & Wanner, *Solving Ordinary Differential Equations I*, II.4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adaptive {
    /// Relative to the coordinates.
    pub relative: f64,
    /// In the data's unit of length.
    pub absolute: f64,
    /// Steps of this length or less are accepted whatever their error is, in the data's unit of time.
    pub least: f64,
    /// No step is longer, in the data's unit of time.
    pub most: f64,
}

impl Adaptive {
    /// The next step is this part of what the error allows.
    pub const SAFETY: f64 = 0.9;
    /// The next step is no shorter than this part of the last one.
    pub const SHRINK: f64 = 0.2;
    /// The next step is no longer than so many times the last one.
    pub const GROW: f64 = 5.0;
    /// Parts of a step of the segment that rounding cannot tell apart are not divided.
    pub const ROUNDINGS: f64 = 64.0;
}

//! The settings of an animation.

use crate::error::{Error, Result};
use crate::picture::Style;
use std::path::PathBuf;

/// The settings of an animation.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// The appearance. `line_width` applies to the trails; these fade out, so `opacity` is not
    /// used. `dots` draws the particles; without it there are only trails.
    pub style: Style,
    /// Duration from the first to the last save, in seconds: above 0 and up to 600. A GIF shows the
    /// last save for another second before it starts again.
    pub seconds: f64,
    /// Maximum frame rate: above 0, up to 50 for a GIF and up to 120 for an MP4.
    pub frames_per_second: f64,
    /// Length of the trail behind each particle, as a fraction of the time range: 0 (none) to 1.
    pub trail: f64,
    /// Whether to interpolate positions linearly between saves; otherwise particles remain at each save
    /// until the next one.
    pub interpolate: bool,
    /// The program that encodes MP4 files, searched in `PATH` unless it has a folder.
    pub ffmpeg: PathBuf,
}

impl Default for Animation {
    fn default() -> Self {
        Self {
            style: Style { size: [960, 640], ..Style::default() },
            seconds: 8.0,
            frames_per_second: 25.0,
            trail: 0.1,
            interpolate: true,
            ffmpeg: "ffmpeg".into(),
        }
    }
}

impl Animation {
    /// Checks that the numbers are in range; `max_rate` is the maximum number of frames per second.
    pub(super) fn check(&self, max_rate: f64) -> Result<()> {
        let invalid = |name, given: f64, expected| {
            Err(Error::Option { name, given: given.to_string(), expected })
        };
        if !(self.seconds > 0.0 && self.seconds <= 600.0) {
            return invalid("seconds", self.seconds, "a number above 0 and up to 600");
        }
        if !(self.frames_per_second > 0.0 && self.frames_per_second <= max_rate) {
            let expected = "a number above 0, up to 50 for a GIF and up to 120 for an MP4";
            return invalid("frames_per_second", self.frames_per_second, expected);
        }
        match (0.0..=1.0).contains(&self.trail) {
            true => Ok(()),
            false => invalid("trail", self.trail, "a fraction of the time range, 0 to 1"),
        }
    }
}

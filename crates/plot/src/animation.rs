//! Animations of particles that go their ways, as GIF or MP4.
//!
//! Time goes by evenly: saves that lie twice as far apart are shown for twice as long.

use crate::data::Ways;
use crate::error::Result;
use crate::picture::{Style, View};
use std::path::{Path, PathBuf};

/// What an animation is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// How it looks; its `line_width` and `opacity` are those of the trails.
    pub style: Style,
    /// How long it takes from the first to the last save, in seconds: over 0, up to 3600. A GIF stays
    /// at the last save for another second before it begins again.
    pub seconds: f64,
    /// How many frames a second has at most: over 0, up to 50 in a GIF, up to 120 in an MP4.
    pub frames_per_second: f64,
    /// How long the trail behind each particle is, as a part of the whole time: 0 (none) to 1.
    pub trail: f64,
    /// Whether particles go evenly along the lines from save to save; otherwise they stay at each save
    /// until the next one.
    pub interpolate: bool,
    /// The program that makes MP4 files, looked for in the `PATH` unless it has a folder.
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

/// Writes an animated GIF, which begins again when it has ended.
///
/// # Errors
///
/// Those of [`tracks`](crate::picture::tracks); if a number of the animation cannot be used; if the
/// file cannot be written.
pub fn write_gif(
    path: impl AsRef<Path>,
    ways: &Ways,
    view: &View,
    animation: &Animation,
) -> Result<()> {
    let _ = (path, ways, view, animation);
    todo!()
}

/// Writes an MP4 file (H.264) by the program ffmpeg, which has to be installed. Odd sides lose a
/// pixel, as the format wants even ones.
///
/// # Errors
///
/// Those of [`write_gif`]; [`Error::NoFfmpeg`](crate::Error::NoFfmpeg) where there is no such
/// program; if it fails.
pub fn write_mp4(
    path: impl AsRef<Path>,
    ways: &Ways,
    view: &View,
    animation: &Animation,
) -> Result<()> {
    let _ = (path, ways, view, animation);
    todo!()
}

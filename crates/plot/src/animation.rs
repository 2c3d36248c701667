//! Animations of particles that go their ways, as GIF or MP4.
//!
//! Time goes by evenly: saves that lie twice as far apart are shown for twice as long.

mod ffmpeg;
mod film;
mod gif;
mod schedule;

use crate::data::Trajectories;
use crate::error::{Error, Result};
use crate::picture::{Style, View};
use film::FrameRenderer;
use std::path::{Path, PathBuf};

/// What an animation is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Animation {
    /// How it looks; its `line_width` is that of the trails, which fade out instead of having an
    /// opacity. `dots` are the particles themselves; without them there are the trails only.
    pub style: Style,
    /// How long it takes from the first to the last save, in seconds: over 0, up to 600. A GIF stays
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

impl Animation {
    /// Says what is wrong with the numbers, `most` being the most frames a second.
    fn check(&self, most: f64) -> Result<()> {
        let wrong = |name, given: f64, wanted| {
            Err(Error::Option { name, given: given.to_string(), wanted })
        };
        if !(self.seconds > 0.0 && self.seconds <= 600.0) {
            return wrong("seconds", self.seconds, "a number over 0, up to 600");
        }
        if !(self.frames_per_second > 0.0 && self.frames_per_second <= most) {
            let wanted = "a number over 0, up to 50 for a GIF and up to 120 for an MP4";
            return wrong("frames_per_second", self.frames_per_second, wanted);
        }
        match (0.0..=1.0).contains(&self.trail) {
            true => Ok(()),
            false => wrong("trail", self.trail, "a part of the whole time, 0 to 1"),
        }
    }
}

/// Writes an animated GIF, which begins again when it has ended. Each save has a frame, unless they
/// are closer than frames can be, and with `interpolate` there are frames between saves.
///
/// # Errors
///
/// Those of [`tracks`](crate::picture::tracks); if a number of the animation cannot be used; if the
/// file cannot be written.
pub fn write_gif(
    path: impl AsRef<Path>,
    ways: &Trajectories,
    view: &View,
    animation: &Animation,
) -> Result<()> {
    animation.check(50.0)?;
    let film = FrameRenderer::new(ways, view, animation)?;
    let path = path.as_ref();
    let file = std::fs::File::create(path).map_err(Error::write(path))?;
    let frames = schedule::unequal(&ways.times, animation);
    gif::write(std::io::BufWriter::new(file), &film, &frames).map_err(Error::write(path))
}

/// Writes an MP4 file (H.264) by the program ffmpeg, which has to be installed. Odd sides lose a
/// pixel, as the format wants even ones.
///
/// # Errors
///
/// Those of [`write_gif`]; [`Error::NoFfmpeg`] where there is no such program; [`Error::Ffmpeg`] if it
/// fails.
pub fn write_mp4(
    path: impl AsRef<Path>,
    ways: &Trajectories,
    view: &View,
    animation: &Animation,
) -> Result<()> {
    animation.check(120.0)?;
    let film = FrameRenderer::new(ways, view, animation)?;
    ffmpeg::write(path.as_ref(), &film, &schedule::equal(&ways.times, animation), animation)
}

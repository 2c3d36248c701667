//! Animations of moving particles, as GIF or MP4.
//!
//! The animation runs at a constant speed: saves twice as far apart are shown for twice as long.

mod ffmpeg;
mod frame_renderer;
mod gif;
mod schedule;
mod settings;

pub use settings::Animation;

use crate::data::Trajectories;
use crate::error::{Error, Result};
use crate::picture::View;
use frame_renderer::FrameRenderer;
use std::path::Path;

/// Writes an animated GIF that loops. Each save has a frame, unless saves are closer than the minimum
/// delay; with `interpolate` there are also frames between saves.
///
/// # Errors
///
/// As [`tracks`](crate::picture::tracks); [`Error::Option`] if a setting is out of range;
/// [`Error::Write`] if the file cannot be written.
pub fn write_gif(
    path: impl AsRef<Path>,
    trajectories: &Trajectories,
    view: &View,
    animation: &Animation,
) -> Result<()> {
    animation.check(50.0)?;
    let renderer = FrameRenderer::new(trajectories, view, animation)?;
    let path = path.as_ref();
    let file = std::fs::File::create(path).map_err(Error::write(path))?;
    let frames = schedule::frames_at_saves(&trajectories.times, animation);
    gif::write(std::io::BufWriter::new(file), &renderer, &frames).map_err(Error::write(path))
}

/// Writes an MP4 file (H.264) with the program ffmpeg, which has to be installed. A side with an odd
/// number of pixels loses one, as the format requires even sides.
///
/// # Errors
///
/// As [`write_gif`]; [`Error::NoFfmpeg`] if the program is not found; [`Error::Ffmpeg`] if it
/// fails.
pub fn write_mp4(
    path: impl AsRef<Path>,
    trajectories: &Trajectories,
    view: &View,
    animation: &Animation,
) -> Result<()> {
    animation.check(120.0)?;
    let renderer = FrameRenderer::new(trajectories, view, animation)?;
    let times = schedule::evenly_spaced_times(&trajectories.times, animation);
    ffmpeg::write(path.as_ref(), &renderer, &times, animation)
}

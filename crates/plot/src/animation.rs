//! Animations of moving particles, as GIF or MP4.
//!
//! The animation runs at a constant speed: saves twice as far apart are shown for twice as long.

mod ffmpeg;
mod frame_renderer;
mod gif;
mod schedule;
mod settings;

pub use settings::Animation;

use crate::data::{Raster, Trajectories};
use crate::error::{Error, Result};
use crate::picture::shared::Palette;
use crate::picture::{self, Style, View};
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

/// Writes an animated GIF of fields on a plane that loops, at a constant rate: `times` are their times, all
/// increasing or all decreasing. `style` applies to each of the pictures; give a range, so that all have the
/// same colours. `seconds` is the duration, above 0 and up to 600.
///
/// # Errors
///
/// As [`raster`](crate::picture::raster); [`Error::Option`] if `seconds` is out of range;
/// [`Error::Data`] unless there is a time for each field; [`Error::Write`] if the file cannot be written.
pub fn write_gif_of_rasters(
    path: impl AsRef<Path>,
    fields: &[Raster],
    times: &[f64],
    style: &Style,
    seconds: f64,
) -> Result<()> {
    let animation =
        Animation { style: style.clone(), seconds, interpolate: false, ..Animation::default() };
    animation.check(50.0)?;
    if times.len() != fields.len() {
        let reason = format!("there are {} fields and {} times", fields.len(), times.len());
        return Err(Error::data("rasters", reason));
    }
    let values = fields.iter().flat_map(Raster::values_off_land);
    let map = picture::shared::ColorScale::new(values, style).colors;
    let style = &Style { colors: Some(map), ..style.clone() };
    let mut pictures = Vec::new();
    for frame in schedule::frames_at_saves(times, &animation) {
        let nearest = (0..times.len()).min_by(|a, b| {
            (times[*a] - frame.time).abs().total_cmp(&(times[*b] - frame.time).abs())
        });
        let Some(field) = nearest.map(|index| &fields[index]) else { continue };
        pictures.push((picture::raster(field, &[], style)?, frame.delay));
    }
    let path = path.as_ref();
    let file = std::fs::File::create(path).map_err(Error::write(path))?;
    let size = style.size.map(|side| side as usize);
    let colors = (Palette::of(style.background), map);
    let pictures = pictures.iter().map(|(picture, delay)| (picture.rgb(), *delay));
    gif::write_pictures(std::io::BufWriter::new(file), size, colors, pictures)
        .map_err(Error::write(path))
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

//! The standard pictures of a run: tracks, density, time series, residence times.

mod curves;

use crate::{
    args::StyleArgs,
    case::Misuse,
    density::{self, DensityRequest, SavedDensity, SavedParticles},
    figure_dir::FigureDir,
    results::{Results, SampleLimits, sample_trajectories},
};
use anyhow::{Context, Result};
use burntrace::analysis::statistics::TrackStatistics;
use burntrace_plot::{
    Axis, Histogram, Raster,
    picture::{self, Plane, View},
};
use curves::NamedCurves;
use std::path::PathBuf;

/// Maximum number of saves in a picture. Longer runs are sampled evenly.
pub const MAX_SAVES: usize = 500;

/// A picture file and its caption.
pub struct Figure {
    pub path: PathBuf,
    pub caption: String,
}

/// Options for the pictures of a run.
pub struct FigureOptions<'a> {
    pub style: &'a StyleArgs,
    /// Views of the tracks. If empty, one view that suits the domain.
    pub views: &'a [View],
    /// Maximum number of tracks.
    pub particles: usize,
}

/// Writes the pictures of a run: tracks, density, time series, residence times. Also returns which
/// pictures are missing, and why.
pub fn make(
    results: &Results,
    statistics: &TrackStatistics,
    options: &FigureOptions,
    mut figures: FigureDir,
) -> Result<(Vec<Figure>, Vec<String>)> {
    let (mut captions, mut missing) = (Vec::new(), Vec::new());
    captions.extend(add_tracks(results, options, &mut figures)?);
    let style = options.style.style();
    match last_density(results) {
        Ok(raster) => {
            captions.push(format!("{}.", capitalized(&raster.title)));
            figures.add("density", &picture::raster(&raster, &[], &style).map_err(Misuse::of)?)?;
        }
        Err(reason) => missing.push(format!("density: {reason:#}")),
    }
    let time_series = [curves::counts, curves::ends, curves::dispersion];
    let time_series = time_series.into_iter().filter_map(|make| make(results, statistics));
    for NamedCurves { name, caption, curves } in time_series {
        figures.add(name, &picture::curves(&curves, &style).map_err(Misuse::of)?)?;
        captions.push(caption.into());
    }
    match residence(results, statistics) {
        Some(times) => {
            figures.add("residence", &picture::histogram(&times, &style).map_err(Misuse::of)?)?;
            captions.push("Residence times of the particles that have ended.".into());
        }
        None => missing.push("residence times: no particle has ended".into()),
    }
    let made = figures.written.into_iter().zip(captions);
    Ok((made.map(|(path, caption)| Figure { path, caption }).collect(), missing))
}

/// Writes the tracks in each view: `tracks` for the first, `tracks-xz` etc. for others.
/// Returns their captions.
fn add_tracks(
    results: &Results,
    options: &FigureOptions,
    figures: &mut FigureDir,
) -> Result<Vec<String>> {
    let limits = SampleLimits { particles: options.particles, saves: MAX_SAVES };
    let trajectories = sample_trajectories(results, limits)?.trajectories;
    let views = match options.views {
        [] => vec![view(results)],
        given => given.to_vec(),
    };
    let mut captions = Vec::new();
    for (number, view) in views.iter().enumerate() {
        let name = match number {
            0 => "tracks".into(),
            _ => format!("tracks-{}", name_of(view)),
        };
        let style = options.style.style();
        let made = picture::tracks(&trajectories, view, &style).map_err(Misuse::of)?;
        figures.add(&name, &made)?;
        let (shown, all) = (trajectories.particles.len(), trajectories.run_size[0]);
        captions.push(format!("Tracks of {shown} of {all} particles."));
    }
    Ok(captions)
}

/// The default view: the plane of a flat domain, else 3D.
pub fn view(results: &Results) -> View {
    match results.axes()[..] {
        [0, 2] | [2] => View::Plane(Plane::Xz),
        [1, 2] => View::Plane(Plane::Yz),
        [0, 1, 2] => View::SPACE,
        _ => View::Plane(Plane::Xy),
    }
}

fn name_of(view: &View) -> &'static str {
    match view {
        View::Plane(Plane::Xy) => "xy",
        View::Plane(Plane::Xz) => "xz",
        View::Plane(Plane::Yz) => "yz",
        View::Space { .. } => "3d",
    }
}

/// The density of the active particles at the last save.
pub fn last_density(results: &Results) -> Result<Raster> {
    let Some(save) = results.tracks.num_saves().checked_sub(1) else {
        anyhow::bail!("the run has no saves");
    };
    let request = DensityRequest::default_of(results)?;
    let particles = SavedParticles::read(results, save, false)?;
    // The device of the run may be missing here, and a picture needs little work.
    let estimate = request.estimate(&particles, &results.device(Some("flex"))?);
    let estimate = estimate.map_err(Misuse::of)?;
    let density = SavedDensity::of(estimate, save, particles.time)?;
    density::raster(results, &request, &density).context("the domain of the run is a line")
}

/// Histogram of residence times. `None` if no particle has ended.
pub fn residence(results: &Results, statistics: &TrackStatistics) -> Option<Histogram> {
    let times = &statistics.all.residence;
    let edges = times.histogram.edges.clone();
    let [first, .., last] = edges[..] else { return None };
    // The bins below the first edge and above the last one are added to their neighbours.
    let mut counts = times.histogram.counts[1..edges.len()].to_vec();
    *counts.first_mut()? += times.histogram.counts[0];
    *counts.last_mut()? += times.histogram.counts[edges.len()];
    let unit = results.units().time;
    (times.count > 0).then(|| Histogram {
        axis: Axis { name: "residence time".into(), unit, range: [first, last] },
        edges,
        series: vec![("ended".into(), counts)],
        title: "residence times".into(),
    })
}

/// A title with a capital first letter.
fn capitalized(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

//! The pictures of a run that say most.

mod curves;

use crate::{
    album::FigureDir,
    args,
    case::Misuse,
    density::{self, Cloud, DensityRequest},
    results::{Most, Results, ways},
};
use anyhow::{Context, Result};
use burntrace::analysis::statistics::TrackStatistics;
use burntrace_plot::{
    Axis, Histogram, Raster,
    picture::{self, Plane, View},
};
use curves::Named;
use std::path::PathBuf;

/// The most saves that are shown; of more, so many that are spread evenly.
pub const MAX_SAVES: usize = 500;

/// A picture, and what it shows.
pub struct Shown {
    pub path: PathBuf,
    pub caption: String,
}

/// What pictures are to be like.
pub struct Wanted<'a> {
    pub look: &'a args::Look,
    /// From where tracks are looked at; what suits the domain if there is none here.
    pub views: &'a [View],
    /// The most particles whose tracks are shown.
    pub particles: usize,
}

/// Makes the pictures of a run: tracks, density, what goes with time, residence times. Says what
/// cannot be shown, and why.
pub fn make(
    results: &Results,
    found: &TrackStatistics,
    wanted: &Wanted,
    mut album: FigureDir,
) -> Result<(Vec<Shown>, Vec<String>)> {
    let (mut captions, mut missing) = (Vec::new(), Vec::new());
    captions.extend(add_tracks(results, wanted, &mut album)?);
    let style = wanted.look.style();
    match last_density(results) {
        Ok(raster) => {
            captions.push(format!("{}.", sentence(&raster.title)));
            album.add("density", &picture::raster(&raster, &[], &style).map_err(Misuse::of)?)?;
        }
        Err(reason) => missing.push(format!("density: {reason:#}")),
    }
    let over_time = [curves::counts, curves::ends, curves::spread].map(|of| of(results, found));
    for Named { name, caption, curves } in over_time.into_iter().flatten() {
        album.add(name, &picture::curves(&curves, &style).map_err(Misuse::of)?)?;
        captions.push(caption.into());
    }
    match residence(results, found) {
        Some(times) => {
            album.add("residence", &picture::histogram(&times, &style).map_err(Misuse::of)?)?;
            captions.push("Residence times of the particles that have ended.".into());
        }
        None => missing.push("residence times: no particle has ended".into()),
    }
    let shown = album.written.into_iter().zip(captions);
    Ok((shown.map(|(path, caption)| Shown { path, caption }).collect(), missing))
}

/// Adds the tracks, `tracks` from the first view and `tracks-xz` and so on from others, and gives
/// their captions.
fn add_tracks(results: &Results, wanted: &Wanted, album: &mut FigureDir) -> Result<Vec<String>> {
    let ways = ways(results, Most { particles: wanted.particles, saves: MAX_SAVES })?.ways;
    let views = match wanted.views {
        [] => vec![view(results)],
        given => given.to_vec(),
    };
    let mut captions = Vec::new();
    for (number, view) in views.iter().enumerate() {
        let name = match number {
            0 => "tracks".into(),
            _ => format!("tracks-{}", name_of(view)),
        };
        let made = picture::tracks(&ways, view, &wanted.look.style()).map_err(Misuse::of)?;
        album.add(&name, &made)?;
        captions.push(format!("Tracks of {} of {} particles.", ways.particles.len(), ways.of[0]));
    }
    Ok(captions)
}

/// The view that shows most: the plane of a flat run, space for others.
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
        anyhow::bail!("the run has no save");
    };
    let asked = DensityRequest::plain(results)?;
    let cloud = Cloud::read(results, save, false)?;
    // That of the run may not be here, and a picture is small work.
    let estimate = asked.estimate(&cloud, &results.device(Some("flex"))?)?;
    let field = density::Field::of(estimate, save, cloud.time)?;
    density::raster(results, &asked, &field).context("the domain of the run is a line")
}

/// Residence times in bins, if there are any.
pub fn residence(results: &Results, found: &TrackStatistics) -> Option<Histogram> {
    let times = &found.all.residence;
    let edges = times.histogram.edges.clone();
    let [first, .., last] = edges[..] else { return None };
    // The bin of what is not beyond the first edge, and that after the last one, go with their
    // neighbours.
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

/// A title as the begin of a sentence.
fn sentence(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

//! The pictures of a report.

use crate::{
    album::{self, Album},
    density::{self, Asked, Cloud},
    render::MOST_SAVES,
    results::{Most, Results, ways},
};
use anyhow::Result;
use burntrace::analysis::statistics::{SaveStatistics, TrackStatistics};
use burntrace_plot::{
    Axis, Curves, Histogram, Raster,
    picture::{self, Style},
};
use std::path::PathBuf;

/// Particles whose tracks are shown.
const TRACKS: usize = 500;

/// A picture, and what it shows.
pub struct Shown {
    pub path: PathBuf,
    pub caption: String,
}

/// Makes the pictures of a run; says what cannot be shown, and why.
pub fn make(results: &Results, found: &TrackStatistics) -> Result<(Vec<Shown>, Vec<String>)> {
    let mut album = Album::at(&results.folder.path("pictures"), false)?;
    let (mut captions, mut missing) = (Vec::new(), Vec::new());
    let style = Style::default();

    let ways = ways(results, Most { particles: TRACKS, saves: MOST_SAVES })?;
    let view = album::views(results)[0];
    album.add("tracks", &picture::tracks(&ways, &view, &style)?)?;
    captions.push(format!("Tracks of {} of {} particles.", ways.particles.len(), ways.of[0]));

    match last_density(results) {
        Ok((raster, dots)) => {
            captions.push(format!("{}.", sentence(&raster.title)));
            album.add("density", &picture::raster(&raster, &dots, &style)?)?;
        }
        Err(reason) => missing.push(format!("density: {reason:#}")),
    }
    for (name, caption, curves) in over_time(results, found) {
        album.add(name, &picture::curves(&curves, &style)?)?;
        captions.push(caption.into());
    }
    match residence(results, found) {
        Some(times) => {
            album.add("residence", &picture::histogram(&times, &style)?)?;
            captions.push("Residence times of the particles that have ended.".into());
        }
        None => missing.push("residence times: no particle has ended".into()),
    }
    let shown = album.written.into_iter().zip(captions);
    Ok((shown.map(|(path, caption)| Shown { path, caption }).collect(), missing))
}

/// The density of the active particles at the last save, and no dots.
pub fn last_density(results: &Results) -> Result<(Raster, Vec<[f64; 2]>)> {
    let Some(save) = results.tracks.num_saves().checked_sub(1) else {
        anyhow::bail!("the run has no save");
    };
    let asked = Asked::plain(results)?;
    let cloud = Cloud::read(results, save, false)?;
    // That of the run may not be here, and a picture is small work.
    let estimate = asked.estimate(&cloud, &results.device(Some("flex"))?)?;
    let values = density::values_of(&estimate)?;
    let field = density::Field { estimate, values, save, time: cloud.time };
    match density::raster(results, &asked, &field) {
        Some(raster) => Ok((raster, Vec::new())),
        None => anyhow::bail!("the domain of the run is a line"),
    }
}

/// What goes with time: how many particles there are, and how they spread.
fn over_time(
    results: &Results,
    found: &TrackStatistics,
) -> Vec<(&'static str, &'static str, Curves)> {
    let saves = &found.all.saves;
    if saves.len() < 2 {
        return Vec::new();
    }
    let units = results.units();
    let curve = |name: &str, of: &dyn Fn(&SaveStatistics) -> Option<f64>| {
        let points = found.times.iter().zip(saves);
        let points = points.map(|(&time, save)| [time, of(save).unwrap_or(f64::NAN)]);
        (name.to_string(), points.collect::<Vec<_>>())
    };
    let axis = |name: &str, unit: String| Axis { name: name.into(), unit, range: [0.0; 2] };
    let time = axis("time", units.time.clone());
    let square = match units.length.as_str() {
        "" => String::new(),
        length => format!("{length}²"),
    };
    let total = |xyz: Option<[f64; 3]>| xyz.map(|xyz| xyz.iter().sum());
    let counts = Curves {
        axes: [time.clone(), axis("particles", String::new())],
        log: [false; 2],
        series: vec![
            curve("active", &|save| Some(save.active as f64)),
            curve("ended", &|save| Some(save.ended as f64)),
            curve("waiting", &|save| Some(save.waiting as f64)),
        ],
        title: "particles by status".into(),
    };
    let spread = Curves {
        axes: [time, axis("length squared", square)],
        log: [false; 2],
        series: vec![
            curve("mean-square displacement", &|save| total(save.mean_square_displacement)),
            curve("about the centroid", &|save| total(save.variance)),
            curve("between pairs", &|save| total(save.pair_dispersion)),
        ],
        title: "dispersion".into(),
    };
    vec![
        (
            "particles",
            "Slots with an active particle, with one that has ended, and without one.",
            counts,
        ),
        (
            "dispersion",
            "How far active particles are from their release, from their centroid, and in \
          pairs of neighbours from each other.",
            spread,
        ),
    ]
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
        title: format!("residence times of {} particles", times.count),
    })
}

/// A title as the begin of a sentence.
fn sentence(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

//! The standard pictures of a run: tracks, density, time series, residence times.

use crate::{
    args::StyleArgs,
    density::{self, DensityRequest},
    figure_dir::FigureDir,
    file::Misuse,
    format::count,
    gates, report,
    results::{Results, walls},
};
use anyhow::{Context, Result};
use burntrace::{
    Status,
    analysis::statistics::TrackStatistics,
    curves::{self, NamedCurves, capitalized},
    densities::{SavedDensity, SavedParticles},
    trajectories::{self, num_located},
};
use burntrace_plot::{
    Raster, Trajectories,
    picture::{self, Plane, Range, Style, View},
};
use std::path::PathBuf;

/// Maximum number of ends in a picture.
const MAX_ENDS: usize = 20_000;

/// A picture file and its caption.
pub struct Figure {
    pub path: PathBuf,
    pub caption: String,
}

/// Options for the pictures of a run.
pub struct FigureOptions<'a> {
    pub style: &'a StyleArgs,
    /// The style of the tracks.
    pub track_style: Style,
    /// Views of the tracks. If empty, one view that suits the domain.
    pub views: &'a [View],
    /// Maximum number of tracks.
    pub particles: usize,
    /// Whether to draw bodies and the walls of a mesh.
    pub walls: bool,
    /// The time before the last save that tracks show; all of it without.
    pub last: Option<f64>,
    /// A field behind the tracks.
    pub background: Option<&'a Raster>,
    /// Whether to draw streaklines.
    pub streaklines: bool,
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
    let details = report::places_by_slot(results)?;
    captions.extend(add_tracks(results, options, &details, &mut figures)?);
    captions.extend(add_ends(results, options, &details, &mut figures)?);
    let style = options.style.style();
    match shown_density(results) {
        Ok(raster) => {
            captions.push(format!("{}: {}.", capitalized(&raster.title), raster.subtitle));
            let style = options.style.of_density();
            figures.add("density", &picture::raster(&raster, &[], &style).map_err(Misuse::of)?)?;
        }
        Err(reason) => missing.push(format!("density: {reason:#}")),
    }
    let units = (&results.units()).into();
    for NamedCurves { name, caption, curves } in curves::of(statistics, &units) {
        figures.add(name, &picture::curves(&curves, &style).map_err(Misuse::of)?)?;
        captions.push(caption.into());
    }
    match curves::residence(statistics, &units) {
        Some(times) => {
            figures.add("residence", &picture::histogram(&times, &style).map_err(Misuse::of)?)?;
            captions.push("Residence times of the particles that have ended.".into());
        }
        None => missing.push("residence times: no particle has ended".into()),
    }
    if let Some(passages) = gates::statistics_if_any(results)?
        && let Some(NamedCurves { name, caption, curves }) =
            curves::first_passages(&passages, &units)
    {
        figures.add(name, &picture::curves(&curves, &style).map_err(Misuse::of)?)?;
        captions.push(caption.into());
    }
    // Each picture is as often among the others as there are further formats.
    let further = figures.others.len() / figures.written.len().max(1);
    let others = figures.others.chunks(further.max(1)).zip(&captions);
    let others: Vec<Figure> = others
        .flat_map(|(paths, caption)| paths.iter().map(|path| (path.clone(), caption.clone())))
        .map(|(path, caption)| Figure { path, caption })
        .collect();
    let made = figures.written.into_iter().zip(captions);
    let made = made.map(|(path, caption)| Figure { path, caption });
    Ok((made.chain(others).collect(), missing))
}

/// Writes the tracks in each view: `tracks` for the first, `tracks-xz` etc. for others. `details` says more of the ends of particles by slot.
/// Returns their captions.
fn add_tracks(
    results: &Results,
    options: &FigureOptions,
    details: &[Option<String>],
    figures: &mut FigureDir,
) -> Result<Vec<String>> {
    let (particles, reuses_slots) = slots_of(results, options.particles)?;
    let color = options.style.color.as_deref();
    let mut trajectories = results.sample(particles, color)?.trajectories;
    trajectories::add_details(&mut trajectories, details);
    let caption = caption(&trajectories, reuses_slots);
    let mut style = options.track_style.clone();
    if reuses_slots && style.title.is_none() {
        let (shown, all) = (trajectories.particles.len(), trajectories.run_size[0]);
        style.title = Some(format!("Tracks in {} of {} slots", count(shown), count(all)));
    }
    if let Some(time) = options.last {
        trajectories = trajectories.last(time);
    }
    trajectories.background = options.background.cloned();
    if options.walls {
        walls::add(results, &mut trajectories);
    }
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
        let made = picture::tracks(&trajectories, view, &style).map_err(Misuse::of)?;
        figures.add(&name, &made)?;
        captions.push(caption.clone());
    }
    Ok(captions)
}

/// Writes where particles ended, in the first view, and streaklines, if they are wanted. Returns their captions.
fn add_ends(
    results: &Results,
    options: &FigureOptions,
    details: &[Option<String>],
    figures: &mut FigureDir,
) -> Result<Vec<String>> {
    let view = options.views.first().copied().unwrap_or_else(|| view(results));
    let mut captions = Vec::new();
    // What colours tracks is not known of ends and streaklines.
    let style = |title: &str| {
        let own = options.track_style.title.clone().or_else(|| Some(title.into()));
        Style { color_by: None, range: Range::Robust, title: own, ..options.track_style.clone() }
    };
    let complete = |mut of: Trajectories| {
        results.add_land(&mut of);
        if options.walls {
            walls::add(results, &mut of);
        }
        of
    };
    let ends = trajectories::end_positions(&results.tracks, results.domain, MAX_ENDS)?;
    if let Some(mut ends) = ends {
        trajectories::add_details(&mut ends, details);
        let [shown, all] = [ends.particles.len(), ends.run_size[0]].map(count);
        let of_all = if shown == all { String::new() } else { format!(" of {all}") };
        let style = style(&format!("Ends of {shown}{of_all} particles"));
        let made = picture::points(&complete(ends), &view, &style).map_err(Misuse::of)?;
        figures.add("end_positions", &made)?;
        captions.push(format!("Where {shown}{of_all} ended particles ended, and how."));
    }
    if options.streaklines {
        let last = results.tracks.num_saves().saturating_sub(1);
        let lines = trajectories::streaklines(&results.tracks, results.domain, last)?;
        let lines = lines.ok_or_else(|| {
            Misuse::error(format!(
                "{} has no streaklines: no two particles were released at the same position; release seeds again with \
                 `seeds.repeat`",
                results.folder.root.display()
            ))
        })?;
        let positions = count(lines.particles.len());
        let style =
            Style { dots: false, ..style(&format!("Streaklines of {positions} positions")) };
        let made = picture::tracks(&complete(lines), &view, &style).map_err(Misuse::of)?;
        figures.add("streaklines", &made)?;
        captions.push(format!(
            "Streaklines at the last save: lines through the active particles that were released at each of {positions} positions."
        ));
    }
    Ok(captions)
}

/// The number of slots with about as many tracks as given, at least one; and whether slots are re-used.
fn slots_of(results: &Results, tracks: usize) -> Result<(usize, bool)> {
    let slots = num_located(&results.tracks)?;
    let instances = results.tracks.num_instances().unwrap_or(0);
    match instances > slots {
        true => Ok(((tracks as u128 * slots as u128 / instances as u128).max(1) as usize, true)),
        false => Ok((tracks, false)),
    }
}

/// Which tracks are shown.
fn caption(trajectories: &Trajectories, reuses_slots: bool) -> String {
    let (shown, all) = (trajectories.particles.len(), trajectories.run_size[0]);
    let [shown, all, not_located] = [shown, all, trajectories.not_located].map(count);
    let tracks = match reuses_slots {
        true => format!("Tracks of the particles in {shown} of {all} slots, one after another"),
        false => format!("Tracks of {shown} of {all} particles"),
    };
    match trajectories.not_located {
        0 => format!("{tracks}."),
        _ => format!("{tracks}; a further {not_located} seeds were not located."),
    }
}

/// The default view: the plane of a flat domain, a map on a sphere, else 3D.
pub fn view(results: &Results) -> View {
    match results.axes()[..] {
        [0, 2] | [2] => View::Plane(Plane::Xz),
        [1, 2] => View::Plane(Plane::Yz),
        [0, 1, 2] if results.radius().is_none() => View::SPACE,
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

/// The density of the active particles at the last save with at least half as many of them as any.
pub fn shown_density(results: &Results) -> Result<Raster> {
    density_at(results, SavesWithParticles::read(results)?.shown)
}

/// Saves with active particles.
struct SavesWithParticles {
    last: usize,
    /// The last one with at least half as many active particles as any: later ones may have very few.
    shown: usize,
}

impl SavesWithParticles {
    fn read(results: &Results) -> Result<SavesWithParticles> {
        let active = |save| -> Result<usize> {
            let status = results.tracks.status(save)?;
            Ok(status.into_iter().filter(|status| *status == Status::Active).count())
        };
        let counts: Vec<usize> =
            (0..results.tracks.num_saves()).map(active).collect::<Result<_>>()?;
        let max = counts.iter().copied().max().unwrap_or(0).max(1);
        let last_with = |min: usize| counts.iter().rposition(|count| *count >= min);
        let (Some(last), Some(shown)) = (last_with(1), last_with(max.div_ceil(2))) else {
            anyhow::bail!("no save has active particles");
        };
        Ok(SavesWithParticles { last, shown })
    }
}

/// Densities on one plane.
pub struct Densities {
    /// The height of the plane in 3D.
    pub height: Option<f64>,
    /// The axis normal to the plane.
    pub normal_axis: usize,
    /// Times and densities.
    pub rasters: Vec<(f64, Raster)>,
}

/// The densities of the active particles at up to `max` evenly spaced saves that have any, with `nodes` along each
/// side, on the plane with most particles at the last save with at least half as many of them as any.
pub fn densities(results: &Results, max: usize, nodes: usize) -> Result<Densities> {
    let SavesWithParticles { last, shown } = SavesWithParticles::read(results)?;
    let mut request =
        DensityRequest::default_of(results, &SavedParticles::read(&results.tracks, shown, false)?)?;
    let height = request.limit_nodes(nodes);
    let mut rasters = Vec::new();
    for i in 0..max.min(last + 1) {
        let save = if max > 1 { i * last / (max.min(last + 1) - 1).max(1) } else { last };
        let particles = SavedParticles::read(&results.tracks, save, false)?;
        if !particles.positions.is_empty() {
            rasters.push((particles.time, density_of(results, &request, &particles)?));
        }
    }
    Ok(Densities { height, normal_axis: request.normal_axis(), rasters })
}

/// The density of the active particles at a save; in 3D, on the plane normal to z near most particles.
fn density_at(results: &Results, save: usize) -> Result<Raster> {
    let particles = SavedParticles::read(&results.tracks, save, false)?;
    let request = DensityRequest::default_of(results, &particles)?;
    density_of(results, &request, &particles)
}

/// The density of particles, as a picture shows it.
pub fn density_of(
    results: &Results,
    request: &DensityRequest,
    particles: &SavedParticles,
) -> Result<Raster> {
    // The device of the run may be missing here, and a picture needs little work.
    let device = results.device(Some("flex"))?;
    let (estimate, chosen) = density::estimate_or_widen(request, particles, &device)?;
    let raster = request.nodes.raster(&SavedDensity::of(estimate, particles)?);
    let mut raster = raster.context("the domain of the run is a line")?;
    if chosen.is_some() {
        raster.subtitle += ", chosen because the particles have no spread along an axis";
    }
    Ok(results.with_land(raster))
}

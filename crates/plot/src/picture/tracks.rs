//! Tracks of particles.

use super::canvas::{Dot, Segment, Shape};
use super::heading::{Heading, LegendEntry, Marker};
use super::scene::{Scene, clipped, is_finite};
use super::style::Style;
use super::surfaces::{self, Facet};
use super::view::View;
use super::{Picture, ticks};
use crate::color::{Rgb, mix};
use crate::data::Trajectories;
use crate::error::Result;
use std::collections::HashMap;

/// Maximum number of tracks with dots at their ends, in all and for a square of the font size; more dots would hide the lines.
const MAX_TRACKS_WITH_DOTS: usize = 1000;
const MAX_DOTS_IN_EM: f64 = 0.28;
/// Minimum length of a line in pixels, except at the end of a track: shorter ones are merged.
const MIN_SEGMENT: f64 = 0.75;

/// Width of tracks on a field, which they should not hide, relative to others.
const THINNER: f64 = 0.6;

/// Plots the tracks of particles: lines from save to save, coloured by an attribute, with dots at the
/// start (hollow) and at the end (filled). The picture shows the whole domain.
///
/// A track starts at the first position where the particle is active, and ends at the last position
/// that is active or at the end of a line. A run with two saves has no lines, which would be chords of unknown paths, but
/// the dots, unless the style has none.
///
/// # Errors
///
/// If the arrays of `trajectories` have different lengths, if they have no attribute of the name in
/// the style, or if a setting of the style or the view is out of range. Without particles, the picture
/// shows the message `no particles`.
pub fn tracks(trajectories: &Trajectories, view: &View, style: &Style) -> Result<Picture> {
    let mut heading = Heading {
        title: title("Tracks", trajectories, style),
        subtitle: subtitle(trajectories),
        ..Heading::default()
    };
    let are_chords = trajectories.run_size[1] == 2 && trajectories.times.len() == 2;
    let has_lines = !(style.dots && are_chords && !trajectories.particles.is_empty());
    if !has_lines {
        heading.add_to_subtitle("no lines between the only two saves");
    }
    let are_few = (1..=max_dots(style)).contains(&trajectories.particles.len());
    let with_dots = style.dots && (are_few || !has_lines);
    if with_dots {
        heading.legend =
            vec![LegendEntry::new(Marker::Ring, "Start"), LegendEntry::new(Marker::Disc, "End")];
        heading.legend.drain(..usize::from(!are_few));
    }
    let mut scene = Scene::new(trajectories, view, style, heading)?;
    add_lines(&mut scene, trajectories, style, has_lines);
    if with_dots {
        add_end_dots(&mut scene, trajectories, are_few);
    }
    Ok(Picture::new(style, scene.canvas))
}

/// Maximum number of tracks with dots at their ends.
fn max_dots(style: &Style) -> usize {
    let [width, height] = style.size.map(|side| f64::from(side) / style.em());
    MAX_TRACKS_WITH_DOTS.min((MAX_DOTS_IN_EM * width * height) as usize)
}

/// Plots each particle as a dot, where it is last: its position at the last save at which it is active, or at which a line
/// ends. Dots have the colours of an attribute, such as how each particle ended.
///
/// # Errors
///
/// As [`tracks`].
pub fn points(trajectories: &Trajectories, view: &View, style: &Style) -> Result<Picture> {
    let heading = Heading {
        title: title("Positions", trajectories, style),
        subtitle: subtitle(trajectories),
        ..Heading::default()
    };
    let mut scene = Scene::new(trajectories, view, style, heading)?;
    add_lines(&mut scene, trajectories, style, false);
    add_end_dots(&mut scene, trajectories, false);
    Ok(Picture::new(style, scene.canvas))
}

/// Draws lines, unless only bodies are to be drawn, and bodies, the nearest last.
fn add_lines(scene: &mut Scene, trajectories: &Trajectories, style: &Style, has_lines: bool) {
    let mut segments = Vec::new();
    if has_lines {
        (0..trajectories.particles.len())
            .for_each(|particle| add_track(scene, trajectories, particle, &mut segments));
        trajectories.partial.iter().for_each(|line| {
            let ends = [line.position, trajectories.position[line.index]];
            segments.extend(segment(scene, ends, (line.index, scene.color(line.index))));
        });
    }
    // Several particles may share a column, one after another.
    let releases = trajectories.partial.iter().filter(|line| line.is_release).count();
    let [width, opacity] =
        stroke(trajectories.particles.len().max(releases), scene.canvas.em, style);
    let is_thin = trajectories.background.is_some() && style.line_width.is_none();
    let stroke = [if is_thin { THINNER * width } else { width }, opacity];
    let mut bodies = surfaces::bodies(scene, trajectories);
    segments.sort_by(|a, b| a.0.total_cmp(&b.0));
    bodies.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    draw_by_depth(scene, segments, &bodies, stroke);
}

/// `Tracks of 100 of 1000 particles`, unless the style has a title.
pub(crate) fn title(what: &str, trajectories: &Trajectories, style: &Style) -> String {
    let shown = trajectories.particles.len();
    let noun = |count: usize| if count == 1 { "particle" } else { "particles" };
    style.title.clone().unwrap_or_else(|| match trajectories.run_size[0] {
        all if all > shown => {
            format!(
                "{what} of {} of {} {}",
                ticks::format_count(shown),
                ticks::format_count(all),
                noun(all)
            )
        }
        _ => format!("{what} of {} {}", ticks::format_count(shown), noun(shown)),
    })
}

/// `t = 0 to 10 s, 101 of 1001 saves`, or with dates instead of the times.
fn subtitle(trajectories: &Trajectories) -> String {
    let times = &trajectories.times;
    let unit = match trajectories.time_unit.as_str() {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let range = match (&trajectories.dates[..], &times[..]) {
        ([start, .., end], _) if start != end => format!("{start} to {end}"),
        ([only, ..], _) => only.clone(),
        (_, [first, .., last]) if first != last => {
            format!("t = {} to {}{unit}", ticks::format_number(*first), ticks::format_number(*last))
        }
        (_, [only, ..]) => format!("t = {}{unit}", ticks::format_number(*only)),
        _ => return String::new(),
    };
    let saves = match trajectories.run_size[1] {
        all if all > times.len() => {
            let [shown, all] = [times.len(), all].map(ticks::format_count);
            format!(", {shown} of {all} saves")
        }
        _ => String::new(),
    };
    let not_located = match trajectories.not_located {
        0 => String::new(),
        count => format!(" · {} seeds not located", ticks::format_count(count)),
    };
    range + &saves + &not_located
}

/// Draws lines and bodies, both sorted by depth, the nearest last.
fn draw_by_depth(
    scene: &mut Scene,
    segments: Vec<(f64, Segment)>,
    bodies: &[Facet],
    [width, opacity]: [f64; 2],
) {
    let mut behind = Vec::new();
    let mut bodies = bodies.iter().peekable();
    for (depth, segment) in segments {
        while let Some(facet) = bodies.next_if(|facet| facet.depth < depth) {
            if !behind.is_empty() {
                let segments = std::mem::take(&mut behind);
                scene.canvas.shapes.push(Shape::Segments { segments, width, opacity });
            }
            facet.draw(&mut scene.canvas);
        }
        behind.push(segment);
    }
    scene.canvas.shapes.push(Shape::Segments { segments: behind, width, opacity });
    bodies.for_each(|facet| facet.draw(&mut scene.canvas));
}

/// The part of a line in the window in a colour, with its depth or, in a plane, the order in which it is drawn. It ends at the position
/// with an index. `None` outside.
fn segment(
    scene: &Scene,
    ends: [[f64; 3]; 2],
    (index, color): (usize, Rgb),
) -> Option<(f64, Segment)> {
    let [from, to] = clipped(ends, scene.window)?.map(|end| scene.projection.with_depth(end));
    let [a, b] = [from, to].map(|[x, y, _]| [x as f32, y as f32]);
    Some((scene.order(index, from[2] + to[2]), Segment { from: a, to: b, color }))
}

/// Adds the lines of a particle, each with its depth.
fn add_track(
    scene: &Scene,
    trajectories: &Trajectories,
    particle: usize,
    segments: &mut Vec<(f64, Segment)>,
) {
    let (saves, stride) = (trajectories.times.len(), trajectories.particles.len());
    // The end of the last line, and the index of its position.
    let mut pen: Option<([f64; 3], usize)> = None;
    let position = |index: usize| trajectories.position[index];
    for save in 0..saves {
        let index = save * stride + particle;
        let to = scene.projection.with_depth(trajectories.position[index]);
        if !is_finite(trajectories.position[index]) {
            pen = None;
        } else if let (true, Some((from, before))) = (trajectories.joined[index], pen) {
            let continues = save + 1 < saves && trajectories.joined[index + stride];
            if continues && (to[0] - from[0]).hypot(to[1] - from[1]) < MIN_SEGMENT {
                continue;
            }
            let color = scene.color_between(before, index);
            let ends = [position(before), position(index)];
            segments.extend(segment(scene, ends, (index, color)));
            pen = Some((to, index));
        } else {
            pen = Some((to, index));
        }
    }
}

/// Default width in pixels and opacity of lines, by the number of tracks.
pub(crate) fn stroke(tracks: usize, em: f64, style: &Style) -> [f64; 2] {
    let count = tracks.max(1) as f64;
    let width = 0.13 * em * (100.0 / count).powf(0.3).clamp(0.3, 1.0);
    let opacity = (200.0 / count).powf(0.35).clamp(0.25, 1.0);
    [style.line_width.unwrap_or(width), style.opacity.unwrap_or(opacity)]
}

/// The radius of dots in pixels, by their number.
pub(crate) fn dot_radius(dots: usize, em: f64) -> f64 {
    (0.3 * em * (50.0 / dots.max(1) as f64).powf(0.35).clamp(0.2, 1.0)).max(1.3)
}

/// Adds the dots at the end of the tracks, the nearest last, and those at the start.
fn add_end_dots(scene: &mut Scene, trajectories: &Trajectories, with_starts: bool) {
    let palette = scene.canvas.palette;
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    let partial = |is_release: bool| -> HashMap<usize, [f64; 3]> {
        let lines = trajectories.partial.iter().filter(|line| line.is_release == is_release);
        lines.map(|line| (line.index, line.position)).collect()
    };
    let [releases, exits] = [partial(true), partial(false)];
    for particle in 0..trajectories.particles.len() {
        let Some([first, last]) = first_and_last(trajectories, particle) else { continue };
        let start = releases.get(&first).copied().unwrap_or(trajectories.position[first]);
        let end = exits.get(&last).copied().unwrap_or(trajectories.position[last]);
        let [start, end] = [start, end].map(|position| {
            let [x, y, depth] = scene.projection.with_depth(position);
            clipped([position; 2], scene.window).map(|_| (depth, [x as f32, y as f32]))
        });
        let edge = |index: usize| mix(scene.color(index), palette.foreground, 0.5);
        let fill = palette.background;
        starts.extend(start.map(|(depth, center)| {
            (scene.order(first, depth), Dot { center, fill, edge: edge(first) })
        }));
        let fill = scene.color(last);
        ends.extend(end.map(|(depth, center)| {
            (scene.order(last, depth), Dot { center, fill, edge: edge(last) })
        }));
    }
    let radius = dot_radius(ends.len(), scene.canvas.em);
    let edge_width = (0.3 * radius).max(0.8);
    for mut dots in [starts, ends].into_iter().skip(usize::from(!with_starts)) {
        dots.sort_by(|a, b| a.0.total_cmp(&b.0));
        let dots = dots.into_iter().map(|(_, dot)| dot).collect();
        scene.canvas.shapes.push(Shape::Dots { dots, radius, edge_width });
    }
}

/// The indices of the positions at which the track of a particle starts and ends.
fn first_and_last(trajectories: &Trajectories, particle: usize) -> Option<[usize; 2]> {
    let stride = trajectories.particles.len();
    let is_drawn = |index: &usize| {
        (trajectories.active[*index] || trajectories.joined[*index])
            && is_finite(trajectories.position[*index])
    };
    let saves = 0..trajectories.times.len();
    let mut drawn = saves.map(|save| save * stride + particle).filter(is_drawn);
    let first = drawn.next()?;
    Some([first, drawn.next_back().unwrap_or(first)])
}

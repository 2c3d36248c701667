//! Tracks of particles.

use super::canvas::{Dot, Segment, Shape};
use super::head::{Head, Mark, Sign};
use super::stage::{Stage, is_place};
use super::style::Style;
use super::view::View;
use super::{Picture, ticks};
use crate::color::mix;
use crate::data::Trajectories;
use crate::error::Result;

/// Of more tracks than this, the dots at the ends would hide the lines.
const WITH_DOTS: usize = 1000;
/// Lines get shorter than this only at their end, in pixels.
const SHORTEST: f64 = 0.75;

/// The tracks of particles: lines from save to save, coloured by an attribute, with dots where they
/// start (hollow) and where they end (filled). The picture shows the whole domain.
///
/// A particle starts where it is first on its way, and ends at the last place to which a line leads.
///
/// # Errors
///
/// If the parts of `ways` do not fit together, if there is no attribute of the name in the style, or
/// if the style or the view has numbers that cannot be used. Ways without a particle give a picture
/// that says so.
pub fn tracks(ways: &Trajectories, view: &View, style: &Style) -> Result<Picture> {
    let mut head =
        Head { title: title("Tracks", ways, style), note: note(ways), signs: Vec::new() };
    let dots = style.dots && (1..=WITH_DOTS).contains(&ways.particles.len());
    if dots {
        head.signs = vec![Sign::new(Mark::Ring, "start"), Sign::new(Mark::Disc, "end")];
    }
    let mut stage = Stage::new(ways, view, style, head)?;
    let mut segments = Vec::new();
    (0..ways.particles.len()).for_each(|particle| track(&stage, ways, particle, &mut segments));
    if stage.projection.has_depth() {
        segments.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let segments = segments.into_iter().map(|(_, segment)| segment).collect();
    let [width, opacity] = stroke(ways.particles.len(), stage.canvas.em, style);
    stage.canvas.shapes.push(Shape::Segments { segments, width, opacity });
    if dots {
        ends(&mut stage, ways);
    }
    let mut canvas = stage.canvas;
    canvas.shapes.append(&mut stage.over);
    Ok(Picture::new(style.size, canvas))
}

/// `Tracks of 100 of 1000 particles`, unless the style has a title.
pub(crate) fn title(what: &str, ways: &Trajectories, style: &Style) -> String {
    let shown = ways.particles.len();
    let plural = |count: usize| if count == 1 { "particle" } else { "particles" };
    style.title.clone().unwrap_or_else(|| match ways.of[0] {
        all if all > shown => {
            format!(
                "{what} of {} of {} {}",
                ticks::counted(shown),
                ticks::counted(all),
                plural(all)
            )
        }
        _ => format!("{what} of {} {}", ticks::counted(shown), plural(shown)),
    })
}

/// `t = 0 to 10 s, 101 of 1001 saves`.
fn note(ways: &Trajectories) -> String {
    let unit =
        if ways.time_unit.is_empty() { String::new() } else { format!(" {}", ways.time_unit) };
    let time = match (ways.times.first(), ways.times.last()) {
        (Some(first), Some(last)) if first != last => {
            format!("t = {} to {}{unit}", ticks::said(*first), ticks::said(*last))
        }
        (Some(only), _) => format!("t = {}{unit}", ticks::said(*only)),
        _ => return String::new(),
    };
    match ways.of[1] {
        all if all > ways.times.len() => {
            format!("{time}, {} of {} saves", ticks::counted(ways.times.len()), ticks::counted(all))
        }
        _ => time,
    }
}

/// Adds the lines of a particle, with how near they are.
fn track(stage: &Stage, ways: &Trajectories, particle: usize, segments: &mut Vec<(f64, Segment)>) {
    let (saves, stride) = (ways.times.len(), ways.particles.len());
    // Where the last line ended, and of which position that was.
    let mut pen: Option<([f64; 3], usize)> = None;
    for save in 0..saves {
        let at = save * stride + particle;
        let to = stage.projection.at(ways.position[at].map(f64::from));
        if !is_place(ways.position[at]) {
            pen = None;
        } else if let (true, Some((from, before))) = (ways.joined[at], pen) {
            let goes_on = save + 1 < saves && ways.joined[at + stride];
            if goes_on && (to[0] - from[0]).hypot(to[1] - from[1]) < SHORTEST {
                continue;
            }
            let ends = [from, to].map(|[x, y, _]| [x as f32, y as f32]);
            let color = stage.color_between(before, at);
            segments.push((from[2] + to[2], Segment { from: ends[0], to: ends[1], color }));
            pen = Some((to, at));
        } else {
            pen = Some((to, at));
        }
    }
}

/// Width in pixels and opacity of so many tracks.
pub(crate) fn stroke(tracks: usize, em: f64, style: &Style) -> [f64; 2] {
    let many = tracks.max(1) as f64;
    let width = 0.13 * em * (100.0 / many).powf(0.3).clamp(0.3, 1.0);
    let opacity = (200.0 / many).powf(0.35).clamp(0.25, 1.0);
    [style.line_width.unwrap_or(width), style.opacity.unwrap_or(opacity)]
}

/// The radius in pixels of dots of which there are so many.
pub(crate) fn radius(dots: usize, em: f64) -> f64 {
    (0.3 * em * (50.0 / dots.max(1) as f64).powf(0.35).clamp(0.2, 1.0)).max(1.3)
}

/// Adds the dots where tracks start and end.
fn ends(stage: &mut Stage, ways: &Trajectories) {
    let inks = stage.canvas.inks;
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for particle in 0..ways.particles.len() {
        let Some([first, last]) = first_and_last(ways, particle) else { continue };
        let dot = |at: usize| {
            let [x, y] = stage.projection.place(ways.position[at].map(f64::from));
            ([x as f32, y as f32], stage.color(at))
        };
        let (at, color) = dot(first);
        starts.push(Dot { at, fill: inks.paper, rim: mix(color, inks.ink, 0.5) });
        let (at, color) = dot(last);
        ends.push(Dot { at, fill: color, rim: mix(color, inks.ink, 0.5) });
    }
    let radius = radius(ends.len(), stage.canvas.em);
    let rim = (0.3 * radius).max(0.8);
    for dots in [starts, ends] {
        stage.canvas.shapes.push(Shape::Dots { dots, radius, rim });
    }
}

/// The positions at which a particle starts and ends.
fn first_and_last(ways: &Trajectories, particle: usize) -> Option<[usize; 2]> {
    let stride = ways.particles.len();
    let on = |at: &usize| (ways.active[*at] || ways.joined[*at]) && is_place(ways.position[*at]);
    let mut seen = (0..ways.times.len()).map(|save| save * stride + particle).filter(on);
    let first = seen.next()?;
    Some([first, seen.next_back().unwrap_or(first)])
}

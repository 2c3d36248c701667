//! The frames of an animation.

use super::settings::Animation;
use crate::color::{Rgb, mix};
use crate::data::Trajectories;
use crate::error::Result;
use crate::picture::View;
use crate::picture::shared::{
    Dot, Heading, Palette, Pixels, Scene, Segment, Shape, Text, bodies, clipped, dot_radius,
    format_number, is_finite, stroke, title,
};

/// Renders the frame at any time of an animation.
pub(super) struct FrameRenderer<'a> {
    trajectories: &'a Trajectories,
    scene: Scene<'a>,
    /// The pixels that all frames share.
    base: Pixels,
    time_label: Option<TimeLabel>,
    /// Length of the trails, in the time of the run.
    trail: f64,
    interpolate: bool,
    dots: bool,
    line_width: f64,
}

/// The text with the time of the frame.
struct TimeLabel {
    text: Text,
    /// The part of the text to replace by the time.
    placeholder: String,
    /// Times are rounded to multiples of this.
    unit: f64,
}

impl<'a> FrameRenderer<'a> {
    pub(super) fn new(
        trajectories: &'a Trajectories,
        view: &View,
        animation: &Animation,
    ) -> Result<Self> {
        let style = &animation.style;
        let (times, particles) = (&trajectories.times, trajectories.particles.len());
        let ends = times.first().zip(times.last());
        let span = ends.map_or(0.0, |(first, last)| (last - first).abs());
        let unit = if span > 0.0 { 10f64.powi(span.log10().ceil() as i32 - 3) } else { 0.0 };
        let time_unit = &trajectories.time_unit;
        let last = || times.last().map(|time| format_time(*time, unit, time_unit));
        let placeholder = trajectories.dates.last().cloned().or_else(last).unwrap_or_default();
        let heading = Heading {
            title: title("Motion", trajectories, style),
            subtitle: placeholder.clone(),
            ..Heading::default()
        };
        let mut scene = Scene::new(trajectories, view, style, heading)?;
        let shapes = &mut scene.canvas.shapes;
        let is_label = |shape: &Shape| matches!(shape, Shape::Text(text) if text.text.starts_with(&placeholder));
        let label = shapes.iter().position(is_label).filter(|_| !placeholder.is_empty());
        let time_label = label.and_then(|index| match shapes.remove(index) {
            Shape::Text(text) => Some(TimeLabel { text, placeholder, unit }),
            _ => None,
        });
        let mut base = Pixels::new(style.size, scene.canvas.palette.background);
        // Bodies are behind all particles.
        let mut hidden = bodies(&scene, trajectories);
        hidden.sort_by(|a, b| a.depth.total_cmp(&b.depth));
        hidden.iter().for_each(|facet| facet.draw(&mut scene.canvas));
        scene.canvas.shapes.iter().for_each(|shape| base.draw(shape));
        let [line_width, _] = stroke(particles, scene.canvas.em, style);
        let trail = animation.trail * span;
        let (interpolate, dots) = (animation.interpolate, style.dots);
        Ok(Self { trajectories, scene, base, time_label, trail, interpolate, dots, line_width })
    }

    pub(super) fn size(&self) -> [usize; 2] {
        self.base.size
    }

    /// The palette, and samples of the colour map.
    pub(super) fn colors(&self) -> (Palette, Vec<Rgb>) {
        (self.scene.canvas.palette, self.scene.colors())
    }

    /// The pixels of the frame at a time, as red, green and blue.
    pub(super) fn draw(&self, time: f64) -> Vec<u8> {
        let mut pixels = self.base.clone();
        if self.trail > 0.0 {
            pixels.draw(&self.trails(time));
        }
        if self.dots {
            pixels.draw(&self.particles(time));
        }
        if let Some(label) = &self.time_label {
            let now = self.date(time).cloned();
            let now =
                now.unwrap_or_else(|| format_time(time, label.unit, &self.trajectories.time_unit));
            let text = label.text.text.replacen(&label.placeholder, &now, 1);
            pixels.draw(&Shape::Text(Text { text, ..label.text.clone() }));
        }
        pixels.rgb
    }

    /// The date of the last save up to a time, if times have dates.
    fn date(&self, time: f64) -> Option<&String> {
        // The time of a save may be rounded down.
        let saves = self.saves_until(self.elapsed(time) * (1.0 + 1e-9));
        self.trajectories.dates.get(saves.checked_sub(1)?)
    }

    /// The elapsed time since the first save, also positive in a backward run.
    fn elapsed(&self, time: f64) -> f64 {
        self.trajectories.times.first().map_or(0.0, |first| (time - first).abs())
    }

    /// The number of saves up to an elapsed time.
    fn saves_until(&self, elapsed: f64) -> usize {
        self.trajectories.times.partition_point(|save| self.elapsed(*save) <= elapsed)
    }

    /// The last save up to a time, and the fraction of the interval to the next one.
    fn save_at(&self, time: f64) -> (usize, f64) {
        let times = &self.trajectories.times;
        let save = self.saves_until(self.elapsed(time)).saturating_sub(1);
        match times.get(save + 1) {
            Some(next) if self.interpolate => (save, (time - times[save]) / (next - times[save])),
            _ => (save, 0.0),
        }
    }

    /// The position of a particle at a fraction of the interval after a save, and the index of the
    /// position that colours it; `None` if it is not active.
    fn position(&self, save: usize, fraction: f64, particle: usize) -> Option<([f64; 3], usize)> {
        let trajectories = self.trajectories;
        let stride = trajectories.particles.len();
        let index = save * stride + particle;
        let from = *trajectories.position.get(index).filter(|from| is_finite(**from))?;
        if !trajectories.active[index] {
            return None;
        }
        let next = index + stride;
        let continues =
            fraction > 0.0 && trajectories.joined[next] && is_finite(trajectories.position[next]);
        if !continues {
            return Some((from, index));
        }
        let to = trajectories.position[next];
        let position = [0, 1, 2].map(|i| from[i] + fraction * (to[i] - from[i]));
        Some((position, if fraction < 0.5 { index } else { next }))
    }

    /// The particles, sorted by depth, the nearest last.
    fn particles(&self, time: f64) -> Shape {
        let (save, fraction) = self.save_at(time);
        let palette = self.scene.canvas.palette;
        let mut dots: Vec<(f64, Dot)> = Vec::new();
        for particle in 0..self.trajectories.particles.len() {
            let Some((position, index)) = self.position(save, fraction, particle) else { continue };
            if clipped([position; 2], self.scene.window).is_none() {
                continue;
            }
            let [x, y, depth] = self.scene.projection.with_depth(position);
            let fill = self.scene.color(index);
            let edge = mix(fill, palette.foreground, 0.5);
            dots.push((depth, Dot { center: [x as f32, y as f32], fill, edge }));
        }
        if self.scene.projection.has_depth() {
            dots.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let radius = dot_radius(self.trajectories.particles.len(), self.scene.canvas.em);
        let dots = dots.into_iter().map(|(_, dot)| dot).collect();
        Shape::Dots { dots, radius, edge_width: (0.3 * radius).max(0.8) }
    }

    /// The trails, oldest lines first; they fade out with age.
    fn trails(&self, time: f64) -> Shape {
        let (last, fraction) = self.save_at(time);
        let times = &self.trajectories.times;
        let first = self.saves_until(self.elapsed(time) - self.trail).max(1);
        let mut segments = Vec::new();
        let complete = (first..=last).map(|save| (save, 1.0));
        for (save, fraction) in complete.chain((fraction > 0.0).then_some((last + 1, fraction))) {
            let Some(until) = times.get(save) else { continue };
            let age = time - (times[save - 1] + fraction * (until - times[save - 1]));
            let strength = (1.0 - age.abs() / self.trail).clamp(0.0, 1.0);
            self.add_lines(save, fraction, strength, &mut segments);
        }
        Shape::Segments { segments, width: self.line_width, opacity: 1.0 }
    }

    /// Adds the lines of all particles from the previous save to a save, or a fraction of them.
    fn add_lines(&self, save: usize, fraction: f64, strength: f64, segments: &mut Vec<Segment>) {
        let (trajectories, background) = (self.trajectories, self.scene.canvas.palette.background);
        let stride = trajectories.particles.len();
        for index in save * stride..(save + 1) * stride {
            let ends = [index - stride, index].map(|index| trajectories.position[index]);
            if !trajectories.joined[index] || !ends.iter().all(|end| is_finite(*end)) {
                continue;
            }
            let [from, to] = ends;
            let to = [0, 1, 2].map(|i| from[i] + fraction * (to[i] - from[i]));
            let Some(ends) = clipped([from, to], self.scene.window) else { continue };
            let ends = ends.map(|end| self.scene.projection.point(end).map(|x| x as f32));
            // In a few steps, so that all frames share the same colours.
            let strength = (strength * 6.0).ceil() / 6.0;
            let color = self.scene.color_between(index - stride, index);
            let color = mix(background, color, strength);
            segments.push(Segment { from: ends[0], to: ends[1], color });
        }
    }
}

/// `t = 1.25 s`, rounded to multiples of `unit`.
fn format_time(time: f64, unit: f64, time_unit: &str) -> String {
    let decimals = if unit > 0.0 { -unit.log10().round() as i32 } else { 0 };
    let number = match decimals {
        _ if unit <= 0.0 => format_number(time),
        1..=6 => format!("{time:.0$}", decimals as usize).replace('-', "−"),
        _ => format_number((time / unit).round() * unit),
    };
    let space = if time_unit.is_empty() { "" } else { " " };
    format!("t = {number}{space}{time_unit}")
}

//! The frames of an animation.

use super::Animation;
use crate::color::{Rgb, mix};
use crate::data::Trajectories;
use crate::error::Result;
use crate::picture::View;
use crate::picture::parts::{
    Dot, Head, Inks, Pixels, Segment, Shape, Stage, Text, is_place, radius, said, stroke, title,
};

/// An animation, of which any moment can be drawn.
pub(super) struct FrameRenderer<'a> {
    ways: &'a Trajectories,
    stage: Stage<'a>,
    /// What is the same in all frames.
    base: Pixels,
    clock: Option<Clock>,
    /// How long trails are, in the time of the run.
    trail: f64,
    interpolate: bool,
    dots: bool,
    line_width: f64,
}

/// Where the time is written.
struct Clock {
    text: Text,
    /// What in the text stands for the time.
    sample: String,
    /// Numbers are rounded to multiples of this.
    unit: f64,
}

impl<'a> FrameRenderer<'a> {
    pub(super) fn new(ways: &'a Trajectories, view: &View, animation: &Animation) -> Result<Self> {
        let style = &animation.style;
        let ends = ways.times.first().zip(ways.times.last());
        let span = ends.map_or(0.0, |(first, last)| (last - first).abs());
        let unit = if span > 0.0 { 10f64.powi(span.log10().ceil() as i32 - 3) } else { 0.0 };
        let sample = ways.times.last().map_or(String::new(), |time| moment(*time, unit, ways));
        let head =
            Head { title: title("Motion", ways, style), note: sample.clone(), signs: Vec::new() };
        let mut stage = Stage::new(ways, view, style, head)?;
        let shapes = &mut stage.canvas.shapes;
        let is_clock =
            |shape: &Shape| matches!(shape, Shape::Text(text) if text.text.starts_with(&sample));
        let clock = shapes.iter().position(is_clock).filter(|_| !sample.is_empty());
        let clock = clock.and_then(|at| match shapes.remove(at) {
            Shape::Text(text) => Some(Clock { text, sample, unit }),
            _ => None,
        });
        let mut base = Pixels::new(style.size, stage.canvas.inks.paper);
        stage.canvas.shapes.iter().for_each(|shape| base.draw(shape));
        let [line_width, _] = stroke(ways.particles.len(), stage.canvas.em, style);
        let trail = animation.trail * span;
        let (interpolate, dots) = (animation.interpolate, style.dots);
        Ok(Self { ways, stage, base, clock, trail, interpolate, dots, line_width })
    }

    pub(super) fn size(&self) -> [usize; 2] {
        self.base.size
    }

    /// The colours of what is no value, and those of the values.
    pub(super) fn inks(&self) -> (Inks, Vec<Rgb>) {
        (self.stage.canvas.inks, self.stage.colors())
    }

    /// Red, green and blue of the pixels at a time.
    pub(super) fn draw(&self, time: f64) -> Vec<u8> {
        let mut pixels = self.base.clone();
        if self.trail > 0.0 {
            pixels.draw(&self.trails(time));
        }
        if self.dots {
            pixels.draw(&self.particles(time));
        }
        self.stage.over.iter().for_each(|shape| pixels.draw(shape));
        if let Some(clock) = &self.clock {
            let now = moment(time, clock.unit, self.ways);
            let text = clock.text.text.replacen(&clock.sample, &now, 1);
            pixels.draw(&Shape::Text(Text { text, ..clock.text.clone() }));
        }
        pixels.rgb
    }

    /// How long a time is after the first save, or before it if the run goes back in time.
    fn since_start(&self, time: f64) -> f64 {
        self.ways.times.first().map_or(0.0, |first| (time - first).abs())
    }

    /// How many saves come up to so long after the first one.
    fn saves_until(&self, passed: f64) -> usize {
        self.ways.times.partition_point(|save| self.since_start(*save) <= passed)
    }

    /// The last save that is not after a time, and how far it is from there to the next one: 0 to 1.
    fn save(&self, time: f64) -> (usize, f64) {
        let times = &self.ways.times;
        let save = self.saves_until(self.since_start(time)).saturating_sub(1);
        match times.get(save + 1) {
            Some(next) if self.interpolate => (save, (time - times[save]) / (next - times[save])),
            _ => (save, 0.0),
        }
    }

    /// Where a particle is at a part of the way from one save to the next; none if it is not on its
    /// way.
    fn position(&self, save: usize, part: f64, particle: usize) -> Option<([f64; 3], usize)> {
        let stride = self.ways.particles.len();
        let at = save * stride + particle;
        let from = self.ways.position.get(at).filter(|at| is_place(**at))?.map(f64::from);
        if !self.ways.active[at] {
            return None;
        }
        let next = at + stride;
        let goes_on = part > 0.0 && self.ways.joined[next] && is_place(self.ways.position[next]);
        if !goes_on {
            return Some((from, at));
        }
        let to = self.ways.position[next].map(f64::from);
        let position = [0, 1, 2].map(|i| from[i] + part * (to[i] - from[i]));
        Some((position, if part < 0.5 { at } else { next }))
    }

    /// The particles, the nearest ones last.
    fn particles(&self, time: f64) -> Shape {
        let (save, part) = self.save(time);
        let inks = self.stage.canvas.inks;
        let mut dots: Vec<(f64, Dot)> = Vec::new();
        for particle in 0..self.ways.particles.len() {
            let Some((position, value)) = self.position(save, part, particle) else { continue };
            let [x, y, near] = self.stage.projection.at(position);
            let fill = self.stage.color(value);
            dots.push((
                near,
                Dot { at: [x as f32, y as f32], fill, rim: mix(fill, inks.ink, 0.5) },
            ));
        }
        if self.stage.projection.has_depth() {
            dots.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let radius = radius(self.ways.particles.len(), self.stage.canvas.em);
        let dots = dots.into_iter().map(|(_, dot)| dot).collect();
        Shape::Dots { dots, radius, rim: (0.3 * radius).max(0.8) }
    }

    /// What is behind the particles, the older the paler, and the oldest first.
    fn trails(&self, time: f64) -> Shape {
        let (last, part) = self.save(time);
        let times = &self.ways.times;
        let first = self.saves_until(self.since_start(time) - self.trail).max(1);
        let mut segments = Vec::new();
        let whole = (first..=last).map(|save| (save, 1.0));
        for (save, part) in whole.chain((part > 0.0).then_some((last + 1, part))) {
            let Some(until) = times.get(save) else { continue };
            let age = time - (times[save - 1] + part * (until - times[save - 1]));
            let strength = (1.0 - age.abs() / self.trail).clamp(0.0, 1.0);
            self.piece(save, part, strength, &mut segments);
        }
        Shape::Segments { segments, width: self.line_width, opacity: 1.0 }
    }

    /// Adds the lines that lead to a save, or a part of the way there.
    fn piece(&self, save: usize, part: f64, strength: f64, segments: &mut Vec<Segment>) {
        let (ways, paper) = (self.ways, self.stage.canvas.inks.paper);
        let stride = ways.particles.len();
        for at in save * stride..(save + 1) * stride {
            let ends = [at - stride, at].map(|at| ways.position[at]);
            if !ways.joined[at] || !ends.iter().all(|end| is_place(*end)) {
                continue;
            }
            let [[ax, ay], [bx, by]] =
                ends.map(|end| self.stage.projection.place(end.map(f64::from)));
            let to = [ax + part * (bx - ax), ay + part * (by - ay)].map(|along| along as f32);
            // In a few steps, so that all frames have the same colours.
            let strength = (strength * 6.0).ceil() / 6.0;
            let color = mix(paper, self.stage.color_between(at - stride, at), strength);
            segments.push(Segment { from: [ax as f32, ay as f32], to, color });
        }
    }
}

/// `t = 1.25 s`, rounded to multiples of `unit`.
fn moment(time: f64, unit: f64, ways: &Trajectories) -> String {
    let decimals = if unit > 0.0 { -unit.log10().round() as i32 } else { 0 };
    let number = match decimals {
        _ if unit <= 0.0 => said(time),
        1..=6 => format!("{time:.0$}", decimals as usize).replace('-', "−"),
        _ => said((time / unit).round() * unit),
    };
    let space = if ways.time_unit.is_empty() { "" } else { " " };
    format!("t = {number}{space}{}", ways.time_unit)
}

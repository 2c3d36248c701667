//! Where particles are drawn: axes or a box, and which value has which colour.

use super::bar::Bar;
use super::canvas::{Align, Canvas, Shape};
use super::coding::Coding;
use super::frame::{Layout, Span};
use super::head::{Head, Mark, Sign};
use super::projection::Projection;
use super::room::{self, Room};
use super::style::Style;
use super::view::View;
use crate::color::Rgb;
use crate::data::{Attribute, Trajectories};
use crate::error::{Error, Result};

/// All of a picture of particles but the particles.
pub(crate) struct Stage<'a> {
    pub canvas: Canvas,
    pub projection: Projection,
    /// What is drawn after the particles.
    pub over: Vec<Shape>,
    coding: Option<Coding>,
    attribute: Option<&'a Attribute>,
}

/// Colour of tracks without an attribute.
const PLAIN: Rgb = super::canvas::SERIES[0];

impl<'a> Stage<'a> {
    pub(crate) fn new(
        ways: &'a Trajectories,
        view: &View,
        style: &Style,
        mut head: Head,
    ) -> Result<Self> {
        style.check()?;
        view.check()?;
        check(ways)?;
        let attribute = chosen(ways, style)?;
        let coding = attribute.map(|attribute| Coding::new(shown(ways, attribute), style));
        let mut canvas = Canvas::new(style);
        if let (Some(coding), Some(attribute)) = (&coding, attribute)
            && coding.missing
        {
            head.signs.push(Sign::new(
                Mark::Square(canvas.inks.missing),
                format!("no {}", attribute.name),
            ));
        }
        let coded = coding.as_ref().zip(attribute);
        let bar = coded.and_then(|(coding, of)| Bar::new(coding, &of.name, &of.unit));
        let bounds = bounds(ways);
        let (projection, over) = match *view {
            View::Plane(plane) => plane_stage(&mut canvas, ways, bounds, plane.axes(), bar, head),
            View::Space { azimuth, elevation } => {
                space_stage(&mut canvas, ways, bounds, [azimuth, elevation], bar, head)
            }
        };
        Ok(Self { canvas, projection, over, coding, attribute })
    }

    /// Colours of values, a few of them that stand for all.
    pub(crate) fn colors(&self) -> Vec<Rgb> {
        let of = |coding: &Coding| (0..32).map(|i| coding.colors.at(f64::from(i) / 31.0)).collect();
        self.coding.as_ref().map_or(vec![PLAIN], of)
    }

    /// The colour of a position.
    pub(crate) fn color(&self, at: usize) -> Rgb {
        match (&self.coding, self.attribute) {
            (Some(coding), Some(attribute)) => {
                coding.color(attribute.values[at], self.canvas.inks.missing)
            }
            _ => PLAIN,
        }
    }

    /// The colour of the line between two positions: that of the mean of their values,
    /// or of the only one.
    pub(crate) fn color_between(&self, a: usize, b: usize) -> Rgb {
        match (&self.coding, self.attribute) {
            (Some(coding), Some(attribute)) => {
                let [a, b] = [attribute.values[a], attribute.values[b]];
                let mean = if a.is_nan() { b } else { a.midpoint(if b.is_nan() { a } else { b }) };
                coding.color(mean, self.canvas.inks.missing)
            }
            _ => PLAIN,
        }
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];

fn plane_stage(
    canvas: &mut Canvas,
    ways: &Trajectories,
    bounds: [[f64; 3]; 2],
    axes: [usize; 2],
    bar: Option<Bar>,
    head: Head,
) -> (Projection, Vec<Shape>) {
    let widths = axes.map(|i| bounds[1][i] - bounds[0][i]);
    let range = |i: usize, other: f64| {
        let [low, high] = [bounds[0][axes[i]], bounds[1][axes[i]]];
        // A flat box gets some height, but not more than it needs.
        let flat = high - low <= 1e-12 * low.abs().max(high.abs()) && other > 0.0;
        if flat { [low - 0.02 * other, high + 0.02 * other] } else { [low, high] }
    };
    let span = |i: usize| Span::new(AXES[axes[i]], &ways.length_unit, range(i, widths[1 - i]));
    let layout = Layout { spans: [span(0), span(1)], equal: true, bar, head };
    let frame = layout.place(canvas);
    frame.grid(canvas);
    let domain = ways.domain.map(|corner| frame.at(axes.map(|axis| corner[axis])));
    if domain.as_flattened().iter().all(|along| along.is_finite()) && ways.domain != bounds {
        canvas.outline(domain, canvas.inks.muted);
    }
    frame.draw(canvas);
    let ranges = [0, 1].map(|i| frame.spans[i].range);
    message(canvas, ways, &frame.sides);
    (Projection::plane(axes, ranges, frame.sides), Vec::new())
}

fn space_stage(
    canvas: &mut Canvas,
    ways: &Trajectories,
    bounds: [[f64; 3]; 2],
    angles: [f64; 2],
    bar: Option<Bar>,
    mut head: Head,
) -> (Projection, Vec<Shape>) {
    let em = canvas.em;
    if room::stretch(bounds) != [1.0; 3] {
        head.add_note(super::frame::STRETCHED);
    }
    let (top, bottom) = (head.height(canvas), canvas.size[1] - 0.5 * em);
    let height = [top + 0.15 * (bottom - top), bottom - 0.15 * (bottom - top)];
    let right = bar.as_ref().map_or(em, |bar| bar.width(canvas, height[1] - height[0]));
    let area = [[em, canvas.size[0] - right], [top, bottom]];
    let spans =
        [0, 1, 2].map(|i| Span::new(AXES[i], &ways.length_unit, [bounds[0][i], bounds[1][i]]));
    let room = Room::new(spans, bounds, angles, area, em);
    head.draw(canvas, [2.0 * em, 0.0]);
    if let Some(bar) = &bar {
        bar.draw(canvas, area[0][1], height);
    }
    room.draw_back(canvas);
    let under = std::mem::take(&mut canvas.shapes);
    room.draw_front(canvas);
    let over = std::mem::replace(&mut canvas.shapes, under);
    message(canvas, ways, &area);
    (room.projection, over)
}

/// Says in the middle that there is nothing to see.
fn message(canvas: &mut Canvas, ways: &Trajectories, sides: &[[f64; 2]; 2]) {
    let text = match ways.particles.len() {
        0 => "no particles",
        _ if ways.position.iter().all(|at| !is_place(*at)) => "no particle has a position",
        _ => return,
    };
    say(canvas, text, sides);
}

/// Draws text in the middle between sides.
pub(crate) fn say(canvas: &mut Canvas, text: &str, sides: &[[f64; 2]; 2]) {
    let [x, y] = sides.map(|[low, high]| (low + high) / 2.0);
    let (text, size) = super::font::fit(text, 1.2 * canvas.em, sides[0][1] - sides[0][0]);
    let em = canvas.em;
    canvas.text(&text, [x, y + 0.4 * em], size / em, Align::Middle, canvas.inks.muted);
}

/// Whether a position is one.
pub(crate) fn is_place(position: [f32; 3]) -> bool {
    position.iter().all(|along| along.is_finite())
}

/// The domain and the positions beyond it. Corners that are nowhere do not count.
fn bounds(ways: &Trajectories) -> [[f64; 3]; 2] {
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    // Widths of what is larger are infinite.
    let corners =
        ways.domain.iter().filter(|corner| corner.iter().all(|along| along.abs() < 1e300));
    let positions = ways.position.iter().filter(|at| is_place(**at)).map(|at| at.map(f64::from));
    for position in positions.chain(corners.copied()) {
        for (i, along) in position.into_iter().enumerate() {
            bounds[0][i] = bounds[0][i].min(along);
            bounds[1][i] = bounds[1][i].max(along);
        }
    }
    let some = bounds[0][0] <= bounds[1][0];
    let some = if some { bounds } else { [[0.0; 3], [1.0; 3]] };
    // A single point is in the middle of something.
    if some[0] == some[1] {
        [some[0].map(|low| low - 0.5), some[1].map(|high| high + 0.5)]
    } else {
        some
    }
}

/// The attribute by which the ways are coloured, if they have any.
fn chosen<'a>(ways: &'a Trajectories, style: &Style) -> Result<Option<&'a Attribute>> {
    let Some(name) = &style.color_by else { return Ok(ways.attributes.first()) };
    let found = ways.attributes.iter().find(|attribute| attribute.name == *name);
    let there = || match ways.attributes.len() {
        0 => "none".into(),
        _ => ways.attributes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    found.map(Some).ok_or_else(|| Error::Attribute { given: name.clone(), there: there() })
}

/// The values that are shown: those of particles that have a place and are on their way, or get there.
fn shown<'a>(
    ways: &'a Trajectories,
    attribute: &'a Attribute,
) -> impl Iterator<Item = f32> + Clone + 'a {
    let seen = |i: usize| (ways.active[i] || ways.joined[i]) && is_place(ways.position[i]);
    attribute.values.iter().enumerate().filter(move |(i, _)| seen(*i)).map(|(_, value)| *value)
}

/// Says what does not fit together.
fn check(ways: &Trajectories) -> Result<()> {
    let (saves, particles) = (ways.times.len(), ways.particles.len());
    let wanted = saves * particles;
    let lengths = [
        ("positions", ways.position.len()),
        ("marks of what is joined", ways.joined.len()),
        ("marks of what is active", ways.active.len()),
    ];
    let attributes = ways.attributes.iter().map(|a| (a.name.as_str(), a.values.len()));
    for (name, length) in lengths.into_iter().chain(attributes) {
        if length != wanted {
            let reason = format!(
                "{saves} saves of {particles} particles have {wanted} positions, but there are \
                 {length} values of `{name}`"
            );
            return Err(Error::data("tracks", reason));
        }
    }
    // Runs may go back in time.
    let order = ways.times.is_sorted() || ways.times.is_sorted_by(|a, b| a >= b);
    if !order || !ways.times.iter().all(|time| time.is_finite()) {
        return Err(Error::data(
            "tracks",
            "the times of the saves are not in order, or not finite",
        ));
    }
    Ok(())
}

//! The scene of particles: axes or box axes, projection, colour scale.

use super::axes::{Layout, UNEQUAL_SCALES};
use super::axis::{AxisSpec, aspect, with_common_power};
use super::behind;
use super::box_axes::{self, BoxAxes};
use super::canvas::{Align, Canvas, Palette, Point};
use super::color_scale::ColorScale;
use super::colorbar::Colorbar;
use super::coloring::{Coloring, selected_attribute};
use super::font;
use super::heading::Heading;
use super::land;
use super::projection::Projection;
use super::style::Style;
use super::surfaces;
use super::view::View;
use crate::color::Rgb;
use crate::data::{Attribute, Raster, Trajectories};
use crate::error::{Error, Result};

/// A picture of particles without the particles.
pub(crate) struct Scene<'a> {
    pub canvas: Canvas,
    pub projection: Projection,
    /// The part of the domain that is shown; unbounded along an axis where all of it is.
    pub window: [[f64; 3]; 2],
    /// The corners of the axes of a plane view, in pixels.
    pub corners: Option<[Point; 2]>,
    coloring: Coloring<'a>,
    attribute: Option<&'a Attribute>,
    /// Colours of the field behind the tracks.
    behind: Vec<Rgb>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(
        trajectories: &'a Trajectories,
        view: &View,
        style: &Style,
        mut heading: Heading,
    ) -> Result<Self> {
        style.check()?;
        view.check()?;
        check(trajectories)?;
        let attribute = selected_attribute(trajectories, style)?;
        let coloring = Coloring::of(trajectories, style)?;
        let mut canvas = Canvas::new(style);
        heading.legend.extend(coloring.legend(canvas.palette));
        let background = background(trajectories, view, style)?;
        let colorbar = match &background {
            Some((raster, scale)) => Colorbar::new(scale, &raster.name, &raster.unit),
            None => coloring.colorbar(),
        };
        let bounds = zoomed(bounds(trajectories), trajectories, style.zoom);
        if let Some((raster, _)) = &background {
            heading.add_to_subtitle(&format!("behind: {}", raster.title));
        }
        let heading = heading.styled(style);
        let frame = Frame { bounds, colorbar: colorbar.filter(|_| style.colorbar), heading };
        let (projection, corners) = match *view {
            View::Plane(plane) => {
                draw_plane(&mut canvas, trajectories, plane.axes(), background.as_ref(), frame)
            }
            View::Space { azimuth, elevation } => {
                let angles = ([azimuth, elevation], style.perspective);
                (draw_box(&mut canvas, trajectories, angles, frame), None)
            }
        };
        let window = window(bounds, view, style.zoom);
        let behind = background.as_ref().map(|(_, scale)| scale.samples()).unwrap_or_default();
        let mut scene = Self { canvas, projection, window, corners, coloring, attribute, behind };
        surfaces::draw_walls(&mut scene, trajectories);
        Ok(scene)
    }

    /// Evenly spaced samples of the colours.
    pub(crate) fn colors(&self) -> Vec<Rgb> {
        [self.coloring.samples(), self.behind.clone()].concat()
    }

    /// The order in which what is at a position is drawn: the nearest last or, in a plane, the last category, which is the
    /// rarest.
    pub(crate) fn order(&self, index: usize, depth: f64) -> f64 {
        match (&self.coloring, self.attribute) {
            (Coloring::Categories(_), Some(attribute)) if !self.projection.has_depth() => {
                f64::from(attribute.values[index]).max(0.0)
            }
            _ => depth,
        }
    }

    /// The colour of the position with an index.
    pub(crate) fn color(&self, index: usize) -> Rgb {
        self.coloring.color(self.attribute, index, self.canvas.palette.missing)
    }

    /// The colour of the line between two positions.
    pub(crate) fn color_between(&self, a: usize, b: usize) -> Rgb {
        self.coloring.between(self.attribute, [a, b], self.canvas.palette.missing)
    }
}

/// What surrounds the particles.
struct Frame<'a> {
    bounds: [[f64; 3]; 2],
    colorbar: Option<Colorbar<'a>>,
    heading: Heading,
}

/// The field behind the tracks, and its colours: those of the style, as the tracks have one colour.
fn background<'a>(
    trajectories: &'a Trajectories,
    view: &View,
    style: &Style,
) -> Result<Option<(&'a Raster, ColorScale)>> {
    let Some(raster) = &trajectories.background else { return Ok(None) };
    super::raster::check(raster)?;
    if !matches!(view, View::Plane(_)) {
        let reason = "a field is behind tracks in views of a plane only; choose xy, xz or yz";
        return Err(Error::data("tracks", reason));
    }
    let scale = ColorScale::new(raster.values_off_land(), style);
    Ok(Some((raster, scale.paler(Palette::of(style.background).background))))
}

const AXIS_NAMES: [&str; 3] = ["x", "y", "z"];

/// The name and the unit of an axis.
fn axis(trajectories: &Trajectories, i: usize) -> [&str; 2] {
    match &trajectories.axes {
        Some(axes) => axes[i].each_ref().map(String::as_str),
        None => [AXIS_NAMES[i], &trajectories.length_unit],
    }
}

/// Draws the axes of a plane, and gives its projection.
fn draw_plane(
    canvas: &mut Canvas,
    trajectories: &Trajectories,
    plane: [usize; 2],
    background: Option<&(&Raster, ColorScale)>,
    Frame { bounds, colorbar, heading }: Frame,
) -> (Projection, Option<[Point; 2]>) {
    let widths = plane.map(|i| bounds[1][i] - bounds[0][i]);
    let range = |i: usize, other: f64| {
        let [low, high] = [bounds[0][plane[i]], bounds[1][plane[i]]];
        // A flat box gets a small height.
        let is_flat = high - low <= 1e-12 * low.abs().max(high.abs()) && other > 0.0;
        if is_flat { [low - 0.02 * other, high + 0.02 * other] } else { [low, high] }
    };
    let spec = |i: usize| {
        let range = range(i, widths[1 - i]);
        let [name, unit] = axis(trajectories, plane[i]);
        AxisSpec::new(name, unit, range)
    };
    let specs = [spec(0), spec(1)];
    let aspect = aspect(&specs);
    let specs = if aspect.is_some() { with_common_power(specs) } else { specs };
    let axes = Layout { specs, aspect, colorbar, heading }.place(canvas);
    if let Some((raster, scale)) = background {
        behind::draw(canvas, &axes, raster, scale);
    }
    if let (Some(land), [0, 1]) = (&trajectories.land, plane) {
        land::draw(canvas, &axes, land);
    }
    if background.is_none() {
        axes.draw_grid(canvas);
    }
    let domain = trajectories.domain.map(|corner| axes.at(plane.map(|axis| corner[axis])));
    let is_finite = domain.as_flattened().iter().all(|x| x.is_finite());
    let is_within = (0..3).all(|i| {
        bounds[0][i] <= trajectories.domain[0][i] && trajectories.domain[1][i] <= bounds[1][i]
    });
    if is_finite && is_within && trajectories.domain != bounds {
        canvas.outline(domain, canvas.palette.muted);
    }
    axes.draw(canvas);
    axes.draw_scale_bar(canvas, trajectories.radius);
    let ranges = [0, 1].map(|i| axes.specs[i].range);
    draw_empty_message(canvas, trajectories, &axes.sides);
    (Projection::plane(plane, ranges, axes.sides), Some(axes.corners()))
}

/// Draws the box, and gives its projection.
fn draw_box(
    canvas: &mut Canvas,
    trajectories: &Trajectories,
    angles: ([f64; 2], bool),
    Frame { bounds, colorbar, mut heading }: Frame,
) -> Projection {
    let em = canvas.em;
    if box_axes::stretch(bounds) != [1.0; 3] {
        heading.add_to_subtitle(UNEQUAL_SCALES);
    }
    let (top, bottom) = (heading.height(canvas), canvas.size[1] - 0.5 * em);
    let bar_sides = [top + 0.15 * (bottom - top), bottom - 0.15 * (bottom - top)];
    let right = colorbar.as_ref().map_or(em, |bar| bar.width(canvas, bar_sides[1] - bar_sides[0]));
    let area = [[em, canvas.size[0] - right], [top, bottom]];
    let specs = [0, 1, 2].map(|i| {
        let [name, unit] = axis(trajectories, i);
        AxisSpec::new(name, unit, [bounds[0][i], bounds[1][i]])
    });
    let axes = BoxAxes::new(with_common_power(specs), bounds, angles, area, em);
    heading.draw(canvas, [2.0 * em, 0.0]);
    if let Some(bar) = &colorbar {
        bar.draw(canvas, area[0][1], bar_sides);
    }
    axes.draw(canvas);
    draw_empty_message(canvas, trajectories, &area);
    axes.projection
}

/// Draws a message in the middle if there are no particles to draw.
fn draw_empty_message(canvas: &mut Canvas, trajectories: &Trajectories, sides: &[[f64; 2]; 2]) {
    let text = match trajectories.particles.len() {
        0 => "No particles",
        _ if trajectories.position.iter().all(|x| !is_finite(*x)) => "No particle has a position",
        _ => return,
    };
    draw_message(canvas, text, sides);
}

/// Draws a message in the middle between the sides.
pub(crate) fn draw_message(canvas: &mut Canvas, text: &str, sides: &[[f64; 2]; 2]) {
    let [x, y] = sides.map(|[low, high]| (low + high) / 2.0);
    let (text, size) = font::fit(text, 1.2 * canvas.em, sides[0][1] - sides[0][0]);
    let em = canvas.em;
    canvas.text(&text, [x, y + 0.4 * em], size / em, Align::Middle, canvas.palette.muted);
}

/// Whether all coordinates of a position are finite.
pub(crate) fn is_finite(position: [f64; 3]) -> bool {
    position.iter().all(|x| x.is_finite())
}

/// A part of the bounds around the middle of the positions.
fn zoomed(bounds: [[f64; 3]; 2], trajectories: &Trajectories, zoom: f64) -> [[f64; 3]; 2] {
    if zoom == 1.0 {
        return bounds;
    }
    let [low, high] = bounds;
    let mut middles = [0, 1, 2].map(|i| f64::midpoint(low[i], high[i]));
    let drawn = (0..trajectories.position.len())
        .filter(|i| trajectories.active[*i] || trajectories.joined[*i])
        .map(|i| trajectories.position[i])
        .filter(|position| is_finite(*position));
    let [first, last] = drawn.fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[a, b], x| {
        [[0, 1, 2].map(|i| x[i].min(a[i])), [0, 1, 2].map(|i| x[i].max(b[i]))]
    });
    if first[0] <= last[0] {
        middles = [0, 1, 2].map(|i| f64::midpoint(first[i], last[i]));
    }
    // The part stays within the bounds.
    let part = |i: usize| {
        let width = (high[i] - low[i]) / zoom;
        let from = (middles[i] - width / 2.0).clamp(low[i], (high[i] - width).max(low[i]));
        [from, from + width]
    };
    let parts = [0, 1, 2].map(part);
    [parts.map(|[from, _]| from), parts.map(|[_, to]| to)]
}

/// The part of the domain to which tracks are clipped: all of it without zoom and across a plane.
fn window(bounds: [[f64; 3]; 2], view: &View, zoom: f64) -> [[f64; 3]; 2] {
    let is_clipped = |axis: usize| {
        zoom > 1.0
            && match view {
                View::Plane(plane) => plane.axes().contains(&axis),
                View::Space { .. } => true,
            }
    };
    let mut window = [[f64::NEG_INFINITY; 3], [f64::INFINITY; 3]];
    for axis in (0..3).filter(|axis| is_clipped(*axis)) {
        (window[0][axis], window[1][axis]) = (bounds[0][axis], bounds[1][axis]);
    }
    window
}

/// The part of a line in a window; `None` if it is outside. (Y.-D. Liang and B. A. Barsky, 1984.)
pub(crate) fn clipped(
    [from, to]: [[f64; 3]; 2],
    [low, high]: [[f64; 3]; 2],
) -> Option<[[f64; 3]; 2]> {
    let (mut first, mut last) = (0.0f64, 1.0f64);
    for i in 0..3 {
        let step = to[i] - from[i];
        if step == 0.0 && !(low[i]..=high[i]).contains(&from[i]) {
            return None;
        }
        if step != 0.0 {
            let ends = [(low[i] - from[i]) / step, (high[i] - from[i]) / step];
            first = first.max(ends[0].min(ends[1]));
            last = last.min(ends[0].max(ends[1]));
        }
    }
    let at = |part: f64| [0, 1, 2].map(|i| from[i] + part * (to[i] - from[i]));
    // Ends in the window keep their bits.
    let from = if first > 0.0 { at(first) } else { from };
    let to = if last < 1.0 { at(last) } else { to };
    (first <= last).then_some([from, to])
}

/// The bounding box of the domain and of the positions. Corners of an unbounded domain are ignored.
fn bounds(trajectories: &Trajectories) -> [[f64; 3]; 2] {
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    // The width of a larger box would overflow.
    let corners =
        trajectories.domain.iter().filter(|corner| corner.iter().all(|x| x.abs() < 1e300));
    let positions = trajectories.position.iter().copied().filter(|x| is_finite(*x));
    for position in positions.chain(corners.copied()) {
        for (i, x) in position.into_iter().enumerate() {
            bounds[0][i] = bounds[0][i].min(x);
            bounds[1][i] = bounds[1][i].max(x);
        }
    }
    let has_points = bounds[0][0] <= bounds[1][0];
    let bounds = if has_points { bounds } else { [[0.0; 3], [1.0; 3]] };
    // A single point is in the middle of a unit cube.
    if bounds[0] == bounds[1] {
        [bounds[0].map(|low| low - 0.5), bounds[1].map(|high| high + 0.5)]
    } else {
        bounds
    }
}

/// Checks the lengths of the arrays and the order of the times.
fn check(trajectories: &Trajectories) -> Result<()> {
    let (saves, particles) = (trajectories.times.len(), trajectories.particles.len());
    let expected = saves * particles;
    let lengths = [
        ("position", trajectories.position.len()),
        ("joined", trajectories.joined.len()),
        ("active", trajectories.active.len()),
    ];
    let attributes = trajectories.attributes.iter().map(|a| (a.name.as_str(), a.values.len()));
    for (name, length) in lengths.into_iter().chain(attributes) {
        if length != expected {
            let reason = format!(
                "{saves} saves of {particles} particles have {expected} positions, but there are \
                 {length} values of `{name}`"
            );
            return Err(Error::data("tracks", reason));
        }
    }
    // Times decrease in a backward run.
    let times = &trajectories.times;
    let is_ordered = times.is_sorted() || times.is_sorted_by(|a, b| a >= b);
    if !is_ordered || !times.iter().all(|time| time.is_finite()) {
        return Err(Error::data(
            "tracks",
            "the times of the saves must be finite, and all increase or all decrease",
        ));
    }
    Ok(())
}

//! Line plots.

use super::Picture;
use super::axes::{Axes, Layout};
use super::axis::AxisSpec;
use super::canvas::{Canvas, Dot, SERIES, Segment, Shape};
use super::heading::{Heading, LegendEntry, Marker};
use super::scene::draw_message;
use super::style::Style;
use super::ticks;
use crate::data::Curves;
use crate::error::Result;

/// Opacity of the area of a band.
const OPACITY: f64 = 0.22;
/// Thickness of error bars relative to curves, and half the width of their caps in ems.
const THIN: f64 = 0.6;
const CAP: f64 = 0.3;
/// Maximum number of points of a curve that has a dot at each.
const DOTTED: usize = 24;

/// Plots one quantity against another as lines, with a dot at each point of curves with few points. Bands are translucent areas, or
/// error bars at points without neighbours.
///
/// # Errors
///
/// If a setting of the style is out of range.
pub fn curves(curves: &Curves, style: &Style) -> Result<Picture> {
    style.check()?;
    let mut canvas = Canvas::new(style);
    let title = style.title.clone().unwrap_or_else(|| ticks::sentence_case(&curves.title));
    let named = curves.series.iter().enumerate().filter(|(_, (name, _))| !name.is_empty());
    let entry = |(i, (name, _)): (usize, &(String, _))| {
        LegendEntry::new(Marker::Line(SERIES[i % SERIES.len()]), name)
    };
    let heading = Heading { title, legend: named.map(entry).collect(), ..Heading::default() };
    let specs = [0, 1].map(|axis| axis_spec(curves, axis));
    let axes = Layout { specs, aspect: None, colorbar: None, heading }.place(&mut canvas);
    axes.draw_grid(&mut canvas);
    for (series, points) in &curves.bands {
        draw_band(&mut canvas, &axes, curves, points, *series);
    }
    let has_points = curves
        .series
        .iter()
        .any(|(_, points)| points.iter().any(|point| is_drawable(curves, *point)));
    for (i, (_, points)) in curves.series.iter().enumerate() {
        draw_curve(&mut canvas, &axes, curves, points, i);
    }
    axes.draw(&mut canvas);
    if !has_points {
        draw_message(&mut canvas, "No values", &axes.sides);
    }
    Ok(Picture::new(style, canvas))
}

/// Whether a point has a position on the axes.
fn is_drawable(curves: &Curves, point: [f64; 2]) -> bool {
    (0..2).all(|i| point[i].is_finite() && (!curves.log[i] || point[i] > 0.0))
}

fn axis_spec(curves: &Curves, axis: usize) -> AxisSpec<'_> {
    let given = &curves.axes[axis];
    let log = curves.log[axis];
    let is_valid = given.range[0] < given.range[1] && (!log || given.range[0] > 0.0);
    let range = if is_valid { given.range } else { data_range(curves, axis) };
    // Such as counts, unless they are few.
    let is_wide = range[1] - range[0] >= 2.0;
    let integers = is_wide && coordinates(curves, axis).all(|value| value.fract() == 0.0);
    AxisSpec { log, integers, ..AxisSpec::new(&given.name, &given.unit, range) }
}

/// The coordinates of all points along an axis.
fn coordinates(curves: &Curves, axis: usize) -> impl Iterator<Item = f64> {
    let points = curves.series.iter().flat_map(|(_, points)| points).copied();
    let limits = curves.bands.iter().flat_map(|(_, points)| points);
    let limits = limits.flat_map(|[x, low, high]| [[*x, *low], [*x, *high]]);
    let all = points.chain(limits).filter(|point| is_drawable(curves, *point));
    all.map(move |point| point[axis])
}

/// The range of the points, with a margin at both ends.
fn data_range(curves: &Curves, axis: usize) -> [f64; 2] {
    let [low, high] = coordinates(curves, axis)
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
    if curves.log[axis] {
        let [low, high] = if low <= high { [low, high] } else { [0.1, 1.0] };
        let width = high.ln() - low.ln();
        let margin = if width > 1e-4 { (0.04 * width).exp() } else { 2.0 };
        return [(low / margin).max(f64::MIN_POSITIVE), (high * margin).min(f64::MAX)];
    }
    let [low, high] = ticks::widened([low, high]);
    let margin = if axis == 1 { 0.05 * (high - low) } else { 0.0 };
    // An axis of non-negative values does not extend below 0.
    [if low >= 0.0 { (low - margin).max(0.0) } else { low - margin }, high + margin]
}

/// The width of curves in pixels.
fn line_width(canvas: &Canvas) -> f64 {
    (canvas.em / 8.0).max(1.5)
}

/// Draws a curve. Single points between two gaps, and all points of a curve with few of them, are dots.
fn draw_curve(
    canvas: &mut Canvas,
    axes: &Axes,
    curves: &Curves,
    points: &[[f64; 2]],
    series: usize,
) {
    let color = SERIES[series % SERIES.len()];
    let is_inside = |point: &[f64; 2]| {
        is_drawable(curves, *point)
            && (0..2).all(|i| {
                let [low, high] = axes.specs[i].range;
                let slack = 1e-9 * (high - low);
                (low - slack..=high + slack).contains(&point[i])
            })
    };
    let width = line_width(canvas);
    let are_few = points.len() <= DOTTED;
    let (mut lines, mut dots) = (Vec::new(), Vec::new());
    for part in points.split(|point| !is_inside(point)) {
        let positions: Vec<_> = part.iter().map(|point| axes.at(*point)).collect();
        lines.extend(positions.windows(2).map(|pair| [pair[0], pair[1]]));
        if positions.len() == 1 || are_few {
            let dot = |center: [f64; 2]| center.map(|x| x as f32);
            dots.extend(positions.into_iter().map(dot).map(|center| Dot {
                center,
                fill: color,
                edge: color,
            }));
        }
    }
    canvas.lines(&lines, width, color);
    let radius = if are_few { 1.8 } else { 1.2 } * width;
    canvas.shapes.push(Shape::Dots { dots, radius, edge_width: 1.0 });
}

/// Fills the area between the limits of a band, within the axes.
fn draw_band(
    canvas: &mut Canvas,
    axes: &Axes,
    curves: &Curves,
    points: &[[f64; 3]],
    series: usize,
) {
    let color = SERIES[series % SERIES.len()];
    // The horizontal position, and those of both limits.
    let position = |&[x, low, high]: &[f64; 3]| -> Option<[f64; 3]> {
        let is_known = low.is_finite() && is_drawable(curves, [x, high]);
        // A limit of 0 or less on a logarithmic axis is below its end.
        let low = if curves.log[1] && low <= 0.0 { axes.specs[1].range[0].min(high) } else { low };
        let [[x, low], [_, high]] = is_known.then(|| [low, high].map(|y| axes.at([x, y])))?;
        Some([x, low, high])
    };
    let (mut columns, mut bars) = (Vec::new(), Vec::new());
    for part in points.split(|point| position(point).is_none()) {
        let positions: Vec<_> = part.iter().filter_map(position).collect();
        positions.windows(2).for_each(|pair| fill(&mut columns, axes, [pair[0], pair[1]]));
        if let [single] = positions[..] {
            bars.extend(error_bar(axes, single, CAP * canvas.em));
        }
    }
    let segments = columns.into_iter().map(|ends: [[f64; 2]; 2]| {
        let [from, to] = ends.map(|point| point.map(|x| x as f32));
        Segment { from, to, color }
    });
    let segments: Vec<Segment> = segments.collect();
    canvas.shapes.push(Shape::Segments { segments, width: 1.0, opacity: OPACITY });
    canvas.lines(&bars, THIN * line_width(canvas), color);
}

/// Adds a line for each column of pixels between two points of a band.
fn fill(columns: &mut Vec<[[f64; 2]; 2]>, axes: &Axes, [a, b]: [[f64; 3]; 2]) {
    let [a, b] = if a[0] <= b[0] { [a, b] } else { [b, a] };
    let [[left, right], [top, bottom]] = axes.sides;
    let first = (a[0].max(left) - 0.5).ceil().max(0.0) as usize;
    let end = (b[0].min(right) - 0.5).ceil().max(0.0) as usize;
    for column in first..end {
        let x = column as f64 + 0.5;
        let part = (x - a[0]) / (b[0] - a[0]);
        let [low, high] = [1, 2].map(|i| (a[i] + part * (b[i] - a[i])).clamp(top, bottom));
        if low > high {
            columns.push([[x, low], [x, high]]);
        }
    }
}

/// The lines of an error bar between two limits, within the axes.
fn error_bar(axes: &Axes, [x, low, high]: [f64; 3], cap: f64) -> Vec<[[f64; 2]; 2]> {
    let [[left, right], [top, bottom]] = axes.sides;
    if !(left..=right).contains(&x) {
        return Vec::new();
    }
    let [from, to] = [low, high].map(|y| y.clamp(top, bottom));
    let ends = [low, high].into_iter().filter(|y| (top..=bottom).contains(y));
    let caps = ends.map(|y| [[(x - cap).max(left), y], [(x + cap).min(right), y]]);
    std::iter::once([[x, from], [x, to]]).chain(caps).collect()
}

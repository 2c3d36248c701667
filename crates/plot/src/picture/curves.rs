//! Line plots.

use super::Picture;
use super::axes::{Axes, Layout};
use super::axis::AxisSpec;
use super::canvas::{Canvas, Dot, SERIES, Shape};
use super::heading::{Heading, LegendEntry, Marker};
use super::scene::draw_message;
use super::style::Style;
use super::ticks;
use crate::data::Curves;
use crate::error::Result;

/// Thickness of the limits of bands relative to curves.
const THIN: f64 = 0.4;

/// Plots one quantity against another as lines.
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
        for limit in [1, 2] {
            let points: Vec<_> = points.iter().map(|point| [point[0], point[limit]]).collect();
            draw_curve(&mut canvas, &axes, curves, &points, (*series, THIN));
        }
    }
    let has_points = curves
        .series
        .iter()
        .any(|(_, points)| points.iter().any(|point| is_drawable(curves, *point)));
    for (i, (_, points)) in curves.series.iter().enumerate() {
        draw_curve(&mut canvas, &axes, curves, points, (i, 1.0));
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
    AxisSpec { log, ..AxisSpec::new(&given.name, &given.unit, range) }
}

/// The range of the points, with a margin at both ends.
fn data_range(curves: &Curves, axis: usize) -> [f64; 2] {
    let points = curves.series.iter().flat_map(|(_, points)| points).copied();
    let limits = curves.bands.iter().flat_map(|(_, points)| points);
    let limits = limits.flat_map(|[x, low, high]| [[*x, *low], [*x, *high]]);
    let all = points.chain(limits).filter(|point| is_drawable(curves, *point));
    let values = all.map(|point| point[axis]);
    let [low, high] =
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
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

/// Draws a curve, of a thickness relative to the usual one; a single point between two gaps becomes a dot.
fn draw_curve(
    canvas: &mut Canvas,
    axes: &Axes,
    curves: &Curves,
    points: &[[f64; 2]],
    (series, thickness): (usize, f64),
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
    let width = thickness * (canvas.em / 8.0).max(1.5);
    let (mut lines, mut dots) = (Vec::new(), Vec::new());
    for part in points.split(|point| !is_inside(point)) {
        let positions: Vec<_> = part.iter().map(|point| axes.at(*point)).collect();
        lines.extend(positions.windows(2).map(|pair| [pair[0], pair[1]]));
        if let [single] = positions[..] {
            dots.push(Dot { center: single.map(|x| x as f32), fill: color, edge: color });
        }
    }
    canvas.lines(&lines, width, color);
    canvas.shapes.push(Shape::Dots { dots, radius: 1.2 * width, edge_width: 1.0 });
}

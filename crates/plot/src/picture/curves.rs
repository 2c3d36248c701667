//! Curves.

use super::Picture;
use super::canvas::{Canvas, Dot, SERIES, Shape};
use super::frame::{Frame, Layout, Span};
use super::head::{Head, Mark, Sign};
use super::stage::say;
use super::style::Style;
use super::ticks;
use crate::data::Curves;
use crate::error::Result;

/// Numbers over time, or over something else, as lines.
///
/// # Errors
///
/// If the style has numbers that cannot be used.
pub fn curves(curves: &Curves, style: &Style) -> Result<Picture> {
    style.check()?;
    let mut canvas = Canvas::new(style);
    let title = style.title.clone().unwrap_or(curves.title.clone());
    let named = curves.series.iter().enumerate().filter(|(_, (name, _))| !name.is_empty());
    let sign = |(i, (name, _)): (usize, &(String, _))| {
        Sign::new(Mark::Line(SERIES[i % SERIES.len()]), name)
    };
    let head = Head { title, signs: named.map(sign).collect(), ..Head::default() };
    let spans = [0, 1].map(|axis| span(curves, axis));
    let frame = Layout { spans, equal: false, bar: None, head }.place(&mut canvas);
    frame.grid(&mut canvas);
    let seen =
        curves.series.iter().any(|(_, points)| points.iter().any(|point| shows(curves, *point)));
    for (i, (_, points)) in curves.series.iter().enumerate() {
        draw(&mut canvas, &frame, curves, points, i);
    }
    frame.draw(&mut canvas);
    if !seen {
        say(&mut canvas, "no values", &frame.sides);
    }
    Ok(Picture::new(style.size, canvas))
}

/// Whether a point has a place.
fn shows(curves: &Curves, point: [f64; 2]) -> bool {
    (0..2).all(|i| point[i].is_finite() && (!curves.log[i] || point[i] > 0.0))
}

fn span(curves: &Curves, axis: usize) -> Span<'_> {
    let is = &curves.axes[axis];
    let log = curves.log[axis];
    let fits = is.range[0] < is.range[1] && (!log || is.range[0] > 0.0);
    let range = if fits { is.range } else { range(curves, axis) };
    Span { log, ..Span::new(&is.name, &is.unit, range) }
}

/// The range of the points, with a little more above and below.
fn range(curves: &Curves, axis: usize) -> [f64; 2] {
    let points = curves.series.iter().flat_map(|(_, points)| points);
    let values = points.filter(|point| shows(curves, **point)).map(|point| point[axis]);
    let [low, high] =
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)]);
    if curves.log[axis] {
        let [low, high] = if low <= high { [low, high] } else { [0.1, 1.0] };
        let width = high.ln() - low.ln();
        let more = if width > 1e-4 { (0.04 * width).exp() } else { 2.0 };
        return [(low / more).max(f64::MIN_POSITIVE), (high * more).min(f64::MAX)];
    }
    let [low, high] = ticks::widened([low, high]);
    let more = if axis == 1 { 0.05 * (high - low) } else { 0.0 };
    // Where all is above 0, so is the axis.
    [if low >= 0.0 { (low - more).max(0.0) } else { low - more }, high + more]
}

/// Draws a curve; points between gaps are dots.
fn draw(canvas: &mut Canvas, frame: &Frame, curves: &Curves, points: &[[f64; 2]], number: usize) {
    let color = SERIES[number % SERIES.len()];
    let within = |point: &[f64; 2]| {
        shows(curves, *point)
            && (0..2).all(|i| {
                let [low, high] = frame.spans[i].range;
                let slack = 1e-9 * (high - low);
                (low - slack..=high + slack).contains(&point[i])
            })
    };
    let width = (canvas.em / 8.0).max(1.5);
    let (mut lines, mut dots) = (Vec::new(), Vec::new());
    for run in points.split(|point| !within(point)) {
        let places: Vec<_> = run.iter().map(|point| frame.at(*point)).collect();
        lines.extend(places.windows(2).map(|pair| [pair[0], pair[1]]));
        if let [alone] = places[..] {
            dots.push(Dot { at: alone.map(|along| along as f32), fill: color, rim: color });
        }
    }
    canvas.lines(&lines, width, color);
    canvas.shapes.push(Shape::Dots { dots, radius: 1.2 * width, rim: 1.0 });
}

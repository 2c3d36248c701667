//! Fields on a plane.

use super::Picture;
use super::bar::Bar;
use super::canvas::{Canvas, Dot, Shape};
use super::coding::Coding;
use super::frame::{Frame, Layout, Span};
use super::head::{Head, Mark, Sign};
use super::stage::say;
use super::style::{Scale, Style};
use super::tracks::radius;
use crate::data::{Axis, Raster};
use crate::error::{Error, Result};

/// A field on a plane, in colours, and `particles` on it as dots; grey where there is no value.
///
/// `particles` are places along the two axes of the raster; those outside of it are left out. Axes of
/// one unit have the same scale.
///
/// # Errors
///
/// If the counts and the values of the raster do not fit together, if its axes are not finite, or if
/// the style has numbers that cannot be used.
pub fn raster(raster: &Raster, particles: &[[f64; 2]], style: &Style) -> Result<Picture> {
    style.check()?;
    check(raster)?;
    let coding = Coding::new(raster.values.iter().copied(), style);
    let mut canvas = Canvas::new(style);
    let inks = canvas.inks;
    let mut head =
        Head { title: style.title.clone().unwrap_or(raster.title.clone()), ..Head::default() };
    if coding.missing {
        let meaning = if style.scale == Scale::Log { "no value above 0" } else { "no value" };
        head.signs.push(Sign::new(Mark::Square(inks.missing), meaning));
    }
    if !particles.is_empty() {
        head.signs.push(Sign::new(Mark::Disc, "particles"));
    }
    let spans = [0, 1].map(|i| span(&raster.axes[i], raster.counts[i]));
    let equal = raster.axes[0].unit == raster.axes[1].unit;
    let bar = Bar::new(&coding, &raster.name, &raster.unit);
    let frame = Layout { spans, equal, bar, head }.place(&mut canvas);
    canvas.shapes.push(Shape::Image {
        corners: frame.corners(),
        counts: raster.counts,
        pixels: rows(raster).map(|value| coding.color(value, inks.missing)).collect(),
    });
    dots(&mut canvas, &frame, particles);
    frame.draw(&mut canvas);
    if coding.empty {
        say(&mut canvas, "no values", &frame.sides);
    }
    Ok(Picture::new(style.size, canvas))
}

/// An axis with the cells around the samples: half a cell more at each end.
fn span(axis: &Axis, count: usize) -> Span<'_> {
    let [low, high] = super::ticks::widened(axis.range);
    let half = if count > 1 { (high - low) / (count - 1) as f64 / 2.0 } else { 0.0 };
    Span::new(&axis.name, &axis.unit, [low - half, high + half])
}

/// The values, from the top row to the bottom one.
fn rows(raster: &Raster) -> impl Iterator<Item = f32> {
    raster.values.chunks(raster.counts[0].max(1)).rev().flatten().copied()
}

fn dots(canvas: &mut Canvas, frame: &Frame, particles: &[[f64; 2]]) {
    let inside = |at: &&[f64; 2]| {
        (0..2).all(|i| (frame.spans[i].range[0]..=frame.spans[i].range[1]).contains(&at[i]))
    };
    let place = |at: &[f64; 2]| frame.at(*at).map(|along| along as f32);
    let dot = |at| Dot { at: place(at), fill: canvas.inks.muted, rim: canvas.inks.paper };
    let dots: Vec<_> = particles.iter().filter(inside).map(dot).collect();
    let radius = radius(4 * dots.len(), canvas.em);
    canvas.shapes.push(Shape::Dots { dots, radius, rim: (0.25 * radius).max(0.6) });
}

fn check(raster: &Raster) -> Result<()> {
    let ([columns, rows], values) = (raster.counts, raster.values.len());
    if columns.checked_mul(rows) != Some(values) {
        let reason = format!("{columns} x {rows} samples are not {values} values");
        return Err(Error::data("raster", reason));
    }
    let fits = |axis: &Axis| {
        axis.range[0] <= axis.range[1] && axis.range.iter().all(|end| end.is_finite())
    };
    match raster.axes.iter().find(|axis| !fits(axis)) {
        Some(Axis { name, range: [low, high], .. }) => {
            Err(Error::data("raster", format!("the axis `{name}` goes from {low} to {high}")))
        }
        None => Ok(()),
    }
}

//! Several pictures in one.

use super::canvas::{Canvas, Shape};
use super::coloring::Coloring;
use super::style::{POINTS, Range, Style};
use super::view::View;
use super::{Picture, tracks};
use crate::data::Trajectories;
use crate::error::{Error, Result};

/// The tracks of a run in a picture of several.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// What tells it from the others, after its letter.
    pub label: &'a str,
    /// The tracks.
    pub trajectories: &'a Trajectories,
}

/// Plots the tracks of several runs as panels (a), (b), ..., row by row, in one view, of one box, in the same colours with one
/// colour bar at the right. The size in the style is that of the whole picture.
///
/// # Errors
///
/// As [`tracks`], of each panel; [`Error::Data`] without panels.
pub fn panels(panels: &[Panel], columns: usize, view: &View, style: &Style) -> Result<Picture> {
    let all: Vec<&Trajectories> = panels.iter().map(|panel| panel.trajectories).collect();
    let (Some(_), Ok(())) = (all.first(), style.check()) else {
        style.check()?;
        return Err(Error::data("panels", "there are none; give the tracks of a run or more"));
    };
    let columns = columns.clamp(1, all.len());
    let rows = all.len().div_ceil(columns);
    let coloring = Coloring::of_all(&all, style)?;
    let mut canvas = Canvas::new(style);
    let [width, height] = canvas.size;
    let bar = coloring.colorbar().filter(|_| style.colorbar);
    let bar_sides = [0.2 * height, 0.85 * height];
    let right = bar.as_ref().map_or(0.0, |bar| bar.width(&canvas, bar_sides[1] - bar_sides[0]));
    let side = |length: f64, count: usize| (length / count as f64).floor();
    let size = [side(width - right, columns), side(height, rows)];
    let style_of = panel_style(style, &coloring, canvas.em, size);
    let domain = union(&all);
    for (index, panel) in panels.iter().enumerate() {
        let trajectories = Trajectories { domain, ..panel.trajectories.clone() };
        let title = format!("({}) {}", letter(index), panel.label).trim_end().to_string();
        let style = Style { title: Some(title), ..style_of.clone() };
        let made = tracks(&trajectories, view, &style)?;
        let at = [size[0] * (index % columns) as f64, size[1] * (index / columns) as f64];
        canvas.shapes.extend(made.shapes.into_iter().map(|shape| moved(shape, at)));
    }
    if let Some(bar) = bar {
        bar.draw(&mut canvas, width - right, bar_sides);
    }
    Ok(Picture::new(style, canvas))
}

/// The style of a panel of a size: with labels as large as those of the whole picture, its colours, and no colour bar.
fn panel_style(style: &Style, coloring: &Coloring, em: f64, size: [f64; 2]) -> Style {
    let (range, colors) = match coloring {
        Coloring::Values(scale, _) => (Range::Given(scale.range), Some(scale.colors)),
        _ => (style.range, style.colors),
    };
    let size = size.map(|side| side as u32);
    let font_size = Some(em / style.dpi * POINTS);
    Style { size, font_size, range, colors, colorbar: false, ..style.clone() }
}

/// The box around all domains, which a picture shows.
fn union(all: &[&Trajectories]) -> [[f64; 3]; 2] {
    all.iter().fold([[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]], |[low, high], of| {
        let [from, to] = of.domain;
        [[0, 1, 2].map(|i| low[i].min(from[i])), [0, 1, 2].map(|i| high[i].max(to[i]))]
    })
}

/// The letter of a panel; a number after `z`.
fn letter(index: usize) -> String {
    let letter = u8::try_from(index).ok().filter(|index| *index < 26).map(|index| b'a' + index);
    letter.map_or_else(|| (index + 1).to_string(), |letter| char::from(letter).to_string())
}

/// A shape at another place.
fn moved(mut shape: Shape, [x, y]: [f64; 2]) -> Shape {
    let by = |point: &mut [f64; 2]| *point = [point[0] + x, point[1] + y];
    let by_f32 = |point: &mut [f32; 2]| *point = [point[0] + x as f32, point[1] + y as f32];
    match &mut shape {
        Shape::Segments { segments, .. } => segments.iter_mut().for_each(|segment| {
            by_f32(&mut segment.from);
            by_f32(&mut segment.to);
        }),
        Shape::Dots { dots, .. } => dots.iter_mut().for_each(|dot| by_f32(&mut dot.center)),
        Shape::Polygon { points, .. } => points.iter_mut().for_each(by),
        Shape::Image { corners, .. } => corners.iter_mut().for_each(by),
        Shape::Text(text) => by(&mut text.anchor),
    }
    shape
}

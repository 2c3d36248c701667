//! Fields on a plane.

use super::axes::{Axes, Layout};
use super::axis::{AxisSpec, aspect, with_common_power};
use super::canvas::{Canvas, Dot, Shape};
use super::color_scale::ColorScale;
use super::colorbar::Colorbar;
use super::heading::{Heading, LegendEntry, Marker};
use super::scene::draw_message;
use super::style::{Scale, Style};
use super::ticks::sentence_case;
use super::tracks::dot_radius;
use super::{Picture, land};
use crate::data::{Axis, Raster};
use crate::error::{Error, Result};

/// Plots a field on a plane in colours, with `particles` as dots on it; missing values are grey. Land covers it.
///
/// `particles` are positions along the two axes of the raster; those outside it are omitted. Axes of
/// the same unit have the same scale; for longitude and latitude it is that of a map.
///
/// # Errors
///
/// If the counts do not match the values of the raster, if an axis is not finite, or if a setting of
/// the style is out of range.
pub fn raster(raster: &Raster, particles: &[[f64; 2]], style: &Style) -> Result<Picture> {
    style.check()?;
    check(raster)?;
    let scale = ColorScale::new(raster.values_off_land(), style);
    let mut canvas = Canvas::new(style);
    let palette = canvas.palette;
    let title = style.title.clone().unwrap_or_else(|| sentence_case(&raster.title));
    let mut heading = Heading { title, subtitle: raster.subtitle.clone(), ..Heading::default() };
    if let Some(note) = scale.note() {
        heading.add_to_subtitle(&note);
    }
    if scale.has_missing {
        let label = if style.scale == Scale::Log { "No value above 0" } else { "No value" };
        heading.legend.push(LegendEntry::new(Marker::Square(palette.missing), label));
    }
    if !particles.is_empty() {
        heading.legend.push(LegendEntry::new(Marker::Disc, "Particles"));
    }
    let heading = heading.styled(style);
    let specs = [0, 1].map(|i| axis_spec(&raster.axes[i], raster.counts[i]));
    let aspect = aspect(&specs);
    let specs = if aspect.is_some() { with_common_power(specs) } else { specs };
    let colorbar = Colorbar::new(&scale, &raster.name, &raster.unit).filter(|_| style.colorbar);
    let axes = Layout { specs, aspect, colorbar, heading }.place(&mut canvas);
    canvas.shapes.push(Shape::Image {
        corners: axes.corners(),
        counts: raster.counts,
        pixels: rows(raster).map(|value| scale.color(value, palette.missing)).collect(),
    });
    raster.land.iter().for_each(|land| land::draw(&mut canvas, &axes, land));
    draw_particles(&mut canvas, &axes, particles);
    axes.draw(&mut canvas);
    axes.draw_scale_bar(&mut canvas, raster.radius);
    if scale.is_empty {
        draw_message(&mut canvas, "No values", &axes.sides);
    }
    Ok(Picture::new(style, canvas))
}

/// An axis that covers the cells around the samples: half a cell more at each end.
fn axis_spec(axis: &Axis, count: usize) -> AxisSpec<'_> {
    let [low, high] = super::ticks::widened(axis.range);
    let half = if count > 1 { (high - low) / (count - 1) as f64 / 2.0 } else { 0.0 };
    AxisSpec::new(&axis.name, &axis.unit, [low - half, high + half])
}

/// The values, row by row from the top.
fn rows(raster: &Raster) -> impl Iterator<Item = f32> {
    raster.values.chunks(raster.counts[0].max(1)).rev().flatten().copied()
}

fn draw_particles(canvas: &mut Canvas, axes: &Axes, particles: &[[f64; 2]]) {
    let is_inside = |position: &&[f64; 2]| {
        (0..2).all(|i| (axes.specs[i].range[0]..=axes.specs[i].range[1]).contains(&position[i]))
    };
    let palette = canvas.palette;
    let dot = |position: &[f64; 2]| Dot {
        center: axes.at(*position).map(|x| x as f32),
        fill: palette.muted,
        edge: palette.background,
    };
    let dots: Vec<_> = particles.iter().filter(is_inside).map(dot).collect();
    let radius = dot_radius(4 * dots.len(), canvas.em);
    canvas.shapes.push(Shape::Dots { dots, radius, edge_width: (0.25 * radius).max(0.6) });
}

pub(crate) fn check(raster: &Raster) -> Result<()> {
    let ([columns, rows], values) = (raster.counts, raster.values.len());
    if columns.checked_mul(rows) != Some(values) {
        let reason = format!("{columns} x {rows} samples do not match {values} values");
        return Err(Error::data("raster", reason));
    }
    let is_valid = |axis: &Axis| {
        axis.range[0] <= axis.range[1] && axis.range.iter().all(|end| end.is_finite())
    };
    match raster.axes.iter().find(|axis| !is_valid(axis)) {
        Some(Axis { name, range: [low, high], .. }) => {
            let reason = format!(
                "the axis `{name}` goes from {low} to {high}; both must be finite, the lower one first"
            );
            Err(Error::data("raster", reason))
        }
        None => Ok(()),
    }
}

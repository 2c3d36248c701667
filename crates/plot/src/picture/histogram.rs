//! Histograms.

use super::Picture;
use super::axes::{Axes, Layout};
use super::axis::AxisSpec;
use super::canvas::{Canvas, SERIES};
use super::heading::{Heading, LegendEntry, Marker};
use super::scene::draw_message;
use super::style::Style;
use super::ticks;
use crate::data::Histogram;
use crate::error::{Error, Result};

/// Plots counts as stacked bars, the first series at the bottom.
///
/// # Errors
///
/// If the numbers of edges and counts do not match, if the edges do not increase, or if a setting of
/// the style is out of range.
pub fn histogram(histogram: &Histogram, style: &Style) -> Result<Picture> {
    style.check()?;
    check(histogram)?;
    let mut canvas = Canvas::new(style);
    let title = style.title.clone().unwrap_or_else(|| ticks::sentence_case(&histogram.title));
    let entry = |(i, (name, counts)): (usize, &(String, Vec<u64>))| {
        let count = ticks::format_count(total(counts.iter().copied()) as usize);
        let name = ticks::sentence_case(name);
        LegendEntry::new(Marker::Square(SERIES[i % SERIES.len()]), format!("{name} ({count})"))
    };
    let legend = histogram.series.iter().enumerate().map(entry).collect();
    let edges = &histogram.edges;
    let range = [edges.first(), edges.last()].map(|end| end.copied().unwrap_or(f64::NAN));
    let bins = edges.len().saturating_sub(1);
    let sum = |bin: usize| total(histogram.series.iter().map(|(_, counts)| counts[bin]));
    let max = (0..bins).map(sum).max().unwrap_or(0);
    let counts = AxisSpec {
        integers: true,
        ..AxisSpec::new("count", "", [0.0, if max == 0 { 1.0 } else { 1.05 * max as f64 }])
    };
    let log = histogram.log && range[0] > 0.0;
    let values =
        AxisSpec { log, ..AxisSpec::new(&histogram.axis.name, &histogram.axis.unit, range) };
    let specs = [values, counts];
    let heading = Heading { title, legend, ..Heading::default() };
    let axes = Layout { specs, aspect: None, colorbar: None, heading }.place(&mut canvas);
    axes.draw_grid(&mut canvas);
    (0..bins).for_each(|bin| draw_bars(&mut canvas, &axes, histogram, bin));
    axes.draw(&mut canvas);
    if max == 0 {
        draw_message(&mut canvas, "Nothing was counted", &axes.sides);
    }
    Ok(Picture::new(style, canvas))
}

/// The sum of counts, saturating.
fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Draws the bars of a bin.
fn draw_bars(canvas: &mut Canvas, axes: &Axes, histogram: &Histogram, bin: usize) {
    let mut below = 0;
    for (i, (_, counts)) in histogram.series.iter().enumerate() {
        if counts[bin] == 0 {
            continue;
        }
        let [left, bottom] = axes.at([histogram.edges[bin], below as f64]);
        below = total([below, counts[bin]].into_iter());
        let [right, top] = axes.at([histogram.edges[bin + 1], below as f64]);
        // A gap between bars that are wide enough.
        let gap = if right - left > 5.0 { 0.5 } else { 0.0 };
        canvas.rectangle([[left + gap, top], [right - gap, bottom]], SERIES[i % SERIES.len()]);
    }
}

fn check(histogram: &Histogram) -> Result<()> {
    let edges = histogram.edges.len();
    let bins = edges.saturating_sub(1);
    if let Some((name, counts)) = histogram.series.iter().find(|(_, counts)| counts.len() != bins) {
        let reason =
            format!("{edges} edges bound {bins} bins, but `{name}` has {} counts", counts.len());
        return Err(Error::data("histogram", reason));
    }
    if let Some(edge) = histogram.edges.first().filter(|edge| histogram.log && **edge <= 0.0) {
        let reason = format!("its first edge is {edge}; on a logarithmic axis it must be above 0");
        return Err(Error::data("histogram", reason));
    }
    let increase = histogram.edges.windows(2).all(|pair| pair[0] < pair[1]);
    match increase && histogram.edges.iter().all(|edge| edge.is_finite()) {
        true => Ok(()),
        false => Err(Error::data("histogram", "its edges must be finite and increase")),
    }
}

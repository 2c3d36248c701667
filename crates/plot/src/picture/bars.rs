//! Histograms.

use super::Picture;
use super::canvas::{Canvas, SERIES};
use super::frame::{Frame, Layout, Span};
use super::head::{Head, Mark, Sign};
use super::stage::say;
use super::style::Style;
use super::ticks;
use crate::data::Histogram;
use crate::error::{Error, Result};

/// Counts as stacked bars, the first series at the bottom.
///
/// # Errors
///
/// If the numbers of edges and counts do not fit together, if edges do not rise, or if the style has
/// numbers that cannot be used.
pub fn histogram(histogram: &Histogram, style: &Style) -> Result<Picture> {
    style.check()?;
    check(histogram)?;
    let mut canvas = Canvas::new(style);
    let title = style.title.clone().unwrap_or(histogram.title.clone());
    let sign = |(i, (name, counts)): (usize, &(String, Vec<u64>))| {
        let all = ticks::counted(total(counts.iter().copied()) as usize);
        Sign::new(Mark::Square(SERIES[i % SERIES.len()]), format!("{name} ({all})"))
    };
    let signs = histogram.series.iter().enumerate().map(sign).collect();
    let edges = &histogram.edges;
    let range = [edges.first(), edges.last()].map(|end| end.copied().unwrap_or(f64::NAN));
    let bins = edges.len().saturating_sub(1);
    let sum = |bin: usize| total(histogram.series.iter().map(|(_, counts)| counts[bin]));
    let most = (0..bins).map(sum).max().unwrap_or(0);
    let counts = Span {
        whole: true,
        ..Span::new("count", "", [0.0, if most == 0 { 1.0 } else { 1.05 * most as f64 }])
    };
    let spans = [Span::new(&histogram.axis.name, &histogram.axis.unit, range), counts];
    let head = Head { title, signs, ..Head::default() };
    let frame = Layout { spans, equal: false, bar: None, head }.place(&mut canvas);
    frame.grid(&mut canvas);
    (0..bins).for_each(|bin| draw(&mut canvas, &frame, histogram, bin));
    frame.draw(&mut canvas);
    if most == 0 {
        say(&mut canvas, "nothing was counted", &frame.sides);
    }
    Ok(Picture::new(style.size, canvas))
}

/// The sum of counts, or the greatest one that there is.
fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Draws the bars of a bin.
fn draw(canvas: &mut Canvas, frame: &Frame, histogram: &Histogram, bin: usize) {
    let mut below = 0;
    for (i, (_, counts)) in histogram.series.iter().enumerate() {
        if counts[bin] == 0 {
            continue;
        }
        let [left, bottom] = frame.at([histogram.edges[bin], below as f64]);
        below = total([below, counts[bin]].into_iter());
        let [right, top] = frame.at([histogram.edges[bin + 1], below as f64]);
        // A gap between bars that are wide enough for one.
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
    let rise = histogram.edges.windows(2).all(|pair| pair[0] < pair[1]);
    match rise && histogram.edges.iter().all(|edge| edge.is_finite()) {
        true => Ok(()),
        false => Err(Error::data("histogram", "its edges do not rise, or are not finite")),
    }
}

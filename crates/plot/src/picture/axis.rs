//! One axis: its range, its ticks and its labels.

use super::canvas::{Align, Canvas, Shape, Text};
use super::font;
use super::ticks::{self, Ticks};

/// The quantity along an axis.
#[derive(Clone, Debug)]
pub(crate) struct AxisSpec<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    /// Not empty; above 0 on a logarithmic axis.
    pub range: [f64; 2],
    pub log: bool,
    /// Whether all values are integers.
    pub integers: bool,
    /// The largest absolute value on the axes that share a power of 10 with this one; 0 for none.
    pub size: f64,
}

impl<'a> AxisSpec<'a> {
    pub(crate) fn new(name: &'a str, unit: &'a str, range: [f64; 2]) -> Self {
        Self { name, unit, range: ticks::widened(range), log: false, integers: false, size: 0.0 }
    }

    /// The letters of the directions above and below 0, of longitudes and latitudes.
    fn directions(&self) -> Option<[&'static str; 2]> {
        match (self.name, self.unit) {
            ("longitude", "°") => Some(EAST_WEST),
            ("latitude", "°") => Some(NORTH_SOUTH),
            _ => None,
        }
    }

    /// Whether labels of lengths in metres are in kilometres: on axes of 10 km or more together, but those far shorter.
    fn is_in_kilometres(&self) -> bool {
        let own = self.range[0].abs().max(self.range[1].abs());
        self.unit == "m" && !self.log && self.size >= 1e4 && own >= 1e-2 * self.size
    }

    /// Ticks with at most `max_steps` steps between them.
    pub(crate) fn ticks(&self, max_steps: usize) -> Ticks {
        let linear = |factor: f64| {
            let range = self.range.map(|end| end / factor);
            ticks::linear(range, max_steps, self.integers, self.size / factor)
        };
        match (self.log, self.directions()) {
            (true, _) => ticks::logarithmic(self.range, max_steps),
            (_, Some(directions)) => ticks::degrees(self.range, max_steps, directions),
            _ if self.is_in_kilometres() => {
                let of_kilometres = linear(1e3);
                let at = of_kilometres.at.into_iter().map(|(number, label)| (1e3 * number, label));
                Ticks { at: at.collect(), ..of_kilometres }
            }
            _ => linear(1.0),
        }
    }

    /// The title of the axis with these ticks. Labels of degrees have the unit.
    pub(crate) fn title(&self, ticks: &Ticks) -> String {
        let unit = match self.directions() {
            Some(_) => "",
            None if self.is_in_kilometres() => "km",
            None => self.unit,
        };
        ticks.title(self.name, unit)
    }

    /// The ticks of a horizontal axis of a length in pixels.
    pub(crate) fn horizontal_ticks(&self, length: f64, em: f64) -> Ticks {
        fitting_ticks(
            |value| length * self.fraction(value),
            |label| font::width(label, em) + 1.2 * em,
            |max_steps| self.ticks(max_steps),
        )
    }

    /// The ticks of a vertical axis of a length in pixels.
    pub(crate) fn vertical_ticks(&self, length: f64, em: f64) -> Ticks {
        fitting_ticks(
            |value| length * self.fraction(value),
            |_| 2.0 * em,
            |max_steps| self.ticks(max_steps),
        )
    }

    /// The relative position of a value: 0 at the low end, 1 at the high one.
    pub(crate) fn fraction(&self, value: f64) -> f64 {
        ticks::fraction(value, self.range, self.log)
    }
}

const EAST_WEST: [&str; 2] = ["E", "W"];
const NORTH_SOUTH: [&str; 2] = ["N", "S"];

/// Width of a map in degrees from which on a degree of longitude is as long as one of latitude.
const GLOBAL: f64 = 180.0;

/// The length of a unit of the horizontal axis in those of the vertical one: 1 for the same unit, and on maps that of a degree
/// of longitude at the middle latitude. `None` if each axis has its own scale.
pub(crate) fn aspect([across, up]: &[AxisSpec; 2]) -> Option<f64> {
    scale_of_map([across, up]).or((across.unit == up.unit).then_some(1.0))
}

/// The length of a degree of longitude at the middle latitude in degrees of latitude, of maps that are not global.
pub(crate) fn scale_of_map([across, up]: [&AxisSpec; 2]) -> Option<f64> {
    let is_map = [across, up].map(AxisSpec::directions) == [Some(EAST_WEST), Some(NORTH_SOUTH)];
    let middle = f64::midpoint(up.range[0], up.range[1]);
    let is_part = across.range[1] - across.range[0] < GLOBAL;
    (is_map && is_part).then(|| middle.to_radians().cos().max(0.1))
}

/// The axes of one quantity, which share a power of 10.
pub(crate) fn with_common_power<const N: usize>(specs: [AxisSpec; N]) -> [AxisSpec; N] {
    let largest = |spec: &AxisSpec| spec.range[0].abs().max(spec.range[1].abs());
    let size = specs.iter().map(largest).fold(0.0, f64::max);
    specs.map(|spec| AxisSpec { size, ..spec })
}

/// As many ticks as possible without overlapping labels. `position` gives the position of a value
/// along the axis and `size` the extent of a label, both in pixels; `ticks` gives the ticks for a
/// maximum number of steps.
pub(crate) fn fitting_ticks(
    position: impl Fn(f64) -> f64,
    size: impl Fn(&str) -> f64,
    ticks: impl Fn(usize) -> Ticks,
) -> Ticks {
    let are_apart = |(a, one): &(f64, String), (b, other): &(f64, String)| {
        (position(*b) - position(*a)).abs() >= (size(one) + size(other)) / 2.0
    };
    let fits = |ticks: &Ticks| ticks.at.windows(2).all(|pair| are_apart(&pair[0], &pair[1]));
    let mut fewest = ticks(2);
    for max_steps in (3..=10).rev() {
        let more = ticks(max_steps);
        if fits(&more) {
            return more;
        }
    }
    if !fits(&fewest) {
        // Keep the first and the last one, which are farthest apart.
        fewest.at.drain(1..fewest.at.len() - 1);
    }
    if !fits(&fewest) {
        fewest.at.truncate(1);
    }
    fewest
}

/// The width of the widest label.
pub(crate) fn max_label_width(ticks: &Ticks, em: f64) -> f64 {
    ticks.at.iter().map(|(_, label)| font::width(label, em)).fold(0.0, f64::max)
}

/// Draws the title of a vertical axis at `x`, centred between `top` and `bottom` where it fits.
pub(crate) fn draw_vertical_title(
    canvas: &mut Canvas,
    title: &str,
    x: f64,
    [top, bottom]: [f64; 2],
) {
    let em = canvas.em;
    let (text, size) = font::fit(title, em, canvas.size[1] - 2.0 * em);
    let half = font::width(&text, size) / 2.0 + 0.5 * em;
    let x = x.min(canvas.size[0] - 0.4 * em).max(0.9 * em);
    let y = ((top + bottom) / 2.0).min(canvas.size[1] - half).max(half);
    let (align, color) = (Align::Middle, canvas.palette.foreground);
    if !text.is_empty() {
        let text = Text { text, anchor: [x, y], size, align, vertical: true, color };
        canvas.shapes.push(Shape::Text(text));
    }
}

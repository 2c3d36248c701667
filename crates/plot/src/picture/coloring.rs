//! The colours of tracks and particles.

use super::canvas::{Palette, SERIES};
use super::color_scale::ColorScale;
use super::colorbar::Colorbar;
use super::heading::{LegendEntry, Marker};
use super::scene::is_finite;
use super::style::Style;
use crate::color::{ColorMap, Rgb};
use crate::data::{Attribute, Trajectories};
use crate::error::{Error, Result};

/// What gives tracks and particles their colours.
pub(crate) enum Coloring<'a> {
    /// One colour.
    One(Rgb),
    /// The values of an attribute.
    Values(ColorScale, &'a Attribute),
    /// The categories of an attribute.
    Categories(&'a Attribute),
}

/// The name of times, which have no middle of their own at 0.
const TIME: &str = "time";

impl<'a> Coloring<'a> {
    /// The colours in a style; dark on a background, unless the style names an attribute.
    pub(crate) fn of(trajectories: &'a Trajectories, style: &Style) -> Result<Self> {
        Self::of_all(&[trajectories], style)
    }

    /// The colours that several runs share, by the attribute of the first one.
    pub(crate) fn of_all(all: &[&'a Trajectories], style: &Style) -> Result<Self> {
        let attributes: Vec<Option<&Attribute>> =
            all.iter().map(|of| selected_attribute(of, style)).collect::<Result<_>>()?;
        let palette = Palette::of(style.background);
        let has_background = all.iter().any(|of| of.background.is_some());
        let Some(first) = attributes.first().copied().flatten() else {
            return Ok(Self::One(SERIES[0]));
        };
        if has_background {
            return match style.color_by {
                None => Ok(Self::One(palette.foreground)),
                Some(_) => Err(Error::data("tracks", ON_BACKGROUND)),
            };
        }
        if !first.categories.is_empty() {
            return Ok(Self::Categories(first));
        }
        let style = match first.name == TIME {
            true => Style { colors: style.colors.or(Some(ColorMap::Viridis)), ..style.clone() },
            false => style.clone(),
        };
        let of_runs = || all.iter().copied().zip(attributes.iter().copied().flatten());
        let lines = of_runs().flat_map(|(of, attribute)| drawn_lines(of, attribute)).collect();
        let values: Vec<f32> =
            of_runs().flat_map(|(of, attribute)| drawn_values(of, attribute)).collect();
        let scale = ColorScale::of_lines(values.iter().copied(), lines, &style);
        Ok(Self::Values(scale, first))
    }

    /// Entries of the legend.
    pub(crate) fn legend(&self, palette: Palette) -> Vec<LegendEntry> {
        let square = |color, label: &str| LegendEntry::new(Marker::Square(color), label);
        match self {
            Self::Values(scale, attribute) if scale.has_missing => {
                vec![square(palette.missing, &format!("No {}", attribute.name))]
            }
            Self::Categories(attribute) => {
                let mut entries: Vec<_> = SERIES
                    .iter()
                    .zip(&attribute.categories)
                    .map(|(color, name)| square(*color, name))
                    .collect();
                if attribute.categories.len() > SERIES.len() {
                    entries.push(square(palette.missing, "others"));
                }
                entries
            }
            _ => Vec::new(),
        }
    }

    /// The colour bar, if values have colours.
    pub(crate) fn colorbar(&self) -> Option<Colorbar<'_>> {
        match self {
            Self::Values(scale, of) => Colorbar::new(scale, &of.name, &of.unit),
            _ => None,
        }
    }

    /// Colours that occur: evenly spaced samples of a scale.
    pub(crate) fn samples(&self) -> Vec<Rgb> {
        match self {
            Self::One(color) => vec![*color],
            Self::Values(scale, _) => scale.samples(),
            Self::Categories(_) => SERIES.into(),
        }
    }

    /// The colour of the position with an index.
    pub(crate) fn color(&self, attribute: Option<&Attribute>, index: usize, missing: Rgb) -> Rgb {
        let value = attribute.map_or(f32::NAN, |attribute| attribute.values[index]);
        self.of_value(value, missing)
    }

    /// The colour of the line between two positions: for the mean of their values, or the one value that is defined; of
    /// categories that of the latter one.
    pub(crate) fn between(
        &self,
        attribute: Option<&Attribute>,
        [a, b]: [usize; 2],
        missing: Rgb,
    ) -> Rgb {
        let [a, b] = attribute.map_or([f32::NAN; 2], |of| [a, b].map(|index| of.values[index]));
        let value = match self {
            Self::Categories(_) => b,
            _ if a.is_nan() => b,
            _ => a.midpoint(if b.is_nan() { a } else { b }),
        };
        self.of_value(value, missing)
    }

    fn of_value(&self, value: f32, missing: Rgb) -> Rgb {
        match self {
            Self::One(color) => *color,
            Self::Values(scale, _) => scale.color(value, missing),
            Self::Categories(_) if value >= 0.0 => {
                SERIES.get(value as usize).copied().unwrap_or(missing)
            }
            Self::Categories(_) => missing,
        }
    }
}

const ON_BACKGROUND: &str = "a field behind tracks has the colours; omit the attribute that colours the tracks, or the field";

/// The attribute to colour the trajectories by, if they have any.
pub(crate) fn selected_attribute<'a>(
    trajectories: &'a Trajectories,
    style: &Style,
) -> Result<Option<&'a Attribute>> {
    let attributes = &trajectories.attributes;
    let Some(name) = &style.color_by else { return Ok(attributes.first()) };
    let found = attributes.iter().find(|attribute| attribute.name == *name);
    let available = || match attributes.len() {
        0 => "none".into(),
        _ => attributes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", "),
    };
    found.map(Some).ok_or_else(|| Error::Attribute { given: name.clone(), available: available() })
}

/// The values at the positions that are drawn: finite ones, of an active particle or at the end of a
/// line.
fn drawn_values<'a>(
    trajectories: &'a Trajectories,
    attribute: &'a Attribute,
) -> impl Iterator<Item = f32> + Clone + 'a {
    let is_drawn = |i: usize| {
        (trajectories.active[i] || trajectories.joined[i]) && is_finite(trajectories.position[i])
    };
    attribute.values.iter().enumerate().filter(move |(i, _)| is_drawn(*i)).map(|(_, value)| *value)
}

/// The values of the lines, and their lengths.
fn drawn_lines(trajectories: &Trajectories, attribute: &Attribute) -> Vec<(f32, f64)> {
    let stride = trajectories.particles.len();
    let line = |index: usize| {
        let [from, to] = [index - stride, index].map(|i| trajectories.position[i]);
        let length = (0..3).map(|d| (to[d] - from[d]).powi(2)).sum::<f64>().sqrt();
        (0.5 * (attribute.values[index - stride] + attribute.values[index]), length)
    };
    let joined = (stride..trajectories.position.len()).filter(|i| trajectories.joined[*i]);
    joined.map(line).filter(|(value, length)| value.is_finite() && length.is_finite()).collect()
}
